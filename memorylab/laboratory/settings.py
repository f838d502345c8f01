"""A preset as the paper's tables of hyper-parameters: what all tasks share, and what differs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memorylab.learning.presets import preset_config
from memorylab.tasks.task import find_task

OF_A_RUN = ("task", "model", "preset", "seed", "steps")  # no part of a preset


@dataclass(frozen=True)
class Setting:
    """One value of a setting, and the tasks that have it."""

    setting: str
    value: str
    tasks: str  # short names; all where it is fixed


def settings(tasks: Sequence[str], model: str, preset: str) -> list[Setting]:
    """Those that all tasks share first."""
    by_value: dict[str, dict[str, list[str]]] = {}
    for task in map(find_task, tasks):
        for name, value in flat(asdict(preset_config(task.name, model, preset))):
            if name not in OF_A_RUN:
                by_value.setdefault(name, {}).setdefault(value, []).append(task.short)
    found = [
        Setting(name, value, "all" if len(values) == 1 else " ".join(who))
        for name, values in by_value.items()
        for value, who in values.items()
    ]
    return sorted(found, key=lambda row: row.tasks != "all")


def flat(config: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names with dots, and values as text."""
    for name, value in config.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, " ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)
