"""Scripted players at play."""

from collections.abc import Callable
from typing import Any

import numpy as np

from memorylab.envs.vector import MemoryVectorEnv

MAX_GAMES = 256
UNSEEN = (8, 8)  # scripted players read the game's state; nobody looks at the pictures


def play_episodes(
    task: str,
    level: str,
    player: str,
    episodes: int,
    seed: int,
    on_episodes: Callable[[int], None] = lambda _: None,
    **scale: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and lengths of at least `episodes` episodes of a scripted player.

    Every game plays the same number of them: to count whichever end first would favour short ones.
    """
    env = MemoryVectorEnv(task, level, min(episodes, MAX_GAMES), seed=seed, size=UNSEEN, copy=False, **scale)
    quota = -(-episodes // env.num_envs)
    played = np.zeros(env.num_envs, np.int64)
    scores, lengths = (np.zeros((env.num_envs, quota)) for _ in range(2))
    actions = np.zeros(env.num_envs, np.int64)
    env.reset()
    while played.min() < quota:
        env.batch.act(player, actions)
        *_, info = env.step(actions)
        if "final_info" in info:
            ended = np.flatnonzero(info["_final_info"] & (played < quota))
            scores[ended, played[ended]] = info["final_info"]["score"][ended]
            lengths[ended, played[ended]] = info["final_info"]["length"][ended]
            played[ended] += 1
            on_episodes(len(ended))
    env.close()
    return scores.ravel(), lengths.ravel()
