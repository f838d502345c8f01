"""`python -m memorylab` is the command `memorylab`."""

from memorylab.cli import main

main()
