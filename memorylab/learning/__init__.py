"""IMPALA's parts: V-trace, losses, actor, learner, evaluation, checkpoints. Each runs in one process by itself."""

from memorylab.learning.actor import Actor, BatchedEnv, Player, Rollout
from memorylab.learning.config import CurriculumConfig, LearnerConfig, TrainConfig
from memorylab.learning.evaluation import evaluate, play_episodes
from memorylab.learning.learner import Learner
from memorylab.learning.presets import preset_config
from memorylab.learning.trained import Trained, load_trained
from memorylab.learning.trajectory import Episode, Trajectory

__all__ = [
    "Actor",
    "BatchedEnv",
    "CurriculumConfig",
    "Episode",
    "Learner",
    "LearnerConfig",
    "Player",
    "Rollout",
    "TrainConfig",
    "Trained",
    "Trajectory",
    "evaluate",
    "load_trained",
    "play_episodes",
    "preset_config",
]
