"""Clients that would like to have it all: seats, connections, memory, time."""

import asyncio
import socket as sockets
import threading
import time
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from urllib.request import urlopen

import pytest
from serving import BEGIN, begin, close_reason, say, served, sit_down, until, wait_for
from websockets.exceptions import ConnectionClosed

from memorylab.envs.spec import GameSpec
from memorylab.web import loading, patience, play, shelf
from memorylab.web.messages import Refused
from memorylab.web.play import play_app
from memorylab.web.shelf import Shelf
from memorylab.web.store import EpisodeStore


@pytest.fixture
def store(tmp_path):
    return EpisodeStore(tmp_path / "scores.db")


@contextmanager
def many_sockets(place: str, number: int, said: bytes = b""):
    host, port = place.split(":")
    with ExitStack() as stack:
        found = [stack.enter_context(sockets.create_connection((host, int(port)))) for _ in range(number)]
        for one in found:
            one.sendall(said)
        yield found


def status(place: str) -> int:
    with urlopen(f"http://{place}/", timeout=10) as answer:
        return answer.status


def is_closed(one: sockets.socket) -> bool:
    one.settimeout(5)
    try:
        return one.recv(100_000) == b""
    except ConnectionResetError:
        return True


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
def test_connections_that_ask_for_nothing_do_not_close_the_server(store, said):
    with served(play_app(store)) as place, many_sockets(place, 250, said):
        assert status(place) == 200


@pytest.mark.parametrize("said", [b"", b"GET /", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
def test_whoever_does_not_ask_or_asks_by_halves_is_hung_up_on(store, monkeypatch, said):
    """The last one asks once, and then begins another request that never ends."""
    monkeypatch.setattr(patience, "SILENT_SECONDS", 0.5)
    with served(play_app(store)) as place, many_sockets(place, 1, said) as (one,):
        if said.endswith(b"\r\n\r\n"):
            assert one.recv(15) == b"HTTP/1.1 200 OK"
            one.sendall(b"GET /tas")
            wait_for(lambda: b"</html>" in one.recv(100_000))
        before = time.monotonic()
        assert is_closed(one)
        assert time.monotonic() - before < 4  # by this clock, not by one of uvicorn's


def test_whoever_does_not_say_what_to_play_takes_no_seat(store, monkeypatch):
    monkeypatch.setattr(play, "MAX_PLAYERS", 1)
    monkeypatch.setattr(play, "MAX_UNDECIDED", 3)
    monkeypatch.setattr(play, "BEGIN_SECONDS", 100.0)  # a level may have to be compiled
    with served(play_app(store)) as place, ExitStack() as stack:
        idle = [stack.enter_context(sit_down(place)) for _ in range(5)]
        assert [close_reason(one) for one in idle[:2]] == [1013, 1013]
        say(idle[4], "begin", **BEGIN | {"task": "transitive_inference"})
        assert until(idle[4], "begun")[0]["seconds"] == 200
        say(idle[3], "begin", **BEGIN)
        assert "places are taken" in until(idle[3], "refused")[0]["why"]


def test_pings_are_answered_but_not_without_end(store):
    with served(play_app(store)) as place, begin(place, task="transitive_inference", practice=True) as socket:
        for _ in range(5):
            assert socket.ping().wait(5)
        with pytest.raises(ConnectionClosed):
            ping_often(socket)


def ping_often(socket) -> None:
    for _ in range(2000):
        socket.ping()
        time.sleep(0.001)


# --- loading


def load_all(monkeypatch, asked: list[tuple[str, str]], seconds: float = 0.02) -> tuple[list[str], list[object]]:
    """Levels in the order they were loaded, and what each who asked got."""
    order: list[str] = []

    def load(spec, seed):
        assert threading.current_thread().name.startswith("loading")
        order.append(spec.level)
        time.sleep(seconds)
        return SimpleNamespace(spec=spec)

    monkeypatch.setattr(loading, "PlayedGame", load)

    async def one(room, client, level):
        async with room.game(client, GameSpec("arbitrary_visuomotor_mapping", level)) as game:
            return game

    async def everyone():
        room = loading.Loading()
        found = await asyncio.gather(*(one(room, *each) for each in asked), return_exceptions=True)
        assert not room.waiting
        assert not room.turns
        return found

    return order, asyncio.run(everyone())


def test_who_asks_for_many_levels_makes_nobody_wait_for_more_than_one(monkeypatch):
    greedy = [("a", level) for level in ("train", "train_small", "train_large", "interpolate")]
    order, found = load_all(monkeypatch, [*greedy, ("b", "extrapolate")])
    assert order[:2] == ["train", "extrapolate"]
    assert sorted(order[2:]) == ["interpolate", "train_large", "train_small"]
    assert not [one for one in found if isinstance(one, Exception)]


def test_one_client_waits_for_so_many_games_and_not_more(monkeypatch):
    order, found = load_all(monkeypatch, [("a", "train")] * 18)
    assert len(order) == loading.MAX_WAITING
    assert sum(isinstance(one, Refused) for one in found) == 18 - loading.MAX_WAITING


def level_of(size: int) -> SimpleNamespace:
    return SimpleNamespace(stimuli=(SimpleNamespace(nbytes=size << 20), "a name"))


def test_levels_that_are_played_stay_and_others_make_room(monkeypatch):
    monkeypatch.setattr(shelf, "MOST_BYTES", 500 << 20)
    loads: list[str] = []
    kept = Shelf(lambda game: loads.append(game.level) or level_of(177))
    levels = ("train", "interpolate", "extrapolate", "train_small")
    train, interpolate, extrapolate, more = (GameSpec("arbitrary_visuomotor_mapping", level) for level in levels)
    with kept.seat(train):
        for game in (train, interpolate, extrapolate, interpolate, more):
            kept.take(game)
        assert list(kept.batches) == [
            train,
            interpolate,
            more,
        ]  # extrapolate was taken before interpolate's second time
        with kept.seat(interpolate), kept.seat(more), pytest.raises(MemoryError):
            kept.take(extrapolate)
        assert kept.take(interpolate)  # what is there can always be had
    kept.take(extrapolate)
    assert kept.bytes() < 3 * (178 << 20) + 1
    assert loads == ["train", "interpolate", "extrapolate", "train_small", "extrapolate"]


def test_a_player_is_told_when_there_is_no_room_for_a_level(store, monkeypatch):
    monkeypatch.setattr(shelf, "MOST_BYTES", 0)
    with served(play_app(store)) as place, sit_down(place) as socket:
        say(socket, "begin", **BEGIN | {"level": "holdout_small"})
        assert "no room for one more level" in until(socket, "refused")[0]["why"]
        assert close_reason(socket) == 1013
