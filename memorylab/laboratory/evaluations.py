"""Episodes that were evaluated, summed up and kept beside their run. Needs no PyTorch: a report reads them too."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memorylab.laboratory.references import memory_yardstick, yardstick
from memorylab.laboratory.statistics import half_interval
from memorylab.runs.tables import read_rows, replace_rows

SETTING = ("step", "level", "keyword", "value")


@dataclass(frozen=True)
class Evaluation:
    """Episodes of one setting, summed up."""

    step: int
    level: str
    keyword: str
    value: str
    episodes: int
    mean: float
    low: float
    high: float  # of a 95 % interval for the mean
    mean_length: float
    human_normalised: float | None  # in percent, by the paper's Random and Human
    memory_score: float | None  # in percent, by our forgetting and remembering players


def summed_up(rows: Iterable[Mapping[str, Any]], task: str) -> list[Evaluation]:
    """Per setting: the mean and its interval by Student's t; in percent too where the level has its own scale."""
    sticks = yardstick(), memory_yardstick()
    groups: dict[tuple, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in SETTING), []).append(row)
    found = []
    for (step, level, keyword, value), group in groups.items():
        scores = np.array([float(row["return"]) for row in group])
        half = half_interval(scores)
        length = float(np.mean([float(row["length"]) for row in group]))
        mean = float(scores.mean())
        percents = (None if keyword else stick.normalise(task, level, mean) for stick in sticks)
        found.append(
            Evaluation(int(step), level, keyword, value, len(group), mean, mean - half, mean + half, length, *percents)
        )
    return found


def keep(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Add rows to a file; earlier rows of the same settings give way."""
    new = {tuple(str(row[name]) for name in SETTING) for row in rows}
    before = read_rows(file)
    replace_rows(file, [row for row in before if tuple(row.get(name, "") for name in SETTING) not in new] + list(rows))
