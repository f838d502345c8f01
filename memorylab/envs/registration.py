"""The ways in: `make`, `make_vec`, `register_task`, and an id in Gymnasium's registry for every level."""

from functools import partial
from typing import Any

import gymnasium

from memorylab.envs.single import MemoryEnv
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import PACKAGED, TASKS, Task, add_task


def make(
    task: str,
    level: str = "train",
    *,
    seed: int | None = None,
    size: tuple[int, int] = (72, 96),
    stimuli: str | None = None,
    render_mode: str | None = None,
    continuous: bool = False,
    **scale: Any,
) -> MemoryEnv:
    """One game as a gymnasium.Env.

    `size` is (height, width) of the pictures. `stimuli` is a folder of your own pictures (AVM, CR) or with MNIST's
    IDX files (WTW). `continuous` takes four sticks instead of eight actions, in tasks that are walked through.
    Scale keywords such as `trials=8`, `delays=(600,)` or `side=40` change the level's numbers.
    """
    return MemoryEnv(
        task, level, seed=seed, size=size, stimuli=stimuli, render_mode=render_mode, continuous=continuous, **scale
    )


def make_vec(
    task: str,
    level: str = "train",
    num_envs: int = 1,
    *,
    seed: int | None = None,
    threads: int | None = None,
    size: tuple[int, int] = (72, 96),
    stimuli: str | None = None,
    **scale: Any,
) -> MemoryVectorEnv:
    """`num_envs` games as a gymnasium.vector.VectorEnv, on `threads` threads: by default one per core."""
    return MemoryVectorEnv(task, level, num_envs, seed=seed, threads=threads, size=size, stimuli=stimuli, **scale)


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
    """`memorylab/change_detection_holdout_extrapolate-v0` and so on, for gymnasium.make and make_vec;
    `memorylab/cd-v0` is the training level."""
    for name, level in {short: "train", **{f"{task}_{level}": level for level in LEVELS}}.items():
        gymnasium.register(
            f"memorylab/{name}-v0",
            entry_point=partial(make, task, level),
            vector_entry_point=partial(make_vec, task, level),
        )


def register_all() -> None:
    """Those that come with the package."""
    for short, task in zip(PACKAGED, TASKS, strict=True):
        register_levels(task, short)
