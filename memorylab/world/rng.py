"""Counter-based random numbers: draw n of an episode depends on its seed and n, and on nothing else.

A game record carries `key` (from the episode's seed) and `draws` (how many were taken). So the same
seed and actions give the same episode whatever the batch, the thread or the machine.
"""

import numpy as np
from numba import int64, uint64

from memorylab.world.jit import jit

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
SEED_BITS = 62  # a seed is an ordinary non-negative integer, in Python and in a CSV file


@jit
def mix(z):
    """SplitMix64's finaliser: every bit of the result depends on every bit of z."""
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return z ^ (z >> uint64(31))


@jit
def hashed(key, number):
    """The number-th value of the stream `key`."""
    return mix(uint64(key) + (uint64(number) + uint64(1)) * GOLDEN)


@jit
def as_fraction(bits):
    """64 random bits as a number in [0, 1)."""
    return np.float64(bits >> uint64(11)) * 2.0**-53


@jit
def side_draw(game, stream, number, n):
    """Entry `number` of a side stream of the episode, in 0 .. n-1: takes nothing from the game's own draws."""
    return int64(hashed(hashed(game.key, -1 - stream), number) % uint64(n))


@jit
def fraction(game):
    """A uniform number in [0, 1)."""
    bits = hashed(game.key, game.draws)
    game.draws += uint64(1)
    return as_fraction(bits)


@jit
def uniform(game, low, high):
    """A uniform number in [low, high)."""
    return low + (high - low) * fraction(game)


@jit
def below(game, n):
    """A uniform integer in 0 .. n-1."""
    return int64(fraction(game) * n)


@jit
def below_except(game, n, taken):
    """A uniform integer in 0 .. n-1 other than `taken`."""
    drawn = below(game, n - 1)
    return drawn + 1 if drawn >= taken else drawn


@jit
def below_unmarked(game, n, marks):
    """A uniform integer in 0 .. n-1 whose bit is not set in `marks`."""
    free = 0
    for i in range(n):
        free += (marks >> i) & 1 == 0
    skip = below(game, free)
    for i in range(n):
        if (marks >> i) & 1 == 0:
            if skip == 0:
                return i
            skip -= 1
    return -1


@jit
def shuffled(index, n, key):
    """Where a random permutation of 0 .. n-1 sends `index`: a deck that needs no memory.

    A Feistel network over a power of four, walked until it lands inside; at least 64, as tiny ones mix badly.
    """
    half = 3
    while (1 << (2 * half)) < n:
        half += 1
    mask = uint64((1 << half) - 1)
    card = uint64(index)
    while True:
        left, right = card >> uint64(half), card & mask
        for turn in range(8):
            left, right = right, left ^ (hashed(key, right * uint64(8) + uint64(turn)) & mask)
        card = (left << uint64(half)) | right
        if card < uint64(n):
            return int64(card)


@jit
def following_seed(seed):
    """The seed of the episode after the one with `seed`, in the same game."""
    return hashed(seed, 1) >> uint64(64 - SEED_BITS)


@jit
def episode_key(seed):
    """What all draws of the episode with this seed follow from."""
    return hashed(seed, 0)


@jit
def seed_of_game(seed, game):
    """The seed of game number `game` of a batch: the first is the seed itself."""
    if game == 0:
        return uint64(seed)
    return hashed(hashed(seed, 2), game) >> uint64(64 - SEED_BITS)
