"""What the scripted players score: oracles for the rules, and the proof that memory pays."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from memorylab.envs.vector import MemoryVectorEnv
from memorylab.laboratory.paper import episode_rewards
from memorylab.tasks.task import find_task

Player = Literal["random", "forgetting", "remembering"]
PLAYERS: tuple[Player, ...] = ("random", "forgetting", "remembering")
MAX_GAMES = 256
UNSEEN = (8, 8)  # scripted players read the game's state; nobody looks at the pictures


@dataclass(frozen=True)
class Baseline:
    task: str
    level: str
    player: str
    episodes: int
    mean: float
    standard_error: float
    mean_length: float
    paper_random: float | None
    paper_human: float | None


def play_episodes(
    task: str, level: str, player: str, episodes: int, seed: int, on_episodes: Callable[[int], None] = lambda _: None
) -> tuple[np.ndarray, np.ndarray]:
    """Scores and lengths of at least `episodes` episodes.

    Every game plays the same number of them: to count whichever end first would favour short ones.
    """
    env = MemoryVectorEnv(task, level, min(episodes, MAX_GAMES), seed=seed, size=UNSEEN)
    quota = -(-episodes // env.num_envs)
    played = np.zeros(env.num_envs, np.int64)
    scores, lengths = (np.zeros((env.num_envs, quota)) for _ in range(2))
    actions = np.zeros(env.num_envs, np.int64)
    env.reset()
    while played.min() < quota:
        env.games.act(player, actions)
        *_, info = env.step(actions)
        if "final_info" in info:
            ended = np.flatnonzero(info["_final_info"] & (played < quota))
            scores[ended, played[ended]] = info["final_info"]["score"][ended]
            lengths[ended, played[ended]] = info["final_info"]["length"][ended]
            played[ended] += 1
            on_episodes(len(ended))
    env.close()
    return scores.ravel(), lengths.ravel()


def baselines(
    tasks: Iterable[str],
    levels: Iterable[str],
    players: Iterable[str],
    episodes: int,
    seed: int,
    on_episodes: Callable[[int], None] = lambda _: None,
) -> Iterator[Baseline]:
    paper = episode_rewards()
    for name in tasks:
        task = find_task(name).name
        for level in levels:
            random, human = (paper.get((task, model, level)) for model in ("Random", "Human"))
            for player in players:
                scores, lengths = play_episodes(task, level, player, episodes, seed, on_episodes)
                yield Baseline(
                    task=task,
                    level=level,
                    player=player,
                    episodes=len(scores),
                    mean=float(scores.mean()),
                    standard_error=float(scores.std(ddof=1) / len(scores) ** 0.5) if len(scores) > 1 else float("nan"),
                    mean_length=float(lengths.mean()),
                    paper_random=random and random.mean,
                    paper_human=human and human.mean,
                )
