"""Names that nobody knows: what was meant, perhaps, and what there is; and Ctrl-C too early. Below all rooms, imports
none."""

import sys
from collections.abc import Iterable
from difflib import get_close_matches


def near_miss(name: str, known: Iterable[str]) -> str:
    """` (did you mean avm?)` behind a name that nobody knows; nothing where none is near."""
    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), by_lower, n=1)
    return f" (did you mean {by_lower[found[0]]}?)" if found else ""


def unknown(kind: str, name: str, known: Iterable[str], plural: str = "") -> ValueError:
    """`unknown level 'trian' (did you mean train?); the levels are ...`."""
    names = list(known)
    told = ", ".join(names)
    return ValueError(f"unknown {kind} {name!r}{near_miss(name, names)}; the {plural or f'{kind}s'} are {told}")


def end_command() -> None:
    """Ctrl-C while the command is still being imported ends it without a word; in another's program it does nothing."""
    program = sys.argv[0] if sys.argv else ""
    if program == "-m" or program.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") == "memorylab":
        sys.exit(130)
