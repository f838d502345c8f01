"""A batch of games of one level: their records, buffers and threads. The environments are thin faces of it."""

import os
import sys
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from memorylab.envs.spec import GameSpec
from memorylab.envs.thread_pool import ThreadPool
from memorylab.machine import usable_cores
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.stepping import FRAMES_PER_STEP
from memorylab.tasks.task import check_level, find_task
from memorylab.world.jit import is_kept, is_on_disk
from memorylab.world.rng import SEED_BITS, following_seed, seed_of_game

MAX_PIXELS = 4096


def drawn_seed() -> int:
    """From the operating system."""
    return int.from_bytes(os.urandom(8)) >> (64 - SEED_BITS)


class EnvBatch:
    """`num_envs` games of a level, stepped together.

    Attributes that change in place at each step:
      records: (num_envs,) one game's state each; last_records: the same at the end of its latest finished episode.
      pictures, last_pictures: (num_envs, height, width, 3) uint8; `pictures` is for callers who have no own.
      rewards: float32; terminated, truncated: bool.
      info, last_info: what the task tells of `records` and `last_records`, as read-only views of them.
    """

    def __init__(self, spec: GameSpec, num_envs: int, threads: int | None = None):
        self.task = find_task(spec.task)
        check_level(spec.level)
        self.level = spec.level
        self.num_envs = positive("num_envs", num_envs)
        self.height, self.width = size = checked_size(spec.size)
        self.spec = replace(spec, size=size)
        threads = positive("threads", threads) if threads is not None else usable_cores()

        self.scales = self.task.scales_of(spec.level, **spec.scale)
        self.stimuli = self.load_stimuli()
        self.view = self.task.build_view(self.num_envs, self.width)
        self.scale_records = np.array([s.record() for s in self.scales], self.task.scale_record)

        self.records = np.zeros(self.num_envs, self.task.game)
        self.last_records = np.zeros(self.num_envs, self.task.game)
        self.pictures = np.zeros((self.num_envs, self.height, self.width, 3), np.uint8)
        self.last_pictures = np.zeros_like(self.pictures)
        self.rewards = np.zeros(self.num_envs, np.float32)
        self.terminated = np.zeros(self.num_envs, np.bool_)
        self.truncated = np.zeros(self.num_envs, np.bool_)
        self.everyone = np.ones(self.num_envs, np.bool_)
        self.begun = False
        self.frames_per_step = FRAMES_PER_STEP  # scripted players and the paper's agents count on this
        self.pool = ThreadPool(self.num_envs, threads)
        self.info, self.last_info = self.report(self.records), self.report(self.last_records)

    def load_stimuli(self) -> Any:
        """The packaged ones, which all batches of a process share, or a user's own."""
        source = None if self.spec.stimuli is None else Path(self.spec.stimuli)
        return self.task.load_stimuli(LEVELS[self.level].stimuli, self.width, source, self.scales)

    def __getstate__(self) -> dict[str, Any]:
        """Packaged stimuli are found where the copy is; `info` would be copied as arrays apart from the records."""
        left_out = {"info", "last_info"} | ({"stimuli"} if self.spec.stimuli is None else set())
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state
        if "stimuli" not in state:
            self.stimuli = self.load_stimuli()
        self.info, self.last_info = self.report(self.records), self.report(self.last_records)

    def __deepcopy__(self, memo: dict[int, Any]) -> "EnvBatch":
        """Within a process copies share the stimuli, a user's own too: they are only read."""
        memo[id(self.stimuli)] = self.stimuli
        copied = type(self).__new__(type(self))
        copied.__setstate__(deepcopy({**self.__getstate__(), "stimuli": self.stimuli}, memo))
        return copied

    def seed(self, seed: int | Sequence[int | None] | None) -> np.ndarray:
        """One seed a game, exact to the last bit: a game that is given none goes on with the one that follows."""
        if seed is None and not self.begun:
            seed = drawn_seed()
        if seed is not None and not isinstance(seed, (Sequence, np.ndarray)):
            check_seed(seed)
            return np.array([seed_of_game(np.uint64(seed), i) for i in range(self.num_envs)], np.uint64)
        given = [None] * self.num_envs if seed is None else seed
        if len(given) != self.num_envs:
            raise ValueError(f"{len(given)} seeds were given for {self.num_envs} games")
        for one in given:
            if one is not None:
                check_seed(one)
        return np.array([self.next_seed(i) if one is None else one for i, one in enumerate(given)], np.uint64)

    def next_seed(self, game: int) -> int:
        """Of the episode that follows this one."""
        return int(following_seed(self.records["seed"][game])) if self.begun else drawn_seed()

    def begin(
        self, seeds: np.ndarray, chosen: np.ndarray, pictures: np.ndarray, drawn: np.ndarray | None = None
    ) -> None:
        """Begin an episode in the chosen games; draw the pictures of all games, or of those that `drawn` marks."""
        self.begun = True
        self.rewards[chosen] = 0
        self.terminated[chosen] = False
        self.truncated[chosen] = False
        self.enter(seeds, chosen, self.everyone if drawn is None else drawn, pictures)

    def begun_records(self, seeds: np.ndarray) -> np.ndarray:
        """Games with these seeds as they begin, beside those that are played."""
        records, nobody = np.zeros(self.num_envs, self.task.game), ~self.everyone
        rows = self.pictures.reshape(self.num_envs, self.height, self.width * 3)  # in which nothing is drawn
        seeds = np.ascontiguousarray(seeds)
        self.run(
            self.task.begin,
            records, self.everyone, nobody, seeds, self.scale_records, self.stimuli, self.view, rows,
        )  # fmt: skip
        return records

    def draw(self) -> np.ndarray:
        """New pictures of all games as they stand."""
        pictures = np.empty_like(self.pictures)
        self.enter(np.zeros(self.num_envs, np.uint64), ~self.everyone, self.everyone, pictures)
        return pictures

    def enter(self, seeds: np.ndarray, chosen: np.ndarray, drawn: np.ndarray, pictures: np.ndarray) -> None:
        """The compiled part of both."""
        rows = pictures.reshape(self.num_envs, self.height, self.width * 3)
        self.run(
            self.task.begin,
            self.records, chosen, drawn, seeds, self.scale_records, self.stimuli, self.view, rows,
        )  # fmt: skip

    def step(self, actions: np.ndarray, pictures: np.ndarray, *, autoreset: bool) -> None:
        """One agent step of all games; with `autoreset` a game that ends begins anew at once."""
        shape = self.num_envs, self.height, self.width * 3
        self.run(
            self.task.step,
            self.records, self.last_records, actions, self.scale_records, self.stimuli, self.view,
            pictures.reshape(shape), self.last_pictures.reshape(shape),
            self.rewards, self.terminated, self.truncated, autoreset, self.frames_per_step,
        )  # fmt: skip

    def set_sticks(self, sticks: Any) -> None:
        """Strafe, move, look left-right and look down-up of every game, each from -1 to 1, until they are set anew."""
        values = np.asarray(sticks, np.float64)
        if values.shape != (self.num_envs, 4) or not (abs(values) <= 1).all():
            given = values[0].tolist() if values.shape == (1, 4) else f"an array of shape {values.shape}"
            raise ValueError(f"a continuous action must be four numbers from -1 to 1, not {given}")
        self.records["sticks"] = values

    def take_records(self, records: np.ndarray) -> None:
        """Go on as the games that these are; a picture comes with the next step, or by `draw`."""
        self.records[:] = records
        if "repaint" in (records.dtype.names or ()):
            self.records["repaint"] = 1  # what hangs on the panel is not part of a record
        self.begun = True

    def act(self, player: str, actions: np.ndarray) -> None:
        """What a scripted player does now, written to `actions`."""
        self.run(self.task.players[player], self.records, actions)

    def advise(self, teacher: str, advice: np.ndarray) -> None:
        """What a scripted player does now, or all that the task's own advice finds good, as bits of `advice`."""
        if teacher in self.task.players:
            self.act(teacher, advice)
            np.left_shift(1, advice, out=advice)
        else:
            self.run(self.task.advice, self.records, advice)

    def run(self, function: Any, *arguments: Any) -> None:
        """A compiled function over all games, on all threads."""
        if not function.overloads:
            announce_compiling(self.task.name, function)
            function(*arguments, 0, 0)  # compiled before any game moves: it may be interrupted
        self.pool.run(partial(function, *arguments))

    def report(self, records: np.ndarray) -> dict[str, np.ndarray]:
        """What `info` tells, as read-only views of the records; seeds as the plain integers they are."""
        views = {name: records[field] for name, field in self.task.report.items()}
        views = {name: view.view(np.int64) if view.dtype == np.uint64 else view for name, view in views.items()}
        for view in views.values():
            view.flags.writeable = False
        return views


