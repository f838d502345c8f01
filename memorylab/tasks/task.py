"""What a task is to the rest of the house, and where one is found."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from memorylab.extensions import load_extensions, note_addition
from memorylab.mistakes import near_miss, unknown
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.stepping import EPISODE


class Scale(Protocol):
    """A frozen dataclass: the numbers that make an episode long or hard. Its fields are the scale keywords."""

    def record(self) -> tuple:
        """The same as a row for compiled code; says what is wrong with a value that cannot be played."""
        ...

    def text(self) -> str:
        """The same for people, as tables show it."""
        ...


@dataclass(frozen=True, eq=False)
class Task:
    """All that is known of a task. `walked_task` and `trial_task` fill in what their families share."""

    name: str
    title: str
    rule: str  # in one sentence, for a player
    family: str  # psychlab, rooms, navigation, or a user's own
    engine: Literal["dmlab", "unity"]  # what the paper ran such tasks on; some of its settings differ by that
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
    short: str = ""  # of a task of the package: see PACKAGED
    stimuli: Mapping[str, str] = field(default_factory=dict)  # what the halves train and holdout are
    instructions: tuple[str, ...] = ()  # what a person is told before a level, in the order things happen
    counter: tuple[str, str] | None = None  # what a person may count besides the score: field of the record, its name
    curriculum: tuple[Mapping[str, Any], ...] = ()  # stages before the true level, easiest first, as scale keywords
    curriculum_share: float = 0.8  # of the remembering player's score passes a stage
    teacher: str = "forgetting"  # the player from whom skills are learned: what it does can be seen or remembered
    advice: Callable[..., None] | None = None  # instead of one: all actions that serve the skill, as bits
    checks: Mapping[str, Any] = field(default_factory=dict)  # field of the record -> Check, see tasks/checks.py
    card_step: int = 0  # the step of an episode that shows the task best

    def __reduce__(self):
        return find_task, (self.name,)

    def scales_of(self, level: str, **changes) -> tuple[Any, ...]:
        """The scales from which an episode of this level draws, with the user's changes."""
        self.check_keywords(changes, "got an unexpected keyword argument")  # words that other libraries look for
        for name, value in changes.items():
            if np.size(value) == 0:
                raise ValueError(f"{name} must hold at least one value, not {value!r}")
        names = (level,) if level in self.scales else LEVELS[level].scales
        scales = [replace(self.scales[name], **changes) for name in names]
        return tuple(dict.fromkeys(scales))

    def setting(self, keyword: str, number: int) -> dict[str, Any]:
        """A scale keyword at one value; those that list values, such as delays, list this one only."""
        self.check_keywords({keyword: number})
        usual = getattr(next(iter(self.scales.values())), keyword)
        return {keyword: (number,) if isinstance(usual, tuple) else number}

    def check_keywords(self, changes: Mapping[str, Any], problem: str = "has no keyword") -> None:
        """Refuses a keyword that this task's scales do not have."""
        for name in changes:
            if name not in self.keywords:
                raise TypeError(
                    f"{self.name} {problem} {name!r}{near_miss(name, self.keywords)}; "
                    f"its scale keywords are {', '.join(self.keywords)}"
                )


# --- the registry: a row for each task of the package, and whatever users add

PACKAGED = {  # short name -> module, which is called as its task is
    "avm": "psychlab.arbitrary_visuomotor_mapping",
    "cr": "psychlab.continuous_recognition",
    "cd": "psychlab.change_detection",
    "wtw": "psychlab.what_then_where",
    "sdb": "rooms.spot_diff_basic",
    "sdp": "rooms.spot_diff_passive",
    "sdmo": "rooms.spot_diff_multi_object",
    "sdm": "rooms.spot_diff_motion",
    "vgb": "navigation.visible_goal_with_buildings",
    "igb": "navigation.invisible_goal_with_buildings",
    "iga": "navigation.invisible_goal_empty_arena",
    "vgm": "navigation.visible_goal_procedural_maze",
    "ti": "rooms.transitive_inference",
}
TASKS = tuple(module.rpartition(".")[2] for module in PACKAGED.values())
added: dict[str, Task] = {}


@cache
def load_task(short: str) -> Task:
    """Imported on first use, so that one task does not wait for the twelve others."""
    return replace(importlib.import_module(f"memorylab.tasks.{PACKAGED[short]}").TASK, short=short)


def find_task(name: str) -> Task:
    """The task with this name or short name; capitals do not matter in those of the package."""
    lower = name.lower()
    short = dict(zip(TASKS, PACKAGED, strict=True)).get(lower, lower)
    if short in PACKAGED:
        return load_task(short)
    names = short_names()
    if names.get(name, name) not in added:
        known = ", ".join(f"{long} ({short})" for short, long in names.items())
        raise ValueError(f"unknown task {name!r}{near_miss(name, [*names, *names.values()])}; the tasks are {known}")
    return added[names.get(name, name)]


def task_names() -> tuple[str, ...]:
    """Every task: the package's in the paper's order, then those that users added."""
    load_extensions()
    return (*TASKS, *added)


def short_names() -> dict[str, str]:
    """Short name -> name of every task, in the same order."""
    names = task_names()
    return dict(zip((*PACKAGED, *(task.short for task in added.values())), names, strict=True))


def add_task(task: Task) -> None:
    """To the registry, unless something is wrong with it or its name is taken."""
    check_task(task)
    for name in (task.name, task.short):
        if name in {*TASKS, *PACKAGED, *added, *(other.short for other in added.values())}:
            raise ValueError(f"there is a task called {name!r} already; give yours another name")
    added[task.name] = task
    note_addition(task.name)


def check_task(task: Any) -> None:
    """What a task from outside may get wrong, one sentence each."""
    if not isinstance(task, Task):
        raise ValueError(f"a task is made by walked_task or trial_task; {task!r} is none")
    for name in (task.name, task.short):
        if not name.isidentifier():
            raise ValueError(f"the name and the short name of a task are plain words such as spot_diff, not {name!r}")
    unknown = {name for name, *_ in EPISODE} - {*(task.game.names or ())}
    if unknown:
        raise ValueError(
            f"a game's record in the task {task.name} has no {min(unknown)!r}; begin it with walked_fields()"
        )
    if "frames" not in (task.scale_record.names or ()):
        raise ValueError(f"the scale record of the task {task.name} has no field 'frames', the clock")
    missing = {"small", "large", "interpolate", "extrapolate"} - task.scales.keys()
    if missing:
        raise ValueError(f"the task {task.name} has no scale {min(missing)!r}; its levels need it")
    try:
        np.array([scale.record() for scale in task.scales.values()], task.scale_record)
    except (TypeError, ValueError) as problem:
        raise ValueError(f"a scale of the task {task.name} does not fit its record: {problem}") from problem
    for stage in task.curriculum:
        if not isinstance(stage, Mapping):
            raise ValueError(f"a stage of the task {task.name} is a dictionary of scale keywords, not {stage!r}")
        task.check_keywords(stage)


def check_level(level: str) -> None:
    """Refuses a level that no task has."""
    if level not in LEVELS:
        raise unknown("level", level, LEVELS)


def scale_keywords(scale: type) -> tuple[str, ...]:
    """Every field of a scale may be set by a user."""
    return tuple(field.name for field in fields(scale))
