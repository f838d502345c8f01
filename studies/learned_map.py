"""How true is the map that an agent with a homing memory has learned?

    python studies/learned_map.py RUN [--step last] [--sides 10 20] [--steps 600]

A scripted player that forgets walks in arenas of each side; the agent only looks. What it takes for its pose is laid
over the true ones by the turn, shift, scale and mirroring that fit best; what is left is told in metres and degrees.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from tyro.conf import Positional

from memorylab.agent.homing import HomingMemory
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.laboratory.zoo import run_folder
from memorylab.learning import Trained, load_trained

NUM_ENVS = 64
EVERY = 10  # steps: neighbours tell the same


@dataclass
class Settings:
    run: Positional[Path]
    step: str = "last"
    sides: tuple[float, ...] = (10, 20)
    steps: int = 600


def seen_poses(trained: Trained, side: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """True and guessed (n, 4): x, z from the middle of the arena, the sine and cosine of the yaw."""
    memory = trained.agent.read
    assert isinstance(memory, HomingMemory), "this agent has no map"
    size = trained.agent.config.height, trained.agent.config.width
    env = MemoryVectorEnv(trained.task.name, "train", NUM_ENVS, seed=1, size=size, threads=1, side=side)
    pictures, _ = env.reset()
    actions, true, guessed = np.zeros(NUM_ENVS, np.int64), [], []
    for t in range(steps):
        if t % EVERY == 0:
            games = env.batch.records
            middle, yaw = games["cell"] * games["rows"] / 2, np.radians(games["yaw"])
            true.append(np.stack([games["x"] - middle, games["z"] - middle, np.sin(yaw), np.cos(yaw)], -1))
            with torch.no_grad():
                guessed.append(memory.poses(torch.from_numpy(pictures))[:, :4].numpy())
        env.act("forgetting", actions)
        pictures, *_ = env.step(actions)
    return np.concatenate(true), np.concatenate(guessed)


def turned(true: np.ndarray, guessed: np.ndarray) -> tuple[np.ndarray, float]:
    """`guessed` (n, 2) turned and perhaps mirrored as fits best, and how much it must be stretched then."""
    u, stretch, v = np.linalg.svd(guessed.T @ true)
    return guessed @ u @ v, stretch.sum() / (guessed**2).sum()


def laid_over(true: np.ndarray, guessed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What is left between true and guessed points, metres, and directions, degrees; each fitted by itself."""
    points, found = true[:, :2] - true[:, :2].mean(0), guessed[:, :2] - guessed[:, :2].mean(0)
    placed, scale = turned(points, found)
    cosines = (turned(true[:, 2:], guessed[:, 2:])[0] * true[:, 2:]).sum(-1)
    return np.linalg.norm(scale * placed - points, axis=-1), np.degrees(np.arccos(cosines.clip(-1, 1)))


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    trained = load_trained(run_folder(settings.run), settings.step)
    print(f"{settings.run} at step {trained.step:,}")
    for side in settings.sides:
        true, guessed = seen_poses(trained, side, settings.steps)
        metres, degrees = laid_over(true, guessed)
        by_chance = np.linalg.norm(true[:, :2] - true[:, :2].mean(0), axis=-1)
        print(
            f"side {side:g} m: off by {np.median(metres):.2f} m in the median ({np.median(by_chance):.2f} from the "
            f"middle), {np.median(degrees):.0f} degrees ({len(true):,} pictures)"
        )


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
