"""Transitive Inference: learn the order of a chain from its neighbours, then compare two that were never met together.

The objects of a chain have a hidden order. Neighbours come in pairs, one pair at a time, in random order and on random
sides. Going to the higher one pays 1 and brings the next pair; going to the lower one pays 0 and brings the same pair
again. At last comes the challenge: second lowest against second highest, 5 for the higher one, and the episode ends.
After each choice one is back at the start.
"""

from dataclasses import dataclass

import numpy as np

from memorylab.tasks.checks import MANY, as_begun, below_count, up_to, within
from memorylab.tasks.locomotion import GUESSES, WalkedRules, walked_fields, walked_task
from memorylab.tasks.scales import check_seconds, frames
from memorylab.tasks.stepping import ENDED
from memorylab.world.building import build_hall, put_box, put_oval
from memorylab.world.jit import jit
from memorylab.world.materials import MATERIALS
from memorylab.world.rng import below, below_unmarked, shuffled, side_draw
from memorylab.world.walking import steer_towards, touched_box, walk, without_turning

SCALE = np.dtype([("objects", "i4"), ("frames", "i4")])
LONGEST = 10  # as many colours as each half holds


@dataclass(frozen=True)
class Chain:
    """How many objects are in order, and the clock."""

    objects: int
    seconds: float = 200

    def __post_init__(self):
        if not isinstance(self.objects, (int, np.integer)) or not 4 <= self.objects <= LONGEST:
            raise ValueError(f"objects must be a whole number from 4 to {LONGEST}, not {self.objects!r}")
        check_seconds(self.seconds)

    def record(self) -> tuple:
        """The chain as it is, the clock in frames."""
        return self.objects, frames(self.seconds)

    def text(self) -> str:
        """As the tables show it, such as `5 objects, 200 s`."""
        return f"{self.objects} objects, {self.seconds:g} s"


SCALES = {"small": Chain(5), "large": Chain(7), "interpolate": Chain(6), "extrapolate": Chain(8)}

TRAIN_COLOURS = ("Red", "Green", "Blue", "White", "Black", "Pink", "Orange", "Purple", "Grey", "Tan")
HOLDOUT_COLOURS = ("Slate", "Yellow", "Brown", "Lime", "Magenta", "Mint", "Navy", "Olive", "Teal", "Turquoise")
COLOURS = np.array([[MATERIALS[name] for name in names] for names in (TRAIN_COLOURS, HOLDOUT_COLOURS)])
MATERIAL_WALL, MATERIAL_FLOOR, MATERIAL_STAND = MATERIALS["wall 3"], MATERIALS["floor 2"], MATERIALS["stand"]

ROOM = 12  # metres across
START_X, START_Z = 1.0 + ROOM / 2, 3.0
STAND_HALF, STAND_HEIGHT = 0.4, 0.5
STANDS_APART, STANDS_AHEAD = 1.8, 3.0  # to either side of the middle, and from the start
SPEED, RADIUS = 2.5, 0.25
REWARD, CHALLENGE_REWARD = 1.0, 5.0
LEFT, RIGHT = range(2)

GAME = np.dtype(
    [
        *walked_fields(ROOM + 2),
        ("objects", "i4"),
        ("learned", "i4"),  # pairs done, as bits
        ("low", "i4"),  # the ranks of the pair on show
        ("high", "i4"),
        ("correct", "i4"),  # the side of the higher one
        ("choice", "i4"),  # the side of the latest choice
        ("choices", "i4"),
        ("challenge", "i4"),
    ],
    align=True,
)
REPORT = {"choice": "choice", "right_choice": "correct", "choices": "choices", "challenge": "challenge"}


@jit
def begin_episode(game, scale, stimuli):
    """The order of the colours follows from the episode's key; no pair is learned yet."""
    game.scale = scale.objects
    game.objects = scale.objects
    build_hall(game, ROOM, MATERIAL_WALL, MATERIAL_FLOOR)
    game.learned = 0
    game.choices = 0
    game.choice = -1
    game.challenge = 0
    next_pair(game)
    show_pair(game, stimuli)


