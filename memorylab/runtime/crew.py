"""All cores of a machine at one run: each hand plays and learns, with its share of the games.

A hand is a process: this one, and one more for every other core. Each plays a trajectory of its games and makes the
gradient of it; the gradients meet in memory that all of them see, and every hand takes the same step with the mean. So
nobody waits for work that is another's, and nothing is sent but numbers that all need.
"""

import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from threading import Thread
from typing import Any, NamedTuple, cast

import numpy as np
import torch
import torch.multiprocessing  # so that tensors in shared memory can be handed to a process
from torch import Tensor

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.vector import MemoryVectorEnv, vector_env
from memorylab.learning.actor import Share
from memorylab.learning.config import TrainConfig
from memorylab.learning.learner import Metrics
from memorylab.learning.stopwatch import Stopwatch
from memorylab.runtime.data_parallel import SharingLearner
from memorylab.runtime.interrupt import leave_to_parent
from memorylab.runtime.one_process import OneProcess
from memorylab.runtime.protocol import Checkpoint, GiveWay, LearnerLost, Progress, Stage, averaged, nobody_asks
from memorylab.world.rng import seed_of_game

Arrays = dict[str, np.ndarray]
LOOK_SECONDS = 1.0  # how often who waits looks whether the others still live


class CrewSize(NamedTuple):
    """So many hands, each with so many cores."""

    hands: int
    threads: int


