"""In the browser: people play the tasks, runs are followed, and what an agent recalled can be seen."""

__all__: list[str] = []  # its verbs are its interface
