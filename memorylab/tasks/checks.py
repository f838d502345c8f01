"""What a game's record may hold. Compiled code trusts its numbers, so those that come from a file are looked at first.

A check tells of every game whether a field of it can be so. Checks are made in order: later ones may count on earlier.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from memorylab.tasks.stepping import OUT_OF_TIME, PLAYING
from memorylab.world.materials import STRIDE
from memorylab.world.rng import SEED_BITS
from memorylab.world.scene import MAX_BOXES, MAX_OVALS
from memorylab.world.walking import PITCH_LIMIT

MANY = 2**31 - 1
FAR = 1e5  # metres; no scene is as wide


class Kept(NamedTuple):
    """Records from a file, and what they are held against."""

    games: np.ndarray
    begun: np.ndarray  # episodes of the same seeds at their first step
    scales: np.ndarray  # of each game
    stimuli: Any
    view: Any


Check = Callable[[str, Kept], np.ndarray]  # (field, kept) -> bool of every game, and of its every part


def within(low: float, high: float) -> Check:
    """From one number to the other, both included."""
    return lambda name, kept: (kept.games[name] >= low) & (kept.games[name] <= high)


def as_begun(name: str, kept: Kept) -> np.ndarray:
    """What the seed decides and no step changes."""
    return kept.games[name] == kept.begun[name]


def below_count(count: Callable[[Kept], Any], least: int = 0) -> Check:
    """From `least` up to one less than what there is."""
    return lambda name, kept: (kept.games[name] >= least) & (kept.games[name] < count(kept))


def up_to(most: Callable[[Kept], Any]) -> Check:
    """From 0 up to that."""
    return lambda name, kept: (kept.games[name] >= 0) & (kept.games[name] <= most(kept))


def whole(marks: np.ndarray) -> np.ndarray:
    """Of each game, whether all its parts are marked."""
    return np.asarray(marks.reshape(len(marks), -1).all(axis=1))


def failing(checks: Mapping[str, Check], kept: Kept) -> Iterator[tuple[str, np.ndarray]]:
    """Fields that cannot be so, and in which games; first of all numbers that are none."""
    for name in kept.games.dtype.names or ():
        if np.issubdtype(kept.games[name].dtype, np.floating):
            yield name, ~whole(np.isfinite(kept.games[name]))
    for name, check in checks.items():
        yield name, ~whole(check(name, kept))


any_clock = up_to(lambda kept: kept.scales["frames"])
EPISODE_CHECKS: dict[str, Check] = {
    "seed": within(0, 2**SEED_BITS - 1),
    "key": as_begun,
    "scale_number": as_begun,
    "frame": any_clock,
    "length": any_clock,
    "over": within(PLAYING, OUT_OF_TIME),
}

# --- tasks of trials


def trials_left(name: str, kept: Kept) -> np.ndarray:
    """The last trial ends the episode."""
    trial, ended = kept.games[name], kept.games["over"] != PLAYING
    return (trial >= 0) & (trial < kept.scales["trials"] + ended)


def trial_checks(buttons: int, off_panel_frames: int) -> dict[str, Check]:
    """Of a task with so many buttons; phases beyond a task's own wait for one of them."""
    return {
        **EPISODE_CHECKS,
        "yaw": within(-180, 180),
        "pitch": within(-88, 88),
        "off_panel": within(0, off_panel_frames + 1),
        "phase": within(0, 15),
        "timer": within(-1, 10**6),
        "trial": trials_left,
        "correct": within(-1, buttons - 1),
        "answer": within(-1, buttons - 1),
        "repaint": within(0, 1),
    }


# --- tasks that are walked through


def in_the_open(name: str, kept: Kept) -> np.ndarray:
    """The walker stands in a cell that is no wall."""
    games = kept.games
    row, column = (np.floor(games[axis] / games["cell"]).clip(-1, FAR).astype(int) for axis in ("z", "x"))
    inside = (row >= 0) & (row < games["rows"]) & (column >= 0) & (column < games["columns"])
    return inside & (games["solid"][np.arange(len(games)), row * inside, column * inside] == 0)


def across(axis: int) -> Check:
    """As many rows or columns as there is room for."""
    return lambda name, kept: (kept.games[name] >= 1) & (kept.games[name] <= kept.games["solid"].shape[1 + axis])


material = below_count(lambda kept: kept.view.sky // STRIDE)
WALKED_CHECKS: dict[str, Check] = {
    **EPISODE_CHECKS,
    "cell": within(0.1, FAR),
    "rows": across(0),
    "columns": across(1),
    "x": in_the_open,
    "z": in_the_open,
    "yaw": within(-360, 360),
    "pitch": within(-PITCH_LIMIT, PITCH_LIMIT),
    "eye": within(0.01, FAR),
    "wall_height": within(0, FAR),
    "v_x": within(-100, 100),
    "v_z": within(-100, 100),
    "sticks": within(-1, 1),
    "wall_material": material,
    "floor_material": material,
    "pictures": up_to(lambda kept: kept.view.sky // STRIDE),
    "first_picture": up_to(lambda kept: kept.view.sky // STRIDE - kept.games["pictures"]),
    "num_boxes": within(0, MAX_BOXES),
    "boxes": within(-FAR, FAR),
    "box_material": material,
    "num_ovals": within(0, MAX_OVALS),
    "ovals": within(-FAR, FAR),
    "oval_material": material,
}
