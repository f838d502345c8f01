"""One game as a dm_env.Environment, with the observation names of the original release. Needs `memorylab[dm]`."""

from typing import Any

import dm_env
import numpy as np
from dm_env import specs

from memorylab.envs.single import MemoryEnv


class DmMemoryEnv(dm_env.Environment):
    """Observations: `RGB_INTERLEAVED`, the picture, and `Score`, the episode's rewards so far.

    As in the original, every episode ends with a discount of zero, the clock included. A step after the last one,
    or before the first, begins an episode and ignores its action.
    """

    def __init__(self, task: str, level: str = "train", **options: Any):
        self.env = MemoryEnv(task, level, **options)

    def reset(self) -> dm_env.TimeStep:
        picture, info = self.env.reset()
        return dm_env.restart(observed(picture, info))

    def step(self, action: Any) -> dm_env.TimeStep:
        if self.env.state in ("new", "over"):
            return self.reset()
        picture, reward, terminated, truncated, info = self.env.step(action)
        after = dm_env.termination if terminated or truncated else dm_env.transition
        return after(reward=reward, observation=observed(picture, info))

    def observation_spec(self) -> dict[str, specs.Array]:
        space = self.env.observation_space
        return {
            "RGB_INTERLEAVED": specs.Array(space.shape, np.uint8, name="RGB_INTERLEAVED"),
            "Score": specs.Array((), np.float64, name="Score"),
        }

    def action_spec(self) -> specs.DiscreteArray:
        return specs.DiscreteArray(len(self.env.games.task.actions), dtype=np.int64, name="action")

    def close(self) -> None:
        self.env.close()


def observed(picture: np.ndarray, info: dict[str, Any]) -> dict[str, np.ndarray]:
    return {"RGB_INTERLEAVED": picture, "Score": np.array(info["score"], np.float64)}
