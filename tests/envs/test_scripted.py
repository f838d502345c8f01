"""Scripted players at play: as many episodes in each game, the same for the same seed."""

import numpy as np

import memorylab
from memorylab.envs.scripted import MAX_GAMES, play_episodes

SHORT = {"trials": 2, "seconds": 3}


def test_every_game_plays_as_many_episodes():
    told: list[int] = []
    scores, lengths = play_episodes("avm", "train", "random", 5, 0, told.append, **SHORT)
    assert len(scores) == len(lengths) == sum(told) == 5
    most = MAX_GAMES + 1
    scores, _ = play_episodes("avm", "train", "random", most, 0, trials=1, seconds=0.2)
    assert len(scores) == 2 * MAX_GAMES  # one more than fits makes a second round of all


def test_the_same_seed_plays_the_same_episodes():
    one, other, third = (play_episodes("avm", "train", "forgetting", 8, seed, **SHORT) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, third)


def test_who_plays_alone_has_the_same_score():
    """Game by game, with an environment of its own."""
    scores, lengths = play_episodes("avm", "train", "remembering", 4, 7, **SHORT)
    vector = memorylab.make_vec("avm", num_envs=4, seed=7, size=(8, 8), **SHORT)
    seeds = vector.reset()[1]["seed"].tolist()
    for number, seed in enumerate(seeds):
        env = memorylab.make("avm", size=(8, 8), **SHORT)
        env.reset(seed=seed)
        action, score, is_over = np.zeros(1, np.int64), 0.0, False
        while not is_over:
            env.batch.act("remembering", action)
            _, reward, terminated, truncated, info = env.step(action[0])
            score += reward
            is_over = terminated or truncated
        assert (score, info["length"]) == (scores[number], lengths[number])
