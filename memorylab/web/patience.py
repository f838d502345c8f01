"""Connections that only take up room: those that ask for nothing, and those that only ping."""

import asyncio
import time
from collections import deque
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

SILENT_SECONDS = 10.0  # from one end of what was asked to the next whole request
MAX_SILENT = 100  # connections that have asked for nothing yet; for one more, the oldest goes
MAX_PINGS_PER_SECOND = 10


class PromptHttp(H11Protocol):
    """Closes a connection whose next request does not come, or comes drop by drop: uvicorn itself waits for ever once
    a first drop is there. Of those that never asked for anything only so many are kept, the newest."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The clock runs from here to the end of the first request's headers."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self.patience = self.loop.call_later(SILENT_SECONDS, transport.close)
        silent = [one for one in self.connections if isinstance(one, PromptHttp) and one.is_silent]
        if len(silent) > MAX_SILENT:
            min(silent, key=lambda one: one.since).transport.close()

    @property
    def is_silent(self) -> bool:
        """Open, and has never asked for anything."""
        return self.headers is None and not self.transport.is_closing()

    def handle_events(self) -> None:
        """A whole request came if it left its headers here."""
        before = self.headers
        super().handle_events()
        if self.headers is not before:
            self.patience.cancel()

    def on_response_complete(self) -> None:
        """The clock runs anew; a request that waits already stops it."""
        self.patience = self.loop.call_later(SILENT_SECONDS, self.transport.close)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """However it ended."""
        self.patience.cancel()
        super().connection_lost(exc)


class CalmWebSocket(WebSocketsSansIOProtocol):
    """Hangs up on whoever pings more often than any page would: each ping is answered."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.pings: deque[float] = deque(maxlen=MAX_PINGS_PER_SECOND)

    def handle_ping(self) -> None:
        """Answer, unless there were too many within a second."""
        now = time.monotonic()
        if len(self.pings) == MAX_PINGS_PER_SECOND and now - self.pings[0] < 1.0:
            self.transport.close()
            return
        self.pings.append(now)
        super().handle_ping()
