"""Stable-Baselines3 over our vector environment, with the real library."""

import importlib
import sys

import numpy as np
import pytest

import memorylab
from memorylab.laboratory.find_runs import find_runs
from memorylab.runs import ScoreRecorder

pytest.importorskip("stable_baselines3")
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

from memorylab.adapters.stable_baselines3 import MemoryVecEnv

SHORT = {"seconds": 1, "size": (36, 48)}  # 15 steps an episode
NAME = "memorylab.adapters.stable_baselines3"


def test_it_gives_what_our_environment_gives():
    envs = memorylab.make_vec("avm", num_envs=3, **SHORT)
    wrapped = MemoryVecEnv(memorylab.make_vec("avm", num_envs=3, **SHORT))
    wrapped.seed(5)
    np.testing.assert_array_equal(wrapped.reset(), envs.reset(seed=[5, 6, 7])[0])
    rng = np.random.default_rng(0)
    for step in range(1, 31):
        actions = rng.integers(0, 5, 3)
        pictures, rewards, terminated, truncated, info = envs.step(actions)
        seen, gained, dones, infos = wrapped.step(actions)
        np.testing.assert_array_equal(seen, pictures)
        np.testing.assert_array_equal(gained, rewards)
        assert dones.tolist() == (terminated | truncated).tolist() == [step % 15 == 0] * 3
        if not dones.any():
            assert infos == [{}, {}, {}]
            continue
        for game, told in enumerate(infos):
            np.testing.assert_array_equal(told["terminal_observation"], info["final_obs"][game])
            assert told["TimeLimit.truncated"]
            assert (told["length"], told["seed"]) == (15, info["final_info"]["seed"][game])


def test_it_is_a_vec_env_to_its_users():
    env = MemoryVecEnv(memorylab.make_vec("avm", num_envs=2, render_mode="rgb_array", **SHORT))
    env.reset()
    assert env.get_attr("num_envs") == [2, 2]
    assert env.get_attr("num_envs", indices=1) == [2]
    assert env.env_is_wrapped(VecMonitor) == [False, False]
    assert env.env_method("get_state", indices=[0])[0].shape[0] == 2
    assert env.render("rgb_array").shape == (72, 48, 3)  # one above the other
    with pytest.raises(ValueError, match="these games share one environment"):
        env.set_attr("mark", 1, indices=0)
    env.set_attr("mark", 1)
    assert env.envs.mark == 1
    env.close()
    with pytest.raises(RuntimeError, match="closed"):
        env.reset()


def test_recurrent_ppo_learns_from_recorded_games(tmp_path):
    sb3_contrib = pytest.importorskip("sb3_contrib")
    recorder = ScoreRecorder(tmp_path, "avm", "recurrent-ppo")
    env = VecMonitor(MemoryVecEnv(recorder.vector(memorylab.make_vec("avm", num_envs=4, **SHORT))))
    small = {"lstm_hidden_size": 8, "features_extractor_kwargs": {"features_dim": 8}}
    sizes = {"n_steps": 16, "batch_size": 32, "n_epochs": 1, "policy_kwargs": small}
    model = sb3_contrib.RecurrentPPO("CnnLstmPolicy", env, seed=0, device="cpu", **sizes)
    model.learn(128)
    assert [episode["l"] for episode in model.ep_info_buffer] == [15] * 8
    (run,) = find_runs([tmp_path], lambda text: pytest.fail(text))
    assert run.curves["train"].steps.tolist() == [60, 120]
    holdout = VecMonitor(MemoryVecEnv(memorylab.make_vec("avm", "holdout_interpolate", num_envs=2, **SHORT)))
    returns, lengths = evaluate_policy(model, holdout, n_eval_episodes=2, return_episode_rewards=True)
    assert (len(returns), lengths) == (2, [15, 15])


@pytest.mark.parametrize(
    ("options", "said"),
    [({"autoreset_mode": "NextStep"}, "needs autoreset_mode SAME_STEP"), ({"copy": False}, "must be copies")],
)
def test_an_environment_that_would_mislead_it_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        MemoryVecEnv(memorylab.make_vec("avm", num_envs=2, **options))


def test_without_the_library_there_is_one_sentence(monkeypatch):
    monkeypatch.delitem(sys.modules, NAME)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    with pytest.raises(ImportError, match="needs Stable-Baselines3: pip install stable-baselines3"):
        importlib.import_module(NAME)
