"""From evaluated episodes to a run's snapshot and scores: the rule that docs/laboratory.md states.

The paper smooths the rewards of many thousand episodes. A run may also have nine evaluations of 64 episodes, or one
episode at each of ten thousand steps, so everything here counts episodes, and no average reaches further back than a
tenth of the training so far: where few were played, early failures do not drag a score down.
"""

from typing import NamedTuple

import numpy as np

from memorylab.tasks.task import find_task

WINDOW = 10  # episodes; the paper's rolling average
REACH = 0.1  # of the steps so far
ALPHA = 0.001
DMLAB_ALPHA = 0.05


def alpha_of(task: str) -> float:
    """The paper's smoothing."""
    return DMLAB_ALPHA if find_task(task).engine == "dmlab" else ALPHA


class Curve(NamedTuple):
    """Evaluations of one level over training."""

    steps: np.ndarray
    means: np.ndarray  # over the episodes of each evaluation
    episodes: np.ndarray


def as_curve(steps: np.ndarray, scores: np.ndarray) -> Curve:
    """Episodes of the same step are one evaluation; their order means nothing."""
    each, place = np.unique(steps, return_inverse=True)
    episodes = np.bincount(place)
    return Curve(each, np.bincount(place, scores) / episodes, episodes)


def halves(steps: np.ndarray, scores: np.ndarray) -> tuple[Curve, Curve]:
    """Every other episode: what the snapshot is picked by, and what it is scored by."""
    order = np.argsort(steps, kind="stable")
    if len(order) < 2:
        return as_curve(steps, scores), as_curve(steps, scores)
    first, second = (as_curve(steps[order[i::2]], scores[order[i::2]]) for i in range(2))
    return first, second


def smoothed(curve: Curve, alpha: float) -> np.ndarray:
    """Exponential moving average after each evaluation: an episode weighs (1 - alpha)^(episodes since)."""
    kept = (1 - alpha) ** curve.episodes
    sums = np.zeros((len(kept) + 1, 2))  # of weighted scores, and of weights
    for i, (mean, keep) in enumerate(zip(curve.means, kept, strict=True)):
        sums[i + 1] = keep * sums[i] + (1 - keep) * np.array([mean, 1.0])
    played = np.concatenate([[0], np.cumsum(curve.episodes)])
    first = first_in_reach(curve, played)
    dropped = (1 - alpha) ** (played[1:] - played[first])
    scores, weights = (sums[1:] - dropped[:, None] * sums[first]).T
    return scores / weights


def first_in_reach(curve: Curve, played: np.ndarray) -> np.ndarray:
    """Which evaluation is the first that counts at each: a tenth of the steps so far, but at least a whole window."""
    by_steps = np.searchsorted(curve.steps, (1 - REACH) * curve.steps, side="right")
    return np.minimum(by_steps, first_of_window(played))


def first_of_window(played: np.ndarray) -> np.ndarray:
    """Which evaluation begins the shortest stretch of whole ones, up to each, that holds a window of episodes."""
    return np.maximum(np.searchsorted(played, played[1:] - WINDOW, side="right") - 1, 0)


def rolling(curve: Curve, alpha: float) -> np.ndarray:
    """The paper's steps 1 and 2 at each evaluation; NaN as long as there were fewer episodes than a window."""
    played = np.concatenate([[0], np.cumsum(curve.episodes)])
    sums = np.concatenate([[0.0], np.cumsum(smoothed(curve, alpha) * curve.episodes)])
    first = first_of_window(played)
    means = (sums[1:] - sums[first]) / (played[1:] - played[first])
    return np.where(played[1:] >= min(WINDOW, played[-1]), means, np.nan)


def best_step(curve: Curve, alpha: float) -> int:
    """Step 3: where the rolling score is highest; the first of equals."""
    return int(curve.steps[np.nanargmax(rolling(curve, alpha).round(9))])  # equal but for the last bits is equal


def score_at(curve: Curve, alpha: float, step: int) -> float:
    """The rolling score at the last evaluation up to `step`; NaN if there was none."""
    place = np.searchsorted(curve.steps, step, side="right") - 1
    return float(rolling(curve, alpha)[place]) if place >= 0 else float("nan")


def unbiased_best(parts: tuple[Curve, Curve], alpha: float) -> float:
    """The score where training was best: picked by one half of the episodes and read off the other, both ways round.

    Read off the episodes it was picked by, the highest of many windows would flatter: an agent that guesses would seem
    to know something.
    """
    one, other = parts
    there, back = score_at(other, alpha, best_step(one, alpha)), score_at(one, alpha, best_step(other, alpha))
    return float(np.nanmean([there, back]))
