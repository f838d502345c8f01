"""What a verb is, and what several of them need."""

import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from memorylab.cli.tables import as_csv, as_json, doing
from memorylab.options import parsed
from memorylab.runs.files import check_writable, replacing
from memorylab.tasks.task import find_task, task_names

Verb = Callable[[Sequence[str]], None]  # takes what follows its name; its docstring is its help
TaskNames = Annotated[tuple[str, ...], tyro.conf.arg(metavar="TASK", help="Tasks, by name or short name; all if none.")]
AllTasks = Positional[TaskNames]
Flag = tyro.conf.FlagCreatePairsOff[bool]


def from_signatures(functions: dict[str, Callable[..., None]]) -> dict[str, Verb]:
    """Verbs whose options are the parameters of a function."""
    return {name: from_signature(name, function) for name, function in functions.items()}


def from_signature(name: str, function: Callable[..., None]) -> Verb:
    """One of them."""

    @wraps(function)
    def remembered(*values: Any, **options: Any) -> inspect.BoundArguments:
        return inspect.signature(function).bind(*values, **options)

    @wraps(function)
    def verb(arguments: Sequence[str]) -> None:
        given = parsed(remembered, arguments, f"memorylab {name}")
        if given.arguments.get("json") and given.arguments.get("csv"):
            raise ValueError("--json and --csv are two forms of the same rows; give one of them")
        function(*given.args, **given.kwargs)

    return verb


def chosen_tasks(names: Sequence[str]) -> list[str]:
    """By their full names; all for none, and for `all`."""
    return list(task_names()) if not names or tuple(names) == ("all",) else [find_task(name).name for name in names]


def at_least_one(name: str, value: int) -> None:
    """Or one sentence."""
    if value < 1:
        raise ValueError(f"--{name} must be 1 or more, not {value}")


def check_ending(option: str, file: Path | None, *endings: str) -> None:
    """Or one sentence; no file is fine. It can be written there, too: that is told before anything is computed."""
    if file and file.suffix not in endings:
        words = " or ".join(part for part in (", ".join(endings[:-1]), endings[-1]) if part)
        raise ValueError(f"--{option} must end in {words}, not {file.name!r}")
    if file:
        check_writable(file.parent)


def save_rows(rows: Sequence[Any], out: Path | None) -> None:
    """As its ending says, .csv or .json; nothing for no file."""
    if out:
        with replacing(out) as temporary:
            temporary.write_text(as_csv(rows) if out.suffix == ".csv" else as_json(rows))


def needs_agent(module: str, extra: str = "agent") -> Any:
    """A module that only an extra can import; the suite alone must not wait for PyTorch."""
    is_slow = extra == "agent" and "torch" not in sys.modules
    try:
        with doing("loading PyTorch") if is_slow else nullcontext():
            return importlib.import_module(module)
    except ImportError as problem:
        raise ValueError(f"this needs more packages ({problem.name}): pip install 'memorylab-rl[{extra}]'") from None


def needs_web(module: str) -> Any:
    """The same for the pages."""
    return needs_agent(module, "web")
