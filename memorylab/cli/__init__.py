"""One command, `memorylab`, with verbs. Bad input: one sentence and exit code 2."""

import sys

try:
    import rich  # noqa: F401
    import tyro  # noqa: F401

    from memorylab.cli.main import main
except KeyboardInterrupt:
    sys.exit(130)
except ModuleNotFoundError as problem:
    if problem.name not in ("rich", "tyro"):
        raise
    print("memorylab: the command line needs more packages: pip install 'memorylab[cli]'", file=sys.stderr)
    sys.exit(2)

__all__ = ["main"]