def announce_compiling(task: str, function: Any) -> None:
    """A first use compiles for some seconds; say so once, unless the cache on disk has it."""
    if function.__name__ == "begin" and not is_on_disk(function):
        when = (
            "for its first use on this machine"
            if is_kept(function)
            else "(NUMBA_CACHE_DIR can name a place to keep it)"
        )
        print(f"memorylab: compiling {task} {when} ...", file=sys.stderr, flush=True)


def positive(name: str, value: Any) -> int:
    """The value, or one sentence."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be a whole number, 1 or more, not {value!r}")
    return int(value)


def checked_size(size: Any, name: str = "size") -> tuple[int, int]:
    """Height and width, or one sentence."""
    problem = f"{name} must be (height, width), two whole numbers from 8 to {MAX_PIXELS}, not {size!r}"
    if not isinstance(size, Sequence) or len(size) != 2:
        raise ValueError(problem)
    for side in size:
        if isinstance(side, bool) or not isinstance(side, (int, np.integer)) or not 8 <= side <= MAX_PIXELS:
            raise ValueError(problem)
    return int(size[0]), int(size[1])


def check_seed(seed: Any) -> None:
    """Or one sentence."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**SEED_BITS:
        raise ValueError(f"a seed must be a whole number from 0 to 2**{SEED_BITS} - 1, not {seed!r}")
