"""`python -m memorylab` is the command `memorylab`."""

from memorylab.cli import main

if __name__ == "__main__":  # not where another process of a run imports it
    main()
