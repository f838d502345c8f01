"""`memorylab train --runtime ray ...` with a report and a checkpoint after every update."""

import sys

from tiny_runs import make_hasty

from memorylab.cli import main

make_hasty(setattr)
main(["train", *sys.argv[1:], "--runtime", "ray", "--checkpoint-minutes", "0"])
