"""Seeds mean what they say: any episode is replayed from its seed, and every seed is an episode of its own."""

from collections import defaultdict
from typing import NamedTuple

import gymnasium
import numpy as np
import pytest

import memorylab
from memorylab.world import rng

SHORT = {"seconds": 0.6, "size": (24, 32)}  # whole episodes: studies/replay.py
LARGEST = 2**rng.SEED_BITS - 1


class Step(NamedTuple):
    action: int
    reward: float
    picture: np.ndarray  # after the action


def autoreset_episodes(envs: memorylab.envs.vector.MemoryVectorEnv, number: int) -> dict[int, list[Step]]:
    """seed -> what happened, of the first `number` whole episodes that autoreset began."""
    _, info = envs.reset()
    first = set(info["seed"].tolist())
    under_way, done = defaultdict(list), {}
    seeds, rng = info["seed"].copy(), np.random.default_rng(0)
    while len(done) < number:
        actions = rng.integers(0, envs.single_action_space.n, envs.num_envs)
        pictures, rewards, terminated, truncated, info = envs.step(actions)
        for i in np.flatnonzero(terminated | truncated):
            under_way[seeds[i]].append(Step(actions[i], rewards[i], info["final_obs"][i].copy()))
            if seeds[i] not in first:
                done[int(seeds[i])] = under_way.pop(seeds[i])
        for i in np.flatnonzero(~(terminated | truncated)):
            under_way[seeds[i]].append(Step(actions[i], rewards[i], pictures[i].copy()))
        seeds = info["seed"].copy()
    return dict(list(done.items())[:number])


@pytest.mark.parametrize("task", memorylab.TASKS)
@pytest.mark.parametrize("num_envs", [1, 7, 256])
def test_every_episode_that_autoreset_began_is_replayed_from_its_seed(task, num_envs):
    played = autoreset_episodes(memorylab.make_vec(task, num_envs=num_envs, seed=3, **SHORT), 100)
    assert len(played) == 100
    alone = memorylab.make(task, **SHORT)
    for seed, steps in played.items():
        _, info = alone.reset(seed=seed)
        assert info["seed"] == seed
        for number, (action, reward, picture) in enumerate(steps, 1):
            mine, my_reward, terminated, truncated, _ = alone.step(action)
            assert my_reward == reward
            np.testing.assert_array_equal(mine, picture)
            assert (terminated or truncated) == (number == len(steps))


@pytest.mark.parametrize("task", memorylab.TASKS)
def test_make_and_game_0_of_make_vec_agree_over_ten_episodes(task):
    alone, envs = memorylab.make(task, seed=5, **SHORT), memorylab.make_vec(task, num_envs=3, seed=5, **SHORT)
    picture, facts = alone.reset()
    pictures, info = envs.reset()
    rng = np.random.default_rng(1)
    episodes = 0
    while episodes < 10:
        np.testing.assert_array_equal(picture, pictures[0])
        assert facts["seed"] == info["seed"][0]
        actions = rng.integers(0, envs.single_action_space.n, 3)
        picture, reward, terminated, truncated, facts = alone.step(actions[0])
        pictures, rewards, *_, info = envs.step(actions)
        assert reward == rewards[0]
        if terminated or truncated:
            episodes += 1
            picture, facts = alone.reset()


@pytest.mark.parametrize("seed", [0, 1, LARGEST])
def test_resets_after_a_seed_are_repeatable(seed):
    def seeds(env) -> list[int]:
        return [env.reset(seed=seed)[1]["seed"], *(env.reset()[1]["seed"] for _ in range(5))]

    mine = seeds(memorylab.make("ti", **SHORT))
    assert mine[0] == seed
    assert (
        mine == seeds(memorylab.make("ti", **SHORT)) == seeds(gymnasium.make("memorylab/transitive_inference_train-v0"))
    )
    assert len(set(mine)) == 6


def test_a_vector_of_seed_0_is_repeatable_too():
    def seeds() -> list[np.ndarray]:
        envs = memorylab.make_vec("ti", num_envs=1, **SHORT)
        return [envs.reset(seed=0)[1]["seed"].copy(), envs.reset()[1]["seed"].copy()]

    np.testing.assert_array_equal(seeds(), seeds())


def test_stable_baselines3_seeds_its_games_for_good():
    """It seeds an environment once, then resets it without a seed after every episode."""
    vectors = pytest.importorskip("stable_baselines3.common.vec_env")

    def seeds() -> list[int]:
        envs = vectors.DummyVecEnv([lambda: memorylab.make("ti", **SHORT)])
        envs.seed(0)
        envs.reset()
        steps = [envs.step([0]) for _ in range(40)]
        return [infos[0]["seed"] for *_, infos in steps] + [info["seed"] for info in envs.reset_infos]

    assert seeds() == seeds()
    assert len(set(seeds())) > 3


def test_games_without_a_seed_of_their_own_go_on_or_begin_anywhere():
    envs = memorylab.make_vec("ti", num_envs=2, **SHORT)
    first = envs.reset(seed=[0, None])[1]["seed"].tolist()
    second = envs.reset(seed=[None, 5])[1]["seed"].tolist()
    assert (first[0], second) == (0, [int(rng.following_seed(np.uint64(0))), 5])
    other = memorylab.make_vec("ti", num_envs=2, **SHORT).reset(seed=[0, None])[1]["seed"].tolist()
    assert other[1] != first[1]  # nothing to go on from: from the operating system


def test_neighbouring_seeds_are_different_episodes_up_to_the_largest():
    """Doubles, which once crept in, hold 53 bits: 2**60 and 2**60 + 1 were the same."""
    env = memorylab.make("iga", **SHORT)
    near = [base + i for base in (0, 2**31 - 2, 2**53 - 2, 2**60, LARGEST - 3) for i in range(4)]
    starts = [env.reset(seed=seed)[1] for seed in near]
    assert [facts["seed"] for facts in starts] == near
    assert len({(facts["x"], facts["z"], facts["yaw"]) for facts in starts}) == len(near)
    with pytest.raises(ValueError, match="a seed must be a whole number from 0"):
        env.reset(seed=LARGEST + 1)


def test_no_two_seeds_share_a_stream():
    """SplitMix64's finaliser can be undone, so a key tells its seed."""

    def undo_shift(z: int, by: int) -> int:
        x = z
        for _ in range(64 // by + 1):
            x = z ^ (x >> by)
        return x

    def unmixed(z: int) -> int:
        z = undo_shift(z, 31) * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
        z = undo_shift(z, 27) * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
        return undo_shift(z, 30)

    for seed in (0, 1, 2**53, 2**60, 2**60 + 1, LARGEST):
        key = int(rng.episode_key(np.uint64(seed)))
        assert (unmixed(key) - int(rng.GOLDEN)) % 2**64 == seed
