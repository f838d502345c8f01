"""The scripted players as oracles: the rules pay what they should to a perfect, a forgetful and a random player."""

import pytest

from memorylab.laboratory.baseline import play_episodes
from memorylab.laboratory.paper import episode_rewards
from memorylab.tasks.levels import LEVELS, PAPER_LEVELS
from memorylab.tasks.task import TASKS, find_task

TRIALS = dict.fromkeys(LEVELS, 50) | {"interpolate": 40, "holdout_interpolate": 40}
TRIALS |= {"extrapolate": 75, "holdout_extrapolate": 75}
# What a guess is worth, of 50: AVM reads the cue at a first showing and guesses later, CR knows the first trial.
CHANCE = {"avm": 14.7, "cr": 25.5, "cd": 25.0, "wtw": 12.5}


def trials(task: str, level: str) -> int:
    return TRIALS[level] if find_task(task).short in ("avm", "cr") else 50


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("task", TASKS)
def test_remembering_is_all_but_perfect(task, level):
    scores, _ = play_episodes(task, level, "remembering", 64, seed=0)
    assert scores.mean() >= trials(task, level) - 0.5
    assert scores.max() == trials(task, level)


@pytest.mark.parametrize("task", CHANCE)
def test_forgetting_is_at_chance(task):
    scores, _ = play_episodes(task, "train", "forgetting", 256, seed=0)
    assert scores.mean() == pytest.approx(CHANCE[task], rel=0.1)


@pytest.mark.parametrize("level", PAPER_LEVELS)
@pytest.mark.parametrize("task", TASKS)
def test_random_is_near_the_papers_random(task, level):
    scores, _ = play_episodes(task, level, "random", 4096, seed=0)
    paper = episode_rewards()[task, "Random", level].mean
    if task == "continuous_recognition":
        assert scores.mean() <= 0.13
    else:
        assert abs(scores.mean() - paper) <= 0.03 or paper / 2 <= scores.mean() <= paper * 2
