"""Runs on disk, ours or anybody's: a folder with `config.json` (task, model, seed) and `scores.csv`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memorylab.learning.scores import Curve, as_curve, halves
from memorylab.runs.config import differing, model_name, read_config
from memorylab.runs.scores import by_level, read_scores
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import find_task

Complain = Callable[[str], None]
MAY_DIFFER = ("seed", "steps")  # within a group of runs that are compared as one


@dataclass
class Run:
    """One agent, trained on one task with one seed, and its scores."""

    folder: Path
    task: str
    model: str  # with a word on its teacher, if it had one
    seed: int
    config: dict[str, Any]
    curves: dict[str, Curve] = field(default_factory=dict)
    train_halves: tuple[Curve, Curve] | None = None  # every other episode of `train`: pick by one, score by the other


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
    """None if something is wrong with it."""
    try:
        config = read_config(folder)
        missing = [name for name in ("task", "model") if not isinstance(config.get(name), str)]
        if missing:
            raise ValueError(f"{folder / 'config.json'} does not say the {' and the '.join(missing)}")
        task = find_task(config["task"]).name
        run = Run(folder, task, model_name(config), int(config.get("seed", 0)), config)
        scores = by_level(read_scores(folder / "scores.csv", complain, LEVELS))
    except (OSError, ValueError) as problem:
        complain(f"{problem}; {folder} is left out")
        return None
    run.curves = {level: as_curve(*episodes) for level, episodes in scores.items()}
    run.train_halves = halves(*scores["train"]) if "train" in scores else None
    if not run.curves:
        complain(f"{folder / 'scores.csv'} has no usable row; {folder} is left out")
        return None
    return run


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
