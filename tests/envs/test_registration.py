"""What Gymnasium is told of an environment is enough to make the same again."""

import json
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode
from PIL import Image

import memorylab


def test_every_id_can_be_written_as_text():
    ids = [name for name in gymnasium.registry if name.startswith("memorylab/")]
    assert len(ids) == len(memorylab.TASKS) * (len(memorylab.LEVELS) + 1)  # and a short one
    for name in ids:
        assert EnvSpec.from_json(gymnasium.spec(name).to_json()) == gymnasium.spec(name)


@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("cd", {"delays": (np.int64(2), 4), "size": (24, 32), "seed": 3}),
        ("vgb", {"continuous": True, "render_mode": "rgb_array", "render_size": (30, 40), "side": 12}),
    ],
)
def test_make_tells_what_it_made(task, options):
    env = memorylab.make(task, "extrapolate", **options)
    assert env.spec.id == gymnasium.spec(f"memorylab/{env.batch.task.name}_extrapolate-v0").id
    text = env.spec.to_json()
    again = EnvSpec.from_json(text).make()
    assert again.unwrapped.batch.spec.scale.keys() == env.batch.spec.scale.keys()
    assert again.action_space == env.action_space
    assert again.render_mode == env.render_mode
    np.testing.assert_array_equal(again.reset(seed=5)[0], env.reset(seed=5)[0])
    assert json.loads(again.spec.to_json())["kwargs"] == json.loads(text)["kwargs"]


def test_stimuli_of_ones_own_are_told(tmp_path):
    for number in range(4):
        Image.new("RGB", (8, 8), (number * 60, 0, 0)).save(tmp_path / f"{number}.png")
    env = memorylab.make("avm", stimuli=tmp_path, trials=2, size=(24, 32))
    again = EnvSpec.from_json(env.spec.to_json()).make()
    np.testing.assert_array_equal(again.reset(seed=5)[0], env.reset(seed=5)[0])


def test_make_vec_tells_what_it_made():
    envs = memorylab.make_vec("cd", num_envs=3, autoreset_mode=AutoresetMode.NEXT_STEP, copy=False, trials=2)
    assert "change_detection" in repr(envs)
    again = gymnasium.make_vec(EnvSpec.from_json(envs.spec.to_json()))
    assert (again.num_envs, again.autoreset_mode, again.copy) == (3, AutoresetMode.NEXT_STEP, False)
    assert again.batch.spec == replace(envs.batch.spec, task="change_detection")
    assert gymnasium.make_vec(memorylab.make("cd", trials=2).spec, num_envs=2).num_envs == 2
    EnvSpec.from_json(again.spec.to_json())
