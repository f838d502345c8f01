"""How an episode ended, in words for whoever played it: what the right answer was."""

from collections.abc import Mapping
from typing import Any

from memorylab.tasks.psychlab.trial import FIXATE, REST
from memorylab.tasks.stepping import ENDED
from memorylab.web.game import PlayedGame
from memorylab.world.materials import MATERIALS

EDGES = ("the top button", "the bottom button", "the left-hand button", "the right-hand button")
BUTTONS = {  # what the buttons of a task stand for, in its own order
    "arbitrary_visuomotor_mapping": EDGES,
    "what_then_where": EDGES,
    "continuous_recognition": ("new, the left-hand button", "seen before, the right-hand button"),
    "change_detection": ("something changed, the left-hand button", "all the same, the right-hand button"),
}
MATERIAL_NAMES = {number: name.lower() for name, number in MATERIALS.items()}


def right_answer(game: PlayedGame) -> str | None:
    """What would have been right at the end; None where a game asks nothing, or has asked nothing yet."""
    task, record = game.batch.task, game.record
    names = record.dtype.names
    if task.name in BUTTONS and record["correct"] >= 0:
        return last_trial(record, BUTTONS[task.name])
    if "altered" in names:
        return difference(record, task.stimuli if task.name == "spot_diff_motion" else None)
    if "challenge" in names:
        return last_pair(record)
    return None


def last_trial(record: Any, buttons: tuple[str, ...]) -> str:
    """Of the trial that was answered last, or of the one that was not answered any more."""
    right = buttons[record["correct"]]
    if record["phase"] not in (REST, FIXATE):
        return f"The last trial was still open; its answer: {right}."
    chosen = "as you said" if record["answer"] == record["correct"] else f"you chose {buttons[record['answer']]}"
    return f"The answer to the last trial: {right}; {chosen}."


def difference(record: Any, figures: Mapping[str, str] | None) -> str:
    """Which block differed in the second room, and how: in colour, or in the figure that it moved in."""
    altered, choice = int(record["altered"]), int(record["choice"])
    before, after = (like(record["stimulus"][room, altered], figures) for room in range(2))
    if figures:
        right = f"the {block_name(record, altered, True)} one moved differently: first {before}, then {after}"
    else:
        right = f"the {after} block had changed: it was {before} in the first room"
    if choice < 0:
        return f"You chose none; {right}."
    if choice == altered:
        return f"Right: {right}."
    return f"You walked into the {block_name(record, choice, bool(figures))} one; {right}."


def like(stimulus: int, figures: Mapping[str, str] | None) -> str:
    """A colour, or the name of a figure: those of training come first, then those held out."""
    if figures is None:
        return MATERIAL_NAMES[int(stimulus)]
    return ", ".join((figures["train"], figures["holdout"])).split(", ")[int(stimulus)]


def block_name(record: Any, number: int, moves: bool) -> str:
    """By its colour in the second room; where blocks move, each has one of its own."""
    blocks = int(record["blocks"])
    if moves:  # what moves above the stands comes after all stands and both gates
        return MATERIAL_NAMES[int(record["box_material"][3 * blocks + 2 + number])]
    return MATERIAL_NAMES[int(record["stimulus"][1, number])]


def last_pair(record: Any) -> str:
    """Which of the two on show is higher."""
    side = int(record["correct"])
    right, wrong = (MATERIAL_NAMES[int(record["oval_material"][number])] for number in (side, 1 - side))
    if record["over"] != ENDED:
        return f"Of the pair on show {right} is higher than {wrong}."
    chosen = "as you said" if record["choice"] == record["correct"] else f"you chose {wrong}"
    return f"Of the last two {right} is the higher one; {chosen}."
