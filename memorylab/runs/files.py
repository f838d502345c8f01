"""Files that are whole or not there."""

import tempfile
from pathlib import Path
from typing import Any


class replacing:
    """A temporary path that takes the place of `path` when all went well."""

    def __init__(self, path: Path):
        self.path, self.temporary = path, path.with_name(f".{path.name}.part")

    def __enter__(self) -> Path:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.temporary

    def __exit__(self, problem: Any, *_: Any) -> None:
        if problem is None:
            self.temporary.replace(self.path)
        else:
            self.temporary.unlink(missing_ok=True)


def check_writable(folder: Path) -> None:
    """Or one sentence, before anything is computed: which folder, and why not. Nothing is left behind."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return
    except OSError as problem:
        raise ValueError(f"cannot write in the folder {there}: {problem.strerror}") from problem
