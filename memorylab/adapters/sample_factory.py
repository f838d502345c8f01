"""Our games for Sample Factory's APPO: `register("avm", games=64)`, then its own `run_rl` with `--env=avm`."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np

from memorylab.adapters.pictures import channels_first, channels_first_space
from memorylab.envs.registration import make_vec


def register(task: str, level: str = "train", games: int = 1, name: str = "", **options: Any) -> None:
    """Make a level known to Sample Factory under `name`, its task's if none is given.

    Each of its environments is `games` games, which it takes for agents that act together. With more than one it is
    far faster, by `--batched_sampling=True --num_envs_per_worker=1 --worker_num_splits=1`. Pictures have their channels
    first, as its networks expect. `options` are make_vec's; `threads` is 1, since it has processes of its own.
    """
    try:
        from sample_factory.envs.env_utils import register_env
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
        gymnasium.Wrapper.__getattr__ = of_the_wrapped  # type: ignore[attr-defined]
    return ManyGames(make_vec(task, level, games, render_mode=render_mode, **{"threads": 1, **options}))


def of_the_wrapped(wrapper: gymnasium.Wrapper, name: str) -> Any:
    """What a wrapper does not have itself."""
    return getattr(wrapper.__dict__["env"], name)


class ManyGames(gymnasium.Env):
    """Our vector environment as one with many agents; it begins anew by itself, as Sample Factory expects."""

    is_multiagent = True

    def __init__(self, envs: Any):
        self.envs, self.num_agents, self.render_mode = envs, envs.num_envs, envs.render_mode
        self.observation_space = channels_first_space(envs.single_observation_space)
        self.action_space = envs.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """First pictures of all games."""
        pictures, _ = self.envs.reset(seed=seed)
        return channels_first(pictures), self.infos()

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, Any]:
        """One step of all games."""
        pictures, rewards, terminated, truncated, _ = self.envs.step(np.asarray(action))
        return channels_first(pictures), rewards, terminated, truncated, self.infos()

    def infos(self) -> list[dict]:
        """Of each game, empty: nobody reads them, since Sample Factory sums up rewards itself."""
        return [{} for _ in range(self.num_agents)]

    def render(self) -> Any:
        """The first game, with render_mode="rgb_array"."""
        pictures = self.envs.render()
        return None if pictures is None else pictures[0]

    def close(self) -> None:
        """No more steps after this."""
        self.envs.close()
