"""People at play: a page with the tasks, and one WebSocket per episode, paced at 15 steps a second.

The server decides everything. A client says which keys are held and which picture it has drawn; while it has not drawn
the last few, newer pictures replace each other and only the latest waits, so a slow client costs no memory.
"""

import asyncio
import logging
import struct
import time
import zlib
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketDisconnected

from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import STEPS_PER_SECOND
from memorylab.laboratory.references import paper_scores
from memorylab.web.catalogue import card_route, catalogue_route, every_task
from memorylab.web.endings import right_answer
from memorylab.web.game import VIEWS, actions_of
from memorylab.web.loading import Loading
from memorylab.web.messages import Refused, understood
from memorylab.web.pages import page_routes
from memorylab.web.store import EpisodeStore

MAX_PLAYERS = 40
MAX_UNDECIDED = 60  # connections that have not asked for a game yet
MAX_UNDRAWN = 3  # pictures on their way to a client
MAX_BAD_MESSAGES = 10
MAX_MESSAGES_PER_SECOND = 100
BEGIN_SECONDS = 10.0  # a connection that asks for no game is closed
START_SECONDS = 60.0  # a player who does not start frees the game
PAUSE_SECONDS = 600.0
SHORTEST_RECORD = STEPS_PER_SECOND  # an episode aborted within its first second tells nothing
STEP_SECONDS = 1 / STEPS_PER_SECOND
HEADER = struct.Struct("<IIffIf")  # step, latest key message heard, score, seconds left, count, see seconds_away_left

log = logging.getLogger("memorylab.web")
Outcome = Literal["finished", "aborted"]


class Room:
    """Everyone at play, and those who have not said yet what they want."""

    def __init__(self, store: EpisodeStore, games: Sequence[GameSpec]):
        self.store = store
        self.games = {game.task: game for game in games}
        self.loading = Loading()
        self.players = 0
        self.undecided: deque[asyncio.Task] = deque()  # who has waited longest comes first

    async def enter(self, socket: WebSocket) -> None:
        """A seat for one more until they leave, if there is one."""
        await socket.accept()
        seat = Seat(socket, self.store, self.games, self.loading)
        try:
            asked = None if self.is_full else await self.decided(seat)
            if self.is_full:
                await seat.turn_away("All places are taken; try again in a few minutes.")
            elif asked is not None:
                await self.seated(seat, asked)
        except (WebSocketDisconnect, WebSocketDisconnected, TimeoutError):
            log.debug("a player has left")

    @property
    def is_full(self) -> bool:
        """Whether all seats are taken."""
        return self.players >= MAX_PLAYERS

    async def decided(self, seat: "Seat") -> dict[str, Any] | None:
        """What they want to play. Those who say nothing take no seat, and where there are too many of them, who has
        waited longest has to go."""
        waiting = asyncio.create_task(seat.first("begin", BEGIN_SECONDS))
        self.undecided.append(waiting)
        for longest in islice(self.undecided, max(len(self.undecided) - MAX_UNDECIDED, 0)):
            longest.cancel()
        try:
            await asyncio.wait([waiting])
            return None if waiting.cancelled() else waiting.result()
        finally:
            self.undecided.remove(waiting)
            waiting.cancel()
            if waiting.cancelled():
                await seat.socket.close(1013)

    async def seated(self, seat: "Seat", asked: dict[str, Any]) -> None:
        """From the game they chose to its end."""
        self.players += 1
        try:
            await seat.play(asked)
        finally:
            self.players -= 1


