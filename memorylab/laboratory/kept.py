"""What a run's folder holds besides its scores: evaluations on any level, and walks."""

from collections.abc import Callable, Iterable

from memorylab.laboratory.evaluate import Evaluation, summed_up, walks
from memorylab.laboratory.find_runs import Run
from memorylab.laboratory.human_normalised import snapshot
from memorylab.laboratory.references import Yardstick
from memorylab.learning.trained import load_trained
from memorylab.runs.checkpoints import checkpoints, step_of
from memorylab.runs.tables import read_rows
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import find_task

ROUTES_SEED = 3_000_003
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
    found = summed_up(read_rows(run.folder / "evaluations.csv"), run.task)
    step = nearest(run, {e.step for e in found})
    return [e for e in found if e.step == step]


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
    return nearest(run, (int(folder.name) for folder in (run.folder / "routes").glob("*") if folder.name.isdigit()))


def walk_snapshots(runs: Iterable[Run], number: int) -> None:
    """Navigation runs whose snapshot has weights and has not been walked yet."""
    for run in runs:
        kept = [step_of(path) for path in checkpoints(run.folder / "snapshot")]
        if number and kept and find_task(run.task).report.get("goal_step") and walked_step(run) != kept[-1]:
            walks(load_trained(run.folder), PAPER_LEVELS, number, ROUTES_SEED, lambda: None)
