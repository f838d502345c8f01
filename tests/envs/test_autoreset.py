"""What happens after the end of an episode, in the three ways that Gymnasium knows; and its own vector wrappers."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import vector as wrappers

import memorylab

SHORT = {"seconds": 1, "size": (24, 32)}
STEPS = 15  # of an episode that its clock ends


def sync(task: str, num_envs: int, mode: AutoresetMode) -> gymnasium.vector.SyncVectorEnv:
    """Gymnasium's own, over our single games: what the words mean."""
    return gymnasium.vector.SyncVectorEnv(
        [lambda: memorylab.make(task, **SHORT) for _ in range(num_envs)], autoreset_mode=mode
    )


@pytest.mark.parametrize("task", ["avm", "ti"])
@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_the_modes_are_gymnasiums(task, mode):
    ours, theirs = memorylab.make_vec(task, num_envs=3, autoreset_mode=mode, **SHORT), sync(task, 3, mode)
    seeds = [3, 4, 5]
    pictures, info = ours.reset(seed=seeds)
    expected, expected_info = theirs.reset(seed=seeds)
    np.testing.assert_array_equal(pictures, expected)
    for actions in np.random.default_rng(0).integers(0, 5, (3 * STEPS, 3)):
        *returned, info = ours.step(actions)
        *expected, expected_info = theirs.step(actions)
        for one, other in zip(returned, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        for name in ("score", "length", "seed"):
            np.testing.assert_array_equal(info[name], expected_info[name])
        assert ("final_obs" in info) == ("final_obs" in expected_info)
        if "final_obs" in info:
            np.testing.assert_array_equal(info["_final_obs"], expected_info["_final_obs"])
            np.testing.assert_array_equal(info["final_obs"], np.stack(expected_info["final_obs"]))


def test_next_step_begins_only_the_games_that_ended():
    envs = memorylab.make_vec("avm", num_envs=2, autoreset_mode="NextStep", **SHORT)
    envs.reset(seed=[3, 4])
    for _ in range(5):
        envs.step(np.full(2, 4))
    envs.reset(seed=[None, 9], options={"reset_mask": np.array([False, True])})
    lengths, ends, rewards = [], [], []
    for _ in range(STEPS + 1):
        _, reward, terminated, truncated, info = envs.step(np.full(2, 4))
        lengths.append(info["length"].tolist())
        ends.append((terminated | truncated).tolist())
        rewards.append(reward.tolist())
    first = [*range(6, STEPS + 1), 0, *range(1, 6)]
    second = [*range(1, STEPS + 1), 0]
    assert lengths == [list(pair) for pair in zip(first, second, strict=True)]
    assert ends == [[length == STEPS for length in pair] for pair in lengths]
    assert rewards[STEPS] == [0, 0]


def test_a_saved_state_knows_which_games_begin_next():
    envs, twin = (memorylab.make_vec("avm", num_envs=2, autoreset_mode="NextStep", **SHORT) for _ in range(2))
    envs.reset(seed=1)
    for _ in range(STEPS):
        envs.step(np.full(2, 4))
    twin.set_state(envs.get_state())
    ours, theirs = envs.step(np.full(2, 4)), twin.step(np.full(2, 4))
    np.testing.assert_array_equal(ours[0], theirs[0])
    assert ours[4]["length"].tolist() == theirs[4]["length"].tolist() == [0, 0]


def test_disabled_asks_for_a_reset_of_the_games_that_ended():
    envs = memorylab.make_vec("avm", num_envs=3, autoreset_mode=AutoresetMode.DISABLED, **SHORT)
    envs.reset(seed=0)
    for _ in range(5):
        envs.step(np.full(3, 4))
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    for _ in range(STEPS - 5):
        last, _, _, truncated, info = envs.step(np.full(3, 4))
    assert truncated.tolist() == [True, False, True]
    assert info["length"].tolist() == [STEPS, STEPS - 5, STEPS]
    assert "final_obs" not in info
    with pytest.raises(RuntimeError, match=r"the episodes of games 0, 2 are over; reset them .*reset_mask"):
        envs.step(np.full(3, 4))
    pictures, info = envs.reset(options={"reset_mask": truncated})
    assert info["length"].tolist() == [0, STEPS - 5, 0]
    np.testing.assert_array_equal(pictures[1], last[1])
    envs.step(np.full(3, 4))


def test_the_environments_own_flags_may_be_the_mask():
    envs = memorylab.make_vec("avm", num_envs=2, autoreset_mode=AutoresetMode.DISABLED, copy=False, **SHORT)
    envs.reset(seed=0)
    for _ in range(STEPS):
        *_, truncated, _ = envs.step(np.full(2, 4))
    _, info = envs.reset(options={"reset_mask": truncated})
    assert info["length"].tolist() == [0, 0]


@pytest.mark.parametrize("mode", AutoresetMode)
def test_the_mode_is_an_attribute_and_in_the_metadata(mode):
    for given in (mode, mode.value):
        envs = memorylab.make_vec("avm", num_envs=2, autoreset_mode=given, **SHORT)
        assert envs.autoreset_mode is envs.metadata["autoreset_mode"] is mode
    assert memorylab.envs.MemoryVectorEnv.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert gymnasium.make_vec("memorylab/transitive_inference_train-v0", num_envs=2).autoreset_mode.name == "SAME_STEP"


def test_a_mode_that_is_none():
    with pytest.raises(ValueError, match="autoreset_mode must be NextStep, SameStep or Disabled, not 'sometimes'"):
        memorylab.make_vec("avm", autoreset_mode="sometimes")


def test_seeds_are_plain_integers():
    envs = memorylab.make_vec("avm", num_envs=2, **SHORT)
    _, info = envs.reset(seed=[2**62 - 1, 0])
    assert info["seed"].dtype == np.int64
    assert info["seed"].tolist() == [2**62 - 1, 0]
    for _ in range(STEPS):
        *_, info = envs.step(np.full(2, 4))
    assert info["final_info"]["seed"].dtype == np.int64
    assert info["final_info"]["seed"].tolist() == [2**62 - 1, 0]


def test_render_mode_is_taken():
    envs = gymnasium.make_vec("memorylab/transitive_inference_train-v0", num_envs=3, render_mode="rgb_array", **SHORT)
    assert envs.render_mode == "rgb_array"
    assert "rgb_array" in envs.metadata["render_modes"]
    envs.reset(seed=0)
    pictures, *_ = envs.step(np.zeros(3, int))
    np.testing.assert_array_equal(np.stack(envs.render()), pictures)
    blind = memorylab.make_vec("ti", num_envs=2, **SHORT)
    blind.reset(seed=0)
    assert blind.render() is None
    with pytest.raises(ValueError, match="render_mode must be 'rgb_array' or None"):
        memorylab.make_vec("ti", num_envs=2, render_mode="human")


@pytest.mark.parametrize("make", [memorylab.make, memorylab.make_vec])
def test_an_unknown_keyword_is_told_in_pythons_own_words(make):
    words = (
        "arbitrary_visuomotor_mapping got an unexpected keyword argument 'frame_skip'; its scale keywords are trials"
    )
    with pytest.raises(TypeError, match=words):
        make("avm", frame_skip=4)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
@pytest.mark.parametrize(
    ("wrap", "shape"),
    [
        (wrappers.FlattenObservation, (2, 2304)),
        (wrappers.GrayscaleObservation, (2, 24, 32)),
        (lambda envs: wrappers.ReshapeObservation(envs, (48, 48)), (2, 48, 48)),
        (lambda envs: wrappers.RescaleObservation(envs, np.float32(0), np.float32(1)), (2, 24, 32, 3)),
        (lambda envs: wrappers.DtypeObservation(envs, np.float32), (2, 24, 32, 3)),
        (lambda envs: wrappers.TransformObservation(envs, lambda pictures: 255 - pictures), (2, 24, 32, 3)),
        (wrappers.NormalizeObservation, (2, 24, 32, 3)),
    ],
)
def test_gymnasiums_observation_wrappers(wrap, shape, mode):
    if wrap is wrappers.NormalizeObservation and mode == AutoresetMode.DISABLED:
        pytest.skip("Gymnasium's own rule")
    plain = memorylab.make_vec("avm", num_envs=2, autoreset_mode=mode, **SHORT)
    envs = wrap(memorylab.make_vec("avm", num_envs=2, autoreset_mode=mode, **SHORT))
    assert envs.reset(seed=0)[0].shape == shape
    plain.reset(seed=0)
    for _ in range(STEPS):
        pictures, *_, truncated, info = envs.step(np.full(2, 4))
        assert pictures.shape == shape
        plain.step(np.full(2, 4))
    assert truncated.all()
    np.testing.assert_array_equal(info["seed"], plain.info["seed"])
