"""One game as a gymnasium.Env."""

import operator
import os
from typing import Any

import numpy as np
from gymnasium import Env, spaces

from memorylab.envs.batch import EnvBatch
from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import STEPS_PER_SECOND, check_options, observation_space
from memorylab.world.walking import STICKS

ONE = np.ones(1, np.bool_)


class MemoryEnv(Env):
    """A game of one level. Observations are new arrays; the same seed and actions give the same episode.

    `continuous=True`, for tasks that are walked through, takes four sticks instead of one of eight actions:
    strafe, move, look left-right, look down-up, each in [-1, 1].
    An episode ends (`terminated`) by the rules of its task and is cut off (`truncated`) by its clock.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium has it)
        "render_modes": ["rgb_array"],
        "render_fps": STEPS_PER_SECOND,
    }

    def __init__(
        self,
        task: str,
        level: str = "train",
        *,
        seed: int | None = None,
        render_mode: str | None = None,
        continuous: bool = False,
        size: tuple[int, int] = (72, 96),
        stimuli: str | os.PathLike | None = None,
        **scale: Any,
    ):
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be 'rgb_array' or None, not {render_mode!r}")
        self.batch = EnvBatch(GameSpec(task, level, size, stimuli, scale), 1, threads=1)
        self.render_mode = render_mode
        self.observation_space = observation_space(self.batch)
        self.continuous = continuous
        if continuous and "sticks" not in self.batch.records.dtype.names:
            raise ValueError(f"{self.batch.task.name} has no continuous actions; only tasks that are walked through do")
        self.action_space: spaces.Space = spaces.Discrete(len(self.batch.task.actions))
        if continuous:
            self.action_space = spaces.Box(-1.0, 1.0, (4,), np.float64)
        self.info = self.batch.report(self.batch.records)
        self.first_seed: int | None = seed
        self.action = np.zeros(1, np.int64)
        self.state = "new"

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """Begin an episode; the same seed begins the same one. There are no options."""
        self.check_open()
        check_options(options)
        if seed is None and self.state == "new":
            seed = self.first_seed
        seeds = self.batch.seed(seed)
        super().reset(seed=seed)
        self.batch.begin(seeds, ONE, self.batch.pictures)
        self.state = "playing"
        return self.batch.pictures[0].copy(), self.facts()

    def step(self, action: Any):
        """One agent step; `info` tells score, length, scale and seed, and what else the task reports."""
        if self.state != "playing":
            self.check_open()
            raise RuntimeError(f"call reset() before step(): the episode is {self.state}")
        self.action[0] = self.set_sticks(action) if self.continuous else self.checked(action)
        batch = self.batch
        batch.step(self.action, batch.pictures, autoreset=False)
        terminated, truncated = bool(batch.terminated[0]), bool(batch.truncated[0])
        if terminated or truncated:
            self.state = "over"
        return batch.pictures[0].copy(), float(batch.rewards[0]), terminated, truncated, self.facts()

    def checked(self, action: Any) -> int:
        """The number of an action, or one sentence."""
        try:
            number = operator.index(action)
        except TypeError:
            raise ValueError(f"an action must be an integer, not {action!r}") from None
        if not 0 <= number < len(self.batch.task.actions):
            names = ", ".join(f"{i} {name}" for i, name in enumerate(self.batch.task.actions))
            raise ValueError(f"there is no action {number}; the actions are {names}")
        return number

    def set_sticks(self, sticks: Any) -> int:
        """Strafe, move, look left-right and look down-up, each from -1 to 1, until the next step."""
        values = np.asarray(sticks, np.float64)
        if values.shape != (4,) or not (abs(values) <= 1).all():
            raise ValueError(f"a continuous action must be four numbers from -1 to 1, not {sticks!r}")
        self.batch.records["sticks"][0] = values
        return STICKS

    def facts(self) -> dict[str, Any]:
        """What `info` tells."""
        return {name: values[0].item() for name, values in self.info.items()}

    def render(self):
        """The picture of now."""
        return self.batch.pictures[0].copy() if self.render_mode == "rgb_array" else None

    def check_open(self) -> None:
        """Or one sentence."""
        if self.state == "closed":
            raise RuntimeError("this environment is closed")

    def close(self) -> None:
        """No more steps after this."""
        self.state = "closed"
