"""How true is the map that an agent with a homing memory has learned, and how well does it know where it is?

    python studies/learned_map.py RUN [--step last] [--sides 10 20] [--steps 700] [--player forgetting]

A scripted player walks in arenas of each side; the agent only looks, and counts. What one picture makes it take for its
place and direction, and what its count of steps does, is laid beside the true ones, by how many steps ago the walker
was put down.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from tyro.conf import Positional

from memorylab.agent.homing import FAR, HomingMemory
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.laboratory.zoo import run_folder
from memorylab.learning import Trained, load_trained
from memorylab.tasks.navigation.arena import STEP

NUM_ENVS = 64
SINCE = (1, 5), (5, 20), (20, 60), (60, 10**6)  # steps since one was put down


@dataclass
class Settings:
    run: Positional[Path]
    step: str = "last"
    sides: tuple[float, ...] = (10, 20)
    steps: int = 700
    player: str = "forgetting"


def true_poses(games: np.ndarray) -> np.ndarray:
    """(n, 4): metres from the middle of the arena, the sine and cosine of the yaw."""
    middle, yaw = games["cell"] * games["rows"] / 2, np.radians(games["yaw"])
    return np.stack([games["x"] - middle, games["z"] - middle, np.sin(yaw), np.cos(yaw)], -1)


def walk(trained: Trained, side: float, settings: Settings) -> dict[str, np.ndarray]:
    """Of every step and game: how long ago it was put down; true, seen and counted poses."""
    memory: Any = trained.agent.read
    assert isinstance(memory, HomingMemory), "this agent has no map"
    size = trained.agent.config.height, trained.agent.config.width
    env = MemoryVectorEnv(trained.task.name, "train", NUM_ENVS, seed=1, size=size, threads=1, side=side)
    pictures, _ = env.reset()
    store, since = memory.new_store(NUM_ENVS), np.zeros(NUM_ENVS, np.int64)
    actions, is_paid = np.zeros(NUM_ENVS, np.int64), np.zeros(NUM_ENVS, np.bool_)
    rows: dict[str, list[np.ndarray]] = {"since": [], "true": [], "picture": [], "count": []}
    for _ in range(settings.steps):
        since = np.where(is_paid, 1, since + 1)
        with torch.no_grad():
            pose = memory.poses(torch.from_numpy(pictures))
            sensed = store.note(pose, torch.from_numpy(actions), torch.from_numpy(is_paid))
        counted = torch.cat([sensed[:, 4:6] * FAR * STEP, sensed[:, 6:8]], -1)
        seen = torch.cat([pose[:, :2] * STEP, pose[:, 2:4]], -1)
        for name, row in zip(rows, (since, true_poses(env.batch.records), seen.numpy(), counted.numpy()), strict=True):
            rows[name].append(row)
        env.act(settings.player, actions)
        pictures, rewards, *_ = env.step(actions)
        is_paid = np.asarray(rewards) > 0
    return {name: np.concatenate(parts) for name, parts in rows.items()}


def errors(true: np.ndarray, found: np.ndarray) -> str:
    """In the median: metres and degrees."""
    metres = np.linalg.norm(found[:, :2] - true[:, :2], axis=-1)
    degrees = np.degrees(np.arccos((found[:, 2:] * true[:, 2:]).sum(-1).clip(-1, 1)))
    return f"{np.median(metres):.2f} m, {np.median(degrees):.1f} degrees"


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    trained = load_trained(run_folder(settings.run), settings.step)
    print(f"{settings.run} at step {trained.step:,}; off in the median")
    for side in settings.sides:
        rows = walk(trained, side, settings)
        for first, end in SINCE:
            here = (rows["since"] >= first) & (rows["since"] < end)
            true, picture, count = (rows[name][here] for name in ("true", "picture", "count"))
            steps = f"{first} to {end - 1} steps" if end < 10**6 else f"{first} steps and more"
            print(f"side {side:g} m, {steps:19} after being put down: "
                  f"by one picture {errors(true, picture):22} by the count {errors(true, count)}")  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
