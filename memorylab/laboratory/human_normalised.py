"""From evaluated episodes to a score per model, task and level: the procedure of the paper's appendix B.1."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from memorylab.laboratory.find_runs import Run
from memorylab.laboratory.references import Yardstick, memory_yardstick
from memorylab.learning.scores import alpha_of, best_step, score_at, unbiased_best
from memorylab.runs.scores import standard_error
from memorylab.tasks.levels import PAPER_LEVELS

Kind = Literal["human", "memory"]  # human-normalised score, memory score


class Snapshot(NamedTuple):
    """A run where its training score was best."""

    step: int
    scores: dict[str, float]  # level -> score there


def snapshot(run: Run) -> Snapshot | None:
    """None for a run that was never evaluated on its training level."""
    if run.train_halves is None:
        return None
    alpha = alpha_of(run.task)
    step = best_step(run.curves["train"], alpha)
    scores = {level: score_at(curve, alpha, step) for level, curve in run.curves.items()}
    scores["train"] = unbiased_best(run.train_halves, alpha)
    return Snapshot(step, {level: score for level, score in scores.items() if np.isfinite(score)})


@dataclass(frozen=True)
class Cell:
    """One model on one level of one task; an entry per seed."""

    task: str
    model: str
    level: str
    scores: list[float]  # episode rewards
    percents: dict[Kind, list[float]] = field(default_factory=lambda: {"human": [], "memory": []})

    @property
    def mean(self) -> float:
        """Over seeds."""
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        """Over seeds."""
        return standard_error(self.scores)

    def percent(self, kind: Kind) -> "Average | None":
        """The mean over seeds of a score in percent; None without references."""
        values = self.percents[kind]
        return Average(float(np.mean(values)), standard_error(values), 1) if values else None


class Average(NamedTuple):
    """A normalised score, averaged over so many tasks."""

    mean: float
    standard_error: float  # from the seeds
    tasks: int


Cells = dict[tuple[str, str, str], Cell]  # by task, model, level


def cells(runs: Iterable[Run], yardstick: Yardstick, clip: bool = False) -> Cells:
    """Scores at the snapshots of all runs. Clipping to 0 .. 100 is off in the paper."""
    found: Cells = {}
    for run in runs:
        taken = snapshot(run)
        for level, score in taken.scores.items() if taken else ():
            add_score(found, run.task, run.model, level, score, yardstick, clip)
    return found


def add_score(
    found: Cells, task: str, model: str, level: str, score: float, yardstick: Yardstick, clip: bool = False
) -> None:
    """One more seed of a cell."""
    cell = found.setdefault((task, model, level), Cell(task, model, level, []))
    cell.scores.append(score)
    sticks: dict[Kind, Yardstick] = {"human": yardstick, "memory": memory_yardstick()}
    for kind, stick in sticks.items():
        percent = stick.normalise(task, level, score)
        if percent is not None:
            cell.percents[kind].append(min(max(percent, 0.0), 100.0) if clip else percent)


def averages(found: Cells, kind: Kind = "human") -> dict[tuple[str, str], Average]:
    """(model, level) -> average score in percent over the tasks that the model has; see `tasks` for how many."""
    by_model: dict[tuple[str, str], list[Average]] = {}
    for cell in found.values():
        percent = cell.percent(kind)
        if percent:
            by_model.setdefault((cell.model, cell.level), []).append(percent)
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
        percent = cell.percent("human")
        if cell.level == PAPER_LEVELS[0] and percent:
            scores.append(percent.mean)
    return sorted(by_task, key=lambda task: -float(np.mean(by_task[task])) if by_task[task] else np.inf)
