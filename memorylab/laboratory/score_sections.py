"""Sections of a report that show scores: ranking, heat map, rewards, tables."""

from collections.abc import Iterable, Sequence

import numpy as np

from memorylab.laboratory import figures
from memorylab.laboratory.findings import MISSING, Findings, paper_cells, shown
from memorylab.laboratory.human_normalised import (
    Average,
    Cell,
    Kind,
    averages,
    snapshot,
    sorted_models,
    sorted_tasks,
)
from memorylab.laboratory.page import Page, Table
from memorylab.laboratory.references import Reference, paper_ranking, paper_scores, scripted_players
from memorylab.runs.config import NO_TEACHER, untaught
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import find_task

WITHOUT_MEMORY = {"what_then_where": 50.0, "change_detection": 47.1}  # studies/without_memory.py


def ranking(f: Findings, page: Page) -> None:
    """Average scores of the models, beside the paper's."""
    page.section(
        "Ranking",
        "Average human-normalised score over the tasks that a model has, ± standard error over seeds; `paper` is "
        "computed from its reward tables in the same way and on the same tasks. The gap is train less holdout "
        "extrapolate. Then the memory score, which counts our forgetting player as 0 and our remembering one as 100: "
        "the share of what memory can give that was gained. Last the paper's own ranking, over all thirteen tasks.",
    )
    page.table(ranked(f, "human", "model"), f.out, "ranking")
    page.table(ranked(f, "memory", "memory score"), f.out, "ranking_memory")
    page.table(published_ranking(f.models), f.out, "ranking_paper")
    page.figure(
        figures.average_scores(averages(f.cells), averages(f.cells, "memory"), f.models), f.out, "averages",
        "Average scores on the three levels, and the gap",
    )  # fmt: skip


def ranked(f: Findings, kind: Kind, title: str) -> Table:
    """Ours and the paper's in pairs, level by level, both over the tasks that we have."""
    columns = [*(figures.LEVEL_TITLES[level] for level in PAPER_LEVELS), "gap"]
    table = Table([title, "tasks", *(f"{column}, {whose}" for column in columns for whose in ("ours", "paper"))])
    ours, paper = averages(f.cells, kind), paper_cells(f.tasks, f.yardstick)
    for model in f.models:
        same = averages({key: c for key, c in paper.items() if (c.task, model, c.level) in f.cells}, kind)
        own = [ours.get((model, level)) for level in PAPER_LEVELS]
        theirs = [same.get((untaught(model), level)) for level in PAPER_LEVELS]
        pairs = [(shown(a, 1), shown(b, 1)) for a, b in zip(own, theirs, strict=True)]
        pairs.append((gap(own), gap(theirs)))
        table.add(model, str(own[0].tasks if own[0] else 0), *(text for pair in pairs for text in pair))
    return table


def gap(averages: Sequence[Average | None]) -> str:
    """Train less holdout extrapolate."""
    train, *_, extrapolate = averages
    return f"{train.mean - extrapolate.mean:.1f}" if train and extrapolate else MISSING


def published_ranking(models: Iterable[str]) -> Table:
    """As the paper's ranking table has it."""
    paper = paper_ranking()
    table = Table(["paper's ranking", *(figures.LEVEL_TITLES[level] for level in PAPER_LEVELS)])
    for model in models:
        table.add(model, *(shown(paper.get((untaught(model), level)), 1) for level in PAPER_LEVELS))
    return table


def heat_map(f: Findings, page: Page) -> None:
    """Models and tasks on three levels."""
    page.section(
        "Heat map",
        "Human-normalised score in percent, models and tasks sorted by their training scores as in the paper; then the "
        "memory score. What was not run is marked as missing; it never counts as zero." + notes_in_the_world(f.tasks),
    )
    page.figure(figures.heat_map(f.cells, f.models, f.tasks), f.out, "heat_map", "Heat map of models and tasks")
    if any(len(cell.scores) > 1 for cell in f.cells.values()):
        page.figure(
            figures.heat_map(f.cells, f.models, f.tasks, True), f.out, "heat_map_errors", "With standard errors"
        )
    page.figure(
        figures.heat_map(f.cells, f.models, f.tasks, kind="memory"), f.out, "heat_map_memory", "Memory score in percent"
    )
    theirs = paper_cells(f.tasks, f.yardstick)
    if not theirs:  # it has none of these tasks
        return
    page.section(
        "Beside the paper",
        "Human-normalised score in percent: in each pair ours stands on the left and the paper's, from its reward "
        "tables, on the right. Below all of its models on these tasks.",
    )
    page.figure(
        figures.beside(f.cells, theirs, f.models, f.tasks), f.out, "heat_map_beside", "Ours and the paper's, in pairs"
    )
    page.figure(
        figures.heat_map(theirs, sorted_models(theirs), sorted_tasks(theirs)), f.out, "heat_map_paper",
        "Heat map of the paper's reward tables",
    )  # fmt: skip