class Seat:
    """One player and one episode."""

    def __init__(self, socket: WebSocket, store: EpisodeStore, games: Mapping[str, GameSpec], loading: Loading):
        self.socket, self.store, self.games, self.loading = socket, store, games, loading
        self.bad_messages = 0
        self.times: deque[float] = deque(maxlen=MAX_MESSAGES_PER_SECOND)
        self.held = self.tapped = 0
        self.heard = 0
        self.sent = self.drawn = 0
        self.warned_at: int | None = None  # the first picture that tells who looks away; None when they look back
        self.fresh, self.has_drawn = asyncio.Event(), asyncio.Event()
        self.running = asyncio.Event()
        self.running.set()

    async def play(self, asked: Mapping[str, Any]) -> None:
        """What was asked for, from its loading to its end."""
        self.practice = asked["practice"]
        spec = replace(self.games[asked["task"]], level=asked["level"], size=VIEWS[asked["view"]])
        client = self.socket.client.host if self.socket.client else ""
        try:
            async with self.loading.game(client, spec) as self.game:
                await self.play_game(asked["name"])
        except Refused as problem:
            await self.turn_away(str(problem))

    async def turn_away(self, why: str) -> None:
        """Not now; perhaps later."""
        await self.say("refused", why=why)
        await self.socket.close(1013)

    async def play_game(self, name: str | None) -> None:
        """Once it is loaded."""
        self.held = self.tapped = self.game.nothing
        await self.say("begun", seconds=self.game.seconds, counter=self.game.counted(), size=self.game.spec.size)
        await self.send_picture()
        if await self.first("start", START_SECONDS) is None:
            return
        began, clock = datetime.now(UTC), time.monotonic()
        outcome: Outcome = "aborted"
        try:
            outcome = await self.all_steps()
        finally:
            seconds = time.monotonic() - clock
            number = await asyncio.shield(self.keep(outcome, name, began, seconds))
        if self.game.is_over:
            await asyncio.wait_for(self.tell_end(outcome, number, seconds), BEGIN_SECONDS)
        await self.socket.close()

    async def all_steps(self) -> Outcome:
        """Step, listen and send beside each other until the game is over or one of them fails."""
        works = [asyncio.create_task(work) for work in (self.step_on(), self.listen(), self.send_pictures())]
        try:
            done, _ = await asyncio.wait(works, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for work in works:
                work.cancel()
            await asyncio.gather(*works, return_exceptions=True)
        if self.game.is_over:
            return "finished" if self.was_warned or not self.game.looked_away else "aborted"
        for work in done:
            problem = work.exception()
            if problem and not isinstance(problem, (WebSocketDisconnect, WebSocketDisconnected, TimeoutError)):
                raise problem
        return "aborted"

    async def keep(self, outcome: Outcome, name: str | None, began: datetime, seconds: float) -> int | None:
        """Write the episode down; practice leaves no trace."""
        if self.practice or (outcome == "aborted" and len(self.game.actions) < SHORTEST_RECORD):
            return None
        return await asyncio.to_thread(self.store.add, self.game.episode(), outcome, name, began, seconds)

    @property
    def was_warned(self) -> bool:
        """Whether a player who looks away has seen that this will end the episode."""
        return self.warned_at is not None and self.drawn >= self.warned_at

    async def tell_end(self, outcome: Outcome, number: int | None, seconds: float) -> None:
        """What the episode came to."""
        await self.send_picture()
        spec = self.game.spec
        human = None if spec.own else paper_scores().get((spec.task, "human", spec.level))
        scores, given_up = [
            await asyncio.to_thread(self.store.scores, spec, ended) for ended in ("finished", "aborted")
        ]
        await self.say(
            "over",
            episode=number,
            score=self.game.score,
            count=self.game.count,
            seconds=seconds,
            people={
                "n": len(scores),
                "mean": sum(scores) / len(scores) if scores else None,
                "aborted": len(given_up),
            },
            paper=human and human.mean,
            answer=right_answer(self.game),
            looked_away=self.game.looked_away,
            counts=outcome == "finished" and not self.practice,
        )

    # --- stepping

    async def step_on(self) -> None:
        """To the end of the episode, a step whenever one is due."""
        now = asyncio.get_running_loop().time
        due = now()
        while not self.game.is_over:
            due = max(due + STEP_SECONDS, now() - STEP_SECONDS)  # after a stall it goes on and does not hurry
            await asyncio.sleep(due - now())
            if not self.running.is_set():
                await asyncio.wait_for(self.running.wait(), PAUSE_SECONDS)
                due = now()
            # A key that was pressed and let go between two steps still counts once.
            action, self.tapped = self.tapped if self.tapped != self.game.nothing else self.held, self.game.nothing
            self.game.step(action)
            self.fresh.set()

    # --- sending

    async def send_pictures(self) -> None:
        """The latest picture, again and again, as fast as the client draws them."""
        while True:
            await self.fresh.wait()
            while self.sent - self.drawn >= MAX_UNDRAWN:
                self.has_drawn.clear()
                await self.has_drawn.wait()
            self.fresh.clear()
            await self.send_picture()

    async def send_picture(self) -> None:
        """What is seen now."""
        game = self.game
        away, left = game.seconds_away_left, max(game.seconds_left, 0.0)
        header = HEADER.pack(len(game.actions), self.heard, game.score, left, game.count, away)
        picture = zlib.compress(game.picture.tobytes(), 1)  # half the time that a PNG takes
        self.sent += 1
        if not game.is_over:
            self.warned_at = (self.warned_at or self.sent) if away else None
        await self.socket.send_bytes(header + picture)

    async def say(self, word: str, **facts: Any) -> None:
        """A message to the page."""
        await self.socket.send_json({"say": word, **facts})

    # --- listening

    async def first(self, word: str, seconds: float) -> dict[str, Any] | None:
        """The first message of this kind; None if it does not come in time."""
        try:
            async with asyncio.timeout(seconds):
                while (message := await self.hear())["do"] != word:
                    if message["do"] != "drawn":
                        await self.refuse(f"expected {word!r}, not {message['do']!r}")
                    else:
                        self.note_drawn()
                return message
        except TimeoutError:
            await self.say("refused", why="Nothing happened for too long.")
            await self.socket.close(1008)
            return None

    async def listen(self) -> None:
        """What the page says, until it hangs up."""
        while True:
            message = await self.hear()
            match message["do"]:
                case "act" if message["action"] < len(actions_of(self.game.batch.task)):
                    self.held, self.heard = message["action"], message["number"]
                    if self.held != self.game.nothing:
                        self.tapped = self.held
                case "drawn":
                    self.note_drawn()
                case "pause" if self.practice:
                    self.running.clear()
                case "resume" if self.practice:
                    self.running.set()
                case _:
                    await self.refuse("not now")

    def note_drawn(self) -> None:
        """The page has shown a picture."""
        self.drawn = min(self.drawn + 1, self.sent)
        self.has_drawn.set()

    async def hear(self) -> dict[str, Any]:
        """The next message that is well formed; others are refused, and too many or too fast ends the connection."""
        while True:
            message = await self.socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            now = time.monotonic()
            if len(self.times) == MAX_MESSAGES_PER_SECOND and now - self.times[0] < 1.0:
                await self.hang_up("more messages than a page would send")
            self.times.append(now)
            try:
                return understood(message.get("text"), self.games)
            except Refused as problem:
                await self.refuse(str(problem))

    async def refuse(self, why: str) -> None:
        """A message that makes no sense; after too many of them the connection ends."""
        self.bad_messages += 1
        log.warning("a message was refused: %s", why)
        if self.bad_messages >= MAX_BAD_MESSAGES:
            await self.hang_up("too many messages that make no sense")
        await self.say("refused", why=why)

    async def hang_up(self, why: str) -> None:
        """The end."""
        log.warning("a connection was closed: %s", why)
        await self.socket.close(1008)
        raise WebSocketDisconnect(1008, why)


def play_app(store: EpisodeStore, games: Sequence[GameSpec] | None = None) -> Starlette:
    """The page, its files and the games, one a task: all of them if not given, as the paper has them."""
    games = every_task() if games is None else games
    return Starlette(
        routes=[
            *page_routes("play.html", "play.js"),
            catalogue_route(games),
            *(card_route(game.task) for game in games),
            WebSocketRoute("/play", Room(store, games).enter),
        ]
    )
