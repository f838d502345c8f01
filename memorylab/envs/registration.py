"""The ways in: `make`, `make_vec`, `register_task`, and an id in Gymnasium's registry for every level."""

import os
from enum import Enum
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from memorylab.envs.single import MemoryEnv
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import PACKAGED, TASKS, Task, add_task

ENTRY_POINTS: dict[str, Any] = {"entry_point": f"{__name__}:make", "vector_entry_point": f"{__name__}:make_vec"}


def make(
    task: str,
    level: str = "train",
    *,
    seed: int | None = None,
    size: tuple[int, int] = (72, 96),
    stimuli: str | os.PathLike | None = None,
    render_mode: str | None = None,
    render_size: tuple[int, int] | None = None,
    render_map: bool = False,
    continuous: bool = False,
    **scale: Any,
) -> MemoryEnv:
    """One game as a gymnasium.Env.

    `size` is (height, width) of the pictures. `stimuli` is a folder of your own pictures (AVM, CR) or with MNIST's
    IDX files (WTW). `continuous` takes four sticks instead of eight actions, in tasks that are walked through.
    Scale keywords such as `trials=8`, `delays=(600,)` or `side=40` change the level's numbers.

    `render_mode` is "rgb_array", or "human" for a window (with pygame). `render_size` is the size of what is rendered,
    if not that of the observations; `render_map` puts a map beside it, in tasks that are walked through.
    """
    options = {
        "seed": seed, "size": size, "stimuli": stimuli, "render_mode": render_mode, "render_size": render_size,
        "render_map": render_map, "continuous": continuous, **scale,
    }  # fmt: skip
    env = MemoryEnv(task, level, **options)
    env.spec = spec_of(make, env.batch.task.name, level, options)
    return env


def make_vec(
    task: str,
    level: str = "train",
    num_envs: int = 1,
    *,
    seed: int | None = None,
    threads: int | None = None,
    size: tuple[int, int] = (72, 96),
    stimuli: str | os.PathLike | None = None,
    autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    render_mode: str | None = None,
    continuous: bool = False,
    copy: bool = True,
    **scale: Any,
) -> MemoryVectorEnv:
    """`num_envs` games as a gymnasium.vector.VectorEnv, on `threads` threads: by default one per core.

    What `reset` and `step` return is yours to keep: copies, as of Gymnasium's own vector environments. `copy=False`
    returns the environment's own arrays instead, which the next call rewrites: faster, if you look before you step on.
    `reset(out=...)` and `step(..., out=...)` draw the pictures into an array of yours.

    `autoreset_mode` is one of Gymnasium's three, SAME_STEP unless you say otherwise; its own wrappers of observations
    ask for NEXT_STEP or DISABLED. With `render_mode="rgb_array"` the method `render` gives a picture of each game.
    `size`, `stimuli`, `continuous` and scale keywords are those of `make`.
    """
    options = {
        "seed": seed, "threads": threads, "size": size, "stimuli": stimuli, "autoreset_mode": autoreset_mode,
        "render_mode": render_mode, "continuous": continuous, "copy": copy, **scale,
    }  # fmt: skip
    envs = MemoryVectorEnv(task, level, num_envs, **options)
    envs.spec = spec_of(make_vec, envs.batch.task.name, level, {"num_envs": num_envs, **options})
    return envs


def spec_of(maker: Any, task: str, level: str, options: dict[str, Any]) -> EnvSpec:
    """What Gymnasium needs to make the same again, as far as it is not usual; its `to_json` is a text of it."""
    usual = maker.__kwdefaults__ or {}
    given = {name: plain(value) for name, value in options.items() if name not in usual or value != usual[name]}
    return EnvSpec(env_id(task, level), kwargs={"task": task, "level": level, **given}, **ENTRY_POINTS)


def plain(value: Any) -> Any:
    """As JSON knows it."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Enum):
        return value.value
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def env_id(task: str, level: str) -> str:
    """Such as `memorylab/change_detection_holdout_extrapolate-v0`."""
    return f"memorylab/{task}_{level}-v0"


def register_task(task: Task) -> None:
    """Add a task of your own: `make`, `make_vec`, Gymnasium and every verb of the command line then know its names.

    Call it in the file that holds the task. Whoever imports that file has the task; the command line and workers import
    the files that the environment variable MEMORYLAB_EXTENSIONS names, and the modules that installed packages give as
    entry points of the group `memorylab.extensions`. A ValueError says what is wrong with a task, or that its name is
    taken.
    """
    add_task(task)
    register_levels(task.name, task.short)


def register_levels(task: str, short: str) -> None:
    """Every level by its id, for gymnasium.make and make_vec; `memorylab/cd-v0` is the training level."""
    for level in LEVELS:
        gymnasium.register(env_id(task, level), kwargs={"task": task, "level": level}, **ENTRY_POINTS)
    gymnasium.register(f"memorylab/{short}-v0", kwargs={"task": task, "level": "train"}, **ENTRY_POINTS)


def register_all() -> None:
    """Those that come with the package."""
    for short, task in zip(PACKAGED, TASKS, strict=True):
        register_levels(task, short)
