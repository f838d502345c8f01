"""Games as bytes that know what they are: compiled code trusts a record, so it must never see any other bytes."""

from hashlib import blake2b

import numpy as np

from memorylab.envs.batch import EnvBatch
from memorylab.tasks.checks import Kept, failing

LAYOUT, CHECKSUM = 8, 16  # bytes of the stamp behind a record


class OtherGames(ValueError):
    """Whole records perhaps, but not of these games: another version's, or with other settings."""


def stamped(batch: EnvBatch) -> np.ndarray:
    """(num_envs, n) uint8: each game's record, what it is a record of, and its checksum."""
    records = batch.records.view(np.uint8).reshape(batch.num_envs, -1)
    layouts = np.tile(np.frombuffer(layout(batch), np.uint8), (batch.num_envs, 1))
    return np.concatenate([records, layouts, checksums(records)], axis=1)


def unstamped(batch: EnvBatch, state: np.ndarray) -> np.ndarray:
    """The records again, or one sentence."""
    size = batch.records.dtype.itemsize
    expected = (batch.num_envs, size + LAYOUT + CHECKSUM)
    if state.dtype != np.uint8 or state.shape != expected:
        raise OtherGames(f"the state must be uint8 of shape {expected}, not {state.dtype} of {state.shape}")
    records = np.ascontiguousarray(state[:, :size])
    if not np.array_equal(checksums(records), state[:, -CHECKSUM:]):
        raise ValueError("the state of the games is damaged")
    if (state[:, size:-CHECKSUM] != np.frombuffer(layout(batch), np.uint8)).any():
        raise OtherGames("the state is of games with other settings, or of another version")
    games = records.view(batch.records.dtype)[:, 0]
    check_values(batch, games)
    return games


def check_values(batch: EnvBatch, games: np.ndarray) -> None:
    """Or one sentence: a checksum is made by anybody, and a number out of range would point beyond its array."""
    begun = batch.begun_records(games["seed"])
    scales = batch.scale_records[begun["scale_number"]]
    for name, is_wrong in failing(batch.task.checks, Kept(games, begun, scales, batch.stimuli, batch.view)):
        if is_wrong.any():
            raise ValueError(f"the state of the games is damaged: {name!r} of game {is_wrong.argmax()} cannot be so")


def checksums(records: np.ndarray) -> np.ndarray:
    """A row a game."""
    rows = [blake2b(row.tobytes(), digest_size=CHECKSUM).digest() for row in records]
    return np.frombuffer(b"".join(rows), np.uint8).reshape(len(records), CHECKSUM)


def layout(batch: EnvBatch) -> bytes:
    """What a record means: its fields, and the scales and stimuli that it has the numbers of."""
    fields = [(name, part.base.str, part.shape, at) for name, (part, at, *_) in (batch.task.game.fields or {}).items()]
    stimuli = [np.shape(part) for part in batch.stimuli] if isinstance(batch.stimuli, tuple) else []
    text = f"{batch.task.name} {fields} {stimuli} {batch.scale_records.tolist()}"
    return blake2b(text.encode(), digest_size=LAYOUT).digest()
