"""scores.csv: a row for every evaluated episode, written and read here alone."""

import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from memorylab.runs.tables import append_rows, fields, whole_lines, whole_number

COLUMNS = ("step", "level", "scale", "return", "length", "seed")
NEEDED = ("step", "level", "return")
COMPLAINTS_PER_FILE = 3
MOST = 1e12  # more is no score, and its square no number


@dataclass(frozen=True)
class ScoreRow:
    """An evaluated episode. Anybody may write such rows; only step, level and return are needed."""

    step: int  # of training, where it was evaluated
    level: str
    scale: float | None
    score: float  # its return: the column says so, the word is Python's
    length: int | None  # in agent steps
    seed: int | None


def append_scores(file: Path, rows: Iterable[ScoreRow]) -> None:
    """At the end of the file, which is begun if it is not there."""
    append_rows(file, [dict(zip(COLUMNS, astuple(row), strict=True)) for row in rows])


def read_scores(
    file: Path, complain: Callable[[str], None] = lambda _: None, levels: Collection[str] | None = None
) -> list[ScoreRow]:
    """All whole rows. A damaged one, or one of another level than `levels`, is named and left out."""
    lines = fields(whole_lines(file))
    header = next(lines, [])
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise ValueError(f"{file} has no column {' and no column '.join(missing)}")
    found, damaged = [], 0
    for number, texts in enumerate(lines, 2):
        row = score_row(header, texts)
        if row is not None and (levels is None or row.level in levels):
            found.append(row)
            continue
        damaged += 1
        if damaged <= COMPLAINTS_PER_FILE:
            complain(f"{file}, row {number}: {','.join(texts)[:80]!r} is no score; it is left out")
    if damaged > COMPLAINTS_PER_FILE:
        complain(f"{file}: {damaged - COMPLAINTS_PER_FILE} more rows like these are left out")
    return found


def score_row(header: Sequence[str], texts: Sequence[str]) -> ScoreRow | None:
    """None for what is no score."""
    named = dict(zip(header, texts, strict=False))
    try:
        step, score = whole_number(named["step"]), float(named["return"])
        scale, length, seed = (named.get(name) for name in ("scale", "length", "seed"))
        optional = float(scale) if scale else None, int(length) if length else None, int(seed) if seed else None
    except (ValueError, KeyError):
        return None
    if len(header) != len(texts) or step is None or not abs(score) < MOST:
        return None
    return ScoreRow(step, named["level"], optional[0], score, *optional[1:])


def by_level(rows: Iterable[ScoreRow]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Level -> steps and scores of its episodes, in their order."""
    found: dict[str, tuple[list[int], list[float]]] = {}
    for row in rows:
        steps, scores = found.setdefault(row.level, ([], []))
        steps.append(row.step)
        scores.append(row.score)
    return {level: (np.array(steps), np.array(scores)) for level, (steps, scores) in found.items()}


def standard_error(values: Sequence[float] | np.ndarray) -> float:
    """Of their mean; NaN for one value: nothing is known of its error."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else math.nan
