"""What an adapter gains: `python benchmarks/adapters.py [--task avm] [--games 8] [--seconds 3] [--rounds 3]`.

Random actions in the same games, as Stable-Baselines3 steps them: by our VecEnv, and by its own DummyVecEnv with one
environment a game; in turns, in one process, medians of all rounds. Where a machine has other work to do, steps per
CPU second tell more.
"""

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np
from stable_baselines3.common.vec_env import DummyVecEnv

import memorylab
from memorylab.adapters import envpool
from memorylab.adapters.stable_baselines3 import MemoryVecEnv


class Rate(NamedTuple):
    """Of all games together."""

    per_second: float
    per_cpu_second: float


def measured(step: Callable[[np.ndarray], object], games: int, actions: int, seconds: float) -> Rate:
    """For so long."""
    rng, steps, begun, used = np.random.default_rng(0), 0, perf_counter(), process_time()
    while perf_counter() - begun < seconds:
        step(rng.integers(0, actions, games))
        steps += games
    return Rate(steps / (perf_counter() - begun), steps / (process_time() - used))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", default="avm")
    parser.add_argument("--games", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each measurement")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    task, games = options.task, options.games
    envs = {
        "MemoryVecEnv": MemoryVecEnv(memorylab.make_vec(task, num_envs=games, seed=0)),
        "DummyVecEnv": DummyVecEnv([lambda: memorylab.make(task)] * games),
        "EnvPool's face": envpool.make(task, num_envs=games, seed=0),
    }
    for env in envs.values():
        env.reset()
        env.step(np.zeros(games, int))  # compiled, or loaded
    actions = int(envs["MemoryVecEnv"].action_space.n)
    rates: dict[str, list[Rate]] = {name: [] for name in envs}
    for _ in range(options.rounds):
        for name, env in envs.items():
            rates[name].append(measured(env.step, games, actions, options.seconds))
    print(f"{'':20}{'steps/s':>12}{'/CPU s':>12}")
    for name, found in rates.items():
        print(f"{name:20}" + "".join(f"{median(column):12,.0f}" for column in zip(*found, strict=True)))


if __name__ == "__main__":
    main()
