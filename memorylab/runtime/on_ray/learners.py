"""The learner of a run as one or more Ray processes."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import mean
from typing import Any

import numpy as np
import ray
import torch
from ray.exceptions import ObjectLostError, RayError, RayTaskError
from torch import Tensor

from memorylab.agent.config import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.config import LearnerConfig
from memorylab.learning.learner import Diverged, Metrics
from memorylab.runtime.data_parallel import Arrays, DataParallelLearner, find_store, joint_trajectory, serve_store
from memorylab.runtime.on_ray.trouble import (
    DEATHS,
    LOOK_SECONDS,
    Pulse,
    Room,
    as_stuck,
    cause_of,
    wait_for_one,
    words,
)
from memorylab.runtime.protocol import LearnerLost

DEATH_SECONDS = 20.0  # until Ray knows of a death


class RemoteLearner:
    """A learner in a process of its own."""

    def __init__(self, agent: AgentConfig, config: LearnerConfig, seed: int, threads: int, device: str):
        torch.set_num_threads(threads)  # before the weights: their last bits depend on it
        torch.manual_seed(seed)
        self.learner = DataParallelLearner(MemoryRecallAgent(agent).to(device), config)

    @ray.method(concurrency_group="pulse")
    def pulse(self) -> float:
        """A sign of life in the middle of an update: seconds that it has computed."""
        return time.process_time()

    def open_store(self) -> tuple[str, int]:
        """The first learner's: where the others find it."""
        self.host = ray.util.get_node_ip_address()
        self.store, port = serve_store(self.host)
        return self.host, port

    def join(self, rank: int, learners: int, host: str, port: int) -> None:
        """Be one of several that share a batch."""
        if rank > 0:
            self.store = find_store(host, port)
        self.learner.join(self.store, rank, learners, ray.util.get_node_ip_address())

    def take(self, *trajectories: Arrays) -> None:
        """What the next update learns from."""
        self.batch = joint_trajectory(trajectories, self.learner.agent)

    def learn(self, share_done: float) -> tuple[Metrics, list[np.ndarray]]:
        """An update from what was taken; what it measured, and the new weights."""
        return self.learner.update(self.batch, share_done), self.weights()

    def weights(self) -> list[np.ndarray]:
        """In the order of the agent's parameters."""
        return [np.ascontiguousarray(part.detach().cpu().numpy()) for part in self.learner.agent.parameters()]

    def state_dict(self) -> Arrays:
        """For a checkpoint."""
        return {name: part.cpu().numpy() for name, part in self.learner.state_dict().items()}

    def load_state_dict(self, arrays: Arrays, version: int) -> None:
        """From a checkpoint."""
        self.learner.load_state_dict({name: torch.tensor(part) for name, part in arrays.items()}, version)


class Learners:
    """What the driver calls, after `start`; `weights` is a future of the newest."""

    def __init__(
        self,
        agent: AgentConfig,
        config: LearnerConfig,
        seed: int,
        learners: int = 1,
        threads: int = 1,
        gpus: float = 0,
    ):
        self.number, self.updates = learners, config.updates
        self.reduce_loss = sum if config.reduction == "sum" else mean
        group = {"pulse": 1}  # a thread of its own
        as_actor: Any = ray.remote  # whose types know no groups
        remote = as_actor(num_cpus=threads, num_gpus=gpus, concurrency_groups=group)(RemoteLearner)
        self.new_worker = partial(remote.remote, agent, config, seed, threads, "cuda" if gpus else "cpu")
        self.workers: list[Any] = []
        self.room = Room(threads * learners, gpus * learners)

    def start(self) -> None:
        """New processes with new weights; those of before, if any, end."""
        self.close()
        self.version = 0
        self.workers = [self.new_worker() for _ in range(self.number)]
        self.pulse = Pulse(self.workers)
        await_all([worker.__ray_ready__.remote() for worker in self.workers], lambda: self.room.look("the learner"))
        self.room.begun()
        if self.number > 1:
            [place] = self.each(self.workers[:1], "open_store")
            self.await_all([worker.join.remote(rank, self.number, *place) for rank, worker in enumerate(self.workers)])
        self.weights = self.workers[0].weights.remote()

    def update(self, trajectories: Sequence[Any], share_done: float) -> Metrics | None:
        """From these futures, each learner its share; None if one of them is lost, then no learner begins."""
        share = len(trajectories) // len(self.workers)
        try:
            self.await_all(
                [
                    worker.take.remote(*trajectories[share * rank : share * (rank + 1)])
                    for rank, worker in enumerate(self.workers)
                ]
            )
        except ObjectLostError:
            return None
        results = [worker.learn.options(num_returns=2).remote(share_done) for worker in self.workers]
        told = self.await_all([metrics for metrics, _ in results])
        self.weights = results[0][1]
        self.version += self.updates
        metrics = {name: mean(m[name] for m in told) for name in told[0]}
        return metrics | {"loss": self.reduce_loss(m["loss"] for m in told)}

    def check(self) -> None:
        """LearnerLost if one is dead, or has hung for long."""
        futures = [worker.__ray_ready__.remote() for worker in self.workers]
        answered, late = ray.wait(futures, num_returns=len(futures), timeout=LOOK_SECONDS)
        await_all(answered, self.pulse.feel)
        if late:
            self.pulse.feel()
        else:
            self.pulse.asked = []

    def state_dict(self) -> dict[str, Tensor]:
        """Weights and the optimiser's moments."""
        [arrays] = self.each(self.workers[:1], "state_dict")
        return {name: torch.tensor(part) for name, part in arrays.items()}

    def load_state_dict(self, named: Mapping[str, Tensor], version: int) -> None:
        """The same in all learners."""
        arrays = ray.put({n: p.numpy() for n, p in named.items() if n.startswith(("agent.", "optimiser.", "steps"))})
        self.each(self.workers, "load_state_dict", arrays, version)
        self.version = version
        self.weights = self.workers[0].weights.remote()

    def each(self, workers: Sequence[Any], method: str, *arguments: Any) -> list[Any]:
        """The same call of all of them."""
        return self.await_all([getattr(worker, method).remote(*arguments) for worker in workers])

    def await_all(self, futures: Sequence[Any]) -> list[Any]:
        """LearnerLost, too, if one of them hangs meanwhile."""
        self.pulse.asked = []  # none was asked for anything until now
        return await_all(futures, self.pulse.feel)

    def close(self) -> None:
        """End the processes."""
        for worker in self.workers:
            ray.kill(worker)
        self.workers = []


def await_all(futures: Sequence[Any], meanwhile: Callable[[], None] = lambda: None) -> list[Any]:
    """Whichever fails first is told at once: the others may wait for it."""
    waiting = list(futures)
    try:
        while waiting:
            ready, waiting = wait_for_one(waiting, meanwhile)
            ray.get(ready)
    except DEATHS as problem:
        raise LearnerLost(words(problem)) from problem
    except ObjectLostError:
        raise
    except RayError as problem:
        cause = cause_of(problem)
        if isinstance(problem, RayTaskError) and not isinstance(cause, Diverged) and is_dead(waiting):
            raise LearnerLost(f"another learner's connection broke: {cause}") from None
        raise as_stuck(problem) or cause from None
    return ray.get(list(futures))


def is_dead(futures: Sequence[Any]) -> bool:
    """Whether the process of one of them died. Those that compute with it notice before Ray does."""
    ready, _ = ray.wait(list(futures), num_returns=len(futures), timeout=DEATH_SECONDS) if futures else ([], [])
    for future in ready:
        try:
            ray.get(future)
        except DEATHS:
            return True
        except RayTaskError:
            continue
    return False
