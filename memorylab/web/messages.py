"""What a player's page may say: messages with exactly the fields they should have, each with a value it can have."""

import json
import unicodedata
from collections.abc import Container
from typing import Any

from memorylab.tasks.levels import LEVELS
from memorylab.web.game import VIEWS

MAX_NAME = 40


class Refused(Exception):
    """A message that is not one a player's page would send now."""


KEY_NUMBERS = range(2**32)
FIELDS: dict[str, dict[str, Any]] = {
    "begin": {"task": str, "level": tuple(LEVELS), "view": tuple(VIEWS), "practice": (True, False), "name": str},
    "start": {},
    "act": {"action": range(256), "number": KEY_NUMBERS},
    "drawn": {},
    "pause": {},
    "resume": {},
}


def understood(text: str | None, tasks: Container[str]) -> dict[str, Any]:
    """A message with exactly the fields it should have, each with a value it can have."""
    if text is None:
        raise Refused("a message must be text")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise Refused("a message must be JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("do"), str) or message["do"] not in FIELDS:
        raise Refused(f"a message must say what to do: {', '.join(FIELDS)}")
    fields = FIELDS[message["do"]]
    if message.keys() != {"do", *fields}:
        raise Refused(f"{message['do']} takes {', '.join(fields) or 'nothing else'}")
    for name, allowed in fields.items():
        check_field(name, message[name], allowed)
    if message["do"] == "begin" and message["task"] not in tasks:
        raise Refused("task has a value that it cannot have")
    if "name" in message:
        message["name"] = plain_name(message["name"])
    return message


def check_field(name: str, value: Any, allowed: Any) -> None:
    """Or one sentence."""
    expected = int if isinstance(allowed, range) else allowed if isinstance(allowed, type) else type(allowed[0])
    if type(value) is not expected or (not isinstance(allowed, type) and value not in allowed):
        raise Refused(f"{name} has a value that it cannot have")


def plain_name(name: str) -> str | None:
    """A name as one writes it, without control characters; None for nobody."""
    kept = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in unicodedata.normalize("NFC", name))
    return " ".join(kept.split())[:MAX_NAME].strip() or None
