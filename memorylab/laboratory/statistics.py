"""Honest uncertainty from few seeds (Agarwal et al. 2021, "rliable"): interquartile means, stratified bootstrap,
probability of improvement."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats
from scipy.stats import trim_mean

from memorylab.runs.scores import standard_error

RESAMPLES = 2000
MEDIAN_RESAMPLES = 400  # at each point of a curve


class Estimate(NamedTuple):
    """A value and its uncertainty."""

    value: float
    low: float
    high: float  # of a 95 % interval


Strata = list[np.ndarray]  # one array of seeds' scores per task


def interquartile_mean(strata: Strata) -> float:
    """Mean of the middle half of all scores, whatever their task."""
    return float(trim_mean(np.concatenate(strata), 0.25))


def resampled(scores: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(RESAMPLES, n): drawn with replacement within a task."""
    return scores[rng.integers(0, len(scores), (RESAMPLES, len(scores)))]


def interval(values: np.ndarray) -> tuple[float, float]:
    """The middle 95 %."""
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def half_interval(scores: Sequence[float] | np.ndarray) -> float:
    """Half the width of Student's 95 % interval for the mean; NaN for one score, of whose error nothing is known."""
    return float(standard_error(scores) * stats.t.ppf(0.975, len(scores) - 1))


def median_interval(seeds: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A 95 % interval for the median over seeds, (seeds, points), at each point: a bootstrap over seeds."""
    drawn = np.random.default_rng(seed).integers(0, len(seeds), (MEDIAN_RESAMPLES, len(seeds)))
    low, high = np.percentile(np.median(seeds[drawn], axis=1), [2.5, 97.5], axis=0)
    return low, high


def iqm(strata: Strata, seed: int = 0) -> Estimate:
    """The interquartile mean, with a bootstrap within tasks."""
    rng = np.random.default_rng(seed)
    drawn = np.concatenate([resampled(scores, rng) for scores in strata], axis=1)
    return Estimate(interquartile_mean(strata), *interval(trim_mean(drawn, 0.25, axis=1)))


def chance_of_more(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """P(one of a > one of b) over the last axis, ties counted half."""
    difference = a[..., :, None] - b[..., None, :]
    return ((difference > 0) + 0.5 * (difference == 0)).mean((-2, -1))


def probability_of_improvement(a: Strata, b: Strata, seed: int = 0) -> Estimate:
    """How likely a run of `a` scores more than one of `b` on the same task, averaged over tasks."""
    rng = np.random.default_rng(seed)
    value = float(np.mean([chance_of_more(x, y) for x, y in zip(a, b, strict=True)]))
    drawn = [chance_of_more(resampled(x, rng), resampled(y, rng)) for x, y in zip(a, b, strict=True)]
    return Estimate(value, *interval(np.mean(drawn, axis=0)))
