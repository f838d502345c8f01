"""config.json: what makes a run what it is, and the version of the folder's format."""

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memorylab.runs.files import read_json, replacing
from memorylab.version import __version__

FORMAT = 1  # of the whole folder; runs of before there was a number are read as well
KEY, HISTORY = "format", "history"  # no settings: two runs may differ in these and be seeds of one thing


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """The format and the history come first, for whoever opens the file."""
    facts = {KEY: FORMAT, HISTORY: history(folder / "config.json")}
    with replacing(folder / "config.json") as temporary:
        temporary.write_text(json.dumps({**facts, **config}, indent=2) + "\n")


def history(file: Path) -> dict[str, Any]:
    """How the run was begun, and gone on with last; runs of before this was written do not say how they were begun."""
    if not file.exists():
        return {"begun": here_and_now()}
    before = json.loads(file.read_text()).get(HISTORY)
    return {**(before if isinstance(before, dict) else {}), "gone_on": here_and_now()}


def here_and_now() -> dict[str, str]:
    """Version, date and machine; not its name, which is nobody's business."""
    machine = f"{platform.platform()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return {"version": __version__, "date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine}


def trained_by(folder: Path) -> str | None:
    """The version that began the run; None for runs of before this was written."""
    begun = read_json(folder / "config.json").get(HISTORY, {}).get("begun", {})
    return begun.get("version")


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration without its format and history."""
    file = folder / "config.json"
    if not file.exists():
        raise ValueError(f"{folder} is not the folder of a run: it has no config.json")
    found = read_json(file)
    if not isinstance(found, dict):
        raise ValueError(f"{file} is not the configuration of a run")
    written = found.pop(KEY, FORMAT)
    if not isinstance(written, int) or written > FORMAT:
        raise ValueError(f"{file} is of format {written!r}, this version of memorylab reads up to {FORMAT}; update it")
    found.pop(HISTORY, None)
    try:
        return in_words_of_now(found)
    except (KeyError, TypeError) as problem:
        raise ValueError(f"{file} is not the configuration of a run: {problem!r} is wrong in it") from problem


def in_words_of_now(config: dict[str, Any]) -> dict[str, Any]:
    """Earlier versions said `games` for num_envs, had one auxiliary loss at most, by name, a memory or not, a
    curriculum over one keyword, the model that was asked for, whatever its parts, and a say in whether acting and
    learning take turns."""
    config = {"num_envs" if name == "games" else name: value for name, value in config.items()}
    config.pop("in_turns", None)
    if isinstance(config.get("curriculum"), dict) and "keyword" in config["curriculum"]:
        curriculum = dict(config["curriculum"])
        keyword = curriculum.pop("keyword")
        config["curriculum"] = {**curriculum, "stages": [f"{keyword}={value}" for value in curriculum["stages"]]}
    if not isinstance(config.get("agent"), dict):
        return config  # somebody else's agent
    agent = dict(config["agent"])
    if isinstance(agent.get("memory"), bool):
        agent["memory"] = "episodic" if agent["memory"] else "none"
    if isinstance(agent.get("auxiliary"), str):
        agent["auxiliary"] = [] if agent["auxiliary"] == "none" else [agent["auxiliary"]]
    parts = {"model": model_of(agent)} if {"controller", "memory", "auxiliary"} <= agent.keys() else {}
    return {**config, **parts, "agent": agent}


def model_of(agent: Mapping[str, Any]) -> str:
    """What these parts make: a model of the paper by its name, such as lstm+mem, or one more like gru+mem+cpc."""
    memory = {"none": [], "episodic": ["mem"]}.get(agent["memory"], [agent["memory"]])
    name = "+".join([agent["controller"], *memory, *sorted(agent["auxiliary"])])
    name = "mra" if name == "lstm+mem+cpc" else name
    return name if agent.get("jumpy", True) or not memory else f"{name}-njb"


NO_TEACHER, SKILLS = "none", "skills"
UNUSED: tuple[Any, ...] = (None, False, 0, "", "none", [], {})  # what a setting says that does nothing
WITHOUT_MEMORY = (SKILLS, "skilled", "forgetting")  # teachers that show no answer
TAUGHT = " (taught"


def model_name(config: Mapping[str, Any]) -> str:
    """The model as reports call it: a run that had a teacher is never taken for one that had none."""
    name, teacher = str(config["model"]), config.get("teacher", NO_TEACHER)
    learner = config.get("learner")
    if teacher == NO_TEACHER or (isinstance(learner, Mapping) and not learner.get("teacher_weight", 1)):
        return name
    return f"{name}{TAUGHT})" if teacher in WITHOUT_MEMORY else f"{name}{TAUGHT} by {teacher})"


def untaught(name: str) -> str:
    """The model itself, as the paper has it."""
    return name.partition(TAUGHT)[0]


def completed(old: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """What an older version did not yet write has its default."""
    nested = {
        name: completed(old.get(name, {}), part)
        for name, part in defaults.items()
        if isinstance(part, Mapping) and isinstance(old.get(name, {}), Mapping)
    }
    return {**defaults, **old, **nested}


def without_unused(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of another version that this one does not have are left out where they say that nothing is used."""
    kept = {}
    for name, value in old.items():
        if isinstance(value, Mapping) and isinstance(new.get(name), Mapping):
            kept[name] = without_unused(value, new[name])
        elif name in new or value not in UNUSED:
            kept[name] = value
    return kept


def differing(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """What is not the same, as `name is X there, not Y`."""
    found = []
    for name in dict.fromkeys([*old, *new]):
        a, b = old.get(name, "missing"), new.get(name, "missing")
        if isinstance(a, dict) and isinstance(b, dict):
            found += differing(a, b, f"{prefix}{name}.")
        elif a != b:
            found.append(f"{prefix}{name} is {a!r} there, not {b!r}")
    return found
