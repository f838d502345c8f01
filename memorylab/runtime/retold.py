"""The command that trains a run again, from its config.json."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from memorylab.agent.config import MODELS
from memorylab.learning.presets import PRESETS, preset_config
from memorylab.tasks.task import find_task

NAMED = ("task", "model", "preset")  # these decide the other defaults


def train_command(config: Mapping[str, Any], minutes: float | None = None) -> str:
    """With the settings that differ from those of its preset, and how long it trained where that ended it."""
    model, preset = config["model"], config.get("preset", "laptop")
    usual = preset_config(
        config["task"], model if model in MODELS else "mra", preset if preset in PRESETS else "laptop"
    )
    words = ["memorylab", "train", find_task(config["task"]).short, "--model", usual.model, "--preset", usual.preset]
    words += changed(as_read(asdict(usual)), as_read(config))
    if minutes is not None:
        words += ["--minutes", f"{minutes:.3g}"]
    return shlex.join(words)


def as_read(config: Mapping[str, Any]) -> dict[str, Any]:
    """As it would come out of config.json: lists for tuples."""
    return json.loads(json.dumps(config))


def changed(usual: Mapping[str, Any], config: Mapping[str, Any]) -> Iterator[str]:
    """As options; settings that this version does not know are left out."""
    for name, default in usual.items():
        value = config.get(name, default)
        if isinstance(default, Mapping) and name != "settings":
            yield from changed(default, value)
        elif value != default and name not in NAMED:
            yield from option(name.replace("_", "-"), value)


def option(name: str, value: Any) -> list[str]:
    """A setting as words of the command line."""
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    if isinstance(value, Mapping):
        return [f"--{name}", *(str(word) for pair in value.items() for word in pair)]
    if isinstance(value, list):
        return [f"--{name}", *map(str, value)]
    return [f"--{name}", str(value)]
