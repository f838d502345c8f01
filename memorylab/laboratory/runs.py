"""Runs on disk, ours or anybody's: a folder with `config.json` (task, model, seed) and `scores.csv`."""

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from memorylab.learning.run_folder import differing, read_json
from memorylab.learning.scores import Curve, as_curve, halves
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import find_task

Complain = Callable[[str], None]
COMPLAINTS_PER_FILE = 3
NEEDED = ("step", "level", "return")
MAY_DIFFER = ("seed", "steps")  # within a group of runs that are compared as one


@dataclass
class Run:
    folder: Path
    task: str
    model: str
    seed: int
    config: dict[str, Any]
    curves: dict[str, Curve] = field(default_factory=dict)
    train_halves: tuple[Curve, Curve] | None = (
        None  # every other episode of `train`, to pick by one and score by the other
    )


def find_runs(paths: Iterable[Path], complain: Complain) -> list[Run]:
    """All runs in and below these folders. What cannot be read is told to `complain` and left out."""
    folders: list[Path] = []
    for path in paths:
        if not path.is_dir():
            complain(f"{path} is not a folder")
            continue
        below = sorted(file.parent for file in path.rglob("scores.csv") if not is_of_report(file))
        if not below:
            complain(f"{path} holds no run: there is no scores.csv in it or below")
        folders += [folder for folder in below if folder not in folders]
    runs = [run for folder in folders if (run := read_run(folder, complain)) is not None]
    return same_settings(runs, complain)


def is_of_report(file: Path) -> bool:
    """A report's own table of scores, where it was written among the runs."""
    return (file.parent.parent / "report.html").exists() and file.parent.name == "tables"


def read_run(folder: Path, complain: Complain) -> Run | None:
    try:
        config = read_json(folder / "config.json")
        missing = [name for name in ("task", "model") if not isinstance(config.get(name), str)]
        if missing:
            raise ValueError(f"{folder / 'config.json'} does not say the {' and the '.join(missing)}")
        task = find_task(config["task"]).name
        run = Run(folder, task, config["model"], int(config.get("seed", 0)), config)
        scores = read_scores(folder / "scores.csv", complain)
    except (OSError, ValueError) as problem:
        complain(f"{problem}; {folder} is left out")
        return None
    run.curves = {level: as_curve(*episodes) for level, episodes in scores.items()}
    run.train_halves = halves(*scores["train"]) if "train" in scores else None
    if not run.curves:
        complain(f"{folder / 'scores.csv'} has no usable row; {folder} is left out")
        return None
    return run


def read_scores(file: Path, complain: Complain) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Level -> steps and returns of its episodes. A damaged row is named and left out."""
    by_level: dict[str, tuple[list[int], list[float]]] = {}
    damaged = 0
    with file.open(newline="", errors="replace") as lines:
        reader = csv.reader(lines)
        header = next(reader, [])
        missing = [name for name in NEEDED if name not in header]
        if missing:
            raise ValueError(f"{file} has no column {' and no column '.join(missing)}")
        at_step, at_level, at_return = (header.index(name) for name in NEEDED)
        for row in reader:
            try:
                level, step, score = row[at_level], int(row[at_step]), float(row[at_return])
                if level not in LEVELS or step < 0 or score - score != 0:  # not NaN or infinite
                    raise ValueError
            except (ValueError, IndexError):
                damaged += 1
                if damaged <= COMPLAINTS_PER_FILE:
                    complain(f"{file}, row {reader.line_num}: {','.join(row)[:80]!r} is no score; it is left out")
                continue
            steps, scores = by_level.setdefault(level, ([], []))
            steps.append(step)
            scores.append(score)
    if damaged > COMPLAINTS_PER_FILE:
        complain(f"{file}: {damaged - COMPLAINTS_PER_FILE} more rows like these are left out")
    return {level: (np.array(steps), np.array(scores)) for level, (steps, scores) in by_level.items()}


def same_settings(runs: list[Run], complain: Complain) -> list[Run]:
    """Runs of one task and model are compared as seeds of one thing, so they must be of one configuration."""
    first: dict[tuple[str, str], Run] = {}
    seen: dict[tuple[str, str, int], Run] = {}
    kept = []
    for run in runs:
        leader = first.setdefault((run.task, run.model), run)
        differences = [
            difference
            for difference in differing(leader.config, run.config)
            if difference.split(" ")[0] not in MAY_DIFFER
        ]
        twin = seen.setdefault((run.task, run.model, run.seed), run)
        if differences:
            complain(
                f"{run.folder} is left out: beside {leader.folder}, also {run.model} on {run.task}, "
                f"{'; '.join(differences[:3])}; report them apart"
            )
        elif twin is not run:
            complain(f"{run.folder} is left out: {twin.folder} is the same run, seed {run.seed} too")
        else:
            kept.append(run)
    return kept
