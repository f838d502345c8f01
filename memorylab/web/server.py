"""Serving an application: to this machine only, or behind a token."""

import errno
import ipaddress
import secrets
import socket
import sys

import uvicorn
from starlette.types import ASGIApp

from memorylab.web.guard import LOOPBACK, Guard
from memorylab.web.patience import CalmWebSocket, PromptHttp

MAX_MESSAGE = 1024  # bytes of one message from a player
MAX_CONNECTIONS = 200


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bound(host: str, port: int) -> socket.socket:
    """A socket on which the page will answer."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        server.bind((host, port))
        server.listen()  # the link works from the moment it is printed
    except OSError as problem:
        server.close()
        other = "--host" if isinstance(problem, socket.gaierror) or problem.errno == errno.EADDRNOTAVAIL else "--port"
        raise ValueError(f"cannot listen on {host}, port {port}: {problem.strerror}; give another {other}") from problem
    return server


def check_port(port: int) -> None:
    """Or one sentence."""
    if not 0 <= port < 65536:
        raise ValueError(f"--port must be from 0 (any free one) to 65535, not {port}")


def check_address(host: str, port: int) -> None:
    """Or one sentence: it can be listened on."""
    check_port(port)
    bound(host, port).close()


def serve(app: ASGIApp, host: str, port: int, title: str) -> None:
    """Print the link and serve until Ctrl-C."""
    check_port(port)
    token = None if is_loopback(host) else secrets.token_urlsafe(16)
    listening = bound(host, port)
    port = listening.getsockname()[1]
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    link = f"http://{shown}:{port}/" + (f"?token={token}" if token else "")
    if token:
        print(
            f"memorylab: warning: listening on {host}, so other machines can reach this server. Whoever has the link "
            "can use it, and it is not encrypted: share it only within a network you trust.",
            file=sys.stderr,
        )
    print(f"{title}: {link}", flush=True)
    with listening:
        server_for(app, token, host).run(sockets=[listening])


def server_for(app: ASGIApp, token: str | None = None, host: str = LOOPBACK[0]) -> uvicorn.Server:
    """Not yet running."""
    config = uvicorn.Config(
        Guard(app, token, {*LOOPBACK, host}),
        log_level="warning",
        http=PromptHttp,
        ws=CalmWebSocket,
        ws_max_size=MAX_MESSAGE,
        ws_per_message_deflate=False,  # pictures come compressed
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=2,
        server_header=False,
        proxy_headers=False,
    )
    return uvicorn.Server(config)
