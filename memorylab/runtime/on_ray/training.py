"""A run on a Ray cluster: the same run, with another runtime, and evaluation beside it."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import ray
import torch
from ray.exceptions import ObjectLostError

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.config import TrainConfig
from memorylab.learning.evaluation import evaluate
from memorylab.learning.learner import Metrics
from memorylab.learning.trajectory import Episode, empty_trajectory
from memorylab.runs.checkpoints import checkpoints
from memorylab.runtime.on_ray.cluster import check_room, connect
from memorylab.runtime.on_ray.crew import Crew, MakeGames
from memorylab.runtime.on_ray.learners import LearnerLost, Learners
from memorylab.runtime.on_ray.options import ClusterOptions
from memorylab.runtime.on_ray.runtime import RayRuntime
from memorylab.runtime.training import Report, Training, evaluation_seed

LEAST_STORE = 256 * 2**20
LIVES = 3  # of the learner without a new checkpoint


class Evaluator:
    """Plays the true levels with the weights it is given, in a process of its own."""

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
        played = [evaluate(self.agent, c.task, level, c.evaluation_episodes, seed, 1) for level in c.evaluation_levels]
        return played, {name: part.numpy() for name, part in self.agent.state_dict().items()}


class RayTraining(Training):
    """One run. The driver keeps the records; actors, learners and evaluation are Ray processes."""

    runtime: RayRuntime

    def __init__(
        self,
        config: TrainConfig,
        folder: Path,
        options: ClusterOptions,
        threads: int | None = None,
        tell: Callable[[Report], None] = lambda _: None,
    ):
        self.options = options
        self.trajectories = options.trajectories_per_update(config)
        threads = threads or 1
        cpus = options.actors + threads * options.learners + (config.evaluate_every > 0)
        store = 4 * options.actors * trajectory_bytes(config, options.games_of_actor(config))
        self.connected = connect(options.address, cpus, max(store, LEAST_STORE))
        remark = check_room(threads * options.learners, options.learner_gpus * options.learners, cpus)
        if remark:
            print(f"memorylab: {remark}", file=sys.stderr)
        self.evaluation: tuple[int, Any] | None = None  # the step whose weights are being evaluated, and a future
        self.evaluator: Any = None
        if config.evaluate_every:
            restarting: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)
            self.evaluator = restarting(Evaluator).remote(config)
        self.reported = perf_counter()
        super().__init__(config, folder, threads=threads, tell=tell)

    def begin(self) -> None:
        super().begin()
        self.runtime.crew.renew_seeds()
        self.runtime.new_games(self.new_games(), self.games_seed())

    def new_runtime(self) -> RayRuntime:
        c, o = self.config, self.options
        learner = Learners(c.agent, c.learner, c.seed, o.learners, self.threads, o.learner_gpus)
        crew = self.runtime.crew if hasattr(self, "runtime") else Crew(c.agent, c.unroll, o.actors)
        lag = o.lag_bound(c)
        return RayRuntime(learner, crew, self.trajectories, self.stopwatch, c.in_turns, lag, lambda: self.give_way())

    def new_games(self) -> MakeGames:
        c = self.config
        size = c.agent.height, c.agent.width
        games = self.options.games_of_actor(c)
        return partial(MemoryVectorEnv, c.task, "train", games, size=size, threads=1, **self.curriculum.keywords())

    # --- when a learner dies

    def run(self, minutes: float | None = None) -> None:
        """As on one machine; goes back to the last checkpoint by itself when a learner dies."""
        lives, before, lost = LIVES, self.saved(), None
        while True:
            try:
                if lost is not None:
                    self.go_back(lost)
                return super().run(minutes)
            except LearnerLost as problem:
                lives, before, lost = LIVES if self.saved() != before else lives - 1, self.saved(), problem
                if not lives:
                    raise RuntimeError(f"the learner died {LIVES} times without a checkpoint: {problem}") from None

    def go_back(self, problem: LearnerLost) -> None:
        died_at = self.step
        self.learner.close()
        self.evaluation = None
        self.begin()
        told = f"the learner died at step {died_at:,}; going on from step {self.step:,} ({problem})"
        print(f"memorylab: {told}", file=sys.stderr)

    def saved(self) -> list[Path]:
        return checkpoints(self.folder.checkpoints)

    # --- evaluation beside training

    def evaluation_is_due(self) -> bool:
        self.note_evaluation(wait=False)
        return self.evaluation is None and super().evaluation_is_due()

    def evaluate(self) -> None:
        if self.evaluator is not None:
            self.evaluation = self.step, self.evaluator.play.remote(self.learner.weights, self.step)

    def note_evaluation(self, wait: bool) -> None:
        """Record the evaluation under way if it is done."""
        if self.evaluation is None:
            return
        step, future = self.evaluation
        while not ray.wait([future], timeout=1.0 if wait else 0)[0]:
            if not wait:
                return
            self.give_way()
        self.evaluation = None
        try:
            played, weights = ray.get(future)
            named = {name: torch.tensor(part) for name, part in weights.items()}
            self.record(step, self.config.evaluation_levels, played, named)
        except ObjectLostError:  # the weights, with the node of a learner
            self.learner.check()

    def last_evaluation(self) -> None:
        with self.stopwatch("last evaluation"):
            self.note_evaluation(wait=True)
            while self.evaluator is not None and self.evaluated != self.step:
                self.evaluate()
                self.note_evaluation(wait=True)

    # --- records

    def report(self, gathered: list[Metrics], rate: float) -> None:
        now = perf_counter()
        actors = self.runtime.crew.rates(now - self.reported)
        self.reported = now
        rates = [row["steps_per_second"] for row in actors]
        whole = self.runtime.counters() | {"actor_rate_least": min(rates), "actor_rate_most": max(rates)}
        if gathered:
            whole["policy_lag_max"] = max(metrics["policy_lag_max"] for metrics in gathered)
        super().report([metrics | whole for metrics in gathered], rate)
        self.folder.add_actors([{"step": self.step, **row} for row in actors])

    def close(self) -> None:
        super().close()
        if self.connected:
            ray.shutdown()
        elif self.evaluator is not None:
            ray.kill(self.evaluator)


def trajectory_bytes(config: TrainConfig, games: int) -> int:
    agent = MemoryRecallAgent(config.agent)
    return sum(part.nbytes for part in empty_trajectory(agent, config.unroll, games).tensors().values())
