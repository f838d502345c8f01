"""Where each second of a run went."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch:
    """Adds up seconds by name; names nest within a thread: `with stopwatch("learning"), stopwatch("backward")`."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, ...], float] = defaultdict(float)
        self.local = threading.local()
        self.began = perf_counter()

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        path = (*getattr(self.local, "path", ()), name)
        self.local.path = path
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[path] += perf_counter() - start
            self.local.path = path[:-1]

    def add(self, name: str, seconds: float) -> None:
        """What another process took."""
        self.seconds[(name,)] += seconds

    def tree(self) -> str:
        """One line a name, indented by nesting, with its share of the whole time."""
        whole = perf_counter() - self.began
        lines = [f"{'whole run':40s} {whole:9.1f} s"]
        for path in sorted(self.seconds, key=lambda p: [(-self.seconds[p[: i + 1]], p[i]) for i in range(len(p))]):
            seconds = self.seconds[path]
            lines.append(f"{'  ' * len(path) + path[-1]:40s} {seconds:9.1f} s {seconds / whole:6.1%}")
        return "\n".join(lines)
