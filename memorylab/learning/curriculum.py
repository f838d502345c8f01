"""A curriculum: shorter or easier settings of a task's own scale keyword first, the true level last."""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from memorylab.envs.scripted import play_episodes
from memorylab.envs.spec import GameSpec
from memorylab.learning.config import CurriculumConfig
from memorylab.learning.trajectory import Episode
from memorylab.tasks.task import find_task


class Curriculum:
    """Which stage training is in; moves on by the scores of the episodes it is told of."""

    def __init__(self, game: GameSpec, config: CurriculumConfig, stage: int = 0, scores: Sequence[float] = ()):
        self.game, self.config, self.stage = game, config, stage
        self.scores: deque[float] = deque(scores, maxlen=config.episodes)
        self.goal = self.stage_goal()

    @property
    def is_over(self) -> bool:
        """Whether the true level is played; who sets the keyword plays it from the start."""
        return self.stage >= len(self.config.stages) or self.config.keyword in self.game.scale

    def keywords(self) -> dict[str, Any]:
        """What this stage changes of the training level."""
        if self.is_over:
            return {}
        return find_task(self.game.task).setting(self.config.keyword, self.config.stages[self.stage])

    def text(self) -> str:
        """The stage in words."""
        return "true level" if self.is_over else f"{self.config.keyword} {self.config.stages[self.stage]}"

    def stage_goal(self) -> float:
        """The mean score that passes this stage: a share of the remembering player's."""
        if self.is_over:
            return float("inf")
        scale = {**self.game.scale, **self.keywords()}
        scores, _ = play_episodes(self.game.task, self.game.level, "remembering", episodes=32, seed=0, **scale)
        return self.config.share * float(scores.mean())

    def tell(self, episodes: Sequence[Episode]) -> bool:
        """Count these episodes; True if the stage was passed."""
        self.scores.extend(episode.score for episode in episodes)
        if len(self.scores) < self.config.episodes or np.mean(self.scores) < self.goal:
            return False
        self.stage += 1
        self.scores.clear()
        self.goal = self.stage_goal()
        return True
