"""What a task is to the rest of the house."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from memorylab.tasks.levels import LEVELS


class Scale(Protocol):
    """A frozen dataclass: the numbers that make an episode long or hard. Its fields are the scale keywords."""

    def record(self) -> tuple:
        """The same as a row for compiled code; says what is wrong with a value that cannot be played."""
        ...

    def text(self) -> str: ...


@dataclass(frozen=True, eq=False)
class Task:
    name: str
    short: str
    title: str
    rule: str  # in one sentence, for a player
    actions: tuple[str, ...]
    scales: Mapping[str, Any]  # small, large, interpolate, extrapolate; `train` where it is not one of small and large
    keywords: tuple[str, ...]  # the fields of a scale that a user may set
    game: np.dtype  # one game's record
    scale_record: np.dtype
    report: Mapping[str, str]  # name in `info` -> field of the record
    load_stimuli: Callable[[str, int, Path | None, tuple], Any]
    build_view: Callable[[int, int], Any]  # (games, picture width) -> what drawing needs
    begin: Callable[..., None]
    step: Callable[..., None]
    players: Mapping[str, Callable[..., None]]

    def __reduce__(self):
        return find_task, (self.name,)

    def scales_of(self, level: str, **changes) -> tuple[Any, ...]:
        """The scales from which an episode of this level draws, with the user's changes."""
        self.check_keywords(changes)
        names = (level,) if level in self.scales else LEVELS[level].scales
        scales = [replace(self.scales[name], **changes) for name in names]
        return tuple(dict.fromkeys(scales))

    def setting(self, keyword: str, number: int) -> dict[str, Any]:
        """A scale keyword at one value; those that list values, such as delays, list this one only."""
        self.check_keywords({keyword: number})
        usual = getattr(next(iter(self.scales.values())), keyword)
        return {keyword: (number,) if isinstance(usual, tuple) else number}

    def check_keywords(self, changes: Mapping[str, Any]) -> None:
        for name in changes:
            if name not in self.keywords:
                raise TypeError(
                    f"{self.name} has no keyword {name!r}; its scale keywords are {', '.join(self.keywords)}"
                )


MODULES = {
    "arbitrary_visuomotor_mapping": "psychlab.arbitrary_visuomotor_mapping",
    "continuous_recognition": "psychlab.continuous_recognition",
    "change_detection": "psychlab.change_detection",
    "what_then_where": "psychlab.what_then_where",
    "spot_diff_basic": "rooms.spot_diff_basic",
    "spot_diff_passive": "rooms.spot_diff_passive",
    "spot_diff_multi_object": "rooms.spot_diff_multi_object",
    "spot_diff_motion": "rooms.spot_diff_motion",
    "visible_goal_with_buildings": "navigation.visible_goal_with_buildings",
    "invisible_goal_with_buildings": "navigation.invisible_goal_with_buildings",
    "invisible_goal_empty_arena": "navigation.invisible_goal_empty_arena",
    "visible_goal_procedural_maze": "navigation.visible_goal_procedural_maze",
    "transitive_inference": "rooms.transitive_inference",
}
SHORT_NAMES = {
    "avm": "arbitrary_visuomotor_mapping",
    "cr": "continuous_recognition",
    "cd": "change_detection",
    "wtw": "what_then_where",
    "sdb": "spot_diff_basic",
    "sdp": "spot_diff_passive",
    "sdmo": "spot_diff_multi_object",
    "sdm": "spot_diff_motion",
    "vgb": "visible_goal_with_buildings",
    "igb": "invisible_goal_with_buildings",
    "iga": "invisible_goal_empty_arena",
    "vgm": "visible_goal_procedural_maze",
    "ti": "transitive_inference",
}
TASKS = tuple(MODULES)


@cache
def load_task(name: str) -> Task:
    # Imported on first use, so that one task does not wait for the twelve others.
    return importlib.import_module(f"memorylab.tasks.{MODULES[name]}").TASK


def find_task(name: str) -> Task:
    """The task with this name or short name."""
    full = SHORT_NAMES.get(name, name)
    if full not in MODULES:
        names = ", ".join(f"{long} ({short})" for short, long in SHORT_NAMES.items())
        raise ValueError(f"unknown task {name!r}; the tasks are {names}")
    return load_task(full)


def check_level(level: str) -> None:
    if level not in LEVELS:
        raise ValueError(f"unknown level {level!r}; the levels are {', '.join(LEVELS)}")


def scale_keywords(scale: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(scale))
