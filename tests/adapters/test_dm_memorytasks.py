"""The original's interface: its level names, settings, actions and observations, and a script that imports it."""

import importlib
import sys

import numpy as np
import pytest

from memorylab.adapters import dm_memorytasks
from memorylab.adapters.dm_memorytasks import EnvironmentSettings, load_from_disk, load_from_docker, run_script

SCRIPT = """
import sys
import dm_memorytasks
import numpy as np

settings = dm_memorytasks.EnvironmentSettings(seed=123, level_name=sys.argv[1], num_action_repeats=4)
with dm_memorytasks.load_from_docker(name=None, settings=settings._replace(episode_length_seconds=2.0)) as env:
    timestep, steps = env.reset(), 0
    while not timestep.last():
        action = {name: np.random.uniform(s.minimum, s.maximum, s.shape) for name, s in env.action_spec().items()}
        timestep, steps = env.step(action), steps + 1
print(steps)
"""


def test_the_names_are_the_originals():
    names = dm_memorytasks.MEMORY_TASK_LEVEL_NAMES
    assert len(names) == 57
    assert {"spot_diff_extrapolate", "spot_diff_multi_holdout_small", "transitive_inference_train_large"} <= names
    assert not {"transitive_inference_train", "spot_diff_train_small", "spot_diff_basic_train"} & names


def test_settings_are_the_originals():
    assert EnvironmentSettings(1, "spot_diff_train") == (1, "spot_diff_train", 96, 72, 120.0, 1)
    settings = EnvironmentSettings(seed=1, level_name="spot_diff_multi_interpolate", width=32, height=24)
    env = load_from_disk("/nowhere", settings)
    batch = env.env.batch
    assert (batch.task.name, batch.level) == ("spot_diff_multi_object", "interpolate")
    observation = env.reset().observation
    assert {name: value.shape for name, value in observation.items()} == {
        "RGB_INTERLEAVED": (24, 32, 3), "AvatarPosition": (3,), "Score": (),
    }  # fmt: skip
    names = "STRAFE_LEFT_RIGHT", "MOVE_BACK_FORWARD", "LOOK_LEFT_RIGHT", "LOOK_DOWN_UP"
    spans = {name: (spec.minimum, spec.maximum) for name, spec in env.action_spec().items()}
    assert spans == dict.fromkeys(names, (-1, 1))


def test_a_step_is_as_many_frames_as_the_action_is_repeated():
    walked = {}
    for repeats in (1, 4):
        settings = EnvironmentSettings(7, "spot_diff_train", 16, 12, 1.0, repeats)
        env = load_from_docker(settings)
        env.reset()
        steps = [env.step({"MOVE_BACK_FORWARD": 1.0, "LOOK_LEFT_RIGHT": 0.3}) for _ in range(60 // repeats)]
        assert [step.last() for step in steps] == [False] * (60 // repeats - 1) + [True]
        walked[repeats] = [step.observation["AvatarPosition"] for step in steps]
    np.testing.assert_array_equal(walked[1][3::4], walked[4])
    assert np.abs(walked[4][-1] - walked[4][0]).max() > 0.5


def test_a_script_that_imports_it_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setitem(sys.modules, "dm_memorytasks", None)
    (tmp_path / "agent.py").write_text(SCRIPT)
    run_script([str(tmp_path / "agent.py"), "spot_diff_extrapolate"])
    assert capsys.readouterr().out == "30\n"
    with pytest.raises(SystemExit, match="name a script"):
        run_script([])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"level_name": "spot_diff_trian"}, r"no level 'spot_diff_trian' \(did you mean spot_diff_train\?\)"),
        ({"num_action_repeats": 0}, "num_action_repeats must be a whole number, 1 or more, not 0"),
        ({"episode_length_seconds": 0}, "seconds must be a number between 0 and"),
        ({"width": 0}, "size must be"),
    ],
)
def test_settings_that_cannot_be(changes, said):
    with pytest.raises(ValueError, match=said):
        load_from_docker(EnvironmentSettings(1, "spot_diff_train")._replace(**changes))


def test_without_the_library_there_is_one_sentence(monkeypatch):
    monkeypatch.delitem(sys.modules, "memorylab.adapters.dm_memorytasks")
    monkeypatch.setitem(sys.modules, "memorylab.envs.dm", None)
    with pytest.raises(ImportError, match=r"needs dm_env: pip install 'memorylab-rl\[dm\]'"):
        importlib.import_module("memorylab.adapters.dm_memorytasks")
