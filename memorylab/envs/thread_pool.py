"""Threads that share the games of a batch. Compiled code runs without the GIL, so plain threads use all cores."""

import os
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from threading import Thread

PIECES_PER_THREAD = 4  # smaller pieces even out games that cost more than others
Work = Callable[[int, int], None]


def toil(work: Work, pieces: Iterator[tuple[int, int]]) -> None:
    """Take the next piece that nobody has taken, until none is left."""
    for start, stop in pieces:
        work(start, stop)


def help_out(todo: SimpleQueue, done: SimpleQueue) -> None:
    """What a helper does all day."""
    while (job := todo.get()) is not None:
        try:
            toil(*job)
            done.put(None)
        except BaseException as problem:
            done.put(problem)


class ThreadPool:
    """Runs `work(start, stop)` over slices of 0 .. size, on this thread and `threads - 1` helpers.

    Survives forking and pickling: helpers are hired where they are first needed. Bare queues hand over in a
    few microseconds, where an executor's futures take tens.
    """

    def __init__(self, size: int, threads: int):
        self.threads = min(threads, size)
        pieces = 1 if self.threads == 1 else min(size, self.threads * PIECES_PER_THREAD)
        self.bounds = [(size * i // pieces, size * (i + 1) // pieces) for i in range(pieces)]
        self.process = -1

    def run(self, work: Work) -> None:
        """Until all pieces are done; what a helper raised is raised here."""
        if self.threads == 1:
            work(*self.bounds[0])
            return
        if self.process != os.getpid():  # a forked child has no threads of its parent
            self.hire()
        pieces = iter(self.bounds)
        for _ in range(self.threads - 1):
            self.todo.put((work, pieces))
        try:
            toil(work, pieces)
        finally:
            problems = [self.done.get() for _ in range(self.threads - 1)]
        for problem in problems:
            if problem is not None:
                raise problem

    def hire(self) -> None:
        """Begin the helpers."""
        self.todo: SimpleQueue = SimpleQueue()
        self.done: SimpleQueue = SimpleQueue()
        for _ in range(self.threads - 1):
            Thread(target=help_out, args=(self.todo, self.done), name="memorylab", daemon=True).start()
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
        return {"threads": self.threads, "bounds": self.bounds, "process": -1}
