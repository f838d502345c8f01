"""Many games at once as a gymnasium.vector.VectorEnv."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from memorylab.envs.batch import EnvBatch
from memorylab.envs.spec import GameSpec
from memorylab.tasks.stepping import FRAMES_PER_SECOND, FRAMES_PER_STEP

STEPS_PER_SECOND = FRAMES_PER_SECOND // FRAMES_PER_STEP


def observation_space(batch: EnvBatch) -> spaces.Box:
    """Of one game: its picture."""
    return spaces.Box(0, 255, (batch.height, batch.width, 3), np.uint8)


def check_options(options: Mapping[str, Any] | None, *known: str) -> None:
    """Of `reset`, or one sentence: what is not understood must not look as if it were."""
    for name in options or {}:
        if name not in known:
            there_is = f"only the option {', '.join(known)}" if known else "no options"
            raise ValueError(f"reset takes {there_is}, not {name!r}; level and scale are chosen by make")


class MemoryVectorEnv(VectorEnv):
    """`num_envs` games of one level, stepped together in compiled threads.

    Autoreset is SAME_STEP: where an episode ends, the returned observation is already the next episode's first;
    the last one of the old episode is in `info["final_obs"]`, and what it came to in `info["final_info"]`.

    Observations, rewards, flags and `info` arrays are the environment's own buffers, rewritten at the next call:
    copy what you keep, or give `out`, a (num_envs, height, width, 3) uint8 array to draw into.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium has it)
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": [],
        "render_fps": STEPS_PER_SECOND,
    }

    def __init__(
        self,
        task: str,
        level: str = "train",
        num_envs: int = 1,
        *,
        seed: int | None = None,
        threads: int | None = None,
        size: tuple[int, int] = (72, 96),
        stimuli: str | os.PathLike | None = None,
        **scale: Any,
    ):
        self.batch = EnvBatch(GameSpec(task, level, size, stimuli, scale), num_envs, threads)
        self.num_envs = self.batch.num_envs
        self.single_observation_space = observation_space(self.batch)
        self.single_action_space = spaces.Discrete(len(self.batch.task.actions))
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.info = self.batch.report(self.batch.records)
        self.final_info = self.batch.report(self.batch.last_records)
        self.first_seed: int | None = seed
        self.everyone = np.ones(self.num_envs, np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
        out: np.ndarray | None = None,
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode in every game, or in those of `options["reset_mask"]`.

        One seed serves all games, each with a stream of its own; a list gives each game its own seed.
        """
        self.check_open()
        check_options(options, "reset_mask")
        chosen = self.everyone
        if options and "reset_mask" in options:
            chosen = np.asarray(options["reset_mask"])
            if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
                raise ValueError(f"reset_mask must be {self.num_envs} booleans")
        if not self.batch.begun and not chosen.all():
            raise RuntimeError("the first reset must be of all games")
        if seed is None and not self.batch.begun:
            seed = self.first_seed
        pictures = self.target(out)
        self.batch.begin(self.batch.seed(seed), chosen, pictures)
        return pictures, dict(self.info)

    def step(self, actions: np.ndarray, *, out: np.ndarray | None = None) -> tuple:
        """One agent step of all games; the pictures are drawn into `out` if it is given."""
        self.check_open()
        if not self.batch.begun:
            raise RuntimeError("call reset() before step()")
        pictures = self.target(out)
        batch = self.batch
        batch.step(self.checked(actions), pictures, autoreset=True)
        info: dict[str, Any] = dict(self.info)
        over = batch.terminated | batch.truncated
        if over.any():
            info |= {"final_obs": batch.last_pictures, "_final_obs": over}
            info |= {"final_info": self.final_info, "_final_info": over}
        return pictures, batch.rewards, batch.terminated, batch.truncated, info

    def checked(self, actions: Any) -> np.ndarray:
        """The actions as int64, if they are what this environment takes: anything else could corrupt memory."""
        actions = np.asarray(actions)
        n = len(self.batch.task.actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            given = f"shape {actions.shape} and dtype {actions.dtype}"
            raise ValueError(f"actions must be {self.num_envs} integers, not an array of {given}")
        if actions.min() < 0 or actions.max() >= n:
            raise ValueError(f"actions must be from 0 to {n - 1}, not from {actions.min()} to {actions.max()}")
        return actions.astype(np.int64, copy=False)

    def target(self, out: np.ndarray | None) -> np.ndarray:
        """Where to draw: `out`, if it fits, or the environment's own buffer."""
        pictures = self.batch.pictures
        if out is None:
            return pictures
        if (
            out.shape != pictures.shape
            or out.dtype != np.uint8
            or not out.flags.c_contiguous
            or not out.flags.writeable
        ):
            raise ValueError(f"out must be a contiguous writeable uint8 array of shape {pictures.shape}")
        return out

    def act(self, player: str, actions: np.ndarray) -> None:
        """What a scripted player would do in the games as they stand, written to `actions`, int64."""
        self.batch.act(player, actions)

    def get_state(self) -> np.ndarray:
        """Every game as it stands, as bytes: `set_state` goes on from there, bit for bit."""
        return self.batch.records.view(np.uint8).reshape(self.num_envs, -1).copy()

    def set_state(self, state: np.ndarray) -> None:
        """Go on from `get_state` of the same task, number of games and settings; a picture comes with the next step."""
        records = self.batch.records
        expected = (self.num_envs, records.dtype.itemsize)
        if state.dtype != np.uint8 or state.shape != expected:
            raise ValueError(f"the state must be uint8 of shape {expected}, not {state.dtype} of {state.shape}")
        records.view(np.uint8).reshape(expected)[:] = state
        if "repaint" in (records.dtype.names or ()):
            records["repaint"] = 1  # what hangs on the panel is not part of a record
        self.batch.begun = True

    def check_open(self) -> None:
        """Or one sentence."""
        if self.closed:
            raise RuntimeError("this environment is closed")

    def close_extras(self, **_: Any) -> None:
        """As Gymnasium asks: the threads end."""
        self.batch.pool.dismiss()


def vector_env(
    spec: GameSpec, num_envs: int, *, seed: int | None = None, threads: int | None = None, **scale: Any
) -> MemoryVectorEnv:
    """Many games by their record; what is given of the scale goes before the record's."""
    return MemoryVectorEnv(
        spec.task, spec.level, num_envs, seed=seed, threads=threads, size=spec.size, stimuli=spec.stimuli,
        **{**spec.scale, **scale},
    )  # fmt: skip
