"""The nine levels of every task: which scales an episode may draw, and from which half of the stimuli."""

from typing import NamedTuple


class Level(NamedTuple):
    """What an episode of a level draws from."""

    scales: tuple[str, ...]  # one is drawn per episode
    stimuli: str  # "train" or "holdout"


LEVELS = {
    "train": Level(("small", "large"), "train"),
    "train_small": Level(("small",), "train"),
    "train_large": Level(("large",), "train"),
    "interpolate": Level(("interpolate",), "train"),
    "extrapolate": Level(("extrapolate",), "train"),
    "holdout_small": Level(("small",), "holdout"),
    "holdout_large": Level(("large",), "holdout"),
    "holdout_interpolate": Level(("interpolate",), "holdout"),
    "holdout_extrapolate": Level(("extrapolate",), "holdout"),
}

# The three that the paper reports.
PAPER_LEVELS = ("train", "holdout_interpolate", "holdout_extrapolate")
