"""What people played: one SQLite file."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from memorylab.envs.spec import GameSpec, parse_scale, scale_texts
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
    version TEXT NOT NULL,       -- of memorylab, whose rules were played
    scale TEXT NOT NULL DEFAULT '',    -- what of the level's scale was changed, such as trials=8
    stimuli TEXT NOT NULL DEFAULT ''   -- a folder of the user's own
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
    own: str = ""  # what makes it another game than the paper's; empty if nothing does
    aborted: int = 0  # episodes that were given up; they are not in the mean, but many of them make it doubtful


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
                add_columns(database)
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
            **columns_of(episode.game),
            "seed": episode.seed,
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

    def scores(self, game: GameSpec, outcome: str = "finished") -> list[float]:
        """Of all episodes of a game that ended so, in the order they were played."""
        same = " AND ".join(f"{name} = :{name}" for name in columns_of(game))
        question = f"SELECT score FROM episodes WHERE outcome = :outcome AND {same} ORDER BY id"
        with self.open() as database:
            return [row["score"] for row in database.execute(question, {"outcome": outcome, **columns_of(game)})]

    def human_scores(self) -> list[HumanScore]:
        """Of the finished episodes, per level and size of view, those of changed levels apart; aborted ones are counted
        beside them."""
        question = f"SELECT DISTINCT {', '.join(GAME)} FROM episodes WHERE outcome = 'finished'"
        with self.open() as database:
            found = database.execute(question).fetchall()
        known = task_names()
        order = [*known, *sorted({row["task"] for row in found} - {*known})], list(LEVELS)
        rows = sorted(found, key=lambda row: (*map(list.index, order, row), row["scale"], row["stimuli"], *row))
        return [human_score(game, self.scores(game), len(self.scores(game, "aborted"))) for game in map(game_of, rows)]


# --- rows of the file

GAME = ("task", "level", "height", "width", "scale", "stimuli")  # the columns that tell which game was played


def columns_of(game: GameSpec) -> dict[str, Any]:
    """A game as a row has it."""
    changes = " ".join(scale_texts(game.scale)), str(game.stimuli or "")
    return dict(zip(GAME, (game.task, game.level, *game.size, *changes), strict=True))


def game_of(row: Any) -> GameSpec:
    """And back."""
    scale = parse_scale(row["task"], row["scale"].split()) if row["scale"] else {}
    return GameSpec(row["task"], row["level"], (row["height"], row["width"]), row["stimuli"] or None, scale)


def human_score(game: GameSpec, scores: Sequence[float], aborted: int) -> HumanScore:
    """What people scored in one game."""
    error, source = standard_error(np.array(scores)), f"people, {game.size[0]} x {game.size[1]} pictures"
    return HumanScore(game.task, game.level, float(np.mean(scores)), error, len(scores), source, game.own, aborted)


def add_columns(database: sqlite3.Connection) -> None:
    """Those that a file of an earlier version does not have."""
    known = {row["name"] for row in database.execute("PRAGMA table_info(episodes)")}
    for name in {"scale", "stimuli"} - known:
        database.execute(f"ALTER TABLE episodes ADD COLUMN {name} TEXT NOT NULL DEFAULT ''")


def played(row: Any) -> Played:
    """From a row of the file."""
    rewards = np.frombuffer(row["rewards"], "<f4").astype(np.float32)
    episode = PlayedEpisode(game_of(row), row["seed"], row["actions"], rewards)
    began = datetime.fromisoformat(row["began"])
    return Played(row["id"], row["outcome"], row["player"], began, row["seconds"], row["version"], episode)
