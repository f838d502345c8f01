import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import memorylab
from memorylab.laboratory.statistics import (
    chance_of_more,
    interquartile_mean,
    iqm,
    median_interval,
    probability_of_improvement,
)
from memorylab.runs import standard_error


@pytest.mark.parametrize("count", [2, 3, 100])
def test_the_standard_error_is_scipys(count):
    """Ours needs no SciPy, which recordings and the dashboard do without."""
    scores = np.random.default_rng(count).normal(3, 7, count)
    assert standard_error(scores) == pytest.approx(stats.sem(scores), rel=1e-12)
    assert math.isnan(standard_error([4.0]))


def test_there_is_one_standard_error():
    files = Path(memorylab.__file__).parent.rglob("*.py")
    assert [path.name for path in files if "ddof" in path.read_text()] == ["scores.py"]


def test_interquartile_mean_against_sorting():
    scores = [np.array([1.0, 100.0, 3.0]), np.array([5.0, -50.0, 4.0, 6.0, 2.0])]
    middle = sorted(np.concatenate(scores))[2:6]  # eight scores: two off each end
    assert interquartile_mean(scores) == pytest.approx(np.mean(middle))


def test_intervals_hold_the_truth_as_often_as_they_say():
    """Normal scores of mean 7: of 200 intervals about 95 % hold it; a bootstrap from ten seeds is a little narrow."""
    rng = np.random.default_rng(0)
    held = 0
    for seed in range(200):
        estimate = iqm([rng.normal(7, 2, 10) for _ in range(3)], seed)
        held += estimate.low <= 7 <= estimate.high
    assert 0.87 <= held / 200 <= 0.99


def test_bands_hold_the_median_as_often_as_they_say():
    """At 400 points of made-up curves; of three seeds all that can be said is from the lowest to the highest."""
    curves = np.random.default_rng(0).normal(7, 2, (11, 400))
    low, high = median_interval(curves)
    assert 0.9 <= np.mean((low <= 7) & (high >= 7)) <= 0.99
    low, high = median_interval(curves[:3])
    np.testing.assert_array_equal([low, high], [curves[:3].min(0), curves[:3].max(0)])


def test_one_seed_has_no_width():
    estimate = iqm([np.array([3.0]), np.array([5.0])])
    assert (estimate.low, estimate.value, estimate.high) == (4.0, 4.0, 4.0)


def test_resampling_stays_within_tasks():
    """Two tasks far apart, no spread within: nothing to be uncertain of."""
    estimate = iqm([np.full(4, 0.0), np.full(4, 1000.0)])
    assert estimate.low == estimate.value == estimate.high


def test_probability_of_improvement_against_pairs():
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 5, 7).astype(float), rng.integers(0, 5, 4).astype(float)
    pairs = [1.0 if x > y else 0.5 if x == y else 0.0 for x in a for y in b]
    assert chance_of_more(a, b) == pytest.approx(np.mean(pairs))
    estimate = probability_of_improvement([a, a + 100], [b, b])
    assert estimate.value == pytest.approx((np.mean(pairs) + 1) / 2)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
