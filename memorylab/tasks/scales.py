"""What scales have in common: the clock, and what makes a number one that can be played."""

from typing import Any

import numpy as np

from memorylab.tasks.stepping import FRAMES_PER_SECOND


def frames(seconds: float) -> int:
    """The clock counts frames, people give seconds."""
    return round(seconds * FRAMES_PER_SECOND)


def whole(number: Any) -> bool:
    """Is it an integer, of Python's or NumPy's? A bool is none here."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def check_seconds(seconds: Any) -> None:
    """Refuses a clock that could not run."""
    if isinstance(seconds, str) or not 0 < seconds < 1e6:
        raise ValueError(f"seconds must be a number between 0 and a million, not {seconds!r}")
