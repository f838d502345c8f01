"""Threads that share the games of a batch. Compiled code runs without the GIL, so plain threads use all cores."""

import os
from collections import deque
from collections.abc import Callable, Iterator
from itertools import starmap
from queue import SimpleQueue
from threading import Lock, Thread
from typing import NamedTuple

PIECES_PER_THREAD = 4  # smaller pieces even out games that cost more than others
Work = Callable[[int, int], None]


class Job(NamedTuple):
    """Work on all games, piece by piece."""

    work: Work
    pieces: Iterator[tuple[int, int]]  # those that nobody has taken
    problems: list[BaseException]


def toil(job: Job) -> None:
    """Take the next piece that nobody has taken, until none is left.

    Compiled work is taken and done in one call of C, in which Python handles no signal: Ctrl-C loses no piece.
    """
    try:
        deque(starmap(job.work, job.pieces), maxlen=0)
    except Exception as problem:
        job.problems.append(problem)


def help_out(todo: SimpleQueue, at_work: Lock) -> None:
    """What a helper does all day; it takes pieces only while it holds its lock."""
    while (job := todo.get()) is not None:
        with at_work:
            toil(job)


class ThreadPool:
    """Runs `work(start, stop)` over slices of 0 .. size, on this thread and `threads - 1` helpers.

    Survives forking and pickling: helpers are hired where they are first needed. Bare queues hand over in a
    few microseconds, where an executor's futures take tens. Whatever interrupts a run, its work is finished first:
    before the interrupt goes on, or, if another one follows at once, before the next run begins.
    """

    def __init__(self, size: int, threads: int):
        self.threads = min(threads, size)
        pieces = 1 if self.threads == 1 else min(size, self.threads * PIECES_PER_THREAD)
        self.bounds = [(size * i // pieces, size * (i + 1) // pieces) for i in range(pieces)]
        self.process = -1
        self.job: Job | None = None  # until it is finished

    def run(self, work: Work) -> None:
        """Until all pieces are done; what a helper raised is raised here."""
        if self.threads == 1:
            work(*self.bounds[0])
            return
        if self.process != os.getpid():  # a forked child has no threads of its parent
            self.hire()
        self.finish()
        job = self.job = Job(work, iter(self.bounds), [])
        try:
            for _ in range(self.threads - 1):
                self.todo.put(job)
            self.finish()
        except BaseException:
            self.finish()
            raise
        for problem in job.problems:
            raise problem

    def finish(self) -> None:
        """All pieces are taken, and no helper is still at one."""
        if self.job is not None:
            toil(self.job)
            for at_work in self.at_work:
                with at_work:
                    pass
            self.job = None

    def hire(self) -> None:
        """Begin the helpers."""
        self.job = None
        self.todo: SimpleQueue = SimpleQueue()
        self.at_work = [Lock() for _ in range(self.threads - 1)]
        for at_work in self.at_work:
            Thread(target=help_out, args=(self.todo, at_work), name="memorylab", daemon=True).start()
        self.process = os.getpid()

    def dismiss(self) -> None:
        """Let the helpers end."""
        if self.process == os.getpid():
            for _ in range(self.threads - 1):
                self.todo.put(None)
        self.process = -1

    def __del__(self) -> None:
        self.dismiss()

    def __getstate__(self) -> dict:
        return {"threads": self.threads, "bounds": self.bounds, "process": -1, "job": None}
