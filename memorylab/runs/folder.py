"""A run on disk: config.json, metrics.csv, scores.csv, checkpoints."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memorylab.runs.config import completed, differing, read_config, without_unused, write_config
from memorylab.runs.files import sync
from memorylab.runs.scores import ScoreRow, append_scores, read_scores
from memorylab.runs.tables import append_rows, cut_rows, read_rows

MAY_CHANGE = ("steps",)  # a run may be made longer


class RunFolder:
    """Where everything of a run lies, and who writes and reads it."""

    def __init__(self, path: Path):
        self.path = path
        self.checkpoints = path / "checkpoints"
        self.snapshot = path / "snapshot"  # the weights where the training score was best
        self.metrics = path / "metrics.csv"
        self.scores = path / "scores.csv"
        self.actors = path / "actors.csv"  # on a cluster
        self.card = path / "card.json"  # of an agent of the zoo: it has these weights alone

    def open(self, config: Mapping[str, Any], defaults: Mapping[str, Any] = {}) -> None:
        """Begin a run here, or go on with one of the same configuration."""
        self.check(config, defaults)
        write_config(self.path, json.loads(json.dumps(config)))

    def check(self, config: Mapping[str, Any], defaults: Mapping[str, Any] = {}) -> None:
        """Refuses a run of another configuration. With defaults, what an older version did not yet write into it has
        its own, and what a newer one has besides may be there if it is not used."""
        if not (self.path / "config.json").exists():
            return
        new, usual = json.loads(json.dumps(config)), json.loads(json.dumps(defaults))
        old = completed(read_config(self.path), usual)
        old = without_unused(old, new) if defaults else old
        differences = [d for d in differing(old, new) if d.split(" ")[0] not in MAY_CHANGE]
        if differences:
            raise ValueError(
                f"{self.path} holds a run of another configuration: {'; '.join(differences)}; "
                "give the same settings to go on, or another --out"
            )

    def add_metrics(self, row: Mapping[str, Any]) -> None:
        """How training stands at a step."""
        append_rows(self.metrics, [row])

    def add_scores(self, rows: Iterable[ScoreRow]) -> None:
        """Evaluated episodes."""
        append_scores(self.scores, rows)

    def add_actors(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """What each actor of a cluster did."""
        append_rows(self.actors, rows)

    def read_metrics(self) -> list[dict[str, str]]:
        """The whole rows."""
        return read_rows(self.metrics)

    def returns(self, level: str) -> tuple[list[int], list[float]]:
        """Steps and returns of the evaluated episodes of a level; none if there was no evaluation yet."""
        rows = read_scores(self.scores) if self.scores.exists() else []
        own = [row for row in rows if row.level == level]
        return [row.step for row in own], [row.score for row in own]

    def sync(self) -> None:
        """All rows so far are on the disk."""
        for file in (self.metrics, self.actors, self.scores):
            if file.exists():
                sync(file)

    def cut_after(self, step: int, evaluated: int) -> None:
        """Drop rows that were written after the checkpoint from which a run goes on; all if there was none (-1)."""
        for file, last in ((self.metrics, step), (self.actors, step), (self.scores, evaluated)):
            cut_rows(file, last)