def notes_in_the_world(tasks: Iterable[str]) -> str:
    """Where the memory score can be had without memory (docs/laboratory.md)."""
    known = [f"{score} of 50 in {figures.short(task)}" for task, score in WITHOUT_MEMORY.items() if task in tasks]
    if not known:
        return ""
    return (
        f" A player without memory that keeps notes in the direction of its gaze can score {' and '.join(known)} on "
        "train, more than our forgetting player: a high memory score there says that something was carried over the "
        "delay, not that the network carried it."
    )


def rewards(f: Findings, page: Page) -> None:
    """The paper's reward tables, one a task, with our players and its Random and Human at their foot."""
    paper = paper_scores()
    page.section(
        "Episode rewards",
        "At the snapshots, ± standard error over seeds; beside them the paper's. At the foot our random, forgetting "
        "and remembering players and the people that you recorded, with the paper's Random and Human.",
    )
    titles = [figures.LEVEL_TITLES[level] for level in PAPER_LEVELS]
    for task in f.tasks:
        pairs = [f"{title}, {whose}" for title in titles for whose in ("ours", "paper")]
        table = Table([figures.short(task), "seeds", *pairs])
        for model in f.models:
            own = [f.cells.get((task, model, level)) for level in PAPER_LEVELS]
            seeds = max(len(cell.scores) if cell else 0 for cell in own)
            theirs = [paper.get((task, untaught(model), level)) for level in PAPER_LEVELS]
            table.add(model, str(seeds), *in_pairs(own, theirs))
        for player in ("random", "forgetting", "remembering", "human"):
            ours = [ours_of(f, task, player, level) for level in PAPER_LEVELS]
            theirs = [paper.get((task, player, level)) for level in PAPER_LEVELS]
            table.add(player, "", *in_pairs(ours, theirs))
        page.table(table, f.out, f"rewards_{find_task(task).short}")


def in_pairs(ours: Sequence[Cell | Reference | None], theirs: Sequence[Reference | None]) -> list[str]:
    """Level by level, ours and the paper's."""
    return [shown(score, 2) for pair in zip(ours, theirs, strict=True) for score in pair]


def ours_of(f: Findings, task: str, player: str, level: str) -> Reference | None:
    """What a scripted player scores, or people that were recorded here."""
    known = f.yardstick.hundred if player == "human" else scripted_players()
    found = known.get((task, player, level))
    return found if found and found.source != "paper" else None


def scores(f: Findings, page: Page) -> None:
    """Everything in one table, for other programs."""
    paper = paper_scores()
    table = Table(
        ["task", "model", "level", "seeds", "episode reward", "normalised, %", "memory, %", "last evaluation", "paper"]
    )
    for task in f.tasks:
        for model in f.models:
            for level in PAPER_LEVELS:
                cell = f.cells.get((task, model, level))
                theirs = paper.get((task, untaught(model), level))
                latest = [
                    run.curves[level].means[-1]
                    for run in f.runs
                    if (run.task, run.model) == (task, model) and level in run.curves
                ]
                table.add(
                    task, model, level, str(len(cell.scores) if cell else 0), shown(cell, 2),
                    shown(figures.percent_of(cell, "human"), 1), shown(figures.percent_of(cell, "memory"), 1),
                    f"{np.mean(latest):.2f}" if latest else MISSING, shown(theirs, 2),
                )  # fmt: skip
    page.section(
        "Scores",
        "Episode reward at the snapshot: where training was best, smoothed over episodes. On train it is picked by one "
        "half of the episodes and read off the other, so that picking does not flatter. The last evaluation is the "
        "plain mean at the end of the runs.",
    )
    page.table(table, f.out, "scores")


def snapshots(f: Findings, page: Page) -> None:
    """Where each run was scored."""
    table = Table(["run", "task", "model", "teacher", "seed", "evaluations", "steps", "snapshot"])
    for run in f.runs:
        taken = snapshot(run)
        steps = max(int(curve.steps[-1]) for curve in run.curves.values())
        evaluations = max(len(curve.steps) for curve in run.curves.values())
        at = f"{taken.step:,}" if taken else MISSING
        teacher = str(run.config.get("teacher", NO_TEACHER))
        table.add(run.folder.name, run.task, run.model, teacher, str(run.seed), str(evaluations), f"{steps:,}", at)
    page.section("Snapshots", "Where in training each run was scored.")
    page.table(table, f.out, "snapshots")
