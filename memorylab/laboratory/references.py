"""Scores to compare with, each with its source: the paper's tables, our scripted players, humans recorded here."""

import csv
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from memorylab.tasks.task import check_level, find_task

DATA = Path(__file__).parent / "data"
HUMAN_COLUMNS = "task", "level", "mean", "standard_error"

# Our names of the ten models, and the paper's of nine; it has no table for the tenth.
PAPER_NAMES = {
    "ff": "FF",
    "ff+mem": "FF + MEM",
    "ff+mem+cpc": "FF + MEM + CPC",
    "ff+mem+rec": "FF + MEM + REC",
    "lstm": "LSTM",
    "lstm+cpc": "LSTM + CPC",
    "lstm+mem": "LSTM + MEM",
    "lstm+mem+rec": "LSTM + MEM + REC",
    "mra": "LSTM + MEM + CPC",
    "random": "Random",
    "human": "Human",
}
OUR_NAMES = {theirs: ours for ours, theirs in PAPER_NAMES.items()}


class Reference(NamedTuple):
    """A published or measured score."""

    mean: float
    standard_error: float
    source: str


Key = tuple[str, str, str]  # task, who, level


def rows(file: Path) -> Iterator[dict[str, str]]:
    """By the names in its header."""
    with file.open(newline="") as lines:
        yield from csv.DictReader(lines)


def with_train(found: dict[Key, Reference]) -> dict[Key, Reference]:
    """Where only `train_small` and `train_large` are known, `train` is their mean: an episode draws one or the other
    with equal chance."""
    for (task, who, level), small in list(found.items()):
        large = found.get((task, who, "train_large"))
        if level == "train_small" and large and (task, who, "train") not in found:
            error = (small.standard_error**2 + large.standard_error**2) ** 0.5 / 2
            found[task, who, "train"] = Reference((small.mean + large.mean) / 2, error, small.source)
    return found


@cache
def paper_scores() -> dict[Key, Reference]:
    """Every figure of the paper's reward tables: nine models, `random` and `human`."""
    return with_train(
        {
            (row["task"], OUR_NAMES[row["model"]], row["level"]): Reference(
                float(row["mean_reward"]), float(row["standard_error"]), "paper"
            )
            for row in rows(DATA / "episode_rewards.csv")
        }
    )


def best_agent(task: str, level: str) -> Reference | None:
    """The best of the paper's trained agents on that level."""
    agents = (model for model in PAPER_NAMES if model not in ("random", "human"))
    scores = [paper_scores()[task, model, level] for model in agents if (task, model, level) in paper_scores()]
    return max(scores, default=None)


@cache
def paper_ranking() -> dict[tuple[str, str], Reference]:
    """(model, level) -> average human-normalised score as the paper's ranking table gives it, best model first."""
    return {
        (OUR_NAMES[row["model"]], level): Reference(float(row[level]), float(row[f"{level}_se"]), "paper")
        for row in rows(DATA / "ranked_ablations.csv")
        for level in row
        if level != "model" and not level.endswith("_se")
    }


@cache
def scripted_players() -> dict[Key, Reference]:
    """What our random, forgetting and remembering players score."""
    return with_train(
        {
            (row["task"], row["player"], row["level"]): Reference(
                float(row["mean"]), float(row["standard_error"]), "scripted player"
            )
            for row in rows(DATA / "scripted_players.csv")
        }
    )


def recorded_humans(file: Path) -> dict[Key, Reference]:
    """Scores of people, as `memorylab human-scores` exports them: task, level, mean, standard_error. Of several views
    of a level the first counts: the agent's. What was played at another scale or with other stimuli (`own`) is no
    score of the level."""
    found: dict[Key, Reference] = {}
    for number, row in enumerate(human_rows(file), 2):
        try:
            check_level(row["level"])
            key = find_task(row["task"]).name, "human", row["level"]
            reference = Reference(float(row["mean"]), float(row["standard_error"] or "nan"), str(file))
        except (AttributeError, TypeError, ValueError) as problem:
            raise ValueError(f"{file}, row {number}, is no score of people: {problem}") from None
        if not row.get("own"):
            found.setdefault(key, reference)
    return found


def human_rows(file: Path) -> list[dict[str, str]]:
    """Or one sentence on a file that is something else."""
    try:
        found = list(rows(file))
    except (UnicodeDecodeError, csv.Error) as problem:
        raise ValueError(f"{file} is no CSV file: {problem}") from None
    missing = [name for name in HUMAN_COLUMNS if not found or name not in found[0]]
    if missing:
        raise ValueError(
            f"{file} holds no scores of people: it needs rows of {', '.join(HUMAN_COLUMNS)}, "
            "as memorylab human-scores --out scores.csv writes them"
        )
    return found


class Yardstick(NamedTuple):
    """What counts as 0 and as 100."""

    zero: Mapping[Key, Reference]
    hundred: Mapping[Key, Reference]
    zero_name: str = "random"
    hundred_name: str = "human"

    def ends(self, task: str, level: str) -> tuple[Reference, Reference] | None:
        """What counts as 0 and as 100 there; None if one is not known."""
        zero, hundred = self.zero.get((task, self.zero_name, level)), self.hundred.get((task, self.hundred_name, level))
        return (zero, hundred) if zero and hundred and zero.mean != hundred.mean else None

    def normalise(self, task: str, level: str, score: float) -> float | None:
        """100 (R - R_random) / (R_human - R_random)."""
        ends = self.ends(task, level)
        return ends and 100 * (score - ends[0].mean) / (ends[1].mean - ends[0].mean)

    def text(self, task: str, level: str) -> str:
        """The same in words."""
        ends = self.ends(task, level)
        if ends is None:
            return "no reference"
        return f"0 = {self.zero_name} ({ends[0].source}), 100 = {self.hundred_name} ({ends[1].source})"


def yardstick(source: str = "paper", humans: Path | None = None) -> Yardstick:
    """`paper`: its Random and Human; `players`: our random and remembering player. `humans` go before the paper's."""
    if humans and source != "paper":
        raise ValueError("--humans take the place of the paper's: give it without --reference, or with paper")
    if source == "players":
        return Yardstick(scripted_players(), scripted_players(), hundred_name="remembering")
    if source != "paper":
        raise ValueError(f"the references are paper or players, not {source!r}")
    return Yardstick(paper_scores(), paper_scores() | (recorded_humans(humans) if humans else {}))


def memory_yardstick() -> Yardstick:
    """The memory score: 0 is our forgetting player, 100 the remembering one."""
    return Yardstick(scripted_players(), scripted_players(), "forgetting", "remembering")
