import importlib

import numpy as np
import pytest

from memorylab.envs.single import MemoryEnv
from memorylab.tasks.psychlab import trial
from memorylab.tasks.task import PACKAGED


class Table:
    """One game whose gaze a test places by hand, frame by frame."""

    def __init__(self, task, level="train", **options):
        self.env = MemoryEnv(task, level, **options)
        self.env.reset(seed=options.get("seed", 0))
        self.task = self.env.batch.task
        self.module = importlib.import_module(f"memorylab.tasks.{PACKAGED[self.task.short]}")
        self.rules = self.task.step.py_func.__globals__["rules"]

    @property
    def game(self):
        return self.env.batch.records[0]

    def look(self, u: float, v: float, frames: int = 1) -> float:
        """Hold the gaze at (u, v) of the panel; returns the reward."""
        games = self.env.batch
        games.records["yaw"] = yaw = np.degrees(np.arctan((u - 0.5) * 112 / 90))
        games.records["pitch"] = np.degrees(np.arctan((0.5 - v) * 112 / 90 * np.cos(np.radians(yaw))))
        nothing = self.task.actions.index("nothing")
        return sum(
            self.rules.play_frame(games.records[0], nothing, games.scale_records[0], games.stimuli)
            for _ in range(frames)
        )

    def begin_trial(self) -> None:
        while self.game["phase"] == self.rules_phase("REST"):
            self.look(0.3, 0.3)
        self.look(0.5, 0.5)

    def rules_phase(self, name: str) -> int:
        return getattr(self.module, name) if hasattr(self.module, name) else getattr(trial, name)

    def in_phase(self, name: str) -> bool:
        return self.game["phase"] == self.rules_phase(name)

    def press(self, button: int) -> float:
        """Look at a button, then away; returns the reward."""
        x, y = self.module.BUTTONS[button]
        assert self.look(x, y) == 0
        return self.look(0.3, 0.3)

    def shown(self) -> np.ndarray:
        """The panel as (size, size, 3)."""
        games = self.env.batch
        games.records["repaint"] = 1
        picture = games.pictures.reshape(1, games.height, -1)[0]
        self.rules.draw(games.records[0], 0, games.view, games.stimuli, picture)
        colours = trial.canvas_of(games.view, 0).astype(np.int64)
        return np.stack([colours & 255, colours >> 8 & 255, colours >> 16], -1)

    def colour_at(self, u: float, v: float) -> tuple:
        panel = self.shown()
        return tuple(panel[int(v * len(panel)), int(u * len(panel))].tolist())


@pytest.fixture
def sit_at():
    return Table
