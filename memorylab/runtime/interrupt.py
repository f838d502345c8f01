"""Ctrl-C and the signals that ask a process to end, when it suits."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
ASKING_TO_END = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]  # Windows has no SIGHUP


class AskedToEnd(KeyboardInterrupt):
    """By Ctrl-C, or by a signal that is treated as such: `kill`, a batch system, a terminal that was closed."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number  # as shells have it


@contextmanager
def postponed_interrupt() -> Iterator[Callable[[], None]]:
    """Keeps these until the given function is called: an update is done whole, so that a checkpoint makes sense."""
    asked: list[int] = []

    def give_way() -> None:
        if asked:
            raise AskedToEnd(asked[0])

    if threading.current_thread() is not threading.main_thread():  # signals come to the main one
        yield give_way
        return
    before = {number: signal.getsignal(number) for number in ASKING_TO_END}
    for number, handler in before.items():
        if handler != signal.SIG_IGN or number == signal.SIGINT:  # nohup has SIGHUP ignored
            signal.signal(number, lambda number, _: asked.append(number))
    try:
        yield give_way
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)  # none that Python knows


def leave_to_parent() -> None:
    """What ends this process is for another to decide: a terminal or a batch system asks all of a group."""
    for number in ASKING_TO_END:
        signal.signal(number, signal.SIG_IGN)
