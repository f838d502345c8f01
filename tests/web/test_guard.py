"""Who may come in, asked of the guard itself: no server, no socket."""

import asyncio
from http.cookies import SimpleCookie

import pytest
from starlette.responses import PlainTextResponse

from memorylab.web.guard import SAFETY_HEADERS, Guard

TOKEN = "a-long-secret"


class Answer:
    """What came back, and whether it came from the application."""

    def __init__(self, guard: Guard, scope: dict):
        self.messages: list[dict] = []
        self.reached = False
        plain = PlainTextResponse("inside", headers={"Referrer-Policy": "origin"})

        async def app(scope, receive, send):
            self.reached = True
            if scope["type"] == "http":
                await plain(scope, receive, send)

        async def send(message):
            self.messages.append(message)

        guard.app = app
        asyncio.run(guard(scope, None, send))

    @property
    def status(self) -> int:
        return self.messages[0]["status"]

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}


def asked(token: str | None = None, method: str = "GET", query: str = "", kind: str = "http", **headers: str) -> Answer:
    given = {"host": "127.0.0.1:8400", **headers}
    scope = {
        "type": kind,
        "method": method,
        "path": "/",
        "query_string": query.encode(),
        "server": ("127.0.0.1", 8400),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
    }
    return Answer(Guard(None, token), scope)


@pytest.mark.parametrize("host", ["127.0.0.1:8400", "localhost:1", "localhost", "[::1]:8400", "[::1]", "127.0.0.1"])
def test_this_machines_own_names_come_in_with_or_without_a_port(host):
    answer = asked(host=host)
    assert (answer.reached, answer.status) == (True, 200)


@pytest.mark.parametrize(
    "host",
    [
        *("evil.example", "evil.example:8400", "127.0.0.1.evil.example", "localhost.evil.example:80", "", "::1", "0"),
        *(
            "127.0.0.1:evil.com",
            "localhost:80.evil.com",
            "[::1]:evil",
            "127.0.0.1:",
            "localhost:8400:8400",
            "localhost:²",
        ),
    ],
)
def test_any_other_name_stays_out(host):
    answer = asked(host=host)
    assert (answer.reached, answer.status) == (False, 403)


def test_every_answer_carries_the_headers_for_safety_and_the_pages_own_win():
    for answer in (asked(), asked(host="evil.example")):
        for name in SAFETY_HEADERS:
            assert name.lower() in answer.headers
    assert asked().headers["referrer-policy"] == "origin"
    assert "frame-ancestors 'none'" in asked(host="evil.example").headers["content-security-policy"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_ones_own_pages_may_change_anything(method):
    assert asked(method=method, origin="http://127.0.0.1:8400").status == 200
    for origin in ("http://evil.example", "http://127.0.0.1:8401", "null", "", "127.0.0.1:8400"):
        assert asked(method=method, origin=origin).status == 403
    assert asked(method=method).status == 403


def test_reading_needs_no_origin_of_ones_own():
    assert asked(method="HEAD", origin="http://elsewhere.example").status == 200


def test_a_socket_from_elsewhere_is_closed_before_the_page_hears_of_it():
    answer = asked(kind="websocket", origin="http://evil.example")
    assert not answer.reached
    assert answer.messages == [
        {"type": "websocket.close", "code": 1008, "reason": "Only this server's own pages may do that."}
    ]
    assert asked(kind="websocket", origin="http://127.0.0.1:8400").reached


def test_what_is_no_request_passes():
    answer = Answer(Guard(None, TOKEN), {"type": "lifespan"})
    assert answer.reached


# --- with a token


def test_the_link_lets_in_and_leaves_a_cookie_that_scripts_cannot_read():
    answer = asked(TOKEN, query=f"token={TOKEN}", host="elsewhere.example")
    assert answer.status == 200
    (cookie,) = SimpleCookie(answer.headers["set-cookie"]).values()
    assert (cookie.key, cookie.value) == ("memorylab_8400", TOKEN)
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"


def test_the_cookie_lets_in_and_is_not_given_again():
    answer = asked(TOKEN, cookie=f"other=1; memorylab_8400={TOKEN}")
    assert answer.status == 200
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"query": "token="},
        {"query": f"token={TOKEN[:-1]}"},
        {"query": f"token={TOKEN}x"},
        {"query": f"token=wrong&token={TOKEN}"},
        {"query": f"TOKEN={TOKEN}"},
        {"query": "token=%ff%fe"},
        {"cookie": f"memorylab_8401={TOKEN}"},  # of the server on another port
        {"cookie": "memorylab_8400="},
        {"cookie": f"memorylab_8400={TOKEN[::-1]}"},
        {"cookie": ";;==\xff"},
    ],
)
def test_without_the_whole_token_nothing_is_served(given):
    answer = asked(TOKEN, **given)
    assert (answer.reached, answer.status) == (False, 403)
    assert "set-cookie" not in answer.headers


def test_a_token_does_not_excuse_a_foreign_page():
    assert asked(TOKEN, method="POST", query=f"token={TOKEN}", origin="http://evil.example").status == 403
    assert not asked(TOKEN, kind="websocket", query=f"token={TOKEN}").reached
