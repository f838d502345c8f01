"""Scores in the form that rliable takes (Agarwal et al. 2021): for each model a matrix of runs x tasks."""

import json
from pathlib import Path
from typing import Any

from memorylab.laboratory.findings import Findings
from memorylab.runs.files import replacing
from memorylab.tasks.levels import PAPER_LEVELS


def export(f: Findings) -> Path | None:
    """`tables/rliable.json`; None if no level has a task with human-normalised scores of all its models."""
    found = {level: matrices for level in PAPER_LEVELS if (matrices := score_matrices(f, level))}
    if not found:
        return None
    file = f.out / "tables" / "rliable.json"
    with replacing(file) as temporary:
        temporary.write_text(json.dumps(found, indent=1) + "\n")
    return file


def score_matrices(f: Findings, level: str) -> dict[str, Any]:
    """Its `scores` are rliable's dictionary. A matrix has no gaps: tasks that not all models have are left out, and
    seeds that a model does not have on all of these tasks."""
    of_model = {model: f.tasks_of(model, level) for model in f.models}
    models = [model for model, tasks in of_model.items() if tasks]
    tasks = [task for task in f.tasks if all(task in of_model[model] for model in models)]
    if not tasks or not models:
        return {}
    scores = {}
    for model in models:
        columns = f.strata(model, level, tasks)
        runs = min(map(len, columns))
        scores[model] = [[float(column[run]) for column in columns] for run in range(runs)]
    left_out = [task for task in f.tasks if task not in tasks]
    return {"tasks": tasks, "left_out": left_out, "unit": "human-normalised, %", "scores": scores}
