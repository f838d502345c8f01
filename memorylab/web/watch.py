"""Someone at play, to be looked at: a page that follows a recording, or the recording as one file of HTML."""

import asyncio
import base64
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from memorylab.runs.files import replacing
from memorylab.web.pages import STATIC, page_routes
from memorylab.web.recording import Performer, Recording

log = logging.getLogger("memorylab.web")


class Watching:
    """The episode on show; another one replaces it."""

    def __init__(self, player: Performer, seed: int):
        self.player, self.next_seed = player, seed
        self.number = 0

    def begin(self) -> None:
        """The next episode, in a thread."""
        self.recording = Recording(self.player, self.next_seed)
        self.next_seed += 1
        self.number += 1
        self.thread = Thread(target=record_or_say, args=(self.recording,), name="recording", daemon=True)
        self.thread.start()

    def end(self) -> None:
        """Wait for the step that is being played: a process must not end in the middle of compiled code."""
        self.recording.is_stopped = True
        self.thread.join()

    async def send_facts(self, request: Request) -> Response:
        """What is known of the episode so far."""
        now = self.recording
        # In this order: what is done when asked has all its pieces when they are counted.
        progress = {"is_done": now.is_done, "problem": now.problem, "pieces": len(now.pieces)}
        return JSONResponse({**now.facts, "number": self.number, **progress, "is_live": True})

    async def send_piece(self, request: Request) -> Response:
        """Some steps of it."""
        number, piece = request.path_params["number"], request.path_params["piece"]
        pieces = self.recording.pieces
        if number != self.number or piece >= len(pieces):
            return PlainTextResponse("There is no such piece.\n", 404)
        return Response(pieces[piece], media_type="application/octet-stream")

    async def another(self, request: Request) -> Response:
        """Another episode instead."""
        await asyncio.to_thread(self.end)
        self.begin()
        return await self.send_facts(request)


def record_or_say(recording: Recording) -> None:
    """Whatever goes wrong in its thread is for the page to tell."""
    try:
        recording.record()
    except Exception as problem:
        recording.problem = f"{type(problem).__name__}: {problem}"
        log.exception("an episode broke off")


def watch_app(player: Performer, seed: int) -> Starlette:
    """The page and what it asks for."""
    watching = Watching(player, seed)

    @asynccontextmanager
    async def until_the_end(app: Starlette) -> AsyncIterator[None]:
        watching.begin()
        yield
        watching.end()

    return Starlette(
        lifespan=until_the_end,
        routes=[
            *page_routes("watch.html", "watch.js"),
            Route("/episode", watching.send_facts),
            Route("/piece/{number:int}/{piece:int}", watching.send_piece),
            Route("/another", watching.another, methods=["POST"]),
        ],
    )


IMPORT = 'import { $, element } from "./dom.js";\n'


def standalone(recording: Recording) -> str:
    """The page with everything in it: opens anywhere, needs no server."""
    pieces = [base64.b64encode(piece).decode() for piece in recording.pieces]
    facts = {**recording.facts, "number": 1, "is_done": True, "pieces": pieces, "is_live": False}
    data = json.dumps(facts).replace("<", "\\u003c")
    names = ("style.css", "dom.js", "watch.js", "icon.svg")
    style, helpers, script, icon = ((STATIC / name).read_text() for name in names)
    script = helpers.replace("export ", "") + script.replace(IMPORT, "")  # a file by itself has nothing to import from
    page = (STATIC / "watch.html").read_text()
    picture = "data:image/svg+xml;base64," + base64.b64encode(icon.encode()).decode()
    for old, new in (
        ('<link rel="stylesheet" href="style.css">', f"<style>\n{style}</style>"),
        (
            '<script type="module" src="watch.js"></script>',
            f'<script id="recorded" type="application/json">{data}</script>\n<script type="module">\n{script}</script>',
        ),
        ('"icon.svg"', f'"{picture}"'),
    ):
        if old not in page:
            raise ValueError(f"watch.html has no {old}")
        page = page.replace(old, new)
    return page


def export(recording: Recording, path: Path) -> None:
    """As one file of HTML."""
    with replacing(path) as temporary:
        temporary.write_text(standalone(recording), encoding="utf-8")
