"""How true is what an agent with a memory of places has learned to see, and how well does it know where it is?

    python studies/learned_map.py RUN [--step last] [--sides 10 20] [--steps 700] [--player forgetting]

A scripted player walks in arenas of each side; the agent only looks, and counts. What one picture makes it take for its
place (homing) or for the distance of a wall in sight (survey) and for its direction, and what its count of steps does,
is laid beside what is true, by how many steps ago the walker was put down.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from torch import Tensor
from tyro.conf import Positional

from memorylab.agent import Inputs
from memorylab.agent.homing import FAR, HomingMemory
from memorylab.agent.survey import SurveyMemory
from memorylab.agent.walls import in_sight
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
    """Of every step and game: how long ago it was put down; metres and degrees off, by one picture and by the count."""
    memory: Any = trained.agent.read
    assert isinstance(memory, HomingMemory | SurveyMemory), "this agent does not know where it is"
    size = trained.agent.config.height, trained.agent.config.width
    env = MemoryVectorEnv(trained.task.name, "train", NUM_ENVS, seed=1, size=size, threads=1, side=side)
    pictures, _ = env.reset()
    store, since = memory.new_store(NUM_ENVS), np.zeros(NUM_ENVS, np.int64)
    query = torch.zeros(NUM_ENVS, trained.agent.config.key_size)
    actions, rewards = np.zeros(NUM_ENVS, np.int64), np.zeros(NUM_ENVS, np.float32)
    rows: dict[str, list[np.ndarray]] = {"since": [], "picture": [], "count": []}
    for _ in range(settings.steps):
        since = np.where(rewards > 0, 1, since + 1)
        step = (torch.from_numpy(part)[None] for part in (pictures, rewards, actions, since < 0))
        with torch.no_grad():
            looked = memory.look(Inputs(*step), torch.float32)[0]
            sensed = memory.search(store, query, looked).sensed
            true = torch.from_numpy(true_poses(env.batch.records)).float()
            seen = seen_walls if isinstance(memory, SurveyMemory) else seen_place
            off = seen(memory, looked, true, side / 2), errors(sensed[:, 4:6] * FAR * STEP, sensed[:, 6:8], true)
        for name, row in zip(rows, (since, *off), strict=True):
            rows[name].append(row)
        env.act(settings.player, actions)
        pictures, rewards, *_ = env.step(actions)
        rewards = np.asarray(rewards, np.float32)
    return {name: np.concatenate(parts) for name, parts in rows.items()}


def seen_place(memory: HomingMemory, looked: Tensor, true: Tensor, half: float) -> np.ndarray:
    """How far off a picture is of the place."""
    return errors(looked[:, :2] * STEP, looked[:, 2:4], true)


def seen_walls(memory: SurveyMemory, looked: Tensor, true: Tensor, half: float) -> np.ndarray:
    """How far off a picture is of the walls in sight, in the mean."""
    place, facing = true.split(2, -1)
    walls = torch.stack([half - place, half + place], -1).flatten(1)
    sight = in_sight(walls, facing)
    found = memory.walls.distances(looked[:, : memory.walls.numbers - 3], facing)[0] * STEP
    off = errors(place, looked[:, memory.walls.numbers - 3 :][:, :2], true)
    off[:, 0] = ((found - walls).abs() * sight).sum(-1) / sight.sum(-1)
    return off


def errors(place: Tensor, direction: Tensor, true: Tensor) -> np.ndarray:
    """(n, 2): metres and degrees."""
    metres = (place - true[:, :2]).norm(dim=-1)
    degrees = (direction * true[:, 2:]).sum(-1).clamp(-1, 1).arccos().rad2deg()
    return torch.stack([metres, degrees], -1).numpy()


def median(off: np.ndarray) -> str:
    """Of both."""
    metres, degrees = np.median(off, axis=0)
    return f"{metres:.2f} m, {degrees:.1f} degrees"


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    trained = load_trained(run_folder(settings.run), settings.step)
    print(f"{settings.run} at step {trained.step:,}; off in the median")
    for side in settings.sides:
        rows = walk(trained, side, settings)
        for first, end in SINCE:
            here = (rows["since"] >= first) & (rows["since"] < end)
            picture, count = (median(rows[name][here]) for name in ("picture", "count"))
            steps = f"{first} to {end - 1} steps" if end < 10**6 else f"{first} steps and more"
            print(f"side {side:g} m, {steps:19} after being put down: "
                  f"by one picture {picture:22} by the count {count}")  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
