"""Runs small enough to be done in a second, and whole folders of them compared."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from memorylab.agent import model_config
from memorylab.learning.config import CurriculumConfig, TrainConfig
from memorylab.learning.curriculum import Curriculum
from memorylab.learning.evaluation import evaluate
from memorylab.learning.presets import preset_config
from memorylab.runs.checkpoints import load_checkpoint
from memorylab.runtime import in_process
from memorylab.runtime import training as module
from memorylab.runtime.in_process import training_here
from memorylab.runtime.training import Training
from memorylab.tasks.task import find_task

GAMES, UNROLL = 4, 5
UPDATE = GAMES * UNROLL  # steps
TIMES = ("seconds", "steps_per_second")  # of metrics.csv: these differ from run to run


def quick_evaluate(agent, game, *arguments, **options):
    """A trial of a second at most."""
    return evaluate(agent, game.changed(trials=1, seconds=1), *arguments, **options)


def make_hasty(set_attribute: Callable[[object, str, Any], None]) -> None:
    """Every update is reported, an evaluation takes a second of game time, any score passes a stage."""
    set_attribute(module, "REPORT_SECONDS", -1.0)
    set_attribute(in_process, "evaluate", quick_evaluate)
    set_attribute(Curriculum, "stage_goal", lambda self: float("inf") if self.is_over else 0.0)


def tiny_config(model: str = "mra", **changes: Any) -> TrainConfig:
    sizes = {"height": 20, "width": 24, "embedding_size": 8, "hidden_size": 8, "capacity": 16, "neighbours": 3}
    agent = replace(preset_config("avm").agent, **sizes, key_size=4, cpc_steps=3)
    settings: dict[str, Any] = {
        "num_envs": GAMES,
        "unroll": UNROLL,
        "steps": 40 * UPDATE,
        "evaluate_every": 10 * UPDATE,
        "evaluation_episodes": 2,
        "evaluation_levels": ("train", "holdout_extrapolate"),
        "curriculum": CurriculumConfig(("seconds=1", "seconds=2"), episodes=6),
        "teacher": "forgetting",
    }
    config = preset_config("avm")
    learner = replace(config.learner, schedule="constant", teacher_steps=30 * UPDATE)  # runs here are made longer
    config = replace(config, learner=learner)
    return replace(config, model=model, agent=model_config(model, agent), **(settings | changes))


def trained(config: TrainConfig, folder: Path) -> Training:
    training = training_here(config, folder, threads=1)
    try:
        training.run()
    finally:
        training.close()
    return training


def rows(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(newline="") as lines:
        return [{name: text for name, text in row.items() if name not in TIMES} for row in csv.DictReader(lines)]


def assert_same_run(one: Path, other: Path) -> None:
    """Weights, moments, games and memories bit for bit; records row for row."""
    (left, facts), (right, other_facts) = (load_checkpoint(folder / "checkpoints") for folder in (one, other))
    assert left.keys() == right.keys()
    for tensors in (left, right):
        games = tensors["games"].numpy()[:, : find_task("avm").game.itemsize].copy().view(find_task("avm").game)
        games["repaint"] = 0  # games just restored will paint once more
        tensors["games"] = torch.from_numpy(games.view("u1"))
    for name in left:
        assert torch.equal(left[name], right[name]), name
    assert {**facts, "seconds": 0} == {**other_facts, "seconds": 0}
    assert rows(one / "metrics.csv") == rows(other / "metrics.csv")
    assert rows(one / "scores.csv") == rows(other / "scores.csv")
    best, other_best = (load_checkpoint(folder / "snapshot") for folder in (one, other))
    assert (best is None) == (other_best is None)
    if best and other_best:
        assert best[1] == other_best[1]
        assert all(torch.equal(best[0][name], other_best[0][name]) for name in best[0])
