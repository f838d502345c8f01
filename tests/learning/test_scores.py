"""The rule by which a run is scored: it counts episodes, and neither drags down nor flatters."""

import numpy as np
import pytest

from memorylab.learning.scores import (
    ALPHA,
    DMLAB_ALPHA,
    Curve,
    as_curve,
    best_step,
    halves,
    rolling,
    score_at,
    smoothed,
    unbiased_best,
)

ALPHAS = [ALPHA, DMLAB_ALPHA]


def random_curve(rng: np.random.Generator, evaluations: int, most_episodes: int) -> Curve:
    steps = np.sort(rng.choice(100 * evaluations, evaluations, replace=False))
    return Curve(steps, rng.normal(size=evaluations), rng.integers(1, most_episodes + 1, evaluations))


def in_reach(curve: Curve, i: int) -> list[int]:
    """Evaluations up to i within a tenth of the steps so far, and as many more as make ten episodes."""
    near = [j for j in range(i + 1) if curve.steps[j] > 0.9 * curve.steps[i] or j == i]
    while near[0] > 0 and sum(curve.episodes[j] for j in near) < 10:
        near.insert(0, near[0] - 1)
    return near


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("most_episodes", [1, 4, 64])
def test_smoothing_against_a_loop_over_episodes(alpha, most_episodes):
    """Every episode by itself; those of one evaluation in any order, so each at the mean of them."""
    curve = random_curve(np.random.default_rng(0), 60, most_episodes)
    for i, value in enumerate(smoothed(curve, alpha)):
        scores = [curve.means[j] for j in in_reach(curve, i) for _ in range(curve.episodes[j])]
        weights = [(1 - alpha) ** age for age in reversed(range(len(scores)))]
        assert value == pytest.approx(np.dot(weights, scores) / sum(weights))


def test_the_window_is_ten_episodes_in_whole_evaluations():
    single = Curve(np.arange(1, 31) * 10**6, np.arange(30.0), np.ones(30, int))
    flat = rolling(single, alpha=1 - 1e-12)  # no smoothing but the window's
    assert np.isnan(flat[:9]).all()
    np.testing.assert_allclose(flat[9:], np.arange(30.0)[9:] - 4.5)
    larger = Curve(np.arange(1, 31), np.arange(30.0), np.full(30, 12))
    np.testing.assert_allclose(rolling(larger, alpha=1 - 1e-12), np.arange(30.0))


@pytest.mark.parametrize("episodes", [1, 3])
def test_a_run_of_few_episodes_has_one_window(episodes):
    curve = Curve(np.array([5]), np.array([7.0]), np.array([episodes]))
    assert (best_step(curve, 0.05), score_at(curve, 0.05, 5)) == (5, 7.0)
    assert np.isnan(score_at(curve, 0.05, 4))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("evaluations", [9, 30, 100, 1000])
@pytest.mark.parametrize("at_once", [True, False])
def test_a_plateau_is_scored_as_such_at_any_density(alpha, evaluations, at_once):
    """0, then 100 after a quarter of training: 64 episodes at each evaluation, or each at a step of its own."""
    number = 64 * evaluations
    steps = np.repeat(np.arange(1, evaluations + 1) * 10**6, 64) if at_once else np.arange(number)
    scores = np.where(np.arange(number) >= number / 4, 100.0, 0.0)
    curve = as_curve(steps, scores)
    assert score_at(curve, alpha, best_step(curve, alpha)) >= 99
    assert unbiased_best(halves(steps, scores), alpha) >= 97


@pytest.mark.parametrize("evaluations", [9, 30])
def test_picking_the_best_does_not_flatter_who_guesses(evaluations):
    """A fair coin has 0.5; the highest of its windows, read off the episodes that made it the highest, 0.59."""
    rng = np.random.default_rng(0)
    steps = np.repeat(np.arange(1, evaluations + 1), 64)
    fair, flattering = [], []
    for _ in range(150):
        scores = rng.integers(0, 2, len(steps)).astype(float)
        curve = as_curve(steps, scores)
        flattering.append(score_at(curve, ALPHA, best_step(curve, ALPHA)))
        fair.append(unbiased_best(halves(steps, scores), ALPHA))
    assert np.mean(flattering) > 0.57
    assert np.mean(fair) == pytest.approx(0.5, abs=4 * np.std(fair) / 150**0.5)


def test_the_best_so_far_never_depends_on_what_comes_later():
    """So a run can keep the weights of its best evaluation as it goes."""
    curve = random_curve(np.random.default_rng(2), 40, 64)
    whole = rolling(curve, 0.001)
    for n in range(15, 40):
        np.testing.assert_allclose(rolling(Curve(*(part[:n] for part in curve)), 0.001), whole[:n])


def test_equal_scores_are_best_where_they_came_first():
    curve = Curve(np.arange(1, 50), np.full(49, 50.0), np.full(49, 64))
    assert best_step(curve, 0.05) == 1


def test_episodes_of_one_step_are_split_evenly_whatever_their_order():
    first, second = halves(np.array([2, 1, 1, 2, 1, 1]), np.array([9.0, 1, 2, 8, 3, 4]))
    assert first == (pytest.approx([1, 2]), pytest.approx([2, 9]), pytest.approx([2, 1]))
    assert second == (pytest.approx([1, 2]), pytest.approx([3, 8]), pytest.approx([2, 1]))
