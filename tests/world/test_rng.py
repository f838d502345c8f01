import numpy as np
import pytest

from memorylab.world import rng


def stream(seed: int) -> np.record:
    record = np.zeros(1, np.dtype([("key", "u8"), ("draws", "u8")]))
    record["key"] = rng.episode_key(np.uint64(seed))
    return record[0]


def splitmix64(state: int) -> int:
    """The published algorithm, in plain Python integers."""
    mask = 2**64 - 1
    z = (state + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return z ^ (z >> 31)


def test_a_stream_is_splitmix64():
    golden, key = 0x9E3779B97F4A7C15, 12345
    for n in range(50):
        assert rng.hashed(np.uint64(key), n) == splitmix64((key + n * golden) % 2**64)


def test_draw_n_depends_on_seed_and_n_only():
    first, second = stream(7), stream(7)
    drawn = [rng.fraction(first) for _ in range(10)]
    second["draws"] = 6
    assert rng.fraction(second) == drawn[6]


@pytest.mark.parametrize("n", [2, 5, 9])
def test_below_is_uniform(n):
    game = stream(1)
    counts = np.bincount([rng.below(game, n) for _ in range(20_000)], minlength=n)
    assert len(counts) == n
    expected = 20_000 / n
    assert ((counts - expected) ** 2 / expected).sum() < 30  # chi-square, at most 8 degrees of freedom


def test_below_unmarked_and_except_leave_out_what_they_must():
    game = stream(2)
    assert {rng.below_unmarked(game, 5, 0b01001) for _ in range(300)} == {1, 2, 4}
    assert {rng.below_except(game, 4, 2) for _ in range(300)} == {0, 1, 3}


@pytest.mark.parametrize("n", [1, 2, 3, 5, 17, 64, 1200])
def test_shuffled_is_a_permutation(n):
    for key in (3, 99):
        assert sorted(rng.shuffled(i, n, np.uint64(key)) for i in range(n)) == list(range(n))


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_shuffled_sends_every_card_everywhere(n):
    keys = 4000
    places = np.array(
        [[rng.shuffled(i, n, np.uint64(rng.hashed(np.uint64(5), k))) for i in range(n)] for k in range(keys)]
    )
    for card in range(n):
        counts = np.bincount(places[:, card], minlength=n)
        np.testing.assert_allclose(counts, keys / n, atol=6 * (keys / n) ** 0.5)


def test_seeds_of_games_differ_and_the_first_is_the_seed_itself():
    seeds = {rng.seed_of_game(np.uint64(seed), game) for seed in range(20) for game in range(200)}
    assert len(seeds) == 20 * 200
    assert all(rng.seed_of_game(np.uint64(seed), 0) == seed for seed in range(20))
    assert max(seeds) < 2**rng.SEED_BITS
