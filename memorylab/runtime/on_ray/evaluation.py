"""Evaluation in a process of its own, beside training."""

from typing import Any

import numpy as np
import ray
import torch
from ray.exceptions import ObjectLostError, RayError

from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.config import TrainConfig
from memorylab.learning.evaluation import evaluate, evaluation_seed
from memorylab.learning.trajectory import Episode
from memorylab.runtime.on_ray.runtime import RayRuntime
from memorylab.runtime.on_ray.trouble import DEATHS, LOOK_SECONDS, as_stuck, cause_of
from memorylab.runtime.protocol import Evaluated, GiveWay


class RemoteEvaluator:
    """Plays the true levels with the weights it is given."""

    def __init__(self, config: TrainConfig):
        torch.set_num_threads(1)
        self.config, self.agent = config, MemoryRecallAgent(config.agent)

    @torch.no_grad()
    def play(self, weights: list[np.ndarray], step: int) -> tuple[list[list[Episode]], dict[str, np.ndarray]]:
        """Episodes of each level, and the weights by name."""
        for mine, new in zip(self.agent.parameters(), weights, strict=True):
            mine.copy_(torch.tensor(new))
        c = self.config
        seed = evaluation_seed(c.seed, step)
        played = [evaluate(self.agent, c.game(level), c.evaluation_episodes, seed, 1) for level in c.evaluation_levels]
        return played, {name: part.numpy() for name, part in self.agent.state_dict().items()}


class RayEvaluator:
    """The Evaluator of a cluster; Ray begins its process anew where that dies."""

    def __init__(self, config: TrainConfig, runtime: RayRuntime):
        self.runtime = runtime
        self.under_way: tuple[int, Any] | None = None  # the step whose weights are being evaluated, and a future
        self.handle: Any = None
        if config.evaluate_every:
            restarting: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)
            self.handle = restarting(RemoteEvaluator).remote(config)

    @property
    def is_busy(self) -> bool:
        """See Evaluator."""
        return self.under_way is not None

    def start(self, step: int, give_way: GiveWay) -> None:
        """See Evaluator."""
        self.under_way = step, self.handle.play.remote(self.runtime.learner.weights, step)

    def finished(self, wait: bool, give_way: GiveWay) -> Evaluated | None:
        """See Evaluator."""
        if self.under_way is None:
            return None
        step, future = self.under_way
        while not ray.wait([future], timeout=LOOK_SECONDS if wait else 0)[0]:
            if not wait:
                return None
            give_way()
        self.under_way = None
        try:
            played, weights = ray.get(future)
        except ObjectLostError:  # the weights, with the node of a learner
            self.runtime.learner.check()
            return None
        except DEATHS:  # Ray ended it, for its memory perhaps; the next one begins when it is due
            return None
        except RayError as problem:
            raise as_stuck(problem) or RuntimeError(f"the evaluation failed: {cause_of(problem)!r}") from problem
        return Evaluated(step, played, {name: torch.tensor(part) for name, part in weights.items()})

    def forget(self) -> None:
        """See Evaluator."""
        self.under_way = None

    def close(self) -> None:
        """See Evaluator."""
        if self.handle is not None:
            ray.kill(self.handle)
