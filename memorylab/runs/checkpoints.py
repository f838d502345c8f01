"""Checkpoints: tensors as safetensors, the rest as JSON; a checkpoint counts once its JSON is there.

Both are written to a temporary name and renamed, the tensors first, so that a crash at any moment leaves the earlier
checkpoints as they were.
"""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

KEPT = 2


def save_checkpoint(
    folder: Path, step: int, tensors: Mapping[str, Tensor], facts: Mapping[str, Any], keep: int | None = KEPT
) -> None:
    """Tensors and facts of a step; the newest `keep` checkpoints stay, all for None."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"step-{step:012d}.safetensors"
    unfinished = path.with_suffix(".unfinished")
    try:
        save_file({name: part.detach().cpu().contiguous() for name, part in tensors.items()}, unfinished)
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.rename(path)
        unfinished.write_text(json.dumps({"step": step, **facts}))
        unfinished.rename(path.with_suffix(".json"))
    except (SafetensorError, OSError) as problem:  # a full disk comes as either
        raise OSError(f"the checkpoint {path} could not be written: {problem}") from problem
    finally:
        unfinished.unlink(missing_ok=True)
    found = checkpoints(folder)
    keep_only(folder, found[-keep:] if keep else found)


def keep_only(folder: Path, kept: Iterable[Path]) -> None:
    """Remove all other checkpoints, and what a crash left unfinished."""
    stems = {path.stem for path in kept}
    for part in sorted(folder.glob("step-*")):  # of a checkpoint the JSON first
        if part.stem not in stems:
            part.unlink()


def checkpoints(folder: Path) -> list[Path]:
    """The JSON files of the finished checkpoints, oldest first."""
    return sorted(folder.glob("step-*.json"))


def step_of(checkpoint: Path) -> int:
    """From its name."""
    return int(checkpoint.stem.removeprefix("step-"))


def facts_of(checkpoint: Path) -> dict[str, Any]:
    """Nothing if they cannot be read."""
    try:
        return json.loads(checkpoint.read_text())
    except (ValueError, OSError):
        return {}


def load_checkpoint(folder: Path, step: int | None = None) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """The newest checkpoint that can be read, or that of a step; says so if it has to pass over a damaged one."""
    found = [path for path in checkpoints(folder) if step is None or step_of(path) == step]
    for path in reversed(found):
        try:
            facts = json.loads(path.read_text())
            return load_file(path.with_suffix(".safetensors")), facts
        except (SafetensorError, ValueError, OSError) as problem:
            print(f"memorylab: {path.with_suffix('.safetensors')} cannot be read ({problem}); trying the one before",
                  file=sys.stderr)  # fmt: skip
    if checkpoints(folder):
        raise ValueError(f"none of the checkpoints in {folder} can be read; remove the folder to begin anew")
    return None
