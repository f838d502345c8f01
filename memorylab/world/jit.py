"""The one way code is compiled here: Numba, no GIL, cached on disk for later processes."""

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher

from memorylab.machine import compile_and_keep

PACKAGE = Path(__file__).parent.parent
COMPILED_PARTS = ("world", "tasks")  # where the package's compiled code stands


def jit(function: Callable | None = None, *, fastmath: bool = False, inline: bool = False) -> Any:
    """Compile on first use; the cache on disk serves later processes.

    `inline` spares the call, which costs as much as a short loop does when many arrays are passed.
    """
    if function is None:
        return lambda f: jit(f, fastmath=fastmath, inline=inline)
    return stamped(function, source_stamp(file_of(function)), fastmath=fastmath, forceinline=inline)


def bind(template: Callable, rules: Any, name: str) -> Any:
    """Compile a loop that tasks share for the task `name`: what the loop calls `rules` are this named tuple's.

    As a global, such a tuple costs nothing. A closure over compiled functions could not be cached on disk.
    """
    function = FunctionType(template.__code__, {**template.__globals__, "rules": rules}, template.__name__)
    function.__qualname__ = f"{template.__name__}_of_{name}"  # names its file in the cache
    stamps = {source_stamp(file_of(template)), *(stamp_of(rule) for rule in rules if is_compiled(rule))}
    return stamped(function, None if None in stamps else "".join(sorted(map(str, stamps))))


def is_compiled(function: Any) -> bool:
    """By `jit` or `bind`, even if its first call is still to come."""
    return isinstance(function, Dispatcher)


def stamped(function: Callable, stamp: str | None, **options: Any) -> Any:
    """Compile, with a cache that serves this stamp only; no cache without one."""
    options = {"nogil": True, "error_model": "numpy", **options}
    dispatcher: Any = numba.njit(**options)(function) if stamp is None else compile_and_keep(function, **options)
    if is_kept(dispatcher):
        # Numba stamps a cached function with its own file alone and would serve stale code
        # after a change in a file it calls into; our stamp covers all compiled code.
        dispatcher._cache._cache_file._source_stamp = stamp
    return dispatcher


def is_kept(dispatcher: Any) -> bool:
    """Does the disk serve it to later processes?"""
    return hasattr(dispatcher._cache, "_cache_file")


def is_on_disk(dispatcher: Any) -> bool:
    """Did an earlier process compile it?"""
    return is_kept(dispatcher) and bool(dispatcher._cache._cache_file._load_index())


def file_of(function: Callable) -> Path:
    """Where its code was written, even if `bind` copied it."""
    return Path(function.__code__.co_filename)


def stamp_of(dispatcher: Any) -> str | None:
    """What `stamped` gave a function; None if it has no cache."""
    return dispatcher._cache._cache_file._source_stamp if is_kept(dispatcher) else None


def source_stamp(file: Path) -> str | None:
    """A digest of every source file that the compiled code in `file` may call into: the package's, and those beside it.

    Code that was typed at a prompt stands in no file, and has no stamp.
    """
    if PACKAGE in file.parents:
        return package_digest()
    return package_digest() + folder_digest(file.parent) if file.is_file() else None


@cache
def package_digest() -> str:
    """Read once a process: an edit counts from the next one on."""
    return digest(path for part in COMPILED_PARTS for path in sorted((PACKAGE / part).rglob("*.py")))


@cache
def folder_digest(folder: Path) -> str:
    """The same for a user's folder, without what lies below it."""
    return digest(sorted(folder.glob("*.py")))


def digest(paths: Iterable[Path]) -> str:
    """Of the contents alone, in the order given."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()
