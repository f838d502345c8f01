"""What the sections of a report are made of."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memorylab.laboratory.find_runs import Complain, Run
from memorylab.laboratory.human_normalised import Average, Cell, Cells, add_score
from memorylab.laboratory.references import PAPER_NAMES, Reference, Yardstick, paper_scores
from memorylab.laboratory.statistics import Strata
from memorylab.tasks.levels import PAPER_LEVELS

MISSING = "-"


@dataclass
class Findings:
    """What the sections of a report are made of."""

    runs: list[Run]
    cells: Cells
    yardstick: Yardstick
    models: list[str]  # sorted as in the paper
    tasks: list[str]
    out: Path
    complain: Complain = lambda _: None  # of a file that cannot be shown

    def strata(self, model: str, level: str, tasks: Sequence[str]) -> Strata:
        """Seeds' scores of a model, one array a task."""
        return [np.array(self.cells[task, model, level].percents["human"]) for task in tasks]

    def tasks_of(self, model: str, level: str) -> list[str]:
        """Those on which a model has a normalised score."""
        return [task for task in self.tasks if (c := self.cells.get((task, model, level))) and c.percents["human"]]


def paper_cells(tasks: Iterable[str], yardstick: Yardstick) -> Cells:
    """The paper's reward tables as if its runs were ours."""
    found: Cells = {}
    for (task, model, level), reference in paper_scores().items():
        if task in set(tasks) and model in PAPER_NAMES and model not in ("random", "human") and level in PAPER_LEVELS:
            add_score(found, task, model, level, reference.mean, yardstick)
    return found


def shown(score: Cell | Average | Reference | None, digits: int) -> str:
    """A mean and its error, as tables have it."""
    if score is None:
        return MISSING
    error = f" ± {score.standard_error:.{digits}f}" if np.isfinite(score.standard_error) else ""
    return f"{score.mean:.{digits}f}{error}"
