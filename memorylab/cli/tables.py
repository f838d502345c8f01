"""Rows for people and for programs: tables, CSV, JSON, and a progress bar."""

import csv as csv_module
import io
import json as json_module
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import rich
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Column, Table

from memorylab.laboratory.baseline import Baseline
from memorylab.laboratory.bench import Speed
from memorylab.laboratory.zoo import Card
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import find_task

errors = Console(stderr=True)
WIDEST = 1000  # columns of a table that nothing limits
STARTING = "getting ready; what is new is compiled, which can take a minute"


def right(header: str) -> Any:
    """A column of numbers."""
    return rich.table.Column(header, justify="right")


def print_table(table: Table, console: Console | None = None) -> None:
    """As wide as it is, or as narrow as the terminal."""
    console = console or rich.get_console()
    console.print(table if full_width(table, console) <= console.width else narrowed(table, console))


def narrowed(table: Table, console: Console) -> Table:
    """Without lines; numbers and the words above them stay whole, names are folded if nothing else helps."""
    table.box, table.padding, table.pad_edge, table.show_edge = None, (0, 1, 0, 0), False, False
    for keeps_cells in (True, False):
        for column in table.columns:
            column.overflow = "fold"
            if column.justify == "right":
                column.width = number_width(column, keeps_cells)
        if full_width(table, console) <= console.width:
            return table
    for column in table.columns:
        column.no_wrap = False
    return table


def number_width(column: Column, keeps_cells: bool) -> int:
    """Of its longest word; of its longest cell, if cells are to stay on one line."""
    words = [word for cell in (column.header, *column.cells) for word in str(cell).split()]
    return max(map(len, (*words, *map(str, column.cells)) if keeps_cells else words), default=1)


def full_width(table: Table, console: Console) -> int:
    """In columns of a terminal that has enough of them."""
    return console.measure(table, options=console.options.update(max_width=WIDEST)).maximum


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Says so while it lasts: on a terminal until it is done, elsewhere as a line."""
    if errors.is_terminal:
        with errors.status(what):
            yield
    else:
        errors.print(f"{what} ...", highlight=False, soft_wrap=True)
        yield


def progress() -> Progress:
    """A bar on a terminal; nothing elsewhere."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


def baseline_table(rows: list[Baseline]) -> Table:
    """Scripted players beside the paper."""
    table = Table(
        "task",
        "level",
        "player",
        *map(right, ("score", "±", "Random", "Human", "agent")),
        caption="±: standard error. Random, Human and best agent: the paper's",
    )
    for row in rows:
        table.add_row(
            find_task(row.task).short,
            row.level,
            row.player,
            f"{row.mean:.3f}",
            f"{row.standard_error:.3f}",
            *("" if value is None else f"{value:.2f}" for value in (row.paper_random, row.paper_human, row.paper_best)),
        )
    return table


def human_table(rows: list[Any]) -> Table:
    """What people scored; of a changed level, what was changed."""
    table = Table("task", "level", *map(right, ("score", "± s.e.", "n")), "source")
    for row in rows:
        numbers = f"{row.mean:.3f}", f"{row.standard_error:.3f}", str(row.n)
        table.add_row(find_task(row.task).short, f"{row.level} {row.own}".strip(), *numbers, row.source)
    return table


def speed_table(rows: list[Speed]) -> Table:
    """Steps a second of each task."""
    one = rows[0]
    title = f"{one.num_envs} games, {one.threads} threads, {one.height} x {one.width}, steps/s"
    table = Table("task", *map(right, ("random", "remembering", "copying", "random/copying", "one Env")), title=title)
    for row in rows:
        rates = row.random_steps_per_second, row.remembering_steps_per_second, row.copies_per_second
        table.add_row(
            find_task(row.task).short,
            *(f"{rate:,.0f}" for rate in rates),
            f"{row.share_of_copying:.1%}",
            f"{row.single_env_steps_per_second:,.0f}",
        )
    return table


