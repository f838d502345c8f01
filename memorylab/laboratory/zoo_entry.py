"""An agent of the zoo from the folder of a run: its weights, its records and a card."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from memorylab.laboratory.evaluations import Evaluation
from memorylab.laboratory.zoo import Card, LevelScore, read_card, write_card
from memorylab.learning.trained import Trained
from memorylab.runs import RunFolder
from memorylab.runs.checkpoints import save_checkpoint
from memorylab.runs.config import NO_TEACHER, model_name, trained_by
from memorylab.runs.slim import copy_records, size, whole_folder
from memorylab.runs.tables import read_rows, replace_rows
from memorylab.runtime.retold import train_command
from memorylab.version import __version__

MOST_METRICS = 300  # rows: enough for a curve


def entry_name(trained: Trained) -> str:
    """Its place in the zoo, or one sentence."""
    config, model = trained.config, str(trained.config["model"])
    if config.get("stimuli") or config.get("scale"):
        raise ValueError(f"{trained.folder} was trained with --stimuli or --scale of its own; the zoo has none such")
    if not re.fullmatch(r"\w[\w+.-]*", model):
        raise ValueError(f"an agent's model is a word such as mra or lstm+cpc, not {model!r}")
    return f"{trained.task.short}/{model}"


def check_place(name: str, zoo: Path, replace: bool) -> None:
    """Or one sentence, before anything is computed."""
    file = RunFolder(zoo / name).card
    if file.exists() and not replace:
        there = read_card(file)
        score = f"{there.score('train').mean:.2f} on train after {there.step:,} steps"
        raise ValueError(f"{name} is in the zoo already, with {score}; give --replace to put this one in its place")


def make_entry(
    trained: Trained, zoo: Path, rows: Sequence[Evaluation], step: str, episodes: int, evaluation_seed: int
) -> Card:
    """The folder in the zoo, whole or not at all."""
    name = entry_name(trained)
    with whole_folder(zoo / name) as folder:
        copy_records(trained.folder, folder, ("config.json", "metrics.csv", "scores.csv"))
        thin_metrics(folder)
        weights = {f"agent.{part}": tensor for part, tensor in trained.agent.state_dict().items()}
        save_checkpoint(RunFolder(folder).snapshot, trained.step, weights, {})
        card = card_of(trained, name, rows, step, episodes, evaluation_seed, size(folder))
        write_card(RunFolder(folder).card, card)
    return card


def thin_metrics(folder: Path) -> None:
    """Every so-manyth row, the last one too."""
    rows = read_rows(folder / "metrics.csv")
    kept = rows[:: -(-len(rows) // MOST_METRICS) or 1]
    replace_rows(folder / "metrics.csv", kept + [row for row in rows[-1:] if row is not kept[-1]])


def card_of(
    trained: Trained, name: str, rows: Sequence[Evaluation], step: str, episodes: int, seed: int, megabytes: float
) -> Card:
    """All that the run and its evaluation tell."""
    config, called = trained.config, model_name(trained.config)
    scores = (LevelScore(e.level, e.mean, e.low, e.high, e.human_normalised, e.memory_score) for e in rows)
    return Card(
        name=name,
        task=trained.task.name,
        model=config["model"],
        called=called,
        taught=called != config["model"],
        teacher=NO_TEACHER if called == config["model"] else config["teacher"],
        step=trained.step,
        weights=step,
        minutes=minutes_until(trained.folder, trained.step),
        seed=config["seed"],
        preset=config["preset"],
        parameters=sum(part.numel() for part in trained.agent.parameters()),
        megabytes=round(megabytes, 2),
        command=train_command(config, minutes_in_all(trained)),
        trained_by=trained_by(trained.folder),
        evaluated_by=__version__,
        date=datetime.now(UTC).date().isoformat(),
        episodes=episodes,
        evaluation_seed=seed,
        levels=tuple(scores),
    )


def clock(folder: Path) -> np.ndarray:
    """(n, 2): steps, and seconds of training until then."""
    rows = RunFolder(folder).read_metrics()
    return np.array([(0.0, 0.0), *((float(row["step"]), float(row["seconds"])) for row in rows)])


def minutes_until(folder: Path, step: int) -> float | None:
    """None where metrics.csv does not say."""
    steps, seconds = clock(folder).T
    return round(float(np.interp(step, steps, seconds)) / 60, 1) if len(steps) > 1 else None


def minutes_in_all(trained: Trained) -> float | None:
    """None for a run that its steps ended, not its minutes."""
    step, seconds = clock(trained.folder)[-1]
    return None if step >= trained.config["steps"] or not seconds else float(seconds) / 60
