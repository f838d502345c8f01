"""Actor and learner in one process, one beside the other or in turns.

Beside: while the learner works on one trajectory the actor plays the next with the weights of before, then both meet.
Each keeps its share of the cores. In turns: each has all of them, which is faster where one has far more to do than the
other, as with the paper's network on a CPU. Either way nothing is copied but the weights, and the order of events is
always the same: so is the outcome.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from memorylab.agent.network import MemoryRecallAgent
from memorylab.agent.sharing import Sharing
from memorylab.envs.vector import vector_env
from memorylab.learning.actor import Actor, Rollout
from memorylab.learning.config import TrainConfig
from memorylab.learning.evaluation import evaluate, evaluation_seed
from memorylab.learning.learner import Learner, Metrics
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode, part_of
from memorylab.runs.config import NO_TEACHER
from memorylab.runtime.protocol import (
    Checkpoint,
    Evaluated,
    GiveWay,
    MakeEnv,
    Progress,
    Stage,
    averaged,
    nobody_asks,
)
from memorylab.runtime.training import Report, Training


class Shares(NamedTuple):
    """How many of the cores each has."""

    learner: int
    actor: int


def shares(threads: int, in_turns: bool) -> Shares:
    """All for each where they take turns, else half."""
    return Shares(threads, threads) if in_turns else Shares(max(threads - threads // 2, 1), max(threads // 2, 1))


class InProcess:
    """The Runtime of one process."""

    def __init__(
        self,
        make_env: MakeEnv,
        learner: Learner,
        unroll: int,
        threads: int,
        stopwatch: Stopwatch,
        in_turns: bool = False,
        teacher: str = NO_TEACHER,
    ):
        self.make_env, self.learner, self.unroll, self.teacher = make_env, learner, unroll, teacher
        self.stopwatch, self.in_turns = stopwatch, in_turns
        self.own_agent: MemoryRecallAgent = deepcopy(learner.agent)
        self.sharing = Sharing()
        if not in_turns:
            learner.agent.sharing = self.sharing
        self.waiting: Rollout | None = None
        share = shares(threads, in_turns)
        torch.set_num_threads(share.learner)
        self.pool = ThreadPoolExecutor(1, "actor", torch.set_num_threads, (share.actor,))

    def begin(self, stage: Stage, checkpoint: Checkpoint | None = None) -> None:
        """See Runtime. A cluster's checkpoint holds no games: new ones begin."""
        self.new_envs(stage)
        if checkpoint is None:
            return
        named, facts = checkpoint
        self.learner.load_state_dict(named, facts["version"])
        if "games" not in named:
            return
        self.actor.load_state_dict(part_of(named, "actor."))
        self.env.set_state(named["games"].numpy())
        if facts["waiting_version"] is not None:
            episodes = [Episode(*row) for row in facts["waiting_episodes"]]
            self.waiting = Rollout(self.actor.now, episodes, facts["waiting_version"])
        self.publish()

    def new_envs(self, stage: Stage) -> None:
        """See Runtime."""
        self.env = self.make_env(seed=stage.seed, **stage.keywords)
        self.actor = Actor(self.env, self.own_agent, self.unroll, stage.seed, self.teacher)
        self.waiting = None

    def advance(self, share_done: float, give_way: GiveWay = nobody_asks) -> Progress:
        """See Runtime."""
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
        self.sharing.is_open = True
        coming = self.pool.submit(self.collect_and_help)
        trajectory, episodes, version = self.waiting
        lag = self.learner.version - version
        try:
            with self.stopwatch("learning"):
                metrics = self.learner.update(trajectory, share_done)
        except BaseException:
            self.sharing.close()
            coming.exception()  # the actor comes to rest; what broke the learner may have broken it too
            raise
        self.sharing.close()
        with self.stopwatch("waiting for the actor"):
            self.waiting = coming.result()
        self.publish()
        return Progress(trajectory.actions[1:].numel(), metrics | {"policy_lag": lag}, episodes)

    def collect(self) -> Rollout:
        """In the actor's thread."""
        with self.stopwatch("acting (beside learning)"):
            return self.actor.collect()

    def collect_and_help(self) -> Rollout:
        """Then take over some of the learner's work."""
        rollout = self.collect()
        self.sharing.help_until_closed()
        return rollout

    def publish(self) -> None:
        """The learner's weights to the actor."""
        self.actor.take_weights(list(self.learner.agent.parameters()), self.learner.version)

    def state_dict(self) -> dict[str, Tensor]:
        """See Runtime: also actor, games and the trajectory that waits."""
        actor = {f"actor.{name}": part for name, part in self.actor.state_dict().items()}
        return {**self.learner.state_dict(), **actor, "games": torch.from_numpy(self.env.get_state())}

    def facts(self) -> dict[str, Any]:
        """See Runtime."""
        waiting = self.waiting
        return {
            "version": self.learner.version,
            "waiting_version": waiting.version if waiting else None,
            "waiting_episodes": waiting.episodes if waiting else [],
        }

    def summed_up(self, gathered: Sequence[Metrics]) -> tuple[Metrics, list[dict[str, Any]]]:
        """See Runtime."""
        return averaged(gathered), []

    def close(self) -> None:
        """See Runtime."""
        self.pool.shutdown()


class EvaluatorHere:
    """Plays at once, one level to a thread, while training waits."""

    is_busy = False

    def __init__(self, config: TrainConfig, agent: MemoryRecallAgent, threads: int):
        self.config, self.agent, self.threads = config, agent, threads
        self.done: Evaluated | None = None

    def start(self, step: int, give_way: GiveWay) -> None:
        """See Evaluator."""
        c = self.config
        seed = evaluation_seed(c.seed, step)

        def play(level: str) -> list[Episode]:
            return evaluate(self.agent, c.game(level), c.evaluation_episodes, seed, 1, give_way)

        with ThreadPoolExecutor(self.threads, "level", torch.set_num_threads, (1,)) as pool:
            self.done = Evaluated(step, list(pool.map(play, c.evaluation_levels)), self.agent.state_dict())

    def finished(self, wait: bool, give_way: GiveWay) -> Evaluated | None:
        """See Evaluator."""
        done, self.done = self.done, None
        return done

    def forget(self) -> None:
        """See Evaluator."""

    def close(self) -> None:
        """See Evaluator."""


def training_here(
    config: TrainConfig,
    folder: Path,
    device: str = "cpu",
    threads: int | None = None,
    tell: Callable[[Report], None] = lambda _: None,
) -> Training:
    """A run in this process."""
    threads = threads or len(os.sched_getaffinity(0))
    share = shares(threads, config.in_turns)
    torch.manual_seed(config.seed)
    torch.set_num_threads(share.learner)  # before the weights: their last bits depend on it
    learner = Learner(MemoryRecallAgent(config.agent).to(device), config.learner)
    make_env = partial(vector_env, config.game("train"), config.num_envs, threads=share.actor)
    runtime = InProcess(make_env, learner, config.unroll, threads, Stopwatch(), config.in_turns, config.teacher)
    return Training(config, folder, runtime, EvaluatorHere(config, learner.agent, threads), tell)