def evaluation_table(rows: list[Any]) -> Table:
    """A trained agent, setting by setting."""
    table = Table("level", "scale", *map(right, ("score", "95 % interval", "human, %", "memory, %", "episodes")))
    table.title = f"step {rows[0].step:,}"
    table.caption = "human: 0 = the paper's Random, 100 = its Human; memory: 0 = forgetting, 100 = remembering player"
    for row in rows:
        table.add_row(
            row.level,
            scale_of(row) or "as the level says",
            f"{row.mean:.3f}",
            "" if math.isnan(row.low) else f"{row.low:.3f} to {row.high:.3f}",  # of one episode there is none
            *("" if value is None else f"{value:.1f}" for value in (row.human_normalised, row.memory_score)),
            str(row.episodes),
        )
    return table


def scale_of(row: Any) -> str:
    """What was swept, or changed, or both."""
    return row.value if row.value.startswith(f"{row.keyword}=") else f"{row.keyword} {row.value}".strip()


def zoo_table(rows: list[Card]) -> Table:
    """The agents of the zoo."""
    table = Table(
        Column("agent", no_wrap=True), "taught by", *(right(level.replace("_", " ")) for level in PAPER_LEVELS)
    )
    table.add_column("memory, %", justify="right")
    table.add_column("min", justify="right")
    table.caption = "±: half of a 95 % interval; memory: of train, 0 = forgetting, 100 = remembering player"
    for card in rows:
        scores = (card.score(level) for level in PAPER_LEVELS)
        short = (f"{score.mean:.3g} ±{score.high - score.mean:.2g}" for score in scores)
        memory, minutes = card.score("train").memory_score, card.minutes
        percent, time = ("" if number is None else f"{number:.0f}" for number in (memory, minutes))
        table.add_row(card.name, card.teacher if card.taught else "nobody", *short, percent, time)
    return table


def card_table(card: Card) -> Table:
    """What is known of an agent but its scores."""
    table = Table("", card.name, show_header=False)
    for name, value in card.facts().items():
        table.add_row(name, value)
    return table


def scores_table(card: Card) -> Table:
    """What it scored on the nine levels."""
    table = Table("level", *map(right, ("score", "95 % interval", "human, %", "memory, %")))
    table.caption = f"{card.episodes} episodes a level, seed {card.evaluation_seed}"
    for score in card.levels:
        percents = score.human_normalised, score.memory_score
        table.add_row(
            score.level,
            f"{score.mean:.3f}",
            f"{score.low:.3f} to {score.high:.3f}",
            *("" if percent is None else f"{percent:.1f}" for percent in percents),
        )
    return table


def settings_table(rows: list[Any], title: str) -> Table:
    """A preset; a setting is named once."""
    table = Table("setting", "value", "tasks", title=title)
    for before, row in zip([None, *rows], rows, strict=False):
        is_same = before is not None and before.setting == row.setting
        table.add_row("" if is_same else row.setting, row.value, row.tasks)
    return table


def print_rows(rows: list[Any], json: bool, csv: bool, table: Callable[[list[Any]], Table]) -> None:
    """As JSON, as CSV, or as a table for people."""
    if json or csv:
        print(as_json(rows) if json else as_csv(rows), end="")
    else:
        print_table(table(rows))


def as_csv(rows: Sequence[Any]) -> str:
    """With a header."""
    text = io.StringIO()
    writer = csv_module.DictWriter(text, asdict(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(asdict, rows))
    return text.getvalue()


def as_json(rows: Sequence[Any]) -> str:
    """A list of objects. What is no number is null: NaN is Python's word, and no other program reads it."""
    plain = [{name: None if is_nan(value) else value for name, value in asdict(row).items()} for row in rows]
    return json_module.dumps(plain, indent=2) + "\n"


def is_nan(value: Any) -> bool:
    """Whether it is the number that is none."""
    return isinstance(value, float) and math.isnan(value)
