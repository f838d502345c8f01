"""What a scene is and how it looks. Knows no task."""

__all__: list[str] = []  # the rules of a task import from its modules; docs/api.md lists what they may rely on
