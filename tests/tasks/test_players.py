"""The scripted players as oracles: the rules pay what they should to a perfect, a forgetful and a random player."""

import runpy
from functools import cache
from pathlib import Path

import pytest

from memorylab.envs.scripted import play_episodes
from memorylab.laboratory.references import paper_scores
from memorylab.tasks.levels import LEVELS, PAPER_LEVELS
from memorylab.tasks.task import TASKS, find_task

ANCHORS = Path(__file__).parents[2] / "studies" / "anchors.py"
PSYCHLAB = TASKS[:4]

TRIALS = dict.fromkeys(LEVELS, 50) | {"interpolate": 40, "holdout_interpolate": 40}
TRIALS |= {"extrapolate": 75, "holdout_extrapolate": 75}
# What a guess is worth, of 50: AVM reads the cue at a first showing and guesses later, CR knows the first trial.
CHANCE = {"avm": 14.7, "cr": 25.5, "cd": 25.0, "wtw": 12.5}


def trials(task: str, level: str) -> int:
    return TRIALS[level] if find_task(task).short in ("avm", "cr") else 50


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("task", PSYCHLAB)
def test_remembering_is_all_but_perfect(task, level):
    scores, _ = play_episodes(task, level, "remembering", 64, seed=0)
    assert scores.mean() >= trials(task, level) - 0.5
    assert scores.max() == trials(task, level)


@pytest.mark.parametrize("task", CHANCE)
def test_forgetting_is_at_chance(task):
    scores, _ = play_episodes(task, "train", "forgetting", 256, seed=0)
    assert scores.mean() == pytest.approx(CHANCE[task], rel=0.1)


@pytest.mark.parametrize("level", PAPER_LEVELS)
@pytest.mark.parametrize("task", PSYCHLAB)
def test_random_is_near_the_papers_random(task, level):
    scores, _ = play_episodes(task, level, "random", 1024, seed=0)
    paper = paper_scores()[task, "random", level].mean
    if task == "continuous_recognition":
        assert scores.mean() <= 0.13
    else:
        assert abs(scores.mean() - paper) <= 0.03 or paper / 2 <= scores.mean() <= paper * 2


# --- tasks that are walked through

# What the remembering player must reach: the better of the paper's human and best agent, on the three paper levels.
REMEMBERING = {
    "spot_diff_basic": (0.98, 0.98, 0.98),
    "spot_diff_passive": (0.98, 0.98, 0.98),
    "spot_diff_multi_object": (0.98, 0.98, 0.98),
    "spot_diff_motion": (0.98, 0.98, 0.98),
    "visible_goal_with_buildings": (36, 25.2, 14.3),
    "invisible_goal_with_buildings": (32.1, 12.4, 4.9),
    "invisible_goal_empty_arena": (13.1, 1.7, 0.3),
    "transitive_inference": (9.8, 9.8, 11.8),
}
# How far above that it may be where the paper's humans and agents say how fast one can be.
AT_MOST = {"visible_goal_with_buildings": 1.5, "invisible_goal_with_buildings": 1.5}
MAZE = {"train_small": 364, "train_large": 104, "holdout_interpolate": 198, "holdout_extrapolate": 86}


@cache
def remembering_score(task: str, level: str) -> float:
    """Two tests ask for it."""
    return float(play_episodes(task, level, "remembering", 128, seed=0)[0].mean())


@pytest.mark.parametrize("task", REMEMBERING)
def test_remembering_walkers_are_as_good_as_the_best(task):
    for level, least in zip(PAPER_LEVELS, REMEMBERING[task], strict=True):
        score = remembering_score(task, level)
        assert score >= least, level
        if task in AT_MOST and (level == "train" or task.startswith("visible")):
            assert score <= AT_MOST[task] * least, level


def test_who_walks_straight_to_the_corridor_of_basic_may_miss_the_blocks():
    seen_on_the_way = runpy.run_path(str(ANCHORS))["seen_on_the_way"]
    none, _, both = seen_on_the_way("straight", games=512)
    assert both <= 0.5
    assert none >= 0.1
    assert seen_on_the_way("remembering", games=512)[2] > 0.9


@pytest.mark.parametrize("level", MAZE)
def test_the_maze_is_walked_better_than_humans_did(level):
    scores, _ = play_episodes("visible_goal_procedural_maze", level, "remembering", 32, seed=0)
    assert scores.mean() >= MAZE[level]


@pytest.mark.parametrize(
    ("task", "chance"), [("spot_diff_basic", 0.5), ("spot_diff_passive", 0.5), ("spot_diff_motion", 0.5)]
)
def test_forgetting_walkers_guess(task, chance):
    scores, _ = play_episodes(task, "train", "forgetting", 512, seed=0)
    assert scores.mean() == pytest.approx(chance, abs=0.08)


def test_forgetting_pays_in_no_task_that_needs_memory():
    for task in ("invisible_goal_with_buildings", "invisible_goal_empty_arena"):
        for level in PAPER_LEVELS:
            forgetting, _ = play_episodes(task, level, "forgetting", 64, seed=0)
            assert forgetting.mean() <= remembering_score(task, level) / 2
    scores, _ = play_episodes("spot_diff_multi_object", "holdout_extrapolate", "forgetting", 512, seed=0)
    assert scores.mean() == pytest.approx(1 / 7, abs=0.05)
    scores, _ = play_episodes("transitive_inference", "train_small", "forgetting", 512, seed=0)
    assert scores.mean() == pytest.approx(4 + 2.5, abs=0.4)  # every pair in the end, the challenge half of the time


@pytest.mark.parametrize("task", TASKS[4:])
def test_random_walkers_are_near_the_papers_random(task):
    paper = paper_scores()
    split = task in (
        "visible_goal_procedural_maze",
        "transitive_inference",
    )  # whose training scales the paper lists apart
    levels = ("train_small", "train_large") if split else ("train",)
    for level in (*levels, "holdout_interpolate", "holdout_extrapolate"):
        expected = paper[task, "random", level].mean
        scores, _ = play_episodes(task, level, "random", 256, seed=0)
        error = 2 * scores.std() / 16  # 256 episodes; results/ has longer runs
        low, high = (expected - 0.02, expected + 0.02) if expected < 0.1 else (expected / 1.6, expected * 1.6)
        if task == "visible_goal_procedural_maze":
            low, high = expected / 2, expected * 2
        assert low - error <= scores.mean() <= high + error, level
