"""dm_env's own conformance tests, for every task and level."""

import numpy as np
import pytest
from absl.testing import absltest
from dm_env import StepType, test_utils

import memorylab
from memorylab.envs.dm import DmMemoryEnv


def conformance(task: str, level: str) -> type:
    def make_object_under_test(self):
        return DmMemoryEnv(task, level, seed=0, size=(18, 24))

    methods = {"make_object_under_test": make_object_under_test}
    return type(f"Test_{task}_{level}", (test_utils.EnvironmentTestMixin, absltest.TestCase), methods)


for _task in memorylab.TASKS:
    for _level in memorylab.LEVELS:
        _case = conformance(_task, _level)
        globals()[_case.__name__] = _case
del _case


def test_observations_have_the_names_of_the_original_release():
    env = DmMemoryEnv("avm", seed=0, trials=1)
    step = env.reset()
    assert step.observation["RGB_INTERLEAVED"].shape == (72, 96, 3)
    action = np.zeros(1, np.int64)
    while not step.last():
        env.env.batch.act("remembering", action)
        step = env.step(action[0])
    assert (step.reward, step.discount, float(step.observation["Score"])) == (1.0, 0.0, 1.0)
    assert env.step(0).step_type == StepType.FIRST


def test_an_end_by_the_clock_has_discount_0():
    env = DmMemoryEnv("avm", seed=0, seconds=1)
    env.reset()
    steps = [env.step(4) for _ in range(15)]
    assert [step.discount for step in steps] == [1.0] * 14 + [0.0]
    assert steps[-1].last()


def test_walked_tasks_tell_their_position_and_take_sticks_that_stay():
    env = DmMemoryEnv("iga", seed=0, continuous=True)
    first = env.reset().observation["AvatarPosition"]
    assert first.shape == (3,)
    env.step({"MOVE_BACK_FORWARD": 1.0})
    moved = [env.step({}).observation["AvatarPosition"] for _ in range(5)]
    assert np.abs(moved[-1] - moved[0]).max() > 0.1
    with pytest.raises(ValueError, match="there is no stick 'JUMP'"):
        env.step({"JUMP": 1.0})
    assert "AvatarPosition" not in DmMemoryEnv("avm").observation_spec()
