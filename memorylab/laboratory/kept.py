"""What a run's folder holds besides its scores: evaluations on any level, and walks."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from memorylab.laboratory.evaluations import Evaluation, summed_up
from memorylab.laboratory.find_runs import Run
from memorylab.laboratory.human_normalised import snapshot
from memorylab.laboratory.references import Yardstick
from memorylab.runs.files import read_bytes
from memorylab.runs.folder import RunFolder
from memorylab.runs.scores import MOST
from memorylab.runs.tables import read_rows, whole_number
from memorylab.tasks.levels import LEVELS, PAPER_LEVELS
from memorylab.tasks.task import find_task

PNG = b"\x89PNG"
ROUTES_SEED = 3_000_003
NUMBERS = {"evaluations.csv": ("return", "length"), "goal_times.csv": ("goal", "steps")}  # columns that must be some
REFERENCE_LEVEL = {
    "train": "train",
    "holdout_small": "train",
    "holdout_large": "train",
    "extrapolate": "holdout_extrapolate",
    "holdout_extrapolate": "holdout_extrapolate",
}


def level_percents(run: Run, yardstick: Yardstick) -> dict[str, float]:
    """Normalised by the references for the same scale, since a scale may change what can be scored at all."""
    found = {}
    for e in kept_evaluations(run):
        percent = yardstick.normalise(run.task, REFERENCE_LEVEL.get(e.level, ""), e.mean)
        if not e.keyword and percent is not None:
            found[e.level] = percent
    return found


def kept_evaluations(run: Run) -> list[Evaluation]:
    """Of the snapshot, or else of the weights nearest to it that were evaluated; `other_weights` then says so."""
    found = summed_up(kept_rows(run.folder / "evaluations.csv"), run.task)
    step = nearest(run, {e.step for e in found})
    return [e for e in found if e.step == step]


def kept_rows(file: Path, complain: Callable[[str], None] = lambda _: None) -> list[dict[str, str]]:
    """Of evaluations.csv or goal_times.csv; what is damaged is named and left out."""
    try:
        rows = read_rows(file)
    except (OSError, ValueError) as problem:
        complain(f"{problem}; it is left out")
        return []
    sound = [row for row in rows if is_sound(row, NUMBERS[file.name])]
    if len(sound) < len(rows):
        complain(f"{file}: rows that are none, {len(rows) - len(sound)} of {len(rows)}, are left out")
    return sound


def is_sound(row: Mapping[str, str], numbers: Iterable[str]) -> bool:
    """Its numbers are some, its level is one, and its keyword can be part of a file's name."""
    keyword, step = row.get("keyword", "-"), whole_number(row.get("step", ""))
    return (
        step is not None
        and all(is_number(row.get(name, "")) for name in numbers)
        and row.get("level") in LEVELS
        and (not keyword or (keyword.isidentifier() and len(keyword) < 50))
        and len(row.get("value", "")) < 1000
        and "value" in row
    )


def is_number(text: str) -> bool:
    """Of a size that can be reckoned with."""
    try:
        return abs(float(text)) < MOST
    except ValueError:
        return False


def name_bad_rows(runs: Iterable[Run], complain: Callable[[str], None]) -> None:
    """Once for each file; whoever reads them then leaves them out without a word."""
    for run in runs:
        for name in NUMBERS:
            kept_rows(run.folder / name, complain)


def nearest(run: Run, steps: Iterable[int]) -> int | None:
    """The snapshot's step, or that of these which is nearest to it."""
    taken = snapshot(run)
    wanted = taken.step if taken else max(run.curves[level].steps[-1] for level in run.curves)
    return min(steps, key=lambda step: abs(step - wanted), default=None)


def other_weights(runs: Iterable[Run], complain: Callable[[str], None]) -> None:
    """Runs whose kept evaluations or walks are of other weights than the snapshot's."""
    for run in runs:
        taken, evaluated = snapshot(run), kept_evaluations(run)
        played = {"evaluated": evaluated[0].step if evaluated else None, "walked": walked_step(run)}
        for done, step in played.items():
            if taken and step not in (None, taken.step):
                complain(f"{run.folder} was {done} with its weights of step {step:,}; its snapshot is {taken.step:,}")


def walked_step(run: Run) -> int | None:
    """Of the weights whose routes are shown."""
    steps = (whole_number(folder.name) for folder in (run.folder / "routes").glob("*"))
    return nearest(run, [step for step in steps if step is not None])


def walk_snapshots(runs: Iterable[Run], number: int, complain: Callable[[str], None] = lambda _: None) -> None:
    """Navigation runs whose snapshot has weights and has not been walked yet; the zoo stays as it is."""
    for run in runs:
        files = RunFolder(run.folder)
        can_walk = files.snapshot.is_dir() and not files.card.exists()
        if number and can_walk and find_task(run.task).report.get("goal_step"):
            try:
                walk_snapshot(run, number)
            except (ImportError, OSError, ValueError, TypeError, RuntimeError) as problem:
                complain(f"{run.folder} cannot be walked: {str(problem)[:500]}")


def walk_snapshot(run: Run, number: int) -> None:
    """One of them; this alone needs PyTorch."""
    from memorylab.laboratory.evaluate import walks
    from memorylab.learning.trained import load_trained
    from memorylab.runs.checkpoints import checkpoints, step_of

    kept = [step_of(path) for path in checkpoints(run.folder / "snapshot")]
    if kept and walked_step(run) != kept[-1]:
        walks(load_trained(run.folder), PAPER_LEVELS, number, ROUTES_SEED, lambda: None)


def no_picture_of(file: Path, folder: Path) -> str | None:
    """What is wrong with it, if it is not a picture in that folder: a link may lead anywhere."""
    if not file.resolve().is_relative_to(folder.resolve()):
        return "leads out of the folder of its run"
    try:
        return None if read_bytes(file).startswith(PNG) else "is not a PNG picture"
    except (OSError, ValueError) as problem:
        return f"cannot be read ({problem})"
