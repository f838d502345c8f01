"""Levels that were loaded, within a budget of memory: those that are played stay, of the others the latest."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from memorylab.envs.batch import EnvBatch
from memorylab.envs.spec import GameSpec

MOST_BYTES = 1 << 30
LEAST_BYTES = 1 << 20  # what a level takes that has no pictures


class Shelf:
    """Any thread may take a level; one at a time loads, which takes seconds."""

    def __init__(self, load: Callable[[GameSpec], EnvBatch]):
        self.load = load
        self.batches: OrderedDict[GameSpec, EnvBatch] = OrderedDict()  # the one that was taken last comes last
        self.seats: Counter[GameSpec] = Counter()
        self.lock = Lock()

    @contextmanager
    def seat(self, game: GameSpec) -> Iterator[None]:
        """While somebody plays it."""
        self.seats[game] += 1
        try:
            yield
        finally:
            self.seats[game] -= 1

    def take(self, game: GameSpec) -> EnvBatch:
        """Loaded now, if it is not yet; a MemoryError if what others play leaves no room."""
        with self.lock:
            if game not in self.batches:
                self.make_room()
                self.batches[game] = self.load(game)
            self.batches.move_to_end(game)
            return self.batches[game]

    def make_room(self) -> None:
        """Put away what nobody plays, the oldest first, until the budget has room."""
        unused = [game for game in self.batches if not self.seats[game]]
        while unused and self.bytes() >= MOST_BYTES:
            del self.batches[unused.pop(0)]
        if self.bytes() >= MOST_BYTES:
            raise MemoryError("all loaded levels are being played")

    def bytes(self) -> int:
        """What the levels on it take: their stimuli, for the rest is small."""
        return sum(size_of(batch) for batch in self.batches.values())


def size_of(batch: EnvBatch) -> int:
    """Of one level's stimuli, which all games of it share."""
    return LEAST_BYTES + sum(getattr(part, "nbytes", 0) for part in batch.stimuli)
