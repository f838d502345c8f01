"""Getting games ready for players, so that no one client can take the memory or the time of all."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager

from memorylab.envs.spec import GameSpec
from memorylab.web.game import PlayedGame, new_seed, shelf
from memorylab.web.messages import Refused

MAX_WAITING = 8  # games that one client may wait for


class Loading:
    """One thread loads, a game at a time, and it is not a thread that saves scores. Clients take turns: each has at
    most one game in the queue, so that nobody waits for more than one of each other client's."""

    def __init__(self) -> None:
        self.thread = ThreadPoolExecutor(1, "loading")
        self.turns: dict[str, asyncio.Lock] = {}
        self.waiting: Counter[str] = Counter()

    @asynccontextmanager
    async def game(self, client: str, spec: GameSpec) -> AsyncIterator[PlayedGame]:
        """A new episode; its level stays loaded as long as somebody plays it."""
        with shelf.seat(spec):
            yield await self.loaded(client, spec)

    async def loaded(self, client: str, spec: GameSpec) -> PlayedGame:
        """When this client's turn comes, or a word why not."""
        if self.waiting[client] >= MAX_WAITING:
            raise Refused("Too many games are being got ready for you; wait for one of them.")
        self.waiting[client] += 1
        try:
            async with self.turns.setdefault(client, asyncio.Lock()):
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self.thread, PlayedGame, spec, new_seed())
        except MemoryError:
            raise Refused(
                "There is no room for one more level just now. Choose one that others play, or the agent's own picture."
            ) from None
        finally:
            self.waiting[client] -= 1
            if not self.waiting[client]:
                del self.waiting[client], self.turns[client]