def crew_size(num_envs: int, threads: int) -> CrewSize:
    """As many hands as there are cores and as share the games evenly."""
    hands = next(number for number in range(min(threads, num_envs), 0, -1) if num_envs % number == 0)
    return CrewSize(hands, max(threads // hands, 1))


class Parted(RuntimeError):
    """Another hand failed, or is no longer there."""


class Meeting:
    """Where the hands add up. Each writes its part, wakes the others, waits for them, and reads all parts.

    Two rooms take turns: who is quick may write the next part while another still reads this one.
    """

    def __init__(self, hands: int, size: int):
        context = multiprocessing.get_context("spawn")
        self.rooms = torch.zeros(2, hands, size).share_memory_()
        self.bells = [context.Semaphore(0) for _ in range(hands)]
        self.failed = torch.zeros((), dtype=torch.bool).share_memory_()
        self.hand = self.count = 0
        self.watch: Callable[[], None] = nobody_asks  # raises Parted if another hand is no longer there

    def __getstate__(self) -> dict[str, Any]:
        """Who watches, watches from its own process."""
        return {**self.__dict__, "watch": nobody_asks}

    def total(self, parts: Sequence[Tensor]) -> Tensor:
        """The sum of all hands' parts, in the same order for all."""
        room = self.rooms[self.count % 2, :, : sum(part.numel() for part in parts)]
        self.count += 1
        torch.cat([part.reshape(-1) for part in parts], out=room[self.hand])
        self.ring()
        for _ in range(len(self.bells) - 1):
            while not self.bells[self.hand].acquire(timeout=LOOK_SECONDS):
                self.watch()
            if self.failed:
                raise Parted("another process of this run failed")
        return room.sum(0)

    def ring(self) -> None:
        """For all others."""
        for hand, bell in enumerate(self.bells):
            if hand != self.hand:
                bell.release()

    def fail(self) -> None:
        """Nobody shall wait for this hand."""
        self.failed.fill_(True)
        self.ring()


class CrewLearner(SharingLearner):
    """A hand's learner."""

    meeting: Meeting

    def total(self, parts: Sequence[Tensor]) -> Tensor:
        """See SharingLearner."""
        return self.meeting.total(parts)


def make_hand(config: TrainConfig, number: int, size: CrewSize, meeting: Meeting, stopwatch: Stopwatch) -> OneProcess:
    """Hand `number` of so many, with its games."""
    meeting.hand = number
    torch.manual_seed(config.seed)
    torch.set_num_threads(size.threads)  # before the weights: their last bits depend on it
    learner = CrewLearner(MemoryRecallAgent(config.agent), config.learner)
    learner.meeting = meeting
    learner.share_with(size.hands)
    num_envs = config.num_envs // size.hands
    share = Share(number * num_envs, config.num_envs)
    make_env = partial(env_of_share, config, share, num_envs, size.threads)
    sizes = num_envs, config.unroll, size.threads
    return OneProcess(make_env, learner, *sizes, stopwatch, True, config.teaching_player, share)


def env_of_share(
    config: TrainConfig, share: Share, num_envs: int, threads: int, *, seed: int, **scale: Any
) -> MemoryVectorEnv:
    """Those games that one process would have at these places of its batch."""
    seeds = [int(seed_of_game(np.uint64(seed), share.first + i)) for i in range(num_envs)]
    return vector_env(config.game("train"), num_envs, seed=seeds, threads=threads, **scale)


class Crew:
    """The Runtime of a machine's cores. This process is hand 0."""

    def __init__(self, config: TrainConfig, size: CrewSize):
        self.config, self.size, self.stopwatch = config, size, Stopwatch()
        self.others: list[ProcessPoolExecutor] = []
        self.under_way: list[Future] = []
        self.here = make_hand(config, 0, size, Meeting(size.hands, 0), self.stopwatch)
        self.learner = self.here.learner
        self.is_whole = False

    def gather(self) -> None:
        """The other hands, who begin as this one did."""
        self.close_others()
        size = sum(weight.numel() for weight in self.learner.agent.parameters())
        meeting = Meeting(self.size.hands, size)
        context = multiprocessing.get_context("spawn")  # a copy of this process might inherit locks that nobody opens
        for number in range(1, self.size.hands):
            given = self.config, number, self.size, meeting
            self.others.append(ProcessPoolExecutor(1, context, begin_hand, given))
        cast(CrewLearner, self.learner).meeting = meeting
        meeting.watch = self.watch
        self.is_whole = True

    def begin(self, stage: Stage, checkpoint: Checkpoint | None = None) -> None:
        """See Runtime."""
        if not self.is_whole:
            self.gather()
        parts = [split(checkpoint, number, self.size.hands) for number in range(self.size.hands)]
        self.ask_others("begin", [stage] * len(self.others), parts[1:])
        self.here.begin(stage, as_tensors(parts[0]))
        self.answers()

    def new_envs(self, stage: Stage) -> None:
        """See Runtime."""
        self.ask_others("new_envs", [stage] * len(self.others))
        self.here.new_envs(stage)
        self.answers()

    def advance(self, share_done: float, give_way: GiveWay = nobody_asks) -> Progress:
        """See Runtime."""
        self.ask_others("advance", [share_done] * len(self.others))
        try:
            mine = self.here.advance(share_done)
        except BaseException as problem:
            self.part(problem)
            raise
        return joint_progress([mine, *self.answers()], self.config.num_envs // self.size.hands)

    def part(self, problem: BaseException) -> None:
        """This hand failed, or found that another did: the others come to rest, and the true cause is raised."""
        self.is_whole = False
        cast(CrewLearner, self.learner).meeting.fail()
        causes = [other.exception() for other in self.under_way]
        for cause in causes if isinstance(problem, Parted) else []:
            if isinstance(cause, BrokenProcessPool):
                raise LearnerLost("a process of this run was killed") from None
            if cause is not None and not isinstance(cause, Parted):
                raise cause

    def ask_others(self, method: str, *arguments: Sequence[Any]) -> None:
        """Each with its own of the arguments."""
        own = list(zip(*arguments, strict=True)) if arguments else [()] * len(self.others)
        self.under_way = [other.submit(call_hand, method, *mine) for other, mine in zip(self.others, own, strict=True)]

    def answers(self) -> list[Any]:
        """Of the others."""
        try:
            return [other.result() for other in self.under_way]
        except BrokenProcessPool:
            self.is_whole = False
            raise LearnerLost("a process of this run was killed") from None

    def watch(self) -> None:
        """While this hand waits at a meeting."""
        if any(other.done() for other in self.under_way):
            raise Parted("another process of this run ended")

    def state_dict(self) -> dict[str, Tensor]:
        """See Runtime: as one process would have it."""
        self.ask_others("acting_state")
        mine = self.here.state_dict()
        parts = [{name: part.numpy() for name, part in mine.items() if is_of_games(name)}, *self.answers()]
        joint = {name: np.concatenate(arrays_of(parts, name), axis) for name in parts[0] if (axis := along(name)) >= 0}
        return {**mine, **{name: torch.from_numpy(part) for name, part in joint.items()}}

    def facts(self) -> dict[str, Any]:
        """See Runtime."""
        return self.here.facts()

    def summed_up(self, gathered: Sequence[Metrics]) -> tuple[Metrics, list[dict[str, Any]]]:
        """See Runtime."""
        return self.here.summed_up(gathered)

    def close_others(self) -> None:
        """When what is under way is done."""
        for other in self.others:
            other.shutdown()
        self.others, self.under_way = [], []

    def close(self) -> None:
        """See Runtime."""
        self.close_others()
        self.here.close()


def joint_progress(parts: Sequence[Progress], num_envs: int) -> Progress:
    """Of all hands, with so many games each, as of one."""
    episodes = [
        episode._replace(game=episode.game + hand * num_envs)
        for hand, part in enumerate(parts)
        for episode in part.episodes
    ]
    return Progress(sum(part.steps for part in parts), averaged([part.metrics for part in parts]), episodes)


# --- a checkpoint is that of one process, whoever wrote it


def is_of_games(name: str) -> bool:
    """Whether each hand has its own."""
    return name == "games" or name.startswith("actor.")


def along(name: str) -> int:
    """Which axis of such a tensor counts the games; -1 if none does."""
    if name in ("actor.player.generator", "actor.player.store.next_slot"):
        return -1
    return 1 if name.startswith("actor.now.") and not name.startswith("actor.now.state") else 0


def arrays_of(parts: Sequence[Mapping[str, np.ndarray]], name: str) -> list[np.ndarray]:
    """What each hand has under this name."""
    return [part[name] for part in parts]


def split(checkpoint: Checkpoint | None, number: int, hands: int) -> Checkpoint | None:
    """What hand `number` goes on from, as arrays."""
    if checkpoint is None:
        return None
    arrays: dict[str, Any] = {}
    for name, part in checkpoint.tensors.items():
        array = part.contiguous().numpy()
        if is_of_games(name) and along(name) >= 0:
            array = np.ascontiguousarray(np.array_split(array, hands, along(name))[number])
        arrays[name] = array
    return Checkpoint(arrays, checkpoint.facts)


def as_tensors(checkpoint: Checkpoint | None) -> Checkpoint | None:
    """The arrays again."""
    if checkpoint is None:
        return None
    return Checkpoint({name: torch.from_numpy(np.array(p)) for name, p in checkpoint.tensors.items()}, checkpoint.facts)


# --- in the other processes

hand: OneProcess


def begin_hand(config: TrainConfig, number: int, size: CrewSize, meeting: Meeting) -> None:
    """What such a process begins with."""
    global hand
    leave_to_parent()  # hand 0 decides when to stop
    Thread(target=end_with_parent, daemon=True).start()
    hand = make_hand(config, number, size, meeting, Stopwatch())


def end_with_parent() -> None:
    """Nobody works for a run that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def call_hand(method: str, *arguments: Any) -> Any:
    """In that process. Who fails says so to those who wait."""
    try:
        if method == "begin":
            stage, checkpoint = arguments
            return hand.begin(stage, as_tensors(checkpoint))
        if method == "acting_state":
            return hand.actor.submit("state").result()
        return getattr(hand, method)(*arguments)
    except BaseException:
        cast(CrewLearner, hand.learner).meeting.fail()
        raise
