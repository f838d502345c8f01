"""Anybody's agent in the same report: wrappers that write a run's `scores.csv` from any Gymnasium or dm_env loop."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from memorylab.runs.folder import RunFolder
from memorylab.runs.scores import ScoreRow

NUMBERS = ("scale", "score", "length", "seed")  # of an episode, in the order of a row


@runtime_checkable
class RecordableGame(Protocol):
    """What a recorder needs of an environment; those of memorylab have it."""

    batch: Any  # has a `task` with a name and a short name, and a `level`

    def facts(self) -> dict[str, Any]:
        """Scale, score, length and seed of the episode, among others."""
        ...


class ScoreRecorder:
    """A run of one agent on one task, for `memorylab report`.

    `train` environments count their steps; `holdout` ones, on whatever level, are recorded at the step that training
    has reached. Every episode that ends is a row. `settings` are what sets your runs apart, for config.json.
    The folder is begun with the first environment; rows of an earlier recording in it are dropped.
    """

    def __init__(self, folder: str | Path, task: str, model: str, seed: int = 0, **settings: Any):
        self.folder = RunFolder(Path(folder))
        self.task, self.step = task, 0
        self.config = {"model": model, "seed": seed, **settings}
        self.is_begun = False

    def gymnasium(self, env: gymnasium.Env, counts: bool = True) -> gymnasium.Env:
        """The same environment, recorded; `counts=False` where the agent is tested, not trained."""
        if not isinstance(env.unwrapped, RecordableGame):
            raise ValueError(f"only environments of memorylab have levels to record, not {env.unwrapped}")
        self.begin(env.unwrapped)
        return RecordedEnv(env, self, counts)

    def vector(self, envs: VectorEnv, counts: bool = True) -> VectorEnv:
        """The same for many games of `make_vec`, whatever their autoreset mode; each game's steps count."""
        if not hasattr(envs.unwrapped, "batch"):
            raise ValueError(f"only environments of memorylab have levels to record, not {envs.unwrapped}")
        self.begin(envs.unwrapped)
        return RecordedVectorEnv(envs, self, counts)

    def dm_env(self, env: Any, counts: bool = True) -> Any:
        """The same for a DmMemoryEnv."""
        self.begin(env.env)
        return RecordedDmEnv(env, self, counts)

    def begin(self, game: Any) -> None:
        """Config.json with the task's full name, if this game is of the recorder's task."""
        task = game.batch.task
        if self.task not in (task.name, task.short):
            raise ValueError(f"this recorder is for {self.task}, not {task.name}")
        if not self.is_begun:
            self.folder.open({"task": task.name, **self.config})
            self.folder.cut_after(-1, -1)  # a recorded run has no checkpoint of ours to go on from
            self.is_begun = True

    def add(self, game: RecordableGame) -> None:
        """One finished episode."""
        self.add_rows(game.batch.level, [game.facts()])

    def add_rows(self, level: str, episodes: Iterable[Mapping[str, Any]]) -> None:
        """Finished episodes, by what is told of them."""
        numbers = [[facts[name] for name in NUMBERS] for facts in episodes]
        self.folder.add_scores([ScoreRow(self.step, level, *row) for row in numbers])


class RecordedEnv(gymnasium.Wrapper):
    """An environment whose episodes become rows."""

    def __init__(self, env: gymnasium.Env, recorder: ScoreRecorder, counts: bool):
        super().__init__(env)
        self.recorder, self.counts = recorder, counts

    def step(self, action: Any) -> tuple:
        """The environment's own, noted."""
        result = super().step(action)
        self.recorder.step += self.counts
        if result[2] or result[3]:
            self.recorder.add(self.env.unwrapped)  # type: ignore[arg-type]
        return result


class RecordedVectorEnv(VectorWrapper):
    """Many games whose episodes become rows."""

    def __init__(self, envs: VectorEnv, recorder: ScoreRecorder, counts: bool):
        super().__init__(envs)
        self.recorder, self.counts = recorder, counts
        self.has_autoreset = envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
        self.over = np.zeros(envs.num_envs, bool)

    def reset(self, **options: Any) -> tuple:
        """The environment's own."""
        self.over[:] = False
        envs: Any = self.env
        return envs.reset(**options)

    def step(self, actions: Any, **options: Any) -> tuple:
        """The environment's own, noted. Steps that only begin an episode, in NEXT_STEP, do not count."""
        envs: Any = self.env
        result = envs.step(actions, **options)
        _, _, terminated, truncated, info = result
        self.recorder.step += int((~self.over).sum()) * self.counts
        ended = terminated | truncated
        self.over = ended & (not self.has_autoreset)
        facts = info["final_info"] if self.has_autoreset and ended.any() else info
        rows = [{name: facts[name][game].item() for name in NUMBERS} for game in np.flatnonzero(ended)]
        self.recorder.add_rows(envs.unwrapped.batch.level, rows)
        return result


class RecordedDmEnv:
    """The same for dm_env; hands everything else on to the environment."""

    def __init__(self, env: Any, recorder: ScoreRecorder, counts: bool):
        self.env, self.recorder, self.counts = env, recorder, counts

    def step(self, action: Any) -> Any:
        """The environment's own, noted."""
        time_step = self.env.step(action)
        if not time_step.first():  # which ignores its action
            self.recorder.step += self.counts
        if time_step.last():
            self.recorder.add(self.env.env)
        return time_step

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)
