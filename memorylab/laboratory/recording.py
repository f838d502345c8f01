"""Anybody's agent in the same report: wrappers that write a run's `scores.csv` from any Gymnasium or dm_env loop."""

from pathlib import Path
from typing import Any

import gymnasium

from memorylab.envs.single import MemoryEnv
from memorylab.learning.run_folder import RunFolder
from memorylab.tasks.task import find_task


class ScoreRecorder:
    """A run of one agent on one task, for `memorylab report`.

    `train` environments count their steps; `holdout` ones, on whatever level, are recorded at the step that training
    has reached. Every episode that ends is a row. `settings` are what sets your runs apart, for config.json.
    """

    def __init__(self, folder: str | Path, task: str, model: str, seed: int = 0, **settings: Any):
        self.folder = RunFolder(Path(folder))
        self.task, self.step = find_task(task).name, 0
        self.folder.open({"task": self.task, "model": model, "seed": seed, **settings})
        self.folder.cut_after(-1, -1)  # a recorded run has no checkpoint of ours to go on from

    def gymnasium(self, env: gymnasium.Env, counts: bool = True) -> gymnasium.Env:
        """The same environment, recorded; `counts=False` where the agent is tested, not trained."""
        if not isinstance(env.unwrapped, MemoryEnv):
            raise ValueError(f"only environments of memorylab have levels to record, not {env.unwrapped}")
        self.check(env.unwrapped)
        return RecordedEnv(env, self, counts)

    def dm_env(self, env: Any, counts: bool = True) -> Any:
        """The same for a DmMemoryEnv."""
        self.check(env.env)
        return RecordedDmEnv(env, self, counts)

    def check(self, game: MemoryEnv) -> None:
        if game.games.task.name != self.task:
            raise ValueError(f"this recorder is for {self.task}, not {game.games.task.name}")

    def add(self, game: MemoryEnv) -> None:
        """One finished episode."""
        facts = game.facts()
        row = {"step": self.step, "level": game.games.level, "scale": facts["scale"], "return": facts["score"],
               "length": facts["length"], "seed": facts["seed"]}  # fmt: skip
        self.folder.append(self.folder.scores, [row])


class RecordedEnv(gymnasium.Wrapper):
    def __init__(self, env: gymnasium.Env, recorder: ScoreRecorder, counts: bool):
        super().__init__(env)
        self.recorder, self.counts = recorder, counts

    def step(self, action: Any) -> tuple:
        result = super().step(action)
        self.recorder.step += self.counts
        if result[2] or result[3]:
            self.recorder.add(self.env.unwrapped)  # type: ignore[arg-type]
        return result


class RecordedDmEnv:
    """Hands everything else on to the environment."""

    def __init__(self, env: Any, recorder: ScoreRecorder, counts: bool):
        self.env, self.recorder, self.counts = env, recorder, counts

    def step(self, action: Any) -> Any:
        time_step = self.env.step(action)
        if not time_step.first():  # which ignores its action
            self.recorder.step += self.counts
        if time_step.last():
            self.recorder.add(self.env.env)
        return time_step

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)
