"""Keys for people: the same as on the page that `memorylab play` serves, in the form `gymnasium.utils.play` takes."""

import itertools
from typing import Any

import numpy as np

STICK_NAMES = ("strafe left-right", "move back-forward", "look left-right", "look down-up")

KEYS = {  # of an action; two letters are pressed at once
    "look left": "a", "look right": "d", "look up": "w", "look down": "s",
    "forward": "w", "backward": "s", "strafe left": "q", "strafe right": "e",
    "forward and look left": "wa", "forward and look right": "wd",
}  # fmt: skip
ARROWS = {"w": 1073741906, "s": 1073741905, "a": 1073741904, "d": 1073741903}  # as pygame and SDL number them

STICKS = {  # of a key: the stick it moves, and which way
    "q": (0, -1), "e": (0, 1), "s": (1, -1), "w": (1, 1), "a": (2, -1), "d": (2, 1), "f": (3, -1), "r": (3, 1),
}  # fmt: skip


def keys_to_actions(actions: tuple[str, ...]) -> dict[tuple[int, ...], int]:
    """The number of each action that has keys, by these keys."""
    found = {}
    for number, name in enumerate(actions):
        letters = KEYS.get(name, "")
        for keys in {tuple(map(ord, letters)), tuple(ARROWS.get(letter, ord(letter)) for letter in letters)}:
            if keys:
                found[keys] = number
    return found


def keys_to_sticks() -> dict[tuple[int, ...], Any]:
    """Four sticks by one, two or three keys that move different ones."""
    found = {}
    for count in (1, 2, 3):
        for keys in itertools.combinations(STICKS, count):
            sticks = np.zeros(len(STICK_NAMES))
            for stick, way in (STICKS[key] for key in keys):
                sticks[stick] += way
            if abs(sticks).sum() == count:
                found[tuple(map(ord, keys))] = sticks
    return found
