"""Ctrl-C, when it suits."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def postponed_interrupt() -> Iterator[Callable[[], None]]:
    """Keeps Ctrl-C until the given function is called: an update is done whole, so that a checkpoint makes sense."""
    asked: list[int] = []

    def give_way() -> None:
        if asked:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # signals come to the main one
        yield give_way
        return
    before = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        yield give_way
    finally:
        signal.signal(signal.SIGINT, before)
