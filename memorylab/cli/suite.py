"""Verbs of the suite alone: list, snapshot, baseline, bench."""

import json as json_module
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from memorylab.cli.tables import STARTING, baseline_table, print_rows, print_table, progress, speed_table
from memorylab.cli.verbs import AllTasks, Flag, at_least_one, check_ending, chosen_tasks, from_signatures, save_rows
from memorylab.laboratory.baseline import PLAYERS, ScriptedPlayer, baselines
from memorylab.laboratory.bench import bench as measure_speed
from memorylab.laboratory.snapshot import contact_sheet, save_animation, save_sheet, watch
from memorylab.tasks.levels import LEVELS, PAPER_LEVELS
from memorylab.tasks.task import Task, check_level, find_task


def list_tasks(tasks: AllTasks, json: Flag = False) -> None:
    """The tasks, their levels, and the scales and stimuli these draw.

    Args:
        json: Print JSON instead of a table.
    """
    found = [find_task(name) for name in chosen_tasks(tasks)]
    if json:
        print(json_module.dumps([described(task) for task in found], indent=2))
        return
    for task in found:
        table = Table("level", "stimuli", "scale", title_justify="left", title=f"[bold]{task.name}[/] ({task.short})")
        halves = [f"{half} stimuli: {stimuli}" for half, stimuli in task.stimuli.items()]
        table.caption = "\n".join([task.rule, f"scale keywords: {', '.join(task.keywords)}", *halves])
        table.caption_justify = "left"
        for level, (_, stimuli) in LEVELS.items():
            table.add_row(level, stimuli, " or ".join(scale.text() for scale in task.scales_of(level)))
        print_table(table)


def described(task: Task) -> dict[str, Any]:
    """For --json."""
    levels = {
        name: {"stimuli": level.stimuli, "scales": [asdict(scale) for scale in task.scales_of(name)]}
        for name, level in LEVELS.items()
    }
    names = ("name", "short", "title", "rule", "family", "actions", "keywords", "stimuli")
    return {name: getattr(task, name) for name in names} | {"levels": levels}


def snapshot(
    tasks: AllTasks,
    level: str = "train",
    player: ScriptedPlayer = "remembering",
    out: Path = Path("snapshot.png"),
    frames: int = 24,
    every: int = 1,
    columns: int = 8,
    zoom: int = 2,
    size: tuple[int, int] = (72, 96),
    seed: int = 0,
) -> None:
    """Pictures of tasks as a scripted player sees them: a contact sheet (.png) or an animation (.gif).

    Args:
        level: Which level to play.
        player: Who plays.
        out: File to write; its ending says which kind. An animation shows one task.
        frames: Pictures per task.
        every: Show one picture in so many agent steps.
        columns: Pictures per row of a contact sheet.
        zoom: Side of a pixel.
        size: Height and width of the pictures.
        seed: Seed of the first episode.
    """
    names = chosen_tasks(tasks)
    check_level(level)
    for name, value in {"frames": frames, "every": every, "columns": columns, "zoom": zoom}.items():
        at_least_one(name, value)
    check_ending("out", out, ".png", ".gif")
    if out.suffix == ".gif" and len(names) != 1:
        raise ValueError(f"an animation shows one task, not {len(names)}; name one, or write a .png")
    strips = watched(names, level, player, frames, every, seed, size)
    if out.suffix == ".gif":
        save_animation(strips[0][1], zoom, out, every)
    else:
        save_sheet(contact_sheet(strips, columns, zoom), out)
    print(out)


def watched(
    names: list[str], level: str, player: str, frames: int, every: int, seed: int, size: tuple[int, int]
) -> list[tuple[str, list[np.ndarray]]]:
    """Caption and pictures of each task, with a bar while they are played."""
    strips = []
    with progress() as bar:
        work = bar.add_task(STARTING, total=len(names) * frames)
        for name in names:
            on_step = partial(bar.update, work, advance=1, description=name)
            seen = watch(name, level, player, frames, every, seed, on_step, size=size)
            strips.append((f"{name}, {level}, {player}", seen))
    return strips


def baseline(
    tasks: AllTasks,
    levels: tuple[str, ...] = PAPER_LEVELS,
    players: tuple[ScriptedPlayer, ...] = PLAYERS,
    episodes: int = 500,
    seed: int = 0,
    json: Flag = False,
    csv: Flag = False,
    out: Path | None = None,
) -> None:
    """Scores of the scripted players, with standard errors, beside the paper's Random and Human.

    Args:
        levels: Levels to play.
        players: Who plays.
        episodes: Episodes for each task, level and player.
        seed: Seed of the episodes.
        json: Print JSON instead of a table.
        csv: Print CSV instead of a table.
        out: Also write the scores to this .csv or .json file.
    """
    names = chosen_tasks(tasks)
    for level in levels:
        check_level(level)
    at_least_one("episodes", episodes)
    check_ending("out", out, ".csv", ".json")
    rows = []
    total = len(names) * len(levels) * len(players) * episodes
    with progress() as bar:
        work = bar.add_task(STARTING, total=total)
        on_episodes = partial(bar.update, work, description="episodes")
        for row in baselines(names, levels, players, episodes, seed, lambda n: on_episodes(advance=n)):
            rows.append(row)
    save_rows(rows, out)
    print_rows(rows, json, csv, baseline_table)


def bench(
    tasks: AllTasks,
    level: str = "train",
    num_envs: int = 256,
    size: tuple[int, int] = (72, 96),
    seconds: float = 3.0,
    threads: int | None = None,
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """Agent steps per second of each task, beside the rate at which its pictures can merely be copied.

    Args:
        level: Which level to step.
        num_envs: Games in the batch.
        size: Height and width of the pictures.
        seconds: How long to measure each rate.
        threads: Threads to use; one per core if not given.
        json: Print JSON instead of a table.
        csv: Print CSV instead of a table.
    """
    names = chosen_tasks(tasks)
    check_level(level)
    if not seconds > 0:
        raise ValueError(f"--seconds must be more than 0, not {seconds:g}")
    rows = []
    with progress() as bar:
        work = bar.add_task(STARTING, total=len(names))
        for row in measure_speed(names, level, num_envs, size, seconds, threads):
            rows.append(row)
            bar.update(work, advance=1, description="measuring")
    print_rows(rows, json, csv, speed_table)


VERBS = from_signatures({"list": list_tasks, "snapshot": snapshot, "baseline": baseline, "bench": bench})
