"""How well does an agent with a trail memory know where the goal of a maze is, and how long does it take to get there?

    python studies/known_ways.py RUN [--step last] [--level train_small] [--episodes 64]

The agent plays. Where most votes are is laid beside the true place of the goal, by how often it was found before and
by how many steps ago one was put down; told is the share of steps in which the two are less than two cells apart.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from tyro.conf import Positional

from memorylab.agent.trail import TrailStore
from memorylab.envs.vector import vector_env
from memorylab.laboratory.zoo import run_folder
from memorylab.learning import Player, load_trained
from memorylab.tasks.navigation.visible_goal_procedural_maze import STEP

NEAR = 2.0  # cells
FINDS = (1, 3), (3, 8), (8, 1000)
SINCE = (0, 5), (5, 20), (20, 40), (40, 80), (80, 160), (160, 10**6)


@dataclass
class Settings:
    run: Positional[Path]
    step: str = "last"
    level: str = "train_small"
    episodes: int = 64
    seed: int = 5


def walk(settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each step and game: how far from the goal the votes are, in cells, how often it was found, and how long ago
    one was put down."""
    trained = load_trained(run_folder(settings.run), settings.step)
    env = vector_env(trained.game(settings.level), settings.episodes, seed=settings.seed, threads=1)
    player, games = Player(env, trained.agent, settings.seed), env.batch.records
    assert isinstance(player.store, TrailStore), "this agent has no trails"
    found, since = games["goals"].copy(), np.zeros(settings.episodes, np.int64)
    rows = []
    for _ in range(int(trained.task.scales["small"].seconds * 15) - 1):
        to_goal = np.stack([games["goal_column"] + 0.5 - games["x"], games["goal_row"] + 0.5 - games["z"]], -1)
        since = np.where(games["goals"] > found, 0, since + 1)
        found = games["goals"].copy()
        with torch.no_grad():
            player.play()
        votes, _ = player.store.elect()
        way = (votes - player.store.turned(player.store.place)).numpy() * STEP
        rows.append((np.linalg.norm(way - to_goal, axis=-1), found, since))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    off, found, since = walk(settings)
    print(f"{settings.run}, {settings.level}: {found[-1].mean():.1f} goals an episode, "
          f"{(found[-1] < 5).mean():.2f} of the episodes with fewer than 5")  # fmt: skip
    print(
        "steps since put down   "
        + "".join(f"{f'{low} to {high - 1} finds':>16}" for low, high in FINDS[:-1])
        + "       more"
    )
    for first, last in SINCE:
        is_then = (since >= first) & (since < last)
        cells = [off[is_then & (found >= low) & (found < high)] for low, high in FINDS]
        shares = "".join(f"{(each < NEAR).mean():16.2f}" if len(each) else f"{'-':>16}" for each in cells)
        print(f"{first:4} to {last - 1 if last < 10**6 else 'more':<12}{shares}   ({is_then.mean():.2f} of all steps)")


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
