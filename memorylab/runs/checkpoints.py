"""Checkpoints: tensors as safetensors, the rest as JSON; a checkpoint counts once its JSON is there.

Both are written to a temporary name and renamed, the tensors first, so that a crash at any moment leaves the earlier
checkpoints as they were. The JSON knows its step, the checksum of the tensors and its own: whatever was damaged since,
or belongs to another step, is passed over.
"""

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from memorylab.runs.files import read_json, sync, sync_folder

KEPT = 2
LAYOUT = 2  # of a checkpoint; the first had no checksums, and games without a stamp
KNOWN_BY_ITSELF = {"layout", "tensors_sha256"}  # facts that only a checkpoint with checksums has
LEARNED = ("agent.", "optimiser.")  # what must be finite


class Found(NamedTuple):
    """A checkpoint that was read."""

    path: Path  # of its JSON
    tensors: dict[str, Tensor]
    facts: dict[str, Any]


def save_checkpoint(
    folder: Path, step: int, tensors: Mapping[str, Tensor], facts: Mapping[str, Any], keep: int | None = KEPT
) -> None:
    """Tensors and facts of a step; the newest `keep` checkpoints stay, all for None."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"step-{step:012d}.safetensors"
    unfinished, unfinished_facts = path.with_suffix(".unfinished"), path.with_suffix(".unfinished_facts")
    inside = {"step": step, "layout": LAYOUT}  # the tensors' file knows these too
    try:
        plain = {name: part.detach().cpu().contiguous() for name, part in tensors.items()}
        save_file(plain, unfinished, {name: str(number) for name, number in inside.items()})
        known = {**facts, **inside, "tensors_sha256": file_checksum(unfinished)}
        unfinished_facts.write_text(json.dumps({**known, "sha256": checksum(known)}))
        sync(unfinished)
        sync(unfinished_facts)
        unfinished.rename(path)
        unfinished_facts.rename(path.with_suffix(".json"))
        sync_folder(folder)
    except (SafetensorError, OSError) as problem:  # a full disk comes as either
        raise OSError(f"the checkpoint {path} could not be written: {problem}") from problem
    finally:
        unfinished.unlink(missing_ok=True)
        unfinished_facts.unlink(missing_ok=True)
    found = checkpoints(folder)
    keep_only(folder, found[-keep:] if keep else found)


def checksum(facts: Mapping[str, Any]) -> str:
    """Of the facts as they are written; what is read from JSON is written as it was."""
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def file_checksum(path: Path) -> str:
    """Of a whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep_only(folder: Path, kept: Iterable[Path]) -> None:
    """Remove all other checkpoints, and what a crash left unfinished."""
    stems = {path.stem for path in kept}
    for part in sorted(folder.glob("step-*")):  # of a checkpoint the JSON first
        if part.stem not in stems:
            part.unlink()


def checkpoints(folder: Path) -> list[Path]:
    """The JSON files of the finished checkpoints, oldest first."""
    return sorted(path for path in folder.glob("step-*.json") if path.stem.removeprefix("step-").isdecimal())


def step_of(checkpoint: Path) -> int:
    """From its name."""
    return int(checkpoint.stem.removeprefix("step-"))


def facts_of(checkpoint: Path) -> dict[str, Any]:
    """Nothing if they cannot be read."""
    try:
        return read_facts(checkpoint)
    except (ValueError, OSError):
        return {}


def read_facts(checkpoint: Path) -> dict[str, Any]:
    """Without their own checksum, if it is right; or one sentence."""
    facts = read_json(checkpoint)
    if not isinstance(facts, dict) or facts.get("step") != step_of(checkpoint):
        raise ValueError("it is not of the step that its name says")
    written = facts.pop("sha256", None)
    if (written or KNOWN_BY_ITSELF & facts.keys()) and written != checksum(facts):
        raise ValueError("its facts have changed since they were written")
    if facts.get("layout", 1) > LAYOUT:
        raise RuntimeError(f"a newer version of memorylab wrote {checkpoint}; update this one to go on")
    return facts


def read_checkpoint(checkpoint: Path) -> Found:
    """Whole and unchanged, or one sentence. Those of before there were checksums are taken as they are."""
    facts, file = read_facts(checkpoint), checkpoint.with_suffix(".safetensors")
    expected = facts.pop("tensors_sha256", None)
    if expected and file_checksum(file) != expected:
        raise ValueError("its tensors are damaged, or those of another step")
    tensors = load_file(file)
    for name, part in tensors.items():
        if name.startswith(LEARNED) and part.is_floating_point() and not part.isfinite().all():
            raise ValueError(f"{name} is not finite")
    return Found(checkpoint, tensors, facts)


def readable_checkpoints(folder: Path, step: int | None = None) -> Iterator[Found]:
    """Newest first, or that of a step; says so if it has to pass over a damaged one."""
    for path in reversed([path for path in checkpoints(folder) if step is None or step_of(path) == step]):
        try:
            found = read_checkpoint(path)
        except (SafetensorError, ValueError, OSError) as problem:
            pass_over(path, problem)
        else:
            yield found


def pass_over(checkpoint: Path, problem: object) -> None:
    """Says so."""
    file = checkpoint.with_suffix(".safetensors")
    print(f"memorylab: {file} cannot be read ({problem}); trying the one before", file=sys.stderr)


def set_aside(folder: Path, after: int) -> None:
    """Checkpoints of later steps than a run goes on from: it would take them for its own. They are kept by another
    name."""
    for checkpoint in checkpoints(folder):
        if step_of(checkpoint) > after:
            for part in sorted(folder.glob(f"{checkpoint.stem}.*")):  # the JSON first
                part.replace(folder / f"damaged-{part.name}")


def load_checkpoint(folder: Path, step: int | None = None) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """The newest checkpoint that can be read, or that of a step."""
    for _, tensors, facts in readable_checkpoints(folder, step):
        return tensors, facts
    check_empty(folder)
    return None


def check_empty(folder: Path) -> None:
    """Or one sentence: there are checkpoints, and none is of use."""
    if checkpoints(folder):
        raise ValueError(f"none of the checkpoints in {folder} can be read; remove the folder to begin anew")
