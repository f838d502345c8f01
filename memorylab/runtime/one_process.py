"""Actor and learner in one process, in turns or one beside the other.

In turns, on a CPU: a trajectory is played, then learned from, with the same weights, so that what acting computed need
not be computed again (`agent/tape.py`). Beside each other, on a GPU: while the learner works on one trajectory the
actor plays the next with the weights of before, then both meet. Either way the order of events is always the same: so
is the outcome.
"""

import sys
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.stamps import OtherGames
from memorylab.learning.actor import Share, taped_trajectory, two_trajectories
from memorylab.learning.learner import Learner, Metrics
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode
from memorylab.runs.config import NO_TEACHER
from memorylab.runtime.acting import ActingThread, Played
from memorylab.runtime.protocol import Checkpoint, GiveWay, MakeEnv, Progress, Stage, averaged, nobody_asks


class OneProcess:
    """The Runtime of one process."""

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
        share: Share | None = None,
    ):
        self.learner, self.stopwatch, self.in_turns = learner, stopwatch, in_turns
        self.own_agent: MemoryRecallAgent = learner.agent if in_turns else deepcopy(learner.agent)
        room = taped_trajectory if in_turns else two_trajectories
        self.trajectories = room(self.own_agent, unroll, num_envs, teacher)
        self.waiting: Played | None = None
        torch.set_num_threads(threads)
        self.actor = ActingThread(threads, make_env, self.own_agent, self.trajectories, teacher, share)

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
        if facts["waiting_version"] is not None and not self.in_turns:
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
        """The learner's weights to the actor, who is at rest, if it has not the same."""
        if self.in_turns:
            return
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
