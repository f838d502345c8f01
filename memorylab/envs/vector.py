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
from memorylab.envs.stamps import stamped, unstamped
from memorylab.tasks.stepping import FRAMES_PER_SECOND, FRAMES_PER_STEP, PLAYING
from memorylab.world.walking import STICKS

STEPS_PER_SECOND = FRAMES_PER_SECOND // FRAMES_PER_STEP


def observation_space(batch: EnvBatch) -> spaces.Box:
    """Of one game: its picture."""
    return spaces.Box(0, 255, (batch.height, batch.width, 3), np.uint8)


def single_action_space(batch: EnvBatch, continuous: bool) -> spaces.Space:
    """Of one game: a number, or four sticks."""
    if not continuous:
        return spaces.Discrete(len(batch.task.actions))
    if "sticks" not in (batch.records.dtype.names or ()):
        raise ValueError(f"{batch.task.name} has no continuous actions; only tasks that are walked through do")
    return spaces.Box(-1.0, 1.0, (4,), np.float64)


def checked_mode(mode: Any) -> AutoresetMode:
    """One of Gymnasium's three, by itself or by its value, or one sentence."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        raise ValueError(f"autoreset_mode must be NextStep, SameStep or Disabled, not {mode!r}") from None


def check_options(options: Mapping[str, Any] | None, *known: str) -> None:
    """Of `reset`, or one sentence: what is not understood must not look as if it were."""
    for name in options or {}:
        if name not in known:
            there_is = f"only the option {', '.join(known)}" if known else "no options"
            raise ValueError(f"reset takes {there_is}, not {name!r}; level and scale are chosen by make")


class MemoryVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """`num_envs` games of one level, stepped together in compiled threads.

    `autoreset_mode` says what comes after the end of an episode, as Gymnasium has it:

    - SAME_STEP: the returned observation is already the next episode's first; the last one of the old episode is in
      `info["final_obs"]`, and what it came to in `info["final_info"]`.
    - NEXT_STEP: the next step ignores its action and returns the next episode's first observation, with reward 0.
    - DISABLED: you reset the games that ended, by `reset(options={"reset_mask": terminated | truncated})`.

    All that is returned is yours: new arrays. With `copy=False` they are the environment's own, rewritten at the next
    call, which is faster; so is `out`, a (num_envs, height, width, 3) uint8 array of yours to draw into.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 (as Gymnasium has it)
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["rgb_array"],
        "render_fps": STEPS_PER_SECOND,
    }

    def __init__(
        self,
        task: str,
        level: str = "train",
        num_envs: int = 1,
        *,
        seed: int | Sequence[int] | None = None,
        threads: int | None = None,
        size: tuple[int, int] = (72, 96),
        stimuli: str | os.PathLike | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: str | None = None,
        continuous: bool = False,
        copy: bool = True,
        **scale: Any,
    ):
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode must be 'rgb_array' or None, not {render_mode!r}")
        self.render_mode = render_mode
        self.autoreset_mode = checked_mode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.batch = EnvBatch(GameSpec(task, level, size, stimuli, scale), num_envs, threads)
        self.num_envs = self.batch.num_envs
        self.single_observation_space = observation_space(self.batch)
        self.single_action_space = single_action_space(self.batch, continuous)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.first_seed = seed
        self.copy = copy
        self.sticks = np.full(self.num_envs, STICKS) if continuous else None

    @property
    def info(self) -> dict[str, np.ndarray]:
        """What is told of the games as they stand, as read-only views."""
        return self.batch.info

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
        chosen = self.batch.everyone
        if options and "reset_mask" in options:
            chosen = np.array(options["reset_mask"])  # a copy: it may be the environment's own `terminated`
            if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
                raise ValueError(f"reset_mask must be {self.num_envs} booleans")
        if not self.batch.begun and not chosen.all():
            raise RuntimeError("the first reset must be of all games")
        if seed is None and not self.batch.begun:
            seed = self.first_seed
        pictures = self.target(out)
        self.batch.begin(self.batch.seed(seed), chosen, pictures)
        return pictures, self.kept(self.info)

    def step(
        self, actions: np.ndarray, *, out: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One agent step of all games; the pictures are drawn into `out` if it is given."""
        self.check_open()
        if not self.batch.begun:
            raise RuntimeError("call reset() before step()")
        batch, mode, pictures = self.batch, self.autoreset_mode, self.target(out)
        checked, over = self.checked(actions), self.over_before(mode)
        batch.step(checked, pictures, autoreset=mode is AutoresetMode.SAME_STEP)
        if over is not None:
            batch.begin(batch.seed(None), over, pictures, drawn=over)
        if self.copy:
            return pictures, batch.rewards.copy(), batch.terminated.copy(), batch.truncated.copy(), self.told()
        return pictures, batch.rewards, batch.terminated, batch.truncated, self.told()

    def over_before(self, mode: AutoresetMode) -> np.ndarray | None:
        """Which games this step has to begin anew, if any: in NEXT_STEP those whose episode is over."""
        if mode is AutoresetMode.SAME_STEP or not (over := self.batch.records["over"] != PLAYING).any():
            return None
        if mode is AutoresetMode.DISABLED:
            games = ", ".join(map(str, np.flatnonzero(over)))
            raise RuntimeError(f"the episodes of games {games} are over; reset them by options={{'reset_mask': ...}}")
        return over

    def told(self) -> dict[str, Any]:
        """What `info` tells after a step."""
        info = self.kept(self.info)
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            over = self.batch.terminated | self.batch.truncated
            if over.any():
                info |= {"final_obs": self.last_pictures(over), "_final_obs": over}
                info |= {"final_info": self.kept(self.batch.last_info), "_final_info": over.copy()}
        return info

    def kept(self, info: dict[str, Any]) -> dict[str, Any]:
        """Copies, unless the caller does without."""
        return {name: values.copy() for name, values in info.items()} if self.copy else dict(info)

    def last_pictures(self, over: np.ndarray) -> np.ndarray:
        """Of the games that ended; a copy holds nothing of the others."""
        pictures = self.batch.last_pictures
        if self.copy:
            pictures = np.zeros(pictures.shape, np.uint8)
            pictures[over] = self.batch.last_pictures[over]
        return pictures

    def render(self) -> tuple[np.ndarray, ...] | None:
        """The pictures of now, one a game."""
        self.check_open()
        if not self.batch.begun:
            raise RuntimeError("call reset() before render()")
        return None if self.render_mode is None else tuple(self.batch.draw())

    def checked(self, actions: Any) -> np.ndarray:
        """The actions as int64, if they are what this environment takes: anything else could corrupt memory."""
        if self.sticks is not None:
            self.batch.set_sticks(actions)
            return self.sticks
        actions = np.asarray(actions)
        n = len(self.batch.task.actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            given = f"shape {actions.shape} and dtype {actions.dtype}"
            raise ValueError(f"actions must be {self.num_envs} integers, not an array of {given}")
        if actions.min() < 0 or actions.max() >= n:
            raise ValueError(f"actions must be from 0 to {n - 1}, not from {actions.min()} to {actions.max()}")
        return actions.astype(np.int64, copy=False)

    def target(self, out: np.ndarray | None) -> np.ndarray:
        """Where to draw: `out`, if it fits, or a new array, or the environment's own buffer."""
        pictures = self.batch.pictures
        if out is None:
            return np.empty_like(pictures) if self.copy else pictures
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

    def advise(self, teacher: str, advice: np.ndarray) -> None:
        """What a teacher finds good in the games as they stand, as bits of `advice`, int64: action a is bit a."""
        self.batch.advise(teacher, advice)

    def get_state(self) -> np.ndarray:
        """Every game as it stands, as bytes: `set_state` goes on from there, bit for bit."""
        return stamped(self.batch)

    def set_state(self, state: np.ndarray) -> None:
        """Go on from `get_state` of the same task, number of games and settings; a picture comes with the next step."""
        self.batch.take_records(unstamped(self.batch, state))

    def check_open(self) -> None:
        """Or one sentence."""
        if self.closed:
            raise RuntimeError("this environment is closed")

    def close_extras(self, **_: Any) -> None:
        """As Gymnasium asks: the threads end. Older ones ask it also of what a mistake kept from being made."""
        if hasattr(self, "batch"):
            self.batch.pool.dismiss()


def vector_env(
    spec: GameSpec,
    num_envs: int,
    *,
    seed: int | Sequence[int] | None = None,
    threads: int | None = None,
    copy: bool = False,
    **scale: Any,
) -> MemoryVectorEnv:
    """Many games by their record; what is given of the scale goes before the record's. For players who look at what
    is returned before they step on: unlike `make_vec`, it returns the environment's own arrays unless told to copy."""
    return MemoryVectorEnv(
        spec.task, spec.level, num_envs, seed=seed, threads=threads, size=spec.size, stimuli=spec.stimuli, copy=copy,
        **{**spec.scale, **scale},
    )  # fmt: skip
