"""How do agents look for a goal that cannot be seen, and how do they come back to it? Their ways, from above.

    python studies/search_paths.py RUN [RUN ...] [--level train_small] [--out paths.png]

A row of arenas for each run, an episode each: blue until the goal is found, orange from then on; the star is the goal,
the number how often it was found. Told are, of all episodes, in how many it was found, after how many steps first, and
how many steps each further find took.
"""

from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import torch
import tyro
from tyro.conf import Positional

from memorylab.envs.vector import vector_env
from memorylab.laboratory.zoo import run_folder
from memorylab.learning import Player, load_trained
from memorylab.tasks.navigation.arena import CELLS

ARENAS = 5  # that are drawn, of a run


@dataclass
class Settings:
    runs: Positional[tuple[Path, ...]]
    level: str = "train_small"
    episodes: int = 64
    seed: int = 5
    out: Path = Path("paths.png")


def walk(run: Path, settings: Settings) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Places (T, episodes, 2) in metres, goals so far (T, episodes), where the goals are, and the side."""
    trained = load_trained(run_folder(run))
    env = vector_env(trained.game(settings.level), settings.episodes, seed=settings.seed, threads=1)
    player, games = Player(env, trained.agent, settings.seed), env.batch.records
    cell = float(games["cell"][0])
    goal = np.stack([games["goal_x"], games["goal_z"]], -1) - cell
    steps = trained.task.scales["small"].seconds * 15
    places, goals = [], []
    with torch.no_grad():
        for _ in range(int(steps) - 1):
            player.play()
            places.append(np.stack([games["x"], games["z"]], -1) - cell)
            goals.append(games["goals"].copy())
    return np.array(places), np.array(goals), goal, cell * CELLS


def draw(axes: plt.Axes, places: np.ndarray, goals: np.ndarray, goal: np.ndarray, side: float) -> None:
    """One episode."""
    for is_found, colour in ((False, "tab:blue"), (True, "tab:orange")):
        here = (goals > 0) == is_found
        axes.plot(*places[here].T, ".", color=colour, markersize=0.8)
    axes.plot(*goal, "*", color="black", markersize=8)
    axes.set(xlim=(0, side), ylim=(0, side), xticks=(), yticks=(), aspect="equal")
    axes.set_title(f"found {goals[-1]} times", fontsize=9)


def tell(run: Path, goals: np.ndarray) -> None:
    found = goals[-1] > 0
    first = (goals[:, found] > 0).argmax(0)
    later = (len(goals) - first).sum() / max((goals[-1, found] - 1).sum(), 1)
    print(f"{run}: found in {found.mean():.2f} of the episodes, after {first.mean():.0f} steps, "
          f"and again every {later:.0f}; {goals[-1].mean():.1f} goals an episode")  # fmt: skip


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    rows = len(settings.runs)
    figure, axes = plt.subplots(rows, ARENAS, figsize=(2 * ARENAS, 2.2 * rows), squeeze=False, layout="constrained")
    for row, run in zip(axes, settings.runs, strict=True):
        places, goals, goal, side = walk(run, settings)
        tell(run, goals)
        for number, each in enumerate(row):
            draw(each, places[:, number], goals[:, number], goal[number], side)
    figure.savefig(settings.out, dpi=110)


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
