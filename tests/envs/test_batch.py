"""The games behind an environment: copies of them, what is told of them, and how many there may be."""

import pickle
from copy import copy, deepcopy

import numpy as np
import pytest
from PIL import Image

import memorylab
from memorylab.tasks.psychlab import panel

SHORT = {"seconds": 1, "size": (24, 32)}
COPIES = [deepcopy, copy, lambda env: pickle.loads(pickle.dumps(env))]


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("make", [memorylab.make, memorylab.make_vec])
def test_what_a_copy_tells_is_of_its_own_games(make, copied):
    env = make("avm", **SHORT)
    env.reset(seed=0)
    action = env.action_space.sample() * 0
    env.step(action)
    twin = copied(env)
    for _ in range(3):
        twin.step(action)
    assert twin.info["length"].tolist() == [4]
    assert twin.info["length"] is twin.batch.info["length"]


@pytest.mark.parametrize("copied", COPIES)
def test_a_copied_vector_environment_tells_how_episodes_ended(copied):
    envs = memorylab.make_vec("avm", num_envs=2, copy=False, **SHORT)
    envs.reset(seed=0)
    twin = copied(envs)
    for _ in range(15):
        *_, info = twin.step(np.full(2, 4))
    assert info["final_info"]["length"].tolist() == [15, 15]


@pytest.mark.parametrize("task", ["avm", "vgb"])
def test_nobody_writes_to_what_is_told(task):
    envs = memorylab.make_vec(task, num_envs=2, copy=False, **SHORT)
    envs.reset(seed=0)
    for _ in range(15):
        *_, info = envs.step(np.full(2, 4))
    final = info.pop("final_info")
    for name in envs.batch.task.report:
        for told in (info, final, envs.info):
            with pytest.raises(ValueError, match="read-only"):
                told[name][:] = 0
    envs.batch.records["score"] = 7  # whoever means it writes here
    assert envs.info["score"].tolist() == [7, 7]


def test_games_that_go_on_are_drawn_too_when_others_begin():
    envs = memorylab.make_vec("cd", num_envs=3, copy=False, **SHORT)
    envs.reset(seed=0)
    for _ in range(4):
        before = envs.step(np.full(3, 1))[0].copy()
    out = np.zeros((3, 24, 32, 3), np.uint8)
    chosen = np.array([False, True, False])
    pictures, _ = envs.reset(options={"reset_mask": chosen}, out=out)
    assert pictures is out
    np.testing.assert_array_equal(out[~chosen], before[~chosen])
    assert (out[1] != before[1]).any()
    assert out[1].std() > 5


# --- stimuli are read once in a process


def test_environments_share_the_packaged_pictures():
    first, second = memorylab.make("avm"), memorylab.make_vec("cr", "interpolate", num_envs=2)
    assert first.batch.stimuli.pictures is second.batch.stimuli.pictures


@pytest.mark.parametrize("copied", [deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_share_them_too(copied):
    env = memorylab.make("avm")
    env.reset(seed=0)
    assert len(pickle.dumps(env)) < 2e6
    twin = copied(env)
    assert twin.batch.stimuli.pictures is env.batch.stimuli.pictures
    for action in (0, 2, 4, 1, 3):
        np.testing.assert_array_equal(env.step(action)[0], twin.step(action)[0])


def test_pictures_of_ones_own_go_along_with_a_copy(tmp_path):
    for number in range(4):
        Image.new("RGB", (8, 8), (number * 60, 0, 0)).save(tmp_path / f"{number}.png")
    env = memorylab.make("avm", stimuli=tmp_path, trials=2, size=(24, 32))
    env.reset(seed=0)
    text = pickle.dumps(env)
    for path in tmp_path.iterdir():
        path.unlink()
    assert deepcopy(env).batch.stimuli is env.batch.stimuli
    twin = pickle.loads(text)
    np.testing.assert_array_equal(env.step(0)[0], twin.step(0)[0])


# --- as many games as texels can be numbered


def test_as_many_games_as_can_be_drawn(monkeypatch):
    assert panel.most_games(96) == 131_066
    assert panel.most_games(4096) == 75
    words = "one environment with pictures 96 wide holds up to 131,066 games, not 131,067"
    with pytest.raises(ValueError, match=words):
        memorylab.make_vec("cd", num_envs=131_067)
    monkeypatch.setattr(panel, "MAX_TEXELS", 10 * 32**2)
    memorylab.make_vec("cd", num_envs=4, size=(24, 24)).reset(seed=0)
    with pytest.raises(ValueError, match="holds up to 4 games, not 5"):
        memorylab.make_vec("cd", num_envs=5, size=(24, 24))
