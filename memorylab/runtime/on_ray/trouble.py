"""What Ray tells when something goes wrong, in our words: who died, what is full, for what there is no room."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import (
    NodeDiedError,
    ObjectStoreFullError,
    OutOfDiskError,
    OutOfMemoryError,
    RayActorError,
    RayError,
    RayTaskError,
    WorkerCrashedError,
)

from memorylab.runtime.protocol import LearnerLost, Stuck

LOOK_SECONDS = 1.0  # between looks at whether all is well
HUNG_SECONDS = 40.0  # without an answer, or without any computing
ROOM_SECONDS = 40.0  # that lost nodes are given to come back
# Of a process; for its memory, perhaps.
DEATHS = (RayActorError, OutOfMemoryError, NodeDiedError, WorkerCrashedError)
FULL = (ObjectStoreFullError, OutOfDiskError)


def words(problem: BaseException) -> str:
    """Ray's own, in one line that is not too long."""
    return " ".join(str(problem).split())[:200]


def cause_of(problem: BaseException) -> BaseException:
    """What went wrong in another process, or the problem itself."""
    return problem.cause if isinstance(problem, RayTaskError) else problem


def as_stuck(problem: RayError) -> Stuck | None:
    """A full object store, or whatever else of Ray's no process of ours has said."""
    cause = cause_of(problem)
    if isinstance(cause, FULL):
        advice = "fewer --actors or --envs-per-actor need less of it, ray start --object-store-memory gives more"
        return Stuck(f"Ray's object store is full, or the disk behind it; {advice} ({words(cause)})")
    return Stuck(f"Ray could not go on ({words(problem)})") if isinstance(cause, RayError) else None


@dataclass
class Pulse:
    """Whether processes that were asked for something still work at it: they answer, and their clock of computing moves
    on. A slow one does both."""

    workers: list[Any]
    asked: list[Any] = field(default_factory=list)  # futures of the answers that are awaited
    computed: list[float] = field(default_factory=list)  # seconds, as they last answered
    alive: list[float] = field(default_factory=list)  # when each last gave a sign of life

    def feel(self) -> None:
        """LearnerLost if one of them has hung for too long. Of learners that compute together all may wait for one."""
        now = time.monotonic()
        if not self.asked:
            self.alive, self.computed = [now] * len(self.workers), [-1.0] * len(self.workers)
            self.asked = [worker.pulse.remote() for worker in self.workers]
        for number, worker in enumerate(self.workers):
            if ray.wait([self.asked[number]], timeout=0)[0]:
                computed = ray.get(self.asked[number])
                if computed > self.computed[number]:
                    self.computed[number], self.alive[number] = computed, now
                self.asked[number] = worker.pulse.remote()
        if self.alive and now - min(self.alive) > HUNG_SECONDS:
            raise LearnerLost(f"it has hung for {HUNG_SECONDS:.0f} s")


@dataclass
class Room:
    """Whether processes that do not begin can ever do so."""

    cpus: float  # that the run cannot do without
    gpus: float = 0
    since: float | None = None  # since when there is too little of it

    def begun(self) -> None:
        """They did."""
        self.since = None

    def look(self, who: str) -> None:
        """Stuck if the cluster has been too small for them for too long; nodes may come back."""
        there = ray.cluster_resources()
        needed = {"CPU": self.cpus, "GPU": self.gpus}
        lacking = [f"{there.get(name, 0):g} of {n:g} {name}s" for name, n in needed.items() if n > there.get(name, 0)]
        if not lacking:
            self.since = None
            return
        now = time.monotonic()
        if self.since is None:
            self.since = now
            print(f"memorylab: no room for {who}: the cluster has {', '.join(lacking)}", file=sys.stderr)
        if now - self.since > ROOM_SECONDS:
            raise Stuck(f"no room for {who} for {ROOM_SECONDS:.0f} s: nodes were lost, the cluster has {lacking[0]}")


def wait_for_one(futures: list[Any], meanwhile: Callable[[], None]) -> tuple[list[Any], list[Any]]:
    """As ray.wait; asks `meanwhile` again and again, which may raise."""
    while True:
        ready, waiting = ray.wait(futures, timeout=LOOK_SECONDS)
        if ready:
            return ready, waiting
        meanwhile()
