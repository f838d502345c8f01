"""Files that are whole or not there, also after a power cut, and files that are what they seem."""

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

DEPTH = 50  # of JSON


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
    """Of a plain file, or one sentence."""
    check_plain(file)
    return file.read_bytes()


def check_plain(file: Path) -> None:
    """Or one sentence: at a pipe or a device a reader might wait, or read, for ever."""
    if file.exists() and not file.is_file():
        raise ValueError(f"{file} is not a plain file")


def read_json(file: Path) -> Any:
    """Or one sentence."""
    data = read_bytes(file)
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"{file} is not valid JSON: {problem}") from problem
    if is_deep(found):
        raise ValueError(f"{file} is nested too deeply")
    return found


def is_deep(value: Any) -> bool:
    """Whether to follow it down might be too much for Python's stack."""
    level = [value]
    for _ in range(DEPTH):
        inside = [part.values() if isinstance(part, dict) else part for part in level if isinstance(part, (dict, list))]
        level = [child for parts in inside for child in parts]
    return bool(level)


def check_writable(folder: Path) -> None:
    """Or one sentence, before anything is computed: which folder, and why not. Nothing is left behind."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            return
    except OSError as problem:
        raise ValueError(f"cannot write in the folder {there}: {problem.strerror}") from problem
