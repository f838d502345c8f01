import numpy as np
import pytest

from memorylab.world.paths import distances_to, line_is_clear


def random_grid(rng: np.random.Generator, rows: int, columns: int, share: float) -> np.ndarray:
    return (rng.random((rows, columns)) < share).astype(np.uint8)


def slow_distances(solid: np.ndarray, target: tuple) -> np.ndarray:
    """Ring after ring, with Python sets."""
    is_open = {(int(r), int(c)) for r, c in np.argwhere(solid == 0)}
    distances = np.full(solid.shape, -1)
    ring, steps = {target} & is_open, 0
    while ring:
        for cell in ring:
            distances[cell] = steps
        is_open -= ring
        ring = {(r + a, c + b) for r, c in ring for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))} & is_open
        steps += 1
    return distances


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5])
def test_distances_equal_those_of_the_slow_twin(share):
    rng = np.random.default_rng(0)
    for _ in range(50):
        rows, columns = (int(n) for n in rng.integers(1, 14, 2))
        solid = random_grid(rng, rows, columns, share)
        target = int(rng.integers(rows)), int(rng.integers(columns))
        distances = np.full((rows + 2, columns + 3), 99, np.int32)
        distances_to(solid, rows, columns, *target, distances)
        np.testing.assert_array_equal(distances[:rows, :columns], slow_distances(solid, target))
        assert (distances[rows:] == 99).all()
        assert (distances[:, columns:] == 99).all()


def squares_are_free(solid, cell, start, end, radius):
    """The slow twin: many squares on the way, each against every solid cell."""
    way = np.linspace(0.0, 1.0, 3001)[:, None, None]
    x, z = (start[i] + way * (end[i] - start[i]) for i in (0, 1))
    row, column = (numbers[None, :] for numbers in np.nonzero(np.pad(solid, 1, constant_values=1)))
    x_meets = (x[:, 0] + radius > (column - 1) * cell) & (x[:, 0] - radius < column * cell)
    z_meets = (z[:, 0] + radius > (row - 1) * cell) & (z[:, 0] - radius < row * cell)
    return not (x_meets & z_meets).any()


@pytest.mark.parametrize("cell", [1.0, 2.5])
def test_the_line_is_clear_just_when_no_square_on_it_meets_a_solid_cell(cell):
    rng = np.random.default_rng(1)
    answers = []
    for _ in range(150):
        solid = random_grid(rng, 7, 8, 0.12)
        start, end = (rng.uniform(0.3, 6.7, 2) * cell for _ in range(2))
        radius = rng.uniform(0.05, 0.3) * cell
        clear = line_is_clear(solid, cell, *start, *end, radius)
        answers.append(clear)
        # Samples lie a hair apart: a little smaller they must agree with "clear", a little larger with "not".
        if clear:
            assert squares_are_free(solid, cell, start, end, radius - 0.005 * cell)
        else:
            assert not squares_are_free(solid, cell, start, end, radius + 0.005 * cell)
    assert 30 < sum(answers) < 120


def test_the_line_is_the_same_both_ways_and_may_run_along_a_wall():
    solid = np.array([[1, 1, 1, 1], [1, 0, 0, 1], [1, 0, 1, 1], [1, 1, 1, 1]], np.uint8)
    for x_0, z_0, x_1, z_1, clear in (
        (1.2, 1.2, 2.8, 1.2, True),  # flush along the south wall
        (1.2, 1.2, 1.2, 2.8, True),
        (1.2, 1.1, 2.8, 1.1, False),  # a little inside it
        (1.5, 2.5, 2.5, 1.5, False),  # the corner is in the way
        (1.5, 1.5, 1.5, 1.5, True),  # no way at all
    ):
        assert line_is_clear(solid, 1.0, x_0, z_0, x_1, z_1, 0.2) == clear
        assert line_is_clear(solid, 1.0, x_1, z_1, x_0, z_0, 0.2) == clear


def test_outside_the_grid_is_solid():
    solid = np.zeros((3, 3), np.uint8)
    assert line_is_clear(solid, 1.0, 0.5, 0.5, 2.5, 2.5, 0.4)
    assert not line_is_clear(solid, 1.0, 0.5, 0.5, 2.8, 2.5, 0.4)
    assert not line_is_clear(solid, 1.0, 0.2, 0.5, 0.5, 0.5, 0.4)
