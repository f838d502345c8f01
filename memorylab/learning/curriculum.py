"""A curriculum: shorter or easier settings of a task's own scale keywords first, the true level last."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from memorylab.envs.scripted import play_episodes
from memorylab.envs.spec import GameSpec, scale_texts
from memorylab.learning.config import CurriculumConfig
from memorylab.learning.trajectory import Episode


class Curriculum:
    """Which stage training is in; moves on by the scores of the episodes it is told of."""

    def __init__(
        self, game: GameSpec, config: CurriculumConfig, stage: int = 0, scores: Sequence[float] = (), steps: int = 0
    ):
        self.game, self.config, self.stage, self.steps = game, config, stage, steps
        self.stages = config.scales(game.task, game.scale)
        self.scores: deque[float] = deque(scores, maxlen=config.episodes)
        self.goal = self.stage_goal()

    @property
    def is_over(self) -> bool:
        """Whether the true level is played."""
        return self.stage >= len(self.stages)

    def keywords(self) -> dict[str, Any]:
        """What this stage changes of the training level."""
        return {} if self.is_over else self.stages[self.stage]

    def text(self) -> str:
        """The stage in words."""
        return "true level" if self.is_over else " ".join(scale_texts(self.keywords())).replace("=", " ")

    def stage_goal(self) -> float:
        """The mean score that passes this stage: a share of the remembering player's."""
        if self.is_over:
            return float("inf")
        scale = {**self.game.scale, **self.keywords()}
        scores, _ = play_episodes(self.game.task, self.game.level, "remembering", episodes=32, seed=0, **scale)
        return self.config.share * float(scores.mean())

    def tell(self, episodes: Sequence[Episode], steps: int) -> bool:
        """Count these episodes and steps; True if the stage is over."""
        self.steps += steps
        self.scores.extend(episode.score for episode in episodes)
        if self.is_over or not (self.is_passed() or 0 < self.config.patience <= self.steps):
            return False
        self.stage, self.steps = self.stage + 1, 0
        self.scores.clear()
        self.goal = self.stage_goal()
        return True

    def is_passed(self) -> bool:
        """Whether the last episodes reach the goal."""
        return len(self.scores) >= self.config.episodes and float(np.mean(self.scores)) >= self.goal

    def state_dict(self) -> dict[str, Any]:
        """What a curriculum of the same settings is made with to go on from here."""
        return {"stage": self.stage, "scores": list(self.scores), "steps": self.steps}
