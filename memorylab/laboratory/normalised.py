"""From evaluated episodes to a score per model, task and level: the procedure of the paper's appendix B.1."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from memorylab.laboratory.references import Yardstick
from memorylab.laboratory.runs import Run
from memorylab.tasks.levels import PAPER_LEVELS

WINDOW = 10
ALPHA = 0.001
PSYCHLAB_AND_MAZE_ALPHA = 0.05
PSYCHLAB_AND_MAZE = (
    "arbitrary_visuomotor_mapping",
    "continuous_recognition",
    "change_detection",
    "what_then_where",
    "visible_goal_procedural_maze",
)


def smoothed(values: np.ndarray, alpha: float) -> np.ndarray:
    """Exponential moving average: the mean of all values so far, each weighing (1 - alpha)^age."""
    decay = [1.0, alpha - 1.0]
    return lfilter([1.0], decay, values) / lfilter([1.0], decay, np.ones(len(values)))


def windows(values: np.ndarray, length: int = WINDOW) -> np.ndarray:
    """Means of `length` values in a row, at the place of their last; NaN before the first whole window.

    A run with fewer values than that has one window, all of it.
    """
    length = min(length, len(values))
    means = np.full(len(values), np.nan)
    means[length - 1 :] = np.lib.stride_tricks.sliding_window_view(values, length).mean(-1)
    return means


class Snapshot(NamedTuple):
    """A run where its training score was best."""

    step: int
    scores: dict[str, float]  # level -> rolling score at that step


def snapshot(run: Run) -> Snapshot | None:
    """None for a run that was never evaluated on its training level."""
    if "train" not in run.curves:
        return None
    alpha = PSYCHLAB_AND_MAZE_ALPHA if run.task in PSYCHLAB_AND_MAZE else ALPHA
    rolling = {level: windows(smoothed(curve.means, alpha)) for level, curve in run.curves.items()}
    step = int(run.curves["train"].steps[np.nanargmax(rolling["train"])])
    scores = {}
    for level, values in rolling.items():
        place = np.searchsorted(run.curves[level].steps, step, side="right") - 1
        if place >= 0 and np.isfinite(values[place]):
            scores[level] = float(values[place])
    return Snapshot(step, scores)


@dataclass(frozen=True)
class Cell:
    """One model on one level of one task; an entry per seed."""

    task: str
    model: str
    level: str
    scores: list[float]  # episode rewards
    normalised: list[float] = field(default_factory=list)  # in percent; empty without references

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        return standard_error(self.scores)

    @property
    def percent(self) -> "Average | None":
        """The mean over seeds of the normalised score."""
        return Average(float(np.mean(self.normalised)), standard_error(self.normalised), 1) if self.normalised else None


class Average(NamedTuple):
    """A normalised score, averaged over so many tasks."""

    mean: float
    standard_error: float  # from the seeds
    tasks: int


def standard_error(values: Sequence[float]) -> float:
    """NaN for one value: nothing is known of its error."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else float("nan")


Cells = dict[tuple[str, str, str], Cell]  # by task, model, level


def cells(runs: Iterable[Run], yardstick: Yardstick, clip: bool = False) -> Cells:
    """Scores at the snapshots of all runs. Clipping to 0 .. 100 is off in the paper."""
    found: Cells = {}
    for run in runs:
        taken = snapshot(run)
        for level, score in taken.scores.items() if taken else ():
            cell = found.setdefault((run.task, run.model, level), Cell(run.task, run.model, level, [], []))
            cell.scores.append(score)
            percent = yardstick.normalise(run.task, level, score)
            if percent is not None:
                cell.normalised.append(min(max(percent, 0.0), 100.0) if clip else percent)
    return found


def averages(found: Cells) -> dict[tuple[str, str], Average]:
    """(model, level) -> average normalised score over the tasks that the model has; see `tasks` for how many."""
    by_model: dict[tuple[str, str], list[Average]] = {}
    for cell in found.values():
        if cell.percent:
            by_model.setdefault((cell.model, cell.level), []).append(cell.percent)
    return {key: average(group) for key, group in by_model.items()}


def average(group: Sequence[Average]) -> Average:
    """The errors of tasks add up as independent ones."""
    error = sum(one.standard_error**2 for one in group) ** 0.5 / len(group)
    return Average(float(np.mean([one.mean for one in group])), error, len(group))


def sorted_models(found: Cells) -> list[str]:
    """As in the paper's heat map: the highest average on the training level first."""
    mean = averages(found)
    models = dict.fromkeys(cell.model for cell in found.values())
    return sorted(models, key=lambda model: -mean[model, "train"].mean if (model, "train") in mean else np.inf)


def sorted_tasks(found: Cells) -> list[str]:
    """The task with the highest training score over models first."""
    by_task: dict[str, list[float]] = {}
    for cell in found.values():
        scores = by_task.setdefault(cell.task, [])
        if cell.level == PAPER_LEVELS[0] and cell.percent:
            scores.append(cell.percent.mean)
    return sorted(by_task, key=lambda task: -float(np.mean(by_task[task])) if by_task[task] else np.inf)
