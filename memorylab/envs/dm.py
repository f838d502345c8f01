"""One game as a dm_env.Environment, with the names of the original release. Needs `memorylab-rl[dm]`."""

from typing import Any

import dm_env
import numpy as np
from dm_env import specs

from memorylab.envs.single import MemoryEnv

STICKS = ("STRAFE_LEFT_RIGHT", "MOVE_BACK_FORWARD", "LOOK_LEFT_RIGHT", "LOOK_DOWN_UP")


class DmMemoryEnv(dm_env.Environment):
    """Observations: `RGB_INTERLEAVED`, the picture, and `Score`, the episode's rewards so far; for tasks that are
    walked through also `AvatarPosition`: x (east), eye height and z (north).

    Actions are the task's own, as one integer, or with `continuous=True`, for tasks that are walked through, a
    dictionary of four sticks in [-1, 1]; a stick that is left out stays where it was.

    As in the original, every episode ends with a discount of zero, the clock included. A step after the last one,
    or before the first, begins an episode and ignores its action.
    """

    def __init__(self, task: str, level: str = "train", *, continuous: bool = False, **options: Any):
        self.env = MemoryEnv(task, level, continuous=continuous, **options)
        self.is_walked = "x" in self.env.batch.task.report
        self.continuous = continuous
        self.sticks = np.zeros(4)

    def reset(self) -> dm_env.TimeStep:
        """Begin an episode: FIRST, without reward and discount."""
        self.sticks[:] = 0
        picture, info = self.env.reset()
        return dm_env.restart(self.observed(picture, info))

    def step(self, action: Any) -> dm_env.TimeStep:
        """MID with discount 1, or LAST with discount 0."""
        if self.env.state in ("new", "over"):
            return self.reset()
        picture, reward, terminated, truncated, info = self.env.step(self.moved(action) if self.continuous else action)
        after = dm_env.termination if terminated or truncated else dm_env.transition
        return after(reward=reward, observation=self.observed(picture, info))

    def moved(self, action: dict[str, Any]) -> np.ndarray:
        """The four sticks; those that are not named stay."""
        unknown = set(action) - set(STICKS)
        if unknown:
            raise ValueError(f"there is no stick {sorted(unknown)[0]!r}; the sticks are {', '.join(STICKS)}")
        for number, name in enumerate(STICKS):
            self.sticks[number] = action.get(name, self.sticks[number])
        return self.sticks

    def observation_spec(self) -> dict[str, specs.Array]:
        """What each observation holds."""
        spec = {
            "RGB_INTERLEAVED": specs.Array(self.env.observation_space.shape, np.uint8, name="RGB_INTERLEAVED"),
            "Score": specs.Array((), np.float64, name="Score"),
        }
        if self.is_walked:
            spec["AvatarPosition"] = specs.Array((3,), np.float64, name="AvatarPosition")
        return spec

    def action_spec(self) -> Any:
        """One integer, or four sticks."""
        if self.continuous:
            return {name: specs.BoundedArray((), np.float64, -1.0, 1.0, name=name) for name in STICKS}
        return specs.DiscreteArray(len(self.env.batch.task.actions), dtype=np.int64, name="action")

    def observed(self, picture: np.ndarray, info: dict[str, Any]) -> dict[str, np.ndarray]:
        """The observation of now."""
        observation = {"RGB_INTERLEAVED": picture, "Score": np.array(info["score"], np.float64)}
        if self.is_walked:
            eye = self.env.batch.records["eye"][0]
            observation["AvatarPosition"] = np.array([info["x"], eye, info["z"]], np.float64)
        return observation

    def close(self) -> None:
        """No more steps after this."""
        self.env.close()
