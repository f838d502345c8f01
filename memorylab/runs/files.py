"""Files that are whole or not there, also after a power cut, and files that are what they seem."""

import json
import os
from contextlib import suppress
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
            sync(self.temporary)
            self.temporary.replace(self.path)
            sync_folder(self.path.parent)
        else:
            self.temporary.unlink(missing_ok=True)


def sync(file: Path) -> None:
    """Its bytes are on the disk, not on their way there."""
    with file.open("rb+") as opened:
        os.fsync(opened.fileno())


def sync_folder(folder: Path) -> None:
    """The names in it too; where a folder cannot be opened, as on Windows, the system sees to it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_bytes(file: Path) -> bytes:
    """Of a plain file; at a pipe or a device a reader might wait for ever."""
    if file.exists() and not file.is_file():
        raise ValueError(f"{file} is not a plain file")
    return file.read_bytes()


def read_json(file: Path) -> Any:
    """Or one sentence."""
    data = read_bytes(file)
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError(f"{file} is not valid JSON: it is nested too deeply") from None
    except ValueError as problem:
        raise ValueError(f"{file} is not valid JSON: {problem}") from problem
