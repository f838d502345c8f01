"""The current weights on any level, without learning; working and episodic memory carried as in training."""

from collections.abc import Callable

import numpy as np
import torch

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import vector_env
from memorylab.learning.actor import BatchedEnv, Player
from memorylab.learning.trajectory import Episode

MAX_GAMES = 64
EVALUATIONS = 1_000_003  # their branch of the seeds


def evaluation_seed(seed: int, step: int) -> int:
    """Other episodes at each evaluation of a run, the same for all models of a comparison; none that training or the
    command `evaluate` plays."""
    return int(np.random.SeedSequence((EVALUATIONS, seed, step)).generate_state(1, np.uint64)[0] >> 2)


def evaluate(
    agent: MemoryRecallAgent,
    game: GameSpec,
    episodes: int,
    seed: int,
    threads: int | None = None,
    on_step: Callable[[], None] = lambda: None,
) -> list[Episode]:
    """At least so many episodes of a game, with actions drawn from the policy."""
    env = vector_env(game, min(episodes, MAX_GAMES), seed=seed, threads=threads)
    try:
        return play_episodes(env, agent, episodes, seed, on_step)
    finally:
        env.close()


@torch.no_grad()
def play_episodes(
    env: BatchedEnv, agent: MemoryRecallAgent, episodes: int, seed: int, on_step: Callable[[], None] = lambda: None
) -> list[Episode]:
    """Every game plays the same number of episodes: to count whichever end first would favour short ones."""
    player = Player(env, agent, seed)
    left = [-(-episodes // env.num_envs)] * env.num_envs
    played = []
    while any(left):
        *_, ended = player.play()
        for episode in ended:
            if left[episode.game] > 0:
                left[episode.game] -= 1
                played.append(episode)
        on_step()
    return played
