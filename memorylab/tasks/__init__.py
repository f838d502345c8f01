"""The games: rules only, with their levels as data, their stimuli and their scripted players."""

from memorylab.tasks.task import Scale, Task, find_task, task_names

__all__ = ["Scale", "Task", "find_task", "task_names"]
