"""Small copies of a run: what was learned and recorded, without games, stores and trajectories."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memorylab.runs.checkpoints import load_checkpoint, save_checkpoint
from memorylab.runs.config import read_config
from memorylab.runs.folder import RunFolder

OF_GAMES = ("games", "actor.")  # tensors of a checkpoint that are of the games which are played
RECORDS = ("config.json", "metrics.csv", "scores.csv", "actors.csv", "evaluations.csv", "goal_times.csv")


def copy_records(run: Path, out: Path, names: tuple[str, ...] = RECORDS) -> None:
    """Those of these files that there are."""
    for name in names:
        if (run / name).exists():
            shutil.copyfile(run / name, out / name)


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of `out` when all went well."""
    temporary, before = (out.with_name(f".{out.name}.{word}") for word in ("part", "before"))
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    try:
        yield temporary
        if out.exists():
            shutil.rmtree(before, ignore_errors=True)  # of a crash in this very moment
            out.rename(before)
        temporary.rename(out)
        shutil.rmtree(before, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def slim(run: Path, out: Path) -> int:
    """A copy that goes on from the newest checkpoint with new games; the step of that."""
    read_config(run)  # or one sentence
    if out.exists():
        raise ValueError(f"{out} is there already; give another --out")
    found = load_checkpoint(RunFolder(run).checkpoints)
    if found is None:
        raise ValueError(f"{run} has no checkpoint to go on from")
    tensors, facts = found
    learned = {name: part for name, part in tensors.items() if not name.startswith(OF_GAMES)}
    with whole_folder(out) as folder:
        copy_records(run, folder)
        save_checkpoint(RunFolder(folder).checkpoints, facts["step"], learned, without_games(facts))
        if RunFolder(run).snapshot.exists():
            shutil.copytree(RunFolder(run).snapshot, RunFolder(folder).snapshot)
    return facts["step"]


def without_games(facts: dict) -> dict:
    """No trajectory waits to be learned from."""
    return {**facts, **({"waiting_version": None, "waiting_episodes": []} if "waiting_version" in facts else {})}


def size(folder: Path) -> float:
    """In megabytes."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
