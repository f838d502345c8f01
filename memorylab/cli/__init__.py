"""One command, `memorylab`, with verbs. Bad input: one sentence and exit code 2."""

import sys

try:
    from memorylab.cli.main import main
except KeyboardInterrupt:  # these imports take a second
    sys.exit(130)

__all__ = ["main"]
