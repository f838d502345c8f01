"""The one way code is compiled here: Numba, no GIL, cached on disk for later processes."""

import hashlib
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

PACKAGE = Path(__file__).parent.parent
COMPILED_PARTS = ("world", "tasks")  # where compiled code stands


@cache
def source_stamp() -> str:
    """A digest of every source file that compiled code may stand in."""
    digest = hashlib.sha256()
    for part in COMPILED_PARTS:
        for path in sorted((PACKAGE / part).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def compiled(function: Callable | None = None, *, fastmath: bool = False, inline: bool = False) -> Any:
    """Compile on first use; the cache on disk serves later processes.

    `inline` spares the call, which costs as much as a short loop does when many arrays are passed.
    """
    if function is None:
        return lambda f: compiled(f, fastmath=fastmath, inline=inline)
    compiler = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fastmath, forceinline=inline)
    dispatcher: Any = compiler(function)
    # Numba stamps a cached function with its own file alone and would serve stale code
    # after a change in a file it calls into; our stamp covers all compiled code.
    dispatcher._cache._cache_file._source_stamp = source_stamp()
    return dispatcher


def compile_for(module: str, *templates: Callable) -> list[Any]:
    """Compile each `x_template` with its free names (`paint`, `begin_trial`...) taken from `module`, as `x` there.

    A loop shared by several tasks is so written once and compiled once per task, with that
    task's own rules inlined. Numba cannot cache closures over compiled functions, hence this way.
    """
    names = vars(sys.modules[module])
    functions = []
    for template in templates:
        name = template.__name__.removesuffix("_template")
        shared = sys.modules[template.__module__]
        bound = FunctionType(template.__code__, {**vars(shared), **names}, name)
        bound.__module__ = module
        bound.__qualname__ = f"{name}_of_{module.rpartition('.')[2]}"
        names[name] = compiled(bound)
        functions.append(names[name])
    return functions
