"""A server in this process, players without a browser."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from typing import Any

from starlette.types import ASGIApp
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from memorylab.web.play import HEADER
from memorylab.web.server import bound, server_for

BEGIN = {"task": "arbitrary_visuomotor_mapping", "level": "train", "view": "agent", "practice": False, "name": ""}
LOOK_LEFT, LOOK_UP, NOTHING = 0, 2, 4


@contextmanager
def served(app: ASGIApp, token: str | None = None) -> Iterator[str]:
    """host:port of a server that runs until the block ends."""
    with bound("127.0.0.1", 0) as listening:
        server = server_for(app, token)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            wait_for(lambda: server.started)
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def wait_for(condition: Callable[[], Any], seconds: float = 20.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
    return found


def sit_down(place: str, **options: Any) -> Any:
    """A connection, to be used in a `with`."""
    return connect(f"ws://{place}/play", origin=f"http://{place}", proxy=None, **options)


def say(socket: ClientConnection, word: str, **facts: Any) -> None:
    socket.send(json.dumps({"do": word, **facts}))


def until(socket: ClientConnection, word: str, *, draw: bool = True) -> tuple[dict[str, Any], list[bytes]]:
    """The next message with this word, and the pictures that came before it."""
    pictures = []
    while True:
        message = socket.recv(timeout=20)
        if isinstance(message, bytes):
            pictures.append(message)
            if draw:
                with suppress(ConnectionClosed):  # the last message may be waiting still
                    say(socket, "drawn")
        elif (facts := json.loads(message))["say"] == word:
            return facts, pictures


@contextmanager
def begin(place: str, **changes: Any) -> Iterator[ClientConnection]:
    with sit_down(place) as socket:
        say(socket, "begin", **(BEGIN | changes))
        until(socket, "begun")
        say(socket, "start")
        yield socket


def look_away(socket: ClientConnection, *, draw: bool = True) -> tuple[dict[str, Any], list[bytes]]:
    """Look at the ceiling: after five seconds off the panel the episode is over."""
    say(socket, "act", action=LOOK_UP, number=1)
    return until(socket, "over", draw=draw)


def header(picture: bytes) -> tuple:
    return HEADER.unpack_from(picture)


def pixels(picture: bytes) -> bytes:
    """Deflated."""
    return picture[HEADER.size :]


def close_reason(socket: ClientConnection) -> int:
    """Read until the server hangs up; the code it gave."""
    try:
        while True:
            socket.recv(timeout=20)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else 1006
