"""Actor and learner in one process, one beside the other or in turns.

Beside: while the learner works on one trajectory the actor plays the next with the weights of before, then both meet.
Each keeps its share of the cores. In turns: each has all of them, which is faster where one has far more to do than the
other, as with the paper's network on a CPU. Either way nothing is copied but the weights, and the order of events is
always the same: so is the outcome.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.actor import Actor, Rollout, VectorGames
from memorylab.learning.learner import Learner, Metrics
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode, part_of


class Progress(NamedTuple):
    """One update."""

    steps: int
    metrics: Metrics
    episodes: list[Episode]


class Shares(NamedTuple):
    """How many of the cores each has."""

    learner: int
    actor: int


def shares(threads: int, in_turns: bool) -> Shares:
    return Shares(threads, threads) if in_turns else Shares(max(threads - threads // 2, 1), max(threads // 2, 1))


class InProcess:
    def __init__(
        self,
        env: VectorGames,
        learner: Learner,
        unroll: int,
        seed: int,
        threads: int,
        stopwatch: Stopwatch,
        in_turns: bool = False,
    ):
        self.learner, self.unroll, self.stopwatch, self.in_turns = learner, unroll, stopwatch, in_turns
        self.own_agent: MemoryRecallAgent = deepcopy(learner.agent)
        share = shares(threads, in_turns)
        torch.set_num_threads(share.learner)
        self.pool = ThreadPoolExecutor(1, "actor", torch.set_num_threads, (share.actor,))
        self.new_games(env, seed)

    def new_games(self, env: VectorGames, seed: int) -> None:
        """Play these games from now on."""
        self.env = env
        self.actor = Actor(env, self.own_agent, self.unroll, seed)
        self.waiting: Rollout | None = None

    def advance(self, share_done: float) -> Progress:
        """The next update."""
        return self.take_turns(share_done) if self.in_turns else self.overlap(share_done)

    def take_turns(self, share_done: float) -> Progress:
        """Play a trajectory with the newest weights, then learn from it."""
        self.publish()
        with self.stopwatch("acting"):
            trajectory, episodes, _ = self.actor.collect()
        with self.stopwatch("learning"):
            metrics = self.learner.update(trajectory, share_done)
        return Progress(trajectory.actions[1:].numel(), metrics | {"policy_lag": 0}, episodes)

    def overlap(self, share_done: float) -> Progress:
        """Learn from the trajectory that waits while the next one is played."""
        if self.waiting is None:
            self.publish()
            self.waiting = self.pool.submit(self.collect).result()
        coming = self.pool.submit(self.collect)
        trajectory, episodes, version = self.waiting
        lag = self.learner.version - version
        try:
            with self.stopwatch("learning"):
                metrics = self.learner.update(trajectory, share_done)
        except BaseException:
            coming.exception()  # the actor comes to rest; what broke the learner may have broken it too
            raise
        with self.stopwatch("waiting for the actor"):
            self.waiting = coming.result()
        self.publish()
        return Progress(trajectory.actions[1:].numel(), metrics | {"policy_lag": lag}, episodes)

    def collect(self) -> Rollout:
        with self.stopwatch("acting (beside learning)"):
            return self.actor.collect()

    def publish(self) -> None:
        self.actor.take_weights(list(self.learner.agent.parameters()), self.learner.version)

    def tensors(self) -> dict[str, Tensor]:
        """Between two calls of `advance`: actor, games and the trajectory that waits."""
        named = {f"actor.{name}": part for name, part in self.actor.state_dict().items()}
        state: np.ndarray = self.env.state()  # type: ignore[attr-defined]
        return named | {"games": torch.from_numpy(state)}

    def facts(self) -> dict[str, Any]:
        episodes = self.waiting.episodes if self.waiting else []
        return {"waiting_version": self.waiting.version if self.waiting else None, "waiting_episodes": episodes}

    def restore(self, named: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        if "games" not in named:  # a cluster's checkpoint: games begin anew
            return
        self.actor.load_state_dict(part_of(named, "actor."))
        self.env.restore(named["games"].numpy())  # type: ignore[attr-defined]
        if facts["waiting_version"] is not None:
            episodes = [Episode(*row) for row in facts["waiting_episodes"]]
            self.waiting = Rollout(self.actor.now, episodes, facts["waiting_version"])
        self.publish()

    def close(self) -> None:
        self.pool.shutdown()
