"""`memorylab VERB ...`: finds the verb and hands it the rest."""

import sys
from collections.abc import Sequence

from memorylab.cli import laboratory, pages, suite, training
from memorylab.cli.verbs import Verb
from memorylab.tasks.task import short_names

VERBS: dict[str, Verb] = {**suite.VERBS, **training.VERBS, **laboratory.VERBS, **pages.VERBS}


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
            "memorylab VERB --help tells all settings of a verb.",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] in (["--help"], ["-h"]):
            print(overview())
            return
        if not given or given[0] not in VERBS:
            asked = f"there is no verb {given[0]!r}" if given else "say what to do"
            raise ValueError(f"{asked}; the verbs are {', '.join(VERBS)}")
        VERBS[given[0]](given[1:])
    except (ValueError, TypeError, OSError, RuntimeError) as problem:
        print(f"memorylab: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as asked:
        sys.exit(getattr(asked, "exit_code", 130))  # a run that was asked by another signal says which
