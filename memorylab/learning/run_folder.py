"""A run on disk: config.json, metrics.csv, scores.csv, checkpoints."""

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memorylab.files import replacing

MAY_CHANGE = ("steps",)  # a run may be made longer


class RunFolder:
    def __init__(self, path: Path):
        self.path = path
        self.checkpoints = path / "checkpoints"
        self.snapshot = path / "snapshot"  # the weights where the training score was best
        self.metrics = path / "metrics.csv"
        self.scores = path / "scores.csv"
        self.actors = path / "actors.csv"  # on a cluster

    def open(self, config: Mapping[str, Any], defaults: Mapping[str, Any] = {}) -> None:
        """Begin a run here, or go on with one of the same configuration; what an older version did not yet write into
        it has its default."""
        file = self.path / "config.json"
        new = json.loads(json.dumps(config))
        if file.exists():
            old = completed(in_words_of_now(read_json(file)), defaults)
            differences = [d for d in differing(old, new) if d.split(" ")[0] not in MAY_CHANGE]
            if differences:
                raise ValueError(
                    f"{self.path} holds a run of another configuration: {'; '.join(differences)}; "
                    "give the same settings to go on, or another --out"
                )
        with replacing(file) as temporary:
            temporary.write_text(json.dumps(new, indent=2) + "\n")

    def cut_after(self, step: int, evaluated: int) -> None:
        """Drop rows that were written after the checkpoint from which a run goes on; all if there was none (-1)."""
        for file, last in ((self.metrics, step), (self.actors, step), (self.scores, evaluated)):
            if file.exists():
                with file.open(newline="") as lines:
                    reader = csv.DictReader(lines)
                    names = reader.fieldnames or ()
                    rows = [row for row in reader if whole_number(row.get("step")) <= last and None not in row.values()]
                if not rows:
                    file.unlink()
                    continue
                with replacing(file) as temporary, temporary.open("w", newline="") as out:
                    writer = csv.DictWriter(out, names, lineterminator="\n")
                    writer.writeheader()
                    writer.writerows(rows)

    def returns(self, level: str) -> tuple[list[int], list[float]]:
        """Steps and returns of the evaluated episodes of a level; without a row that is being written."""
        if not self.scores.exists():
            return [], []
        with self.scores.open(newline="") as lines:
            rows = [row for row in csv.DictReader(lines) if row["level"] == level and row["return"]]
        return [int(row["step"]) for row in rows], [float(row["return"]) for row in rows]

    def append(self, file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
        rows = list(rows)
        if not rows:
            return
        is_new = not file.exists()
        names = list(rows[0])
        if not is_new:
            with file.open(newline="") as lines:
                names = next(csv.reader(lines))
        with file.open("a", newline="") as out:
            writer = csv.DictWriter(out, names, restval="", extrasaction="ignore", lineterminator="\n")
            if is_new:
                writer.writeheader()
            writer.writerows(rows)


def whole_number(text: str | None) -> float:
    """A row that a crash cut short counts as the newest."""
    return int(text) if text and text.isdigit() else float("inf")


def read_json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_text())
    except ValueError as problem:
        raise ValueError(f"{file} is not valid JSON: {problem}") from problem
    if not isinstance(found, dict):
        raise ValueError(f"{file} is not the configuration of a run")
    return found


def in_words_of_now(config: dict[str, Any]) -> dict[str, Any]:
    """Earlier versions had at most one auxiliary loss, by its name, and one memory, yes or no."""
    agent = dict(config.get("agent", {}))
    if isinstance(agent.get("memory"), bool):
        agent["memory"] = "episodic" if agent["memory"] else "none"
    if isinstance(agent.get("auxiliary"), str):
        agent["auxiliary"] = [] if agent["auxiliary"] == "none" else [agent["auxiliary"]]
    return {**config, "agent": agent} if agent else config


def completed(old: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    nested = {name: completed(old.get(name, {}), part) for name, part in defaults.items() if isinstance(part, Mapping)}
    return {**defaults, **old, **nested}


def differing(old: Mapping[str, Any], new: Mapping[str, Any], prefix: str = "") -> list[str]:
    """What is not the same, as `name is X here, not Y`."""
    found = []
    for name in dict.fromkeys([*old, *new]):
        a, b = old.get(name, "missing"), new.get(name, "missing")
        if isinstance(a, dict) and isinstance(b, dict):
            found += differing(a, b, f"{prefix}{name}.")
        elif a != b:
            found.append(f"{prefix}{name} is {a!r} there, not {b!r}")
    return found
