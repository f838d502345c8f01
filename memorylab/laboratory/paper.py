"""The paper's own scores, as data."""

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent / "data"


class Reference(NamedTuple):
    mean: float
    standard_error: float


@cache
def episode_rewards() -> dict[tuple[str, str, str], Reference]:
    """(task, model, level) -> mean episode reward; models include `Random` and `Human`."""
    with open(DATA / "episode_rewards.csv", newline="") as file:
        return {
            (row["task"], row["model"], row["level"]): Reference(
                float(row["mean_reward"]), float(row["standard_error"])
            )
            for row in csv.DictReader(file)
        }
