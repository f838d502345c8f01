"""Verbs of what a run leaves behind: zoo, zoo-add, slim."""

from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from memorylab.cli.laboratory import EVALUATION_SEED
from memorylab.cli.tables import card_table, errors, print_rows, print_table, progress, scores_table, zoo_table
from memorylab.cli.verbs import Flag, at_least_one, from_signatures, needs_agent
from memorylab.laboratory.zoo import HEADER, PREFIX, ZOO, Card, cards, entry, markdown_row, read_card
from memorylab.runs.files import check_writable
from memorylab.tasks.levels import LEVELS

Run = Annotated[Positional[Path], tyro.conf.arg(metavar="RUN")]
AgentName = Annotated[Positional[str | None], tyro.conf.arg(metavar="TASK/MODEL")]


def zoo(agent: AgentName = None, folder: Path = ZOO, json: Flag = False) -> None:
    """Trained agents that come with the package: all of them, or the card of one.

    Args:
        agent: One of them, such as avm/mra: its card.
        folder: Another zoo than the package's.
        json: Print JSON instead of a table.
    """
    found = [read_card(entry(agent, folder) / "card.json")] if agent else cards(folder)
    if not found and not json:
        raise ValueError(f"there is no trained agent in {folder} yet; memorylab zoo-add RUN puts one there")
    if json or not agent:
        print_rows(found, json, False, zoo_table)
    else:
        print_table(card_table(found[0]))
        print_table(scores_table(found[0]))


def zoo_add(run: Run, step: str = "snapshot", episodes: int = 64, replace: Flag = False, folder: Path = ZOO) -> None:
    """Put the agent of a run into the zoo as TASK/MODEL: its weights, its records and a card with nine levels' scores.

    Args:
        run: Folder of a run.
        step: Which weights: snapshot (where the training score was best), last or the number of a step.
        episodes: Episodes per level.
        replace: In the place of the agent that is there under this name.
        folder: Another zoo than the package's.
    """
    at_least_one("episodes", episodes)
    check_writable(folder)
    trained = needs_agent("memorylab.learning.trained").load_trained(run, step)
    making = needs_agent("memorylab.laboratory.zoo_entry")
    name = making.entry_name(trained)
    making.check_place(name, folder, replace)
    rows = nine_levels(trained, name, episodes)
    card: Card = making.make_entry(trained, folder, rows, step, episodes, EVALUATION_SEED)
    errors.print(
        f"{folder / name}, {card.megabytes} MB; watch it: memorylab watch {watched(name, folder)}", soft_wrap=True
    )
    print("\n".join((*HEADER, markdown_row(card))))


def watched(name: str, folder: Path) -> str:
    """How `watch` is told of it."""
    return f"{PREFIX}{name}" if folder == ZOO else str(folder / name)


def nine_levels(trained: Any, name: str, episodes: int) -> list[Any]:
    """A line for each level that is done, and a bar on a terminal."""
    lab, sums = needs_agent("memorylab.laboratory.evaluate"), needs_agent("memorylab.laboratory.evaluations")
    rows: list[Any] = []
    with progress() as bar:
        work = bar.add_task(name, total=len(LEVELS))
        played = lab.evaluated(
            trained, list(LEVELS), trained.game("train"), (), episodes, EVALUATION_SEED, on_step=bar.refresh
        )
        for of_level in played:
            (row,) = sums.summed_up(of_level, trained.task.name)
            rows.append(row)
            bar.advance(work)
            errors.print(f"{name} {row.level}: {row.mean:.2f} ({row.low:.2f} to {row.high:.2f})", highlight=False)
    return rows


def slim(run: Run, out: Path | None = None) -> None:
    """A small copy of a run: weights, moments and records without its games, of which new ones begin when it goes on.

    Args:
        run: Folder of a run.
        out: Folder to write; RUN-slim if not given.
    """
    made = out or run.with_name(f"{run.resolve().name}-slim")
    check_writable(made.parent)
    slimming = needs_agent("memorylab.runs.slim")
    step = slimming.slim(run, made)
    errors.print(f"step {step:,}, {slimming.size(made):.1f} MB instead of {slimming.size(run):.1f}", highlight=False)
    print(made)


VERBS = from_signatures({"zoo": zoo, "zoo-add": zoo_add, "slim": slim})
