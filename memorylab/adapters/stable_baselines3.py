"""Our vector environment as a VecEnv of Stable-Baselines3, for PPO, RecurrentPPO and whatever takes one."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium import Wrapper
from gymnasium.vector import AutoresetMode, VectorEnv

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as problem:
    told = "memorylab.adapters.stable_baselines3 needs Stable-Baselines3: pip install stable-baselines3"
    raise ImportError(told, name="stable_baselines3") from problem

Indices = int | Iterable[int] | None


class MemoryVecEnv(VecEnv):
    """`MemoryVecEnv(memorylab.make_vec("avm", num_envs=8))`: all games in one call.

    The infos of games that go on are empty; of one that ended they hold what the episode came to, the last picture as
    `terminal_observation`, and `TimeLimit.truncated` if the clock ended it.
    """

    def __init__(self, envs: VectorEnv):
        if envs.metadata.get("autoreset_mode") is not AutoresetMode.SAME_STEP:
            raise ValueError("Stable-Baselines3 needs autoreset_mode SAME_STEP, which is make_vec's usual one")
        if not getattr(envs.unwrapped, "copy", True):
            raise ValueError("Stable-Baselines3 keeps pictures over a step, they must be copies: leave out copy=False")
        self.envs: Any = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> np.ndarray:
        """First pictures of all games; with the seeds that `seed` gave, if it did."""
        pictures, _ = self.envs.reset(seed=self._seeds if any(seed is not None for seed in self._seeds) else None)
        self._reset_seeds()
        return pictures

    def step_async(self, actions: np.ndarray) -> None:
        """Remembered; all is done in `step_wait`."""
        self.actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Pictures, rewards, which episodes ended, and infos."""
        pictures, rewards, terminated, truncated, info = self.envs.step(self.actions)
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game in np.flatnonzero(dones):
            infos[game] = {name: values[game].item() for name, values in info["final_info"].items()}
            infos[game]["terminal_observation"] = info["final_obs"][game]
            infos[game]["TimeLimit.truncated"] = bool(truncated[game])
        return pictures, rewards, dones, infos

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """The same of every game."""
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Of all games at once."""
        if len(list(self._get_indices(indices))) < self.num_envs:
            raise ValueError("these games share one environment; set an attribute of all of them")
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any) -> list:
        """Called once, for all games."""
        answer = getattr(self.envs, method_name)(*method_args, **method_kwargs)
        return [answer] * len(list(self._get_indices(indices)))

    def env_is_wrapped(self, wrapper_class: type[Wrapper], indices: Indices = None) -> list[bool]:
        """Never: wrappers of single games find none here."""
        return [False] * len(list(self._get_indices(indices)))

    def get_images(self) -> list[np.ndarray | None]:
        """With make_vec's render_mode="rgb_array"."""
        return list(self.envs.render() or [None] * self.num_envs)

    def close(self) -> None:
        """No more steps after this."""
        self.envs.close()
