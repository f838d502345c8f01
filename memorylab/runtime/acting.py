"""Games and who plays them, in a thread of their own: beside a learner, or by turns with it."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch

from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.actor import Actor, Share
from memorylab.learning.trajectory import Episode, Trajectory, part_of
from memorylab.runtime.protocol import MakeEnv, Stage

Arrays = dict[str, np.ndarray]


class Played(NamedTuple):
    """A trajectory that is full."""

    number: int  # which of the two
    episodes: list[Episode]  # that ended in it
    version: int  # of the weights that played it
    seconds: float


class Acting:
    """Games and the actor that plays them, into two trajectories by turns."""

    def __init__(
        self,
        make_env: MakeEnv,
        agent: MemoryRecallAgent,
        trajectories: Sequence[Trajectory],
        teacher: str,
        share: Share | None = None,
    ):
        self.make_env, self.agent, self.trajectories, self.teacher = make_env, agent, trajectories, teacher
        self.share = share
        self.unroll = len(trajectories[0].actions) - 1

    def new_envs(self, stage: Stage) -> None:
        """Play these from now on."""
        self.env = self.make_env(seed=stage.seed, **stage.keywords)
        self.actor = Actor(self.env, self.agent, self.unroll, stage.seed, self.teacher, self.trajectories, self.share)

    def collect(self, version: int) -> Played:
        """The next T steps, with weights of this version."""
        start = perf_counter()
        episodes = self.actor.collect().episodes
        return Played(self.newest(), episodes, version, perf_counter() - start)

    def newest(self) -> int:
        """Which trajectory was filled last."""
        return next(number for number, each in enumerate(self.trajectories) if each is self.actor.now)

    def state(self) -> Arrays:
        """Everything it goes on from, for a checkpoint between two trajectories."""
        actor = {f"actor.{name}": part.cpu().numpy() for name, part in self.actor.state_dict().items()}
        return {**actor, "games": self.env.get_state()}

    def go_on(self, state: Mapping[str, np.ndarray]) -> int:
        """As the one that had this state; which trajectory was filled last."""
        self.env.set_state(state["games"])  # which says so if these are other games
        self.actor.load_state_dict(part_of({name: torch.from_numpy(part) for name, part in state.items()}, "actor."))
        return self.newest()


class ActingThread:
    """Acting in a thread."""

    def __init__(self, threads: int, *acting: Any):
        self.acting = Acting(*acting)
        self.pool = ThreadPoolExecutor(1, "actor", torch.set_num_threads, (threads,))

    def submit(self, method: str, *arguments: Any) -> Future:
        """Call a method of Acting there."""
        return self.pool.submit(getattr(self.acting, method), *arguments)

    def close(self) -> None:
        """When what is under way is done."""
        self.pool.shutdown()
