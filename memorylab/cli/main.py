"""`memorylab VERB ...`: finds the verb and hands it the rest."""

import os
import re
import select
import sys
from collections.abc import Sequence

from memorylab.cli import laboratory, pages, suite, training, zoo
from memorylab.cli.verbs import Verb
from memorylab.mistakes import near_miss
from memorylab.tasks.task import short_names
from memorylab.version import __version__

VERBS: dict[str, Verb] = {**suite.VERBS, **training.VERBS, **laboratory.VERBS, **zoo.VERBS, **pages.VERBS}
NO_MEMORY = re.compile(r"tried to allocate (\d+) bytes")  # PyTorch's words
BAD_INPUT, BROKEN_PIPE, INTERRUPTED = 2, 1, 130


def overview() -> str:
    """What `memorylab --help` prints."""
    lines = [f"  {name:13} {(verb.__doc__ or '').splitlines()[0]}" for name, verb in VERBS.items()]
    return "\n".join(
        [
            "usage: memorylab VERB ...",
            "",
            f"First-person memory tasks. Short names: {', '.join(short_names())}",
            "",
            *lines,
            "",
            "memorylab VERB --help tells all settings of a verb, memorylab --version the version.",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        carry_out(given)
        sys.stdout.flush()  # a pipe that broke is found here, not when Python ends
    except (ValueError, TypeError, OSError, RuntimeError, MemoryError) as problem:
        if isinstance(problem, BrokenPipeError) and nobody_reads():
            sys.exit(BROKEN_PIPE)
        print(f"memorylab: {told(problem)}", file=sys.stderr)
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt as asked:
        sys.exit(getattr(asked, "exit_code", INTERRUPTED))  # a run that was asked by another signal says which


def carry_out(given: list[str]) -> None:
    """The verb, or what is asked of the command itself."""
    if given[:1] in (["--help"], ["-h"]):
        print(overview())
    elif given[:1] in (["--version"], ["-V"]):
        print(f"memorylab {__version__}")
    elif not given or given[0] not in VERBS:
        asked = f"there is no verb {given[0]!r}{near_miss(given[0], VERBS)}" if given else "say what to do"
        raise ValueError(f"{asked}; the verbs are {', '.join(VERBS)}")
    else:
        VERBS[given[0]](given[1:])


def told(problem: BaseException) -> str:
    """In one sentence; of a file that cannot be read or written, its place and the reason."""
    if isinstance(problem, OSError) and problem.filename is not None and problem.strerror:
        return f"{problem.filename} cannot be used: {problem.strerror}"
    text = " ".join(str(problem).split()) or type(problem).__name__
    if wanted := NO_MEMORY.search(text):
        return f"there is not enough memory: {int(wanted[1]) / 1e9:,.0f} GB were asked for at once"
    return text


def nobody_reads() -> bool:
    """Whether it is our own output that broke, as with `| head`; then nothing more is written to it."""
    try:
        output = sys.stdout.fileno()
    except OSError:
        return False  # it goes to no file
    if hasattr(select, "poll"):  # elsewhere it can only be ours
        asked = select.poll()
        asked.register(output, 0)
        if not asked.poll(0):
            return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), output)
    return True
