"""How fast the suite steps, beside the rate at which the same pictures can merely be copied."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from memorylab.envs.single import MemoryEnv
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.task import find_task

RECORDED_STEPS = 256


@dataclass(frozen=True)
class Speed:
    """Rates of one task."""

    task: str
    level: str
    num_envs: int
    threads: int
    height: int
    width: int
    random_steps_per_second: float  # random actions
    remembering_steps_per_second: float  # a player that looks at the panel all the time
    copies_per_second: float
    share_of_copying: float  # random rate / copying rate
    single_env_steps_per_second: float


def measure(task: str, level: str, num_envs: int, size: tuple[int, int], seconds: float, threads: int | None) -> Speed:
    """One task."""
    env = MemoryVectorEnv(task, level, num_envs, seed=0, size=size, threads=threads, copy=False)
    random, remembering = (steps_per_second(env, player, seconds) for player in ("random", "remembering"))
    copies = copies_per_second(env, seconds)
    speed = Speed(
        task=env.batch.task.name,
        level=level,
        num_envs=num_envs,
        threads=env.batch.pool.threads,
        height=size[0],
        width=size[1],
        random_steps_per_second=random,
        remembering_steps_per_second=remembering,
        copies_per_second=copies,
        share_of_copying=random / copies,
        single_env_steps_per_second=single_steps_per_second(task, level, size, seconds),
    )
    env.close()
    return speed


def recorded_actions(env: MemoryVectorEnv, player: str) -> list[np.ndarray]:
    """What the remembering player does, played beforehand."""
    env.reset(seed=0)
    actions = np.zeros(env.num_envs, np.int64)
    recorded = []
    for _ in range(RECORDED_STEPS):
        env.batch.act(player, actions)
        env.step(actions)
        recorded.append(actions.copy())
    return recorded


def steps_per_second(env: MemoryVectorEnv, player: str, seconds: float) -> float:
    """Repeats the player's recorded steps from the same start, so that only the environment is timed."""
    recorded = recorded_actions(env, player)
    steps, spent = 0, 0.0
    while spent < seconds:
        env.reset(seed=0)
        start = time.perf_counter()
        for actions in recorded:
            env.step(actions)
        spent += time.perf_counter() - start
        steps += len(recorded) * env.num_envs
    return steps / spent


def copies_per_second(env: MemoryVectorEnv, seconds: float) -> float:
    """The least that moving the pictures takes."""
    source, target = env.batch.pictures, env.batch.last_pictures
    copies, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        env.batch.pool.run(lambda first, last: np.copyto(target[first:last], source[first:last]))
        copies += env.num_envs
    return copies / (time.perf_counter() - start)


def single_steps_per_second(task: str, level: str, size: tuple[int, int], seconds: float) -> float:
    """Of one game by itself."""
    env = MemoryEnv(task, level, seed=0, size=size)
    env.reset()
    actions = np.random.default_rng(0).integers(len(env.batch.task.actions), size=RECORDED_STEPS)
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        steps += len(actions)
    return steps / (time.perf_counter() - start)


def bench(
    tasks: Iterable[str], level: str, num_envs: int, size: tuple[int, int], seconds: float, threads: int | None
) -> Iterator[Speed]:
    """One row a task, as it is measured."""
    for task in tasks:
        yield measure(find_task(task).name, level, num_envs, size, seconds, threads)
