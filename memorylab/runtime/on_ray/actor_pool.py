"""The actors of a run: each plays one trajectory at a time, and one that dies is replaced."""

import os
import socket
import sys
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import ray
import torch
from ray.exceptions import ObjectLostError, RayError

from memorylab.agent.config import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.actor import Actor
from memorylab.learning.trajectory import Episode
from memorylab.runs.config import NO_TEACHER
from memorylab.runtime.on_ray.trouble import DEATHS, as_stuck, cause_of, words
from memorylab.runtime.protocol import MakeEnv, Stage, Stuck


class Note(NamedTuple):
    """What the driver hears of a trajectory; the trajectory itself goes from actor to learner."""

    episodes: list[Episode]
    version: int  # of the weights that played it
    steps: int
    seconds: float  # that it took to play
    bytes: int
    host: str
    pid: int


class RemoteActor:
    """An actor in a process of its own."""

    def __init__(self, agent: AgentConfig, unroll: int, teacher: str):
        torch.set_num_threads(1)
        self.agent, self.unroll, self.teacher = MemoryRecallAgent(agent), unroll, teacher

    def new_envs(self, make_env: MakeEnv, seed: int) -> None:
        """Play these from now on."""
        self.actor = Actor(make_env(seed=seed), self.agent, self.unroll, seed, self.teacher)

    def collect(self, weights: list[np.ndarray], version: int) -> tuple[dict[str, np.ndarray], Note]:
        """The next trajectory, played with these weights."""
        start = perf_counter()
        self.actor.take_weights([torch.tensor(part) for part in weights], version)
        trajectory, episodes, version = self.actor.collect()
        arrays = {name: part.numpy() for name, part in trajectory.state_dict().items()}
        size, seconds = sum(part.nbytes for part in arrays.values()), perf_counter() - start
        place = socket.gethostname(), os.getpid()
        return arrays, Note(episodes, version, trajectory.actions[1:].numel(), seconds, size, *place)


@dataclass
class Member:
    """One actor, as the pool knows it."""

    handle: Any
    ready: Any  # a future that is there when its process is
    host: str = ""  # not known before its first trajectory
    pid: int = 0
    steps: int = 0  # since the last report
    seconds: float = 0.0  # of playing, since the last report
    busy: bool = False


@dataclass
class Arrival:
    """A trajectory that waits for the learner."""

    actor: int
    trajectory: Any  # future
    note: Note


@dataclass
class ActorPool:
    """So many actors; who is idle, who plays, who died."""

    make_env: MakeEnv
    agent: AgentConfig
    unroll: int
    actors: int
    teacher: str = NO_TEACHER
    made: int = 0  # since the run began; seeds follow from it, so that no actor plays the games of a dead one
    first: int = 0  # the number of the first of those at work
    replaced: int = 0
    failures: int = 0  # since the last trajectory
    members: list[Member] = field(default_factory=list)
    playing: dict[Any, tuple[int, Any]] = field(default_factory=dict)  # future of the note: actor, of the trajectory

    def new_envs(self, stage: Stage) -> None:
        """All play these from now on; what they were playing is forgotten."""
        self.stage = stage
        self.playing.clear()
        for number, member in enumerate(self.members, self.first):
            self.begin(member.handle, number)
            member.busy = False
        while len(self.members) < self.actors:
            self.members.append(self.new_member())

    def renew_seeds(self) -> None:
        """The next games are none that were played before."""
        self.first, self.made = self.made, self.made + len(self.members)

    def new_member(self) -> Member:
        """A process that begins games which nobody has played."""
        remote: Any = ray.remote(num_cpus=1)(RemoteActor)
        handle = remote.remote(self.agent, self.unroll, self.teacher)
        self.begin(handle, self.made)
        self.made += 1
        return Member(handle, handle.__ray_ready__.remote())

    def begin(self, handle: Any, number: int) -> None:
        """The games of the stage, with seeds of its own; the first has those of one process."""
        make_env = partial(self.make_env, **self.stage.keywords)
        handle.new_envs.remote(make_env, self.stage.seed + 10**9 * number)

    def play(self, index: int, weights: Any, version: int) -> None:
        """One more trajectory; `weights` is a future, which its node fetches once for all actors there."""
        member = self.members[index]
        trajectory, note = member.handle.collect.options(num_returns=2).remote(weights, version)
        self.playing[note] = index, trajectory
        member.busy = True

    def idle(self) -> list[int]:
        """Those that play nothing."""
        return [index for index, member in enumerate(self.members) if not member.busy]

    def arrivals(self, wait: float | None) -> list[Arrival]:
        """What has been played, as it came; waits so many seconds for the first, None for ever."""
        notes = list(self.playing)
        if not notes:
            return []
        ready, _ = ray.wait(notes, num_returns=1, timeout=wait)
        ready, _ = ray.wait(notes, num_returns=len(notes), timeout=0) if ready else (ready, [])
        return [arrival for note in ready if (arrival := self.arrived(note))]

    def arrived(self, future: Any) -> Arrival | None:
        """None if the actor died."""
        index, trajectory = self.playing.pop(future)
        member = self.members[index]
        member.busy = False
        try:
            note = ray.get(future)
        except DEATHS as problem:
            self.replace(index, problem)
            return None
        except ObjectLostError:  # the weights it was to play with; there will be others
            return None
        except RayError as problem:
            raise as_stuck(problem) or RuntimeError(f"an actor failed: {cause_of(problem)!r}") from problem
        self.failures = 0
        member.steps += note.steps
        member.seconds += note.seconds
        member.host, member.pid = note.host, note.pid
        return Arrival(index, trajectory, note)

    def is_there(self) -> bool:
        """Whether any of them has a process."""
        futures = [member.ready for member in self.members]
        return bool(ray.wait(futures, timeout=0)[0])

    def replace(self, index: int, problem: RayError) -> None:
        """By a new one, unless none of them lives to play."""
        self.failures += 1
        if self.failures > 3 * self.actors:
            raise Stuck(f"actors die before they have played anything: {words(problem)}")
        self.replaced += 1
        print(f"memorylab: actor {index} died and is replaced ({words(problem)})", file=sys.stderr)
        self.members[index] = self.new_member()

    def rates(self, seconds: float) -> list[dict[str, Any]]:
        """What each actor did in these last seconds."""
        rows = []
        for index, member in enumerate(self.members):
            rate, busy = round(member.steps / seconds), f"{member.seconds / seconds:.3f}"
            place = {"host": member.host, "pid": member.pid}
            rows.append({"actor": index, **place, "steps_per_second": rate, "busy": busy})
            member.steps, member.seconds = 0, 0.0
        return rows

    def close(self) -> None:
        """End the processes."""
        for member in self.members:
            ray.kill(member.handle)
        self.members.clear()
        self.playing.clear()
