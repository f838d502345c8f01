"""Many `memorylab` commands over a cluster, each with its share of it; Ray decides what runs where and when."""

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError

from memorylab.runtime.on_ray.cluster import connect

RETRIES = 10
STORE = 128 * 2**20


class Ended(NamedTuple):
    number: int  # of the command in the list
    code: int  # its exit code
    out: str
    error: str


def run_command(command: Sequence[str]) -> tuple[int, str, str]:
    """In this very process, so that nothing goes on when Ray's worker dies."""
    from memorylab.cli import main

    out, error, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(error):
        try:
            main(list(command))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return code, out.getvalue(), error.getvalue()


def run_many(
    commands: Sequence[Sequence[str]], cpus: float = 1, gpus: float = 0, address: str | None = None
) -> Iterator[Ended]:
    """Each as it ends. A command whose node dies is given to another; `train` then goes on from its checkpoint, if the
    run's folder is where both nodes see it."""
    connected = connect(address, len(os.sched_getaffinity(0)), STORE)
    task: Any = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=RETRIES, max_calls=1)(run_command)
    numbers = {task.remote(list(command)): number for number, command in enumerate(commands)}
    try:
        while numbers:
            [future], _ = ray.wait(list(numbers))
            number = numbers.pop(future)
            try:
                yield Ended(number, *ray.get(future))
            except RayError as problem:
                yield Ended(number, 1, "", str(problem))
    finally:
        for future in numbers:
            ray.cancel(future, force=True)
        if connected:
            ray.shutdown()
