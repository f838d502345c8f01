"""IMPALA's parts: V-trace, losses, actor, learner, evaluation, checkpoints. Each runs in one process by itself.

They are imported when they are asked for: scores can be read without PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

MODULES = {
    "actor": ("Actor", "BatchedEnv", "Player", "Rollout"),
    "config": ("CurriculumConfig", "LearnerConfig", "TrainConfig"),
    "evaluation": ("evaluate", "play_episodes"),
    "learner": ("Learner",),
    "presets": ("preset_config",),
    "trained": ("Trained", "load_trained"),
    "trajectory": ("Episode", "Trajectory"),
}


def __getattr__(name: str) -> Any:
    for module, names in MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
