"""The options of a verb, parsed by tyro; what is wrong with them is one sentence of ours. Below all rooms."""

import contextlib
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

import tyro

from memorylab.mistakes import near_miss

KINDS = {"INT": "a whole number", "FLOAT": "a number", "PATH": "a path", "STR": "a word"}
CONVERSION = ("invalid literal for", "could not convert", "Could not parse", "no type matching", "Failed to parse")
COLOURS, FRAME = re.compile(r"\x1b\[[0-9;]*m"), re.compile(r"^[│╰]|[│╯]$")
RULE = re.compile("^[─-]{3,}$", re.MULTILINE)  # of hyphens where the terminal has no box characters


def parsed(what: Callable[..., Any] | type, arguments: Sequence[str], prog: str, **given: Any) -> Any:
    """As `tyro.cli` does it, but that a ValueError says what is wrong. A function is called while nobody hears its
    stderr: give one that only remembers its arguments."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(what, prog=prog, args=list(arguments), config=(tyro.conf.DisallowNone,), **given)
    except SystemExit as ended:
        if not ended.code:
            raise
        raise ValueError(sentence(said.getvalue(), list(arguments), prog)) from None


def sentence(text: str, arguments: list[str], prog: str) -> str:
    """What tyro says in a box, in one sentence; whatever is not known here is told in its own words."""
    _title, *lines = (FRAME.sub("", line.strip()).strip() for line in COLOURS.sub("", text).splitlines())
    problem, hint, *_ = *(part.strip() for part in RULE.split("\n".join(lines)) if part.strip()), "", ""
    problem = " ".join(problem.split())
    help_tells = f"; {prog} --help tells all"
    if found := re.fullmatch(r"Unrecognized options: (.*)", problem):
        return unknown_option(found[1].split(", ")[0], hint) + help_tells
    if found := re.fullmatch(r"invalid choice '(.*)' for argument '(\S*)'\. Expected one of \((.*)\)\.", problem):
        choices = re.findall(r"'([^']*)'", found[3])
        if "None" in choices:  # of an option that may be left out; tyro mixes these
            choices = sorted({*choices} - {"None"})
        return f"{found[2]} must be one of {', '.join(choices)}, not {found[1]!r}{near_miss(found[1], choices)}"
    if found := re.fullmatch(r"Missing value for argument '(\S*)'\. Expected (\d+) values\.", problem):
        return f"{found[1]} needs {'a value' if found[2] == '1' else f'{found[2]} values'}{help_tells}"
    if found := re.match(r"Missing from .*?: +(\S+)", problem):
        return f"{found[1]} is missing{help_tells}"
    if found := re.match(r"Error parsing (\S+): (.*)", problem):
        return wrong_value(found[1], found[2], hint, arguments)
    return problem + help_tells


def unknown_option(word: str, hint: str) -> str:
    """`hint` is tyro's: what else it could be."""
    if not word.startswith("-"):
        return f"it is not clear what {word!r} is for"
    meant = re.search(r"^(--\S+)", hint, re.MULTILINE)
    return f"there is no option {word.partition('=')[0]}" + (f" (did you mean {meant[1]}?)" if meant else "")


def wrong_value(option: str, reason: str, hint: str, arguments: list[str]) -> str:
    """A word that is no number, or what one of our own checks says."""
    if not reason.startswith(CONVERSION):
        return reason
    usage = next((line for line in hint.splitlines() if line.startswith(f"{option} ")), "")
    kinds = re.findall("INT|FLOAT|PATH|STR", usage.split("[")[1] if "[" in usage else usage)  # of one that repeats
    wanted = " and ".join(KINDS[kind] for kind in kinds) or "something else"
    if len(kinds) > 1 and len({*kinds}) == 1:
        wanted = f"{len(kinds)} {wanted.split(' and ')[0].removeprefix('a ')}s"
    values = " ".join(given_for(option, arguments))
    return f"{option} must be {wanted}, not {values!r}"


def given_for(option: str, arguments: list[str]) -> list[str]:
    """The words that follow an option, up to the next one."""
    for number, word in enumerate(arguments):
        name, _, value = word.partition("=")
        if name.replace("_", "-") == option:
            behind = [] if value else arguments[number + 1 :]
            ends = next((i for i, each in enumerate(behind) if each.startswith("--")), len(behind))
            return [value] if value else behind[:ends]
    return []
