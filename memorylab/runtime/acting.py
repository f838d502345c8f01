"""Who plays while the learner learns: a thread of its process or, where there are cores for both, a process of its own.

Python runs one thread at a time. An actor makes a hundred small calls a step, and beside a learner in the same process
each would wait for the other's. Another process has an interpreter of its own; weights and trajectories lie in memory
that both see, so that nothing is sent but which trajectory is full.
"""

import multiprocessing
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from threading import Thread
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.multiprocessing  # so that tensors in shared memory can be handed to a process
from torch import Tensor

from memorylab.agent.config import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.actor import Actor
from memorylab.learning.trajectory import Episode, Trajectory, part_of
from memorylab.runtime.interrupt import leave_to_parent
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

    def __init__(self, make_env: MakeEnv, agent: MemoryRecallAgent, trajectories: Sequence[Trajectory], teacher: str):
        self.make_env, self.agent, self.trajectories, self.teacher = make_env, agent, trajectories, teacher
        self.unroll = len(trajectories[0].actions) - 1

    def new_envs(self, stage: Stage) -> None:
        """Play these from now on."""
        self.env = self.make_env(seed=stage.seed, **stage.keywords)
        self.actor = Actor(self.env, self.agent, self.unroll, stage.seed, self.teacher, self.trajectories)

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
    """Acting in a thread of this process: for a device that actor and learner share, or a single core."""

    def __init__(self, threads: int, *acting: Any):
        self.acting = Acting(*acting)
        self.pool = ThreadPoolExecutor(1, "actor", torch.set_num_threads, (threads,))

    def submit(self, method: str, *arguments: Any) -> Future:
        """Call a method of Acting there."""
        return self.pool.submit(getattr(self.acting, method), *arguments)

    def close(self) -> None:
        """When what is under way is done."""
        self.pool.shutdown()


class ActingProcess:
    """Acting in a process of its own."""

    def __init__(
        self,
        threads: int,
        make_env: MakeEnv,
        agent: MemoryRecallAgent,
        trajectories: Sequence[Trajectory],
        teacher: str,
    ):
        agent.share_memory()
        for trajectory in trajectories:
            for part in trajectory.state_dict().values():
                part.share_memory_()
        weights = [weight.data for weight in agent.parameters()]
        self.pool = ProcessPoolExecutor(
            1,
            multiprocessing.get_context("spawn"),  # a copy of this process might inherit locks that nobody opens
            begin_acting,
            (threads, make_env, agent.config, weights, trajectories, teacher),
        )

    def submit(self, method: str, *arguments: Any) -> Future:
        """Call a method of Acting there."""
        return self.pool.submit(call_acting, method, *arguments)

    def close(self) -> None:
        """When what is under way is done."""
        self.pool.shutdown()


acting: Acting  # in a process that does nothing else


def begin_acting(
    threads: int,
    make_env: MakeEnv,
    config: AgentConfig,
    weights: Sequence[Tensor],
    trajectories: Sequence[Trajectory],
    teacher: str,
) -> None:
    """What such a process begins with."""
    global acting
    leave_to_parent()  # the learner decides when to stop
    Thread(target=end_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    agent = MemoryRecallAgent(config)
    for mine, shared in zip(agent.parameters(), weights, strict=True):
        mine.data = shared
    acting = Acting(make_env, agent, trajectories, teacher)


def end_with_parent() -> None:
    """Nobody plays for a learner that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def call_acting(method: str, *arguments: Any) -> Any:
    """In that process."""
    return getattr(acting, method)(*arguments)
