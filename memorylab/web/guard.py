"""Who may come in: a token where the server is not only for this machine, one's own pages only, headers for safety."""

import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")

SAFETY_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class Guard:
    """Around an application. Without a token only this machine's own names are served: no other site can reach
    the server through a name of its own that it points here."""

    def __init__(self, app: ASGIApp, token: str | None = None, hosts: Iterable[str] = LOOPBACK):
        self.app, self.token, self.hosts = app, token, frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        problem = self.problem(scope)
        if problem is None:
            await self.app(scope, receive, self.with_headers(scope, send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": problem})
        else:
            await PlainTextResponse(problem + "\n", 403)(scope, receive, self.with_headers(scope, send))

    def problem(self, scope: Scope) -> str | None:
        """Why this request is refused, if it is."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self.token is None:
            name, _, port = host.rpartition(":")
            if host not in self.hosts and not (name in self.hosts and port.isascii() and port.isdigit()):
                return "This server answers to this machine's own names only."
        elif not any(secrets.compare_digest(self.token.encode(), given) for given in self.tokens(scope, headers)):
            return "The link needs its token: open the whole link that memorylab printed."
        is_reading = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if not is_reading and urlsplit(headers.get("origin", "")).netloc != host:
            return "Only this server's own pages may do that."
        return None

    def tokens(self, scope: Scope, headers: Headers) -> Iterable[bytes]:
        """What was given as token: in the link, or in the cookie that a first visit sets."""
        query = parse_qs(scope["query_string"].decode("latin-1"))
        yield query.get("token", [""])[0].encode()
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(self.cookie(scope))
        except CookieError:
            cookie = None
        yield cookie.value.encode() if cookie else b""

    def cookie(self, scope: Scope) -> str:
        """Browsers do not tell ports apart, so the name does."""
        return f"memorylab_{scope['server'][1]}" if scope.get("server") else "memorylab"

    def with_headers(self, scope: Scope, send: Send) -> Send:
        """What every answer carries."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SAFETY_HEADERS.items():
                    headers.setdefault(name, value)
                if self.token and message["status"] < 400 and b"token=" in scope["query_string"]:
                    headers.append(
                        "set-cookie", f"{self.cookie(scope)}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                    )
            await send(message)

        return send_with_headers