@jit
def next_pair(game):
    """Neighbours not done yet or, when all are done, the challenge."""
    pairs = game.objects - 1
    if game.learned == (1 << pairs) - 1:
        game.challenge = 1
        game.low, game.high = 1, game.objects - 2
    else:
        game.low = below_unmarked(game, pairs, game.learned)
        game.high = game.low + 1


@jit
def show_pair(game, stimuli):
    """On random sides, with the walker back at the start."""
    game.correct = below(game, 2)
    game.num_boxes = 2
    game.num_ovals = 2
    for side in range(2):
        x, z = START_X + (2 * side - 1) * STANDS_APART, START_Z + STANDS_AHEAD
        put_box(game, side, x, z, STAND_HALF, 0.0, STAND_HEIGHT, MATERIAL_STAND)
        rank = game.high if side == game.correct else game.low
        colour = COLOURS[stimuli.holdout, shuffled(rank, LONGEST, game.key)]
        put_oval(game, side, x, STAND_HEIGHT + 0.65, z, 0.5, 0.6, colour)
    game.x, game.z, game.yaw = START_X, START_Z, 0.0
    game.v_x, game.v_z = 0.0, 0.0


@jit
def play(game, action, scale, stimuli):
    """Walk; whoever touches a stand has chosen, and faces the next pair, the same one again, or the end."""
    walk(game, action, SPEED, RADIUS)
    side = touched_box(game, 0, 2, RADIUS)
    if side < 0:
        return 0.0
    game.choice = side
    game.choices += 1
    is_correct = side == game.correct
    if game.challenge:
        game.over = ENDED
        return CHALLENGE_REWARD if is_correct else 0.0
    if is_correct:
        game.learned |= 1 << game.low
        next_pair(game)
    show_pair(game, stimuli)
    return REWARD if is_correct else 0.0


# --- scripted players


@jit
def go_to_side(game, side):
    """In a straight line: nothing stands between the start and either stand."""
    box = game.boxes[side]
    return steer_towards(game, (box[0] + box[1]) / 2, (box[4] + box[5]) / 2)


@jit
def remember(game):
    """Knows the whole order from the first pair on."""
    return go_to_side(game, game.correct)


@jit
def forget(game):
    """Guesses anew at every choice."""
    return go_to_side(game, side_draw(game, GUESSES, game.choices, 2))


@jit
def advise(game):
    """As bits: the way to either stand."""
    return without_turning(1 << go_to_side(game, LEFT) | 1 << go_to_side(game, RIGHT))


TASK = walked_task(
    name="transitive_inference",
    title="Transitive Inference",
    rule="Of each pair one is higher: learn the order of the chain, then choose between two that never met.",
    instructions=(
        "The colours have a hidden order. Two of them stand before you: walk into the higher one.",
        "Right pays 1 and brings another pair; wrong pays 0 and brings the same pair again.",
        "At last come two that you never saw together: the higher one pays 5.",
    ),
    counter=("choices", "Choices"),
    stimuli={"train": ", ".join(TRAIN_COLOURS), "holdout": ", ".join(HOLDOUT_COLOURS)},
    family="rooms",
    rules=WalkedRules(begin_episode, play, remember, forget),
    advise=advise,
    scales=SCALES,
    scale_record=SCALE,
    game=GAME,
    report=REPORT,
    checks={
        "objects": as_begun,
        "learned": up_to(lambda kept: (1 << kept.games["objects"] - 1) - 1),
        **dict.fromkeys(("low", "high"), below_count(lambda kept: kept.games["objects"])),
        **dict.fromkeys(("correct", "challenge"), within(0, 1)),
        "choice": within(-1, RIGHT),
        "choices": within(0, MANY),
    },
    card_step=34,
    curriculum=({"objects": 4}, {"objects": 5}),
    curriculum_share=0.9,  # who guesses has 0.7 of it
)
