"""memorylab: thirteen first-person memory tasks, the agent that recalls, and the laboratory that measures."""

from memorylab.envs.making import make, make_vec, register_all
from memorylab.tasks.levels import LEVELS as _LEVELS
from memorylab.tasks.task import TASKS

LEVELS = tuple(_LEVELS)

__all__ = ["LEVELS", "TASKS", "make", "make_vec"]
__version__ = "0.1.0"

register_all()
