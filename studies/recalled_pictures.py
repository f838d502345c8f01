"""When a picture of Arbitrary Visuomotor Mapping is met again, how many of the recalled moments show that picture?

    python studies/recalled_pictures.py [RUN] [--levels train holdout_extrapolate] [--episodes 64] [--seed 4000003]

The agent plays; RUN is one of AVM with an episodic memory, zoo:avm/mra if not given. Every trial whose picture was
shown before in the episode counts, in two ways: the first step that shows it, where whatever shows the same picture is
an earlier showing, and all steps until the answer, where moments of the same showing are counted apart.

  by weight    the share of the read's weight on such moments: how much of what is recalled comes from them
  by number    the share of the K moments, each counted as one
  chance       the share of all moments in memory: what K moments drawn at random would have
  of pictures  the same among moments in memory that show any picture, not the red cross

Shares are means over an episode's steps; +- is half of the 95 % interval of their mean over episodes.
"""

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from tyro.conf import Positional

from memorylab.envs.vector import vector_env
from memorylab.laboratory.statistics import half_interval
from memorylab.laboratory.zoo import run_folder
from memorylab.learning import Player, Trained, load_trained
from memorylab.tasks.psychlab.trial import ANSWERED, CHOOSE

NOTHING = -1  # instead of a picture: the red cross, or a rest
FIRST, LATER, HERE = "first step of a showing: earlier showings", "all its steps: earlier showings", "    this showing"
COLUMNS = ("by weight", "by number", "chance", "of pictures")


@dataclass
class Settings:
    run: Positional[Path] = Path("zoo:avm/mra")
    levels: tuple[str, ...] = ("train", "holdout_extrapolate")
    episodes: int = 64
    seed: int = 4_000_003


@dataclass
class Past:
    """What one game has shown since its episode began, a moment a step."""

    pictures: list[int]
    trials: list[int]

    def shares(self, ages: np.ndarray, weights: np.ndarray, capacity: int) -> dict[str, tuple[float, ...]]:
        """Of the step that was just noted: each kind of moment's share of the read, and of the memory."""
        pictures, trials = np.array(self.pictures), np.array(self.trials)
        now = len(pictures) - 1
        memory = np.arange(max(now - capacity, 0), now)
        recalled = now - ages
        is_earlier = (pictures == pictures[now]) & (trials != trials[now])
        is_here = (pictures == pictures[now]) & (trials == trials[now])
        shows = max((pictures[memory] != NOTHING).sum(), 1)

        def share(those: np.ndarray) -> tuple[float, ...]:
            stored = those[memory]
            return weights[those[recalled]].sum(), those[recalled].mean(), stored.mean(), stored.sum() / shows

        if trials[now] != trials[now - 1] or pictures[now - 1] == NOTHING:
            return {FIRST: share(is_earlier), LATER: share(is_earlier), HERE: share(is_here)}
        return {LATER: share(is_earlier), HERE: share(is_here)}


@torch.no_grad()
def measured(trained: Trained, level: str, episodes: int, seed: int) -> list[dict[str, np.ndarray]]:
    """Per episode, kind of moment -> (steps, 4) shares."""
    env = vector_env(trained.game(level), episodes, seed=seed)
    player = Player(env, trained.agent, seed)
    pasts = [Past([], []) for _ in range(episodes)]
    found: list[dict[str, list]] = [defaultdict(list) for _ in range(episodes)]
    under_way = set(range(episodes))
    while under_way:
        games = env.batch.records.copy()
        _, output, _, ended = player.play()
        for game in under_way:
            record, past = games[game], pasts[game]
            is_shown = record["phase"] in (CHOOSE, ANSWERED)
            past.pictures.append(int(record["picture"]) if is_shown else NOTHING)
            past.trials.append(int(record["trial"]))
            if record["phase"] == CHOOSE and not record["cue"]:
                valid = output.recalled.valid[game].numpy()
                ages, weights = output.recalled.age[game].numpy()[valid], output.weights[game].numpy()[valid]
                for kind, shares in past.shares(ages, weights, trained.agent.config.capacity).items():
                    found[game][kind].append(shares)
        under_way -= {episode.game for episode in ended}
    env.close()
    return [{kind: np.array(shares) for kind, shares in of_game.items()} for of_game in found if of_game]


def main(settings: Settings) -> None:
    trained = load_trained(run_folder(settings.run))
    if trained.task.short != "avm" or trained.agent.read is None:
        sys.exit(f"{settings.run} is not an agent of AVM with an episodic memory")
    config = trained.agent.config
    print(f"{settings.run}: step {trained.step:,}, K = {config.neighbours}, {config.capacity} slots")
    for level in settings.levels:
        played = measured(trained, level, settings.episodes, settings.seed)
        print(f"\n{level + f', {len(played)} episodes':58}{'steps':>7}" + "".join(f"{name:>17}" for name in COLUMNS))
        for kind in (FIRST, LATER, HERE):
            means = np.array([of_game[kind].mean(0) for of_game in played if kind in of_game])
            cells = (f"{means[:, i].mean():.3f} +- {half_interval(means[:, i]):.3f}" for i in range(len(COLUMNS)))
            steps = sum(len(of_game[kind]) for of_game in played if kind in of_game)
            print(f"{kind:58}{steps:7,}" + "".join(f"{cell:>17}" for cell in cells))


if __name__ == "__main__":
    main(tyro.cli(Settings))
