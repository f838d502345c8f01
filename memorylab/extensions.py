"""What strangers add, tasks and parts of an agent alike: files that the environment names, and installed packages."""

import importlib
import os
import sys
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

FILES = "MEMORYLAB_EXTENSIONS"  # an environment variable, so that child processes and workers see them too
ENTRY_POINTS = "memorylab.extensions"
added: list[str] = []  # the name of each task and part that was added, in whatever registry


def note_addition(name: str) -> None:
    """Every registry says so, that a file which adds nothing can be told."""
    added.append(name)


@cache
def load_extensions() -> None:
    """Import all of them; a registry does when it is asked for all it has, or for a name it does not know."""
    os.environ.update(environment())  # for processes that work in another folder
    for path in extension_files():
        import_file(path)
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            entry.load()
        except Exception as problem:
            raise ValueError(f"the entry point {entry.value} cannot be used: {problem}") from problem


def environment() -> dict[str, str]:
    """What a process elsewhere must have in its environment to find the same files."""
    paths = extension_files()
    return {FILES: os.pathsep.join(map(str, paths))} if paths else {}


def extension_files() -> list[Path]:
    """Those that the environment names."""
    return [Path(path).resolve() for path in os.environ.get(FILES, "").split(os.pathsep) if path]


def import_file(path: Path) -> None:
    """As `python path` would: what stands beside the file can be imported, too."""
    if not path.is_file():
        raise ValueError(f"{FILES}: there is no file {path}")
    for name in ("__main__", path.stem):
        if is_module_of(sys.modules.get(name), path):
            return  # it is the script that runs, or was imported by it
    before = len(added)
    sys.path.append(str(path.parent))
    try:
        module = importlib.import_module(path.stem)
    except Exception as problem:
        raise ValueError(f"{FILES}: {path} cannot be used: {problem}") from problem
    if not is_module_of(module, path):
        raise ValueError(f"{FILES}: there is another module called {path.stem!r}; give {path} another name")
    if len(added) == before:
        raise ValueError(
            f"{FILES}: {path} adds nothing; it should call memorylab.register_task or add to a registry of "
            "memorylab.agent"
        )


def is_module_of(module: Any, path: Path) -> bool:
    """Whether it was made of that file."""
    return Path(getattr(module, "__file__", None) or "").resolve() == path
