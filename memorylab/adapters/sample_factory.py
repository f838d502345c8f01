"""Our games for Sample Factory's APPO: `register("avm", games=64)`, then its own `run_rl` with `--env=avm`."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np

from memorylab.envs.registration import make, make_vec


def register(task: str, level: str = "train", games: int = 1, name: str = "", **options: Any) -> None:
    """Make a level known to Sample Factory under `name`, its task's if none is given.

    With `games` above 1 each of its environments is that many games, which it takes for agents that act together: far
    faster, with `--batched_sampling=True --num_envs_per_worker=1 --worker_num_splits=1`. `options` are make_vec's.
    """
    try:
        from sample_factory.envs.env_utils import register_env  # type: ignore[import-not-found]
    except ImportError as problem:
        told = "memorylab.adapters.sample_factory needs Sample Factory: pip install sample-factory"
        raise ImportError(told, name="sample_factory") from problem
    register_env(name or task, partial(make_env, task, level, games, options))


def make_env(
    task: str,
    level: str,
    games: int,
    options: dict[str, Any],
    full_env_name: str = "",
    cfg: Any = None,
    env_config: Any = None,
    render_mode: str | None = None,
) -> gymnasium.Env:
    """As Sample Factory calls it, in each of its processes. The first four are what `register` was given."""
    if not hasattr(gymnasium.Wrapper, "__getattr__"):
        # Sample Factory counts on what Gymnasium had until 1.0: a wrapper has what the wrapped environment has.
        gymnasium.Wrapper.__getattr__ = lambda self, name: getattr(self.__dict__["env"], name)  # type: ignore[attr-defined]
    if games == 1:
        return make(task, level, render_mode=render_mode, **options)
    return ManyGames(make_vec(task, level, games, **{"threads": 1, **options}))


class ManyGames(gymnasium.Env):
    """Our vector environment as one with many agents; it begins anew by itself, as Sample Factory expects."""

    is_multiagent = True

    def __init__(self, envs: gymnasium.vector.VectorEnv):
        self.envs, self.num_agents = envs, envs.num_envs
        self.observation_space = envs.single_observation_space
        self.action_space = envs.single_action_space
        self.render_mode = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """First pictures of all games."""
        return self.envs.reset(seed=seed)[0], {}

    def step(self, action: Any) -> tuple:
        """One step of all games. Nobody reads what `info` tells: Sample Factory sums up rewards itself."""
        pictures, rewards, terminated, truncated, _ = self.envs.step(np.asarray(action))
        return pictures, rewards, terminated, truncated, {}

    def close(self) -> None:
        """No more steps after this."""
        self.envs.close()
