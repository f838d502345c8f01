"""Our games as Sample Factory makes them; with the library itself where it is installed."""

import importlib.util
import sys

import gymnasium
import numpy as np
import pytest

from memorylab.adapters.sample_factory import make_env, register

SHORT = {"seconds": 1, "size": (36, 48)}


@pytest.fixture
def _wrappers_stay_as_they_are():
    """The adapter gives Gymnasium's wrappers what they had until 1.0."""
    yield
    if "__getattr__" in vars(gymnasium.Wrapper):
        del gymnasium.Wrapper.__getattr__


@pytest.mark.usefixtures("_wrappers_stay_as_they_are")
def test_many_games_are_one_environment_with_many_agents():
    env = make_env("avm", "holdout_small", 3, SHORT, "avm", cfg=None, env_config=None, render_mode="rgb_array")
    wrapped = gymnasium.Wrapper(env)
    assert (wrapped.num_agents, wrapped.is_multiagent) == (3, True)
    pictures, _ = wrapped.reset(seed=0)
    assert pictures.shape == (3, 3, 36, 48)
    assert env.observation_space.contains(pictures[0])
    assert wrapped.render().shape == (36, 48, 3)
    ends = []
    for _ in range(16):
        pictures, rewards, terminated, truncated, _ = wrapped.step(np.zeros(3, int))
        ends.append((terminated | truncated).tolist())
    assert ends == [[False] * 3] * 14 + [[True] * 3, [False] * 3]
    assert (pictures.shape, rewards.shape) == ((3, 3, 36, 48), (3,))


def test_without_the_library_there_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "sample_factory.envs.env_utils", None)
    with pytest.raises(ImportError, match="needs Sample Factory: pip install sample-factory"):
        register("avm")


@pytest.mark.skipif(not importlib.util.find_spec("sample_factory"), reason="Sample Factory is not installed")
def test_appo_learns(tmp_path):
    from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
    from sample_factory.train import run_rl

    register("avm", games=4, **SHORT)
    options = {
        "env": "avm", "experiment": "test", "train_dir": tmp_path, "device": "cpu", "serial_mode": True,
        "async_rl": False, "batched_sampling": True, "num_workers": 1, "num_envs_per_worker": 1, "worker_num_splits": 1,
        "use_rnn": True, "rollout": 16, "recurrence": 16, "batch_size": 64, "train_for_env_steps": 256,
    }  # fmt: skip
    arguments = [f"--{name}={value}" for name, value in options.items()]
    assert run_rl(parse_full_cfg(parse_sf_args(arguments)[0], arguments)) == 0
    assert list((tmp_path / "test").rglob("checkpoint_*.pth"))
