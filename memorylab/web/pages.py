"""The pages and what they load: read once at the start, so that no path from the network reaches the file system."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

STATIC = Path(__file__).parent / "static"
CARDS = STATIC / "cards"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}


def page_routes(page: str, *others: str) -> list[Route]:
    """`page` at /, and the files it needs under their own names."""
    places = {"/": page} | {f"/{name}": name for name in (*others, "dom.js", "style.css", "icon.svg")}
    return [fixed_route(path, STATIC / name) for path, name in places.items()]


def fixed_route(path: str, file: Path) -> Route:
    """A file that never changes."""
    content = file.read_bytes()

    async def answer(request: Request) -> Response:
        return Response(content, media_type=KINDS[file.suffix])

    return Route(path, answer)
