"""Runs on disk, ours or anybody's: a folder with `config.json` (task, model, seed) and `scores.csv`."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memorylab.learning.scores import Curve, as_curve, halves
from memorylab.runs.config import completed, differing, model_name, read_config, without_unused
from memorylab.runs.scores import by_level, read_scores
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import find_task

Complain = Callable[[str], None]
LONGEST_NAME = 100
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
        if not is_folder(path):
            complain(f"{str(path)[:300]} is not a folder")
            continue
        below = sorted(file.parent for file in path.rglob("scores.csv") if not is_of_report(file))
        if not below:
            complain(f"{path} holds no run: there is no scores.csv in it or below")
        folders += [folder for folder in below if folder not in folders]
    runs = [run for folder in folders if (run := read_run(folder, complain)) is not None]
    return same_settings(runs, complain)


def is_folder(path: Path) -> bool:
    """A name that is too long for the system is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


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
        run = Run(folder, task, checked_name(model_name(config)), seed_of(config), config)
        scores = by_level(read_scores(folder / "scores.csv", complain, LEVELS))
    except (OSError, ValueError) as problem:
        complain(f"{str(problem)[:500]}; {folder} is left out")
        return None
    run.curves = {level: as_curve(*episodes) for level, episodes in scores.items()}
    run.train_halves = halves(*scores["train"]) if "train" in scores else None
    if not run.curves:
        complain(f"{folder / 'scores.csv'} has no usable row; {folder} is left out")
        return None
    return run


def checked_name(model: str) -> str:
    """Or one sentence: it stands in every table and legend."""
    if len(model) > LONGEST_NAME or not model.isprintable():
        raise ValueError(f"a model's name is up to {LONGEST_NAME} letters that can be printed, not {model[:30]!r} ...")
    return model


def seed_of(config: dict[str, Any]) -> int:
    """Or one sentence."""
    try:
        return int(config.get("seed", 0))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"the seed must be a whole number, not {str(config['seed'])[:30]!r}") from None


def of_one_version(one: dict[str, Any], other: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of our own runs: what a version does not have yet has its default, what it has no longer may be there unused."""
    if not all(isinstance(config.get("learner"), dict) and "agent" in config for config in (one, other)):
        return one, other
    one, other = completed(one, defaults(other)), completed(other, defaults(one))
    return without_unused(one, other), without_unused(other, one)


def defaults(config: dict[str, Any]) -> dict[str, Any]:
    """Of every setting. Only who has PyTorch knows them; without it a setting that one run does not name is as in the
    other, whose configuration this is."""
    try:
        from memorylab.learning.config import TrainConfig
    except ImportError:
        return config
    return json.loads(json.dumps(asdict(TrainConfig(config["task"]))))


def same_settings(runs: list[Run], complain: Complain) -> list[Run]:
    """Runs of one task and model are compared as seeds of one thing, so they must be of one configuration."""
    first: dict[tuple[str, str], Run] = {}
    seen: dict[tuple[str, str, int], Run] = {}
    kept = []
    for run in runs:
        leader = first.setdefault((run.task, run.model), run)
        differences = [
            difference
            for difference in differing(*of_one_version(leader.config, run.config))
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
