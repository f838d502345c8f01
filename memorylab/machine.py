"""What differs from machine to machine: how many cores there are, and whether compiled code can be kept."""

import os
from collections.abc import Callable
from typing import Any

import numba


def usable_cores() -> int:
    """Those that this process may use, where the system tells (Linux does); else all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compile_and_keep(function: Callable, **options: Any) -> Any:
    """Compiled by Numba on first use, and kept on disk for later processes if there is any place that can be written
    to: beside the code, in the user's cache, or in the folder that NUMBA_CACHE_DIR names."""
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # Numba found no such place
        return numba.njit(**options)(function)
