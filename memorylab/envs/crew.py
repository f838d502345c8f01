"""Threads that share the games of a batch. Compiled code runs without the GIL, so plain threads use all cores."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

PIECES_PER_THREAD = 4  # smaller pieces even out games that cost more than others


class Crew:
    """Runs `work(start, stop)` over slices of 0 .. size, on this thread and `threads - 1` helpers.

    Survives forking and pickling: helpers are hired where they are first needed.
    """

    def __init__(self, size: int, threads: int):
        self.threads = min(threads, size)
        pieces = 1 if self.threads == 1 else min(size, self.threads * PIECES_PER_THREAD)
        self.bounds = [(size * i // pieces, size * (i + 1) // pieces) for i in range(pieces)]
        self.helpers: ThreadPoolExecutor | None = None
        self.process = -1

    def run(self, work: Callable[[int, int], None]) -> None:
        if self.threads == 1:
            work(*self.bounds[0])
            return
        pieces = iter(self.bounds)  # shared: each thread takes the next piece that is left

        def toil() -> None:
            for start, stop in pieces:
                work(start, stop)

        if self.process != os.getpid():  # a forked child has no threads of its parent
            self.helpers = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="memorylab")
            self.process = os.getpid()
        assert self.helpers is not None
        others = [self.helpers.submit(toil) for _ in range(self.threads - 1)]
        toil()
        for other in others:
            other.result()

    def dismiss(self) -> None:
        if self.helpers is not None and self.process == os.getpid():
            self.helpers.shutdown()
        self.helpers, self.process = None, -1

    def __getstate__(self) -> dict:
        return self.__dict__ | {"helpers": None, "process": -1}
