"""`memorylab train --runtime ray ...` with a checkpoint after every update: python ray_driver.py ARGUMENTS."""

import sys

from tiny_runs import make_hasty

from memorylab.cli import main
from memorylab.runtime import training

make_hasty(setattr)
training.CHECKPOINT_SECONDS = -1.0
main(["train", *sys.argv[1:], "--runtime", "ray"])
