"""One game as a gymnasium.Env."""

import operator
import os
from importlib.util import find_spec
from typing import Any

import numpy as np
from gymnasium import Env, spaces

from memorylab.envs.batch import EnvBatch
from memorylab.envs.camera import Camera, Window
from memorylab.envs.controls import STICK_NAMES, keys_to_actions, keys_to_sticks
from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import STEPS_PER_SECOND, check_options, observation_space, single_action_space
from memorylab.world.walking import STICKS

ONE = np.ones(1, np.bool_)


class MemoryEnv(Env[np.ndarray, Any]):
    """A game of one level. Observations are new arrays; the same seed and actions give the same episode.

    `continuous=True`, for tasks that are walked through, takes four sticks instead of one of eight actions:
    strafe, move, look left-right, look down-up, each in [-1, 1].
    An episode ends (`terminated`) by the rules of its task and is cut off (`truncated`) by its clock.

    `render_mode="rgb_array"` has `render` return a picture, "human" shows it in a window at every step (with pygame).
    It is the observation, or what would be seen in `render_size`; `render_map` puts a map beside it where one walks.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium has it)
        "render_modes": ["human", "rgb_array"] if find_spec("pygame") else ["rgb_array"],
        "render_fps": STEPS_PER_SECOND,
    }

    def __init__(
        self,
        task: str,
        level: str = "train",
        *,
        seed: int | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] | None = None,
        render_map: bool = False,
        continuous: bool = False,
        size: tuple[int, int] = (72, 96),
        stimuli: str | os.PathLike | None = None,
        **scale: Any,
    ):
        if render_mode not in (None, "human", "rgb_array"):
            raise ValueError(f"render_mode must be 'human', 'rgb_array' or None, not {render_mode!r}")
        self.batch = EnvBatch(GameSpec(task, level, size, stimuli, scale), 1, threads=1)
        self.render_mode = render_mode
        self.observation_space = observation_space(self.batch)
        self.continuous = continuous
        self.action_space: spaces.Space = single_action_space(self.batch, continuous)
        self.camera = Camera(self.batch, render_size, render_map) if render_mode else None
        self.window = Window(f"{self.batch.task.title}, {level}", STEPS_PER_SECOND) if render_mode == "human" else None
        self.first_seed: int | None = seed
        self.action = np.zeros(1, np.int64)
        self.state = "new"

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; the same seed begins the same one. There are no options."""
        self.check_open()
        check_options(options)
        if seed is None and self.state == "new":
            seed = self.first_seed
        seeds = self.batch.seed(seed)
        super().reset(seed=seed)
        self.batch.begin(seeds, ONE, self.batch.pictures)
        self.state = "playing"
        if self.camera is not None:
            self.camera.forget()
            self.show()
        return self.batch.pictures[0].copy(), self.facts()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One agent step; `info` tells score, length, scale and seed, and what else the task reports."""
        if self.state != "playing":
            self.check_open()
            raise RuntimeError(f"call reset() before step(): the episode is {self.state}")
        batch = self.batch
        if self.continuous:
            batch.set_sticks(np.asarray(action, np.float64)[None])
        self.action[0] = STICKS if self.continuous else self.checked(action)
        batch.step(self.action, batch.pictures, autoreset=False)
        terminated, truncated = bool(batch.terminated[0]), bool(batch.truncated[0])
        if terminated or truncated:
            self.state = "over"
        if self.window is not None:
            self.show()
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

    @property
    def info(self) -> dict[str, np.ndarray]:
        """What is told of the game as it stands, as read-only views of one number each."""
        return self.batch.info

    def facts(self) -> dict[str, Any]:
        """What `info` tells."""
        return {name: values[0].item() for name, values in self.batch.info.items()}

    def get_action_meanings(self) -> list[str]:
        """What each action does, in the order of their numbers; for continuous ones, what each stick does."""
        return list(STICK_NAMES if self.continuous else self.batch.task.actions)

    def get_keys_to_action(self) -> dict[tuple[int, ...], Any]:
        """Keys for `gymnasium.utils.play`: W A S D or arrows, Q and E to step aside; R and F look up and down."""
        return keys_to_sticks() if self.continuous else keys_to_actions(self.batch.task.actions)

    def render(self) -> np.ndarray | None:
        """The picture of now as a new array, or in the window."""
        self.check_open()
        if self.state == "new":
            raise RuntimeError("call reset() before render()")
        if self.render_mode == "rgb_array" and self.camera is not None:
            return self.camera.shoot()
        self.show()
        return None

    def show(self) -> None:
        """In the window, if there is one."""
        if self.window is not None and self.camera is not None:
            self.window.show(self.camera.shoot())

    def check_open(self) -> None:
        """Or one sentence."""
        if self.state == "closed":
            raise RuntimeError("this environment is closed")

    def close(self) -> None:
        """No more steps after this."""
        self.state = "closed"
        if self.window is not None:
            self.window.close()
