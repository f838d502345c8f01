"""What a person is told: names of levels, and the right answer at the end."""

import numpy as np
import pytest

from memorylab.envs.spec import GameSpec
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import TASKS, find_task
from memorylab.web.catalogue import described, every_task
from memorylab.web.endings import right_answer
from memorylab.web.game import PlayedGame
from memorylab.web.level_names import level_title


def played_by(task: str, player: str, seed: int = 3, **scale) -> PlayedGame:
    """To its end, by a scripted player."""
    game = PlayedGame(GameSpec(find_task(task).name, scale=scale), seed)
    action = np.zeros(1, np.int64)
    while not game.is_over:
        game.batch.act(player, action)
        game.step(int(action[0]))
    return game


def played_until_wrong(task: str, **scale) -> PlayedGame:
    """By a player who guesses, up to the first wrong choice at the end."""
    games = (played_by(task, "forgetting", seed, **scale) for seed in range(30))
    return next(game for game in games if game.record["choice"] not in (-1, game.record[right_field(game)]))


def right_field(game: PlayedGame) -> str:
    return game.batch.task.report["right_choice"]


def test_the_block_that_changed_is_named():
    game = played_by("sdb", "remembering", room=8, corridor=3, delay=0)
    before, after = (game.batch.task.stimuli["train"].lower().split(", ") for _ in range(2))
    said = right_answer(game)
    assert said.startswith("Right: the ")
    assert said.endswith(" in the first room.")
    _, now, *_, then = said.removesuffix(" in the first room.").replace("block had changed: it was ", "").split()[1:]
    assert (now in after, then in before, now != then) == (True, True, True)
    wrong = right_answer(played_until_wrong("sdb", room=8, corridor=3, delay=0))
    assert wrong.startswith("You walked into the ")
    assert "had changed: it was" in wrong
    idle = PlayedGame(GameSpec("spot_diff_basic", scale={"seconds": 0.1}), 1)
    while not idle.is_over:
        idle.step(idle.nothing)
    assert right_answer(idle).startswith("You chose none; the ")


def test_the_figure_that_changed_is_named():
    said = right_answer(played_by("sdm", "remembering", room=8, corridor=3, delay=0))
    figures = find_task("sdm").stimuli["train"].split(", ")
    first, then = said.removesuffix(".").split("first ")[1].split(", then ")
    assert said.startswith(("Right: the yellow one moved differently", "Right: the turquoise one moved differently"))
    assert first in figures
    assert then in figures
    assert first != then


def test_the_higher_one_of_the_last_pair_is_named():
    said = right_answer(played_by("ti", "remembering", objects=4))
    assert said.endswith("is the higher one; as you said.")
    assert "you chose" in right_answer(played_until_wrong("ti", objects=4))
    open_pair = PlayedGame(GameSpec("transitive_inference"), 1)
    assert right_answer(open_pair).startswith("Of the pair on show ")


def test_the_answer_to_the_last_trial_is_named():
    said = right_answer(played_by("cr", "remembering", trials=1))
    assert said == "The answer to the last trial: new, the left-hand button; as you said."
    assert right_answer(PlayedGame(GameSpec("continuous_recognition"), 1)) is None  # nothing was asked yet
    game = PlayedGame(GameSpec("continuous_recognition", scale={"trials": 2}), 1)
    action = np.zeros(1, np.int64)
    while game.record["correct"] < 0:
        game.batch.act("remembering", action)
        game.step(int(action[0]))
    assert right_answer(game) == "The last trial was still open; its answer: new, the left-hand button."
    assert right_answer(PlayedGame(GameSpec("visible_goal_with_buildings"), 1)) is None


def test_levels_have_names_that_a_person_understands():
    assert level_title("arbitrary_visuomotor_mapping", "train") == "As in training"
    assert level_title("arbitrary_visuomotor_mapping", "holdout_extrapolate") == "Longer and with new pictures"
    assert level_title("spot_diff_multi_object", "extrapolate") == "With more blocks"
    assert level_title("one of a user's own", "holdout_interpolate") == "In between and with new stimuli"
    for task in TASKS:
        titles = [level_title(task, level) for level in LEVELS]
        assert len(set(titles)) == len(LEVELS)
        assert not any("_" in title or "holdout" in title.lower() for title in titles)


def test_what_is_one_choice_is_played_in_a_series_of_ten():
    told = {task["short"]: task for task in map(described, every_task())}
    assert {short for short, task in told.items() if task["series"] == 10} == {"sdb", "sdp", "sdmo", "sdm"}
    assert {task["series"] for task in told.values()} == {1, 10}


@pytest.mark.parametrize("task", TASKS)
def test_nobody_is_told_to_go_north(task):
    lines = " ".join(find_task(task).instructions)
    assert "north" not in lines
    assert "dark opening" in lines or not task.startswith("spot_diff")
