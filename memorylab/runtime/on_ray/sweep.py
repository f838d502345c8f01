"""One command with many sets of arguments over a cluster, each with its share of it; Ray decides what runs where and
when."""

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError

from memorylab.machine import usable_cores
from memorylab.runtime.on_ray.cluster import connect

RETRIES = 10
STORE = 128 * 2**20


class Ended(NamedTuple):
    """One that is done."""

    number: int  # of its arguments in the list
    code: int  # its exit code
    out: str
    error: str


Command = Callable[[Sequence[str]], None]  # such as runtime.command.train


def run_command(command: Command, arguments: Sequence[str]) -> tuple[int, str, str]:
    """In this very process, so that nothing goes on when Ray's worker dies."""
    out, error, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(error):
        try:
            command(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except (ValueError, TypeError, OSError, RuntimeError) as problem:
            print(f"memorylab: {problem}", file=sys.stderr)
            code = 2
    return code, out.getvalue(), error.getvalue()


def run_many(
    command: Command,
    arguments: Sequence[Sequence[str]],
    cpus: float = 1,
    gpus: float = 0,
    address: str | None = None,
) -> Iterator[Ended]:
    """Each as it ends. One whose node dies is given to another; `train` then goes on from its checkpoint, if the run's
    folder is where both nodes see it."""
    connected = connect(address, usable_cores(), STORE)
    task: Any = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=RETRIES, max_calls=1)(run_command)
    numbers = {task.remote(command, list(each)): number for number, each in enumerate(arguments)}
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
