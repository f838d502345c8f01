"""Actor and learner on one machine, one beside the other or in turns.

Beside: while the learner works on one trajectory the actor plays the next with the weights of before, then both meet.
Each keeps its share of the cores. In turns: each has all of them, which is faster where one has far more to do than the
other, as with the paper's network on a CPU. Either way nothing is copied but the weights, and the order of events is
always the same: so is the outcome.
"""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.stamps import OtherGames
from memorylab.envs.vector import vector_env
from memorylab.learning.actor import two_trajectories
from memorylab.learning.config import TrainConfig
from memorylab.learning.evaluation import evaluate, evaluation_seed
from memorylab.learning.learner import Learner, Metrics
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode
from memorylab.machine import usable_cores
from memorylab.runs.config import NO_TEACHER
from memorylab.runtime.acting import ActingProcess, ActingThread, Played
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
    """The Runtime of one machine. Where actor and learner work beside each other on cores of a CPU, the actor has a
    process of its own."""

    def __init__(
        self,
        make_env: MakeEnv,
        learner: Learner,
        num_envs: int,
        unroll: int,
        threads: int,
        stopwatch: Stopwatch,
        in_turns: bool = False,
        teacher: str = NO_TEACHER,
    ):
        self.learner, self.stopwatch, self.in_turns = learner, stopwatch, in_turns
        self.own_agent: MemoryRecallAgent = deepcopy(learner.agent)
        self.trajectories = two_trajectories(self.own_agent, unroll, num_envs, teacher)
        self.waiting: Played | None = None
        share = shares(threads, in_turns)
        torch.set_num_threads(share.learner)
        has_cores_for_both = threads > 1 and not in_turns and learner.agent.device.type == "cpu"
        acting = ActingProcess if has_cores_for_both else ActingThread
        self.actor = acting(share.actor, make_env, self.own_agent, self.trajectories, teacher)

    def begin(self, stage: Stage, checkpoint: Checkpoint | None = None) -> None:
        """See Runtime. A cluster's checkpoint holds no games, another version's may hold other ones: new ones begin."""
        self.new_envs(stage)
        if checkpoint is None:
            return
        named, facts = checkpoint
        self.learner.load_state_dict(named, facts["version"])
        if "games" not in named:
            return
        state = {name: part.numpy() for name, part in named.items() if name == "games" or name.startswith("actor.")}
        try:
            number = self.actor.submit("go_on", state).result()
        except OtherGames as problem:
            print(f"memorylab: new games begin ({problem})", file=sys.stderr)
            return self.new_envs(stage)
        if facts["waiting_version"] is not None:
            episodes = [Episode(*row) for row in facts["waiting_episodes"]]
            self.waiting = Played(number, episodes, facts["waiting_version"], 0.0)
        self.publish()

    def new_envs(self, stage: Stage) -> None:
        """See Runtime."""
        self.actor.submit("new_envs", stage).result()
        self.waiting = None

    def advance(self, share_done: float, give_way: GiveWay = nobody_asks) -> Progress:
        """See Runtime."""
        return self.take_turns(share_done) if self.in_turns else self.overlap(share_done)

    def take_turns(self, share_done: float) -> Progress:
        """Play a trajectory with the newest weights, then learn from it."""
        self.publish()
        with self.stopwatch("acting"):
            played = self.actor.submit("collect", self.learner.version).result()
        return self.learn_from(played, share_done)

    def overlap(self, share_done: float) -> Progress:
        """Learn from the trajectory that waits while the next one is played."""
        if self.waiting is None:
            self.publish()
            self.waiting = self.actor.submit("collect", self.learner.version).result()
        coming = self.actor.submit("collect", self.learner.version)
        try:
            progress = self.learn_from(self.waiting, share_done)
        except BaseException:
            coming.exception()  # the actor comes to rest; what broke the learner may have broken it too
            raise
        with self.stopwatch("waiting for the actor"):
            self.waiting = coming.result()
        self.stopwatch.add("acting (beside learning)", self.waiting.seconds)
        self.publish()
        return progress

    def learn_from(self, played: Played, share_done: float) -> Progress:
        """One update."""
        trajectory = self.trajectories[played.number]
        lag = self.learner.version - played.version
        with self.stopwatch("learning"):
            metrics = self.learner.update(trajectory, share_done)
        return Progress(trajectory.actions[1:].numel(), metrics | {"policy_lag": lag}, played.episodes)

    @torch.no_grad()
    def publish(self) -> None:
        """The learner's weights to the actor, who is at rest."""
        for mine, theirs in zip(self.own_agent.parameters(), self.learner.agent.parameters(), strict=True):
            mine.copy_(theirs)

    def state_dict(self) -> dict[str, Tensor]:
        """See Runtime: also actor, games and the trajectory that waits."""
        state = self.actor.submit("state").result()
        return {**self.learner.state_dict(), **{name: torch.from_numpy(part) for name, part in state.items()}}

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
        self.actor.close()


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
    threads = threads or usable_cores()
    share = shares(threads, config.in_turns)
    torch.manual_seed(config.seed)
    torch.set_num_threads(share.learner)  # before the weights: their last bits depend on it
    learner = Learner(MemoryRecallAgent(config.agent).to(device), config.learner)
    make_env = partial(vector_env, config.game("train"), config.num_envs, threads=share.actor)
    sizes = config.num_envs, config.unroll
    runtime = InProcess(make_env, learner, *sizes, threads, Stopwatch(), config.in_turns, config.teaching_player)
    return Training(config, folder, runtime, EvaluatorHere(config, learner.agent, threads), tell)
