"""Runs as files, made up for tests: the paper's tables, or curves that rise to them."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from memorylab.laboratory.references import PAPER_NAMES, paper_scores
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import TASKS

MODELS = [name for name in PAPER_NAMES if name not in ("random", "human")]


def write_run(folder: Path, task: str, model: str, seed: int, rows: Sequence[tuple], **config) -> Path:
    """`rows`: (step, level, return)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"task": task, "model": model, "seed": seed, **config}))
    lines = [f"{step},{level},0,{score},100,1" for step, level, score in rows]
    (folder / "scores.csv").write_text("\n".join(["step,level,scale,return,length,seed", *lines]) + "\n")
    return folder


def write_paper(folder: Path) -> None:
    """The paper's reward tables as if they were runs of a single evaluation."""
    paper = paper_scores()
    for task in TASKS:
        for model in MODELS:
            rows = [(1000, level, paper[task, model, level].mean) for level in PAPER_LEVELS]
            write_run(folder / f"{task}-{model}", task, model, 0, rows)


def write_curves(folder: Path, seeds: int, points: int, tasks: Sequence[str] = TASKS) -> None:
    """Ten models: curves that rise towards the paper's scores."""
    rng = np.random.default_rng(0)
    paper = paper_scores()
    rise = 1 - np.exp(-np.linspace(0, 4, points))
    for task in tasks:
        for model in [*MODELS, "mra-njb"]:
            for seed in range(seeds):
                rows: list[tuple] = []
                for level in PAPER_LEVELS:
                    goal = paper[task, model if model in MODELS else "lstm+mem", level].mean
                    scores = goal * rise * rng.normal(1, 0.05) + goal * rng.normal(0, 0.05, points)
                    rows += [(1000 * (i + 1), level, score) for i, score in enumerate(scores)]
                write_run(folder / f"{task}-{model}-{seed}", task, model, seed, rows)
