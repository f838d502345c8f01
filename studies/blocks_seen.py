"""Does an agent look at the blocks of Room 1 before it leaves? Beside the scripted players.

    python studies/blocks_seen.py RUN [--levels train holdout_extrapolate] [--episodes 256] [--seed 4000003]

RUN is of a task of Spot the Difference. A block counts as seen once its middle was before the walker's eyes, with
nothing in the way. Told are the share of all blocks, of episodes in which all or none of them were seen, and of right
choices.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from tyro.conf import Positional

from memorylab.envs.vector import MemoryVectorEnv, vector_env
from memorylab.laboratory.statistics import half_interval
from memorylab.laboratory.zoo import run_folder
from memorylab.learning import Player, Trained, load_trained


@dataclass
class Settings:
    run: Positional[Path]
    levels: tuple[str, ...] = ("train", "holdout_interpolate", "holdout_extrapolate")
    episodes: int = 256
    seed: int = 4_000_003


def watched(env: MemoryVectorEnv, play: Callable[[], dict[int, float]]) -> str:
    """The first episode of every game; `play` makes a step and tells which games ended, with what score."""
    blocks, seen = env.batch.records["blocks"].copy(), np.zeros(env.num_envs, np.int64)
    scores = np.full(env.num_envs, np.nan)
    while np.isnan(scores).any():
        under_way = np.isnan(scores)
        seen[under_way] |= env.batch.records["seen"][under_way]
        for game, score in play().items():
            if under_way[game]:
                scores[game] = score
    number = np.array([int(bits).bit_count() for bits in seen])
    told = {"seen": number / blocks, "all": number == blocks, "none": number == 0, "right": scores}
    return "   ".join(
        f"{name} {part.mean():.3f} +- {half_interval(part.astype(float)):.3f}" for name, part in told.items()
    )


def scripted(env: MemoryVectorEnv, name: str) -> Callable[[], dict[int, float]]:
    """One of the task's own players."""
    actions = np.zeros(env.num_envs, np.int64)
    env.reset()

    def play() -> dict[int, float]:
        env.act(name, actions)
        *_, info = env.step(actions)
        ended = np.flatnonzero(info["_final_info"]) if "final_info" in info else []
        return {int(game): float(info["final_info"]["score"][game]) for game in ended}

    return play


def agent(env: MemoryVectorEnv, trained: Trained, seed: int) -> Callable[[], dict[int, float]]:
    """The agent of a run."""
    player = Player(env, trained.agent, seed)
    return torch.no_grad()(lambda: {each.game: each.score for each in player.play()[-1]})


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    trained = load_trained(run_folder(settings.run))
    print(f"{settings.run} at step {trained.step:,}, {settings.episodes} episodes a level")
    for level in settings.levels:
        for name in ("forgetting", "remembering", "agent"):
            env = vector_env(trained.game(level), settings.episodes, seed=settings.seed, threads=1)
            play = agent(env, trained, settings.seed) if name == "agent" else scripted(env, name)
            print(f"{level:22}{name:14}{watched(env, play)}")


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
