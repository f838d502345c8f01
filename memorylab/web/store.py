"""What people played: one SQLite file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from memorylab.runs.scores import standard_error
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import task_names
from memorylab.version import __version__
from memorylab.web.game import PlayedEpisode

SCHEMA = """
CREATE TABLE IF NOT EXISTS episodes (
    id INTEGER PRIMARY KEY,
    outcome TEXT NOT NULL CHECK (outcome IN ('finished', 'aborted')),
    player TEXT,                 -- NULL: anonymous
    task TEXT NOT NULL,
    level TEXT NOT NULL,
    seed INTEGER NOT NULL,
    height INTEGER NOT NULL,     -- of the view
    width INTEGER NOT NULL,
    score REAL NOT NULL,
    steps INTEGER NOT NULL,
    actions BLOB NOT NULL,       -- one byte a step
    rewards BLOB NOT NULL,       -- little-endian float32, one a step
    began TEXT NOT NULL,         -- UTC
    seconds REAL NOT NULL,       -- by the clock on the wall
    version TEXT NOT NULL        -- of memorylab, whose rules were played
);
CREATE INDEX IF NOT EXISTS by_level ON episodes (outcome, task, level);
"""


@dataclass(frozen=True)
class Played:
    """A row: who played an episode, when, and what came of it."""

    id: int
    outcome: str
    player: str | None
    began: datetime
    seconds: float
    version: str
    episode: PlayedEpisode


@dataclass(frozen=True)
class HumanScore:
    """R_human of a level, as the laboratory reads it."""

    task: str
    level: str
    mean: float
    standard_error: float
    n: int
    source: str


class EpisodeStore:
    """Opens the file anew for each use, so that any thread may use it and nothing is left open."""

    def __init__(self, path: Path, create: bool = True):
        if not create and not path.is_file():
            raise ValueError(f"there are no human scores in {path}; `memorylab play --scores {path}` collects them")
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self.open() as database:
                database.execute("PRAGMA journal_mode=WAL")  # readers never wait for a player who finishes
                database.executescript(SCHEMA)
        except sqlite3.DatabaseError as problem:
            raise ValueError(f"{path} is not a file of human scores: {problem}") from problem

    @contextmanager
    def open(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are kept if all goes well."""
        with closing(sqlite3.connect(self.path, timeout=30)) as database, database:
            database.execute("PRAGMA synchronous=FULL")
            database.row_factory = sqlite3.Row
            yield database

    def add(self, episode: PlayedEpisode, outcome: str, player: str | None, began: datetime, seconds: float) -> int:
        """Its number."""
        row = {
            "outcome": outcome,
            "player": player,
            "task": episode.task,
            "level": episode.level,
            "seed": episode.seed,
            "height": episode.height,
            "width": episode.width,
            "score": episode.score,
            "steps": len(episode.actions),
            "actions": episode.actions,
            "rewards": episode.rewards.astype("<f4").tobytes(),
            "began": began.astimezone(UTC).isoformat(timespec="seconds"),
            "seconds": seconds,
            "version": __version__,
        }
        places = ", ".join(f":{name}" for name in row)
        with self.open() as database:
            cursor = database.execute(f"INSERT INTO episodes ({', '.join(row)}) VALUES ({places})", row)
            return int(cursor.lastrowid or 0)

    def get(self, number: int) -> Played:
        """By its number, or one sentence."""
        with self.open() as database:
            row = database.execute("SELECT * FROM episodes WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise ValueError(f"{self.path} has no episode {number}")
        return played(row)

    def all(self) -> list[Played]:
        """In the order they were played."""
        with self.open() as database:
            return [played(row) for row in database.execute("SELECT * FROM episodes ORDER BY id")]

    def scores(self, task: str, level: str, view: tuple[int, int]) -> list[float]:
        """Of all finished episodes of a level, in the order they were played."""
        question = """SELECT score FROM episodes WHERE outcome = 'finished' AND task = ? AND level = ?
                      AND height = ? AND width = ? ORDER BY id"""
        with self.open() as database:
            return [row["score"] for row in database.execute(question, (task, level, *view))]

    def human_scores(self) -> list[HumanScore]:
        """Of the finished episodes, per level and size of view; aborted ones do not count."""
        question = "SELECT DISTINCT task, level, height, width FROM episodes WHERE outcome = 'finished'"
        with self.open() as database:
            found = [tuple(row) for row in database.execute(question)]
        known = task_names()
        order = [*known, *sorted({task for task, *_ in found} - {*known})], list(LEVELS)
        rows = []
        for task, level, *view in sorted(found, key=lambda row: (*map(list.index, order, row), row[2:])):
            scores = np.array(self.scores(task, level, (view[0], view[1])))
            source = f"people, {view[0]} x {view[1]} pictures"
            rows.append(HumanScore(task, level, float(scores.mean()), standard_error(scores), len(scores), source))
        return rows


def played(row: Any) -> Played:
    """From a row of the file."""
    rewards = np.frombuffer(row["rewards"], "<f4").astype(np.float32)
    names = ("task", "level", "seed", "height", "width", "actions")
    episode = PlayedEpisode(**{name: row[name] for name in names}, rewards=rewards)
    began = datetime.fromisoformat(row["began"])
    return Played(row["id"], row["outcome"], row["player"], began, row["seconds"], row["version"], episode)
