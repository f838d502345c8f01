"""Verbs that train: train, ablate, presets."""

from collections.abc import Sequence

from memorylab.cli.tables import print_rows, settings_table
from memorylab.cli.verbs import AllTasks, Flag, chosen_tasks, from_signatures, needs_agent


def train(arguments: Sequence[str]) -> None:
    """Train an agent on a task."""
    needs_agent("memorylab.runtime.command").train(arguments)  # its task, model and preset decide the other defaults


def ablate(arguments: Sequence[str]) -> None:
    """Train models x tasks x seeds and report them."""
    needs_agent("memorylab.laboratory.ablate").ablate(arguments)  # what it does not know itself is train's


def presets(tasks: AllTasks, preset: str = "paper", model: str = "mra", json: Flag = False, csv: Flag = False) -> None:
    """The hyper-parameters of a preset: what all tasks share, and what differs from task to task.

    Args:
        preset: paper or laptop.
        model: For which of the ten models.
        json: Print JSON instead of a table.
        csv: Print CSV instead of a table.
    """
    names = chosen_tasks(tasks)
    rows = needs_agent("memorylab.laboratory.settings").settings(names, model, preset)
    print_rows(rows, json, csv, lambda found: settings_table(found, f"{model}, preset {preset}"))


VERBS = {"train": train, "ablate": ablate, **from_signatures({"presets": presets})}
