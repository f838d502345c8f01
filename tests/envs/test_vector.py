"""Whose arrays a vector environment returns, and its continuous actions."""

import typing

import gymnasium
import numpy as np
import pytest

import memorylab
from memorylab.envs.single import MemoryEnv
from memorylab.envs.vector import MemoryVectorEnv, vector_env

SHORT = {"seconds": 1, "size": (24, 32)}
STEPS = 15


def arrays(returned: tuple) -> list[np.ndarray]:
    """All that a step returned, `info` and what is in it included."""
    *parts, info = returned
    final = info.pop("final_info", {})
    return [*parts, *info.values(), *final.values()]


def test_what_is_returned_stays_as_it_was():
    envs = memorylab.make_vec("avm", num_envs=2, seed=0, **SHORT)
    returned = [envs.reset(), *(envs.step(np.full(2, step % 5)) for step in range(2 * STEPS))]
    assert "final_obs" in returned[STEPS][-1]
    kept = [arrays(each) for each in returned]
    before = [[part.copy() for part in parts] for parts in kept]
    for _ in range(STEPS):
        envs.step(np.ones(2, int))
    for parts, copies in zip(kept, before, strict=True):
        for part, copy in zip(parts, copies, strict=True):
            np.testing.assert_array_equal(part, copy)


def test_what_is_returned_may_be_written_to():
    envs, twin = (memorylab.make_vec("ti", num_envs=2, seed=0, **SHORT) for _ in range(2))
    envs.reset(), twin.reset()
    for _ in range(2 * STEPS):
        ours, theirs = envs.step(np.zeros(2, int)), twin.step(np.zeros(2, int))
        for one, other in zip(arrays(ours), arrays(theirs), strict=True):
            np.testing.assert_array_equal(one, other)
            one[:] = 0


def test_copies_hold_no_pictures_of_games_that_go_on():
    envs = memorylab.make_vec("avm", num_envs=2, seed=0, **SHORT)
    envs.reset()
    for _ in range(5):
        envs.step(np.full(2, 4))
    envs.reset(options={"reset_mask": np.array([False, True])})
    for _ in range(STEPS - 5):
        *_, info = envs.step(np.full(2, 4))
    assert info["_final_obs"].tolist() == [True, False]
    assert info["final_obs"][0].std() > 5
    assert not info["final_obs"][1].any()


def test_without_copies_the_arrays_are_the_environments_own():
    for envs in (
        memorylab.make_vec("avm", num_envs=2, seed=0, copy=False, **SHORT),
        vector_env(memorylab.envs.GameSpec("avm", size=(24, 32)), 2, seed=0, seconds=1),
    ):
        pictures, info = envs.reset()
        first = arrays(envs.step(np.zeros(2, int)))
        second = arrays(envs.step(np.zeros(2, int)))
        assert first[0] is pictures
        assert all(np.shares_memory(one, other) for one, other in zip(first, second, strict=True))
        assert info["length"].tolist() == [2, 2]


def test_help_says_whose_the_arrays_are():
    assert "copy=False" in memorylab.make_vec.__doc__
    assert "copies" in memorylab.make_vec.__doc__


def test_continuous_actions_of_many_games():
    envs = memorylab.make_vec("vgb", num_envs=3, continuous=True, size=(24, 32))
    assert isinstance(envs.single_action_space, gymnasium.spaces.Box)
    assert envs.action_space.shape == (3, 4)
    alone = [memorylab.make("vgb", continuous=True, size=(24, 32)) for _ in range(3)]
    envs.reset(seed=[1, 2, 3])
    for seed, env in enumerate(alone, start=1):
        env.reset(seed=seed)
    for actions in np.random.default_rng(0).uniform(-1, 1, (10, 3, 4)):
        pictures, *_ = envs.step(actions)
        for picture, env, action in zip(pictures, alone, actions, strict=True):
            np.testing.assert_array_equal(picture, env.step(action)[0])
    for bad in (np.zeros(3, int), np.full((3, 4), 2.0), np.full((3, 4), np.nan), np.zeros((2, 4))):
        with pytest.raises(ValueError, match="four numbers from -1 to 1"):
            envs.step(bad)
    with pytest.raises(ValueError, match="has no continuous actions"):
        memorylab.make_vec("avm", continuous=True)


@pytest.mark.parametrize("kind", [MemoryEnv, MemoryVectorEnv])
def test_returns_are_typed(kind):
    """So that an editor knows what a step gives."""
    assert typing.get_type_hints(kind.reset)["return"] == tuple[np.ndarray, dict[str, typing.Any]]
    picture, *_, info = typing.get_args(typing.get_type_hints(kind.step)["return"])
    assert (picture, info) == (np.ndarray, dict[str, typing.Any])


def test_what_was_never_made_can_be_closed():
    """Gymnasium 1.1 closes what is deleted, also if `__init__` refused its arguments."""
    MemoryVectorEnv.__new__(MemoryVectorEnv).close()
