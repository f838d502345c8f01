"""memorylab: thirteen first-person memory tasks, the agent that recalls, and the laboratory that measures."""

try:
    from memorylab.envs.registration import make, make_vec, register_all, register_task
    from memorylab.tasks.levels import LEVELS as _LEVELS
    from memorylab.tasks.task import TASKS
    from memorylab.version import __version__
except KeyboardInterrupt:  # these imports take a second or two
    from memorylab.mistakes import end_command

    end_command()
    raise

LEVELS = tuple(_LEVELS)

__all__ = ["LEVELS", "TASKS", "__version__", "make", "make_vec", "register_task"]

register_all()
