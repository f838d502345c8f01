"""One command, `memorylab`, with verbs. Bad input: one sentence and exit code 2."""

import importlib
import json as json_module
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from memorylab.tasks.levels import LEVELS, PAPER_LEVELS
from memorylab.tasks.task import SHORT_NAMES, TASKS, Task, check_level, find_task

try:
    import rich
    import tyro
    from rich.table import Table
    from tyro.conf import Positional
except ImportError:
    print("memorylab: the command line needs more packages: pip install 'memorylab[cli]'", file=sys.stderr)
    sys.exit(2)

from memorylab.laboratory.baseline import PLAYERS, Player, baselines
from memorylab.laboratory.bench import bench as measure_speed
from memorylab.laboratory.snapshot import contact_sheet, save_animation, save_sheet, watch
from memorylab.laboratory.splits import stimuli_of
from memorylab.runs.files import replacing
from memorylab.tables import (
    as_csv,
    as_json,
    baseline_table,
    errors,
    evaluation_table,
    human_table,
    print_rows,
    progress,
    settings_table,
    speed_table,
)

TaskNames = Annotated[tuple[str, ...], tyro.conf.arg(metavar="TASK", help="Tasks, by name or short name; all if none.")]
AllTasks = Positional[TaskNames]
Flag = tyro.conf.FlagCreatePairsOff[bool]
LOOPBACK = "127.0.0.1"
SCORES = Path("human-scores.db")


def list_tasks(json: Flag = False) -> None:
    """The tasks, their levels, and the scales and stimuli these draw.

    Args:
        json: Print JSON instead of a table.
    """
    tasks = [find_task(name) for name in TASKS]
    if json:
        print(json_module.dumps([described(task) for task in tasks], indent=2))
        return
    for task in tasks:
        table = Table("level", "stimuli", "scale", title_justify="left", title=f"[bold]{task.name}[/] ({task.short})")
        halves = "\n".join(f"{half} stimuli: {held}" for half, held in stimuli_of(task.name).items())
        table.caption = f"{task.rule}\n{halves}\nscale keywords: {', '.join(task.keywords)}"
        table.caption_justify = "left"
        for level, (_, stimuli) in LEVELS.items():
            table.add_row(level, stimuli, " or ".join(scale.text() for scale in task.scales_of(level)))
        rich.print(table)


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


def snapshot(
    tasks: AllTasks,
    level: str = "train",
    player: Player = "remembering",
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
    if out.suffix not in (".png", ".gif"):
        raise ValueError(f"--out must end in .png or .gif, not {out.name!r}")
    if out.suffix == ".gif" and len(names) != 1:
        raise ValueError(f"an animation shows one task, not {len(names)}; name one, or write a .png")
    captions = [f"{name}, {level}, {player}" for name in names]
    strips = []
    with progress() as bar:
        work = bar.add_task("pictures", total=len(names) * frames)
        for name in names:
            bar.update(work, description=name)
            strips.append(watch(name, level, player, frames, every, seed, lambda: bar.advance(work), size=size))
    if out.suffix == ".gif":
        save_animation(strips[0], zoom, out, every)
    else:
        save_sheet(contact_sheet(list(zip(captions, strips, strict=True)), columns, zoom), out)
    print(out)


def baseline(
    tasks: AllTasks,
    levels: tuple[str, ...] = PAPER_LEVELS,
    players: tuple[Player, ...] = PLAYERS,
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
    if out and out.suffix not in (".csv", ".json"):
        raise ValueError(f"--out must end in .csv or .json, not {out.name!r}")
    rows = []
    total = len(names) * len(levels) * len(players) * episodes
    with progress() as bar:
        work = bar.add_task("episodes", total=total)
        for row in baselines(names, levels, players, episodes, seed, lambda n: bar.advance(work, n)):
            rows.append(row)
            bar.update(work, description=f"{row.task} {row.level} {row.player}")
    if out:
        with replacing(out) as temporary:
            temporary.write_text(as_csv(rows) if out.suffix == ".csv" else as_json(rows))
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
    if seconds <= 0:
        raise ValueError(f"--seconds must be more than 0, not {seconds:g}")
    rows = []
    with progress() as bar:
        work = bar.add_task("measuring", total=len(names))
        for row in measure_speed(names, level, num_envs, size, seconds, threads):
            rows.append(row)
            bar.advance(work)
    print_rows(rows, json, csv, speed_table)


def curve(run: Positional[Path], out: Path = Path("curve.png")) -> None:
    """The learning curve of a run beside the scripted players, as a figure.

    Args:
        run: Folder of a run.
        out: File to write: .png, .svg or .pdf.
    """
    if out.suffix not in (".png", ".svg", ".pdf"):
        raise ValueError(f"--out must end in .png, .svg or .pdf, not {out.name!r}")
    needs_agent("memorylab.laboratory.curves").draw_run(run, out)
    print(out)


def evaluate(
    run: Positional[Path],
    levels: tuple[str, ...] = PAPER_LEVELS,
    sweep: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    episodes: int = 64,
    seed: int = 2_000_003,
    step: str = "snapshot",
    routes: int = 0,
    save: Flag = False,
    device: str = "cpu",
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """A trained agent on any levels and scales: mean score with a 95 % interval, human-normalised and memory score.

    Args:
        run: Folder of a run.
        levels: Which levels; `all` for the nine.
        sweep: A scale keyword and its values, such as trials=25,50,100,200; each is played on each level.
        episodes: Episodes per level and value.
        seed: Seed of the first episode; others than those of training and its evaluations.
        step: Which weights: snapshot (where the training score was best), last or the number of a step.
        routes: Navigation: also walk so many single episodes per level, for maps and times to the goal; with --save.
        save: Keep the episodes in the run's folder, for the report.
        device: Where the agent computes.
        json: Print JSON instead of a table.
        csv: Print CSV instead of a table.
    """
    lab = needs_agent("memorylab.laboratory.evaluate")
    at_least_one("episodes", episodes)
    chosen = tuple(LEVELS) if levels == ("all",) else levels
    trained = needs_agent("memorylab.learning.trained").load_trained(run, step, device)
    if routes and not (save and "goal_step" in trained.task.report):
        raise ValueError("--routes is for navigation tasks and needs --save: maps are files in the run's folder")
    rows = []
    with progress() as bar:
        work = bar.add_task("evaluating", total=None)
        for played in lab.evaluated(
            trained, chosen, sweep, episodes, seed, lambda name: bar.update(work, description=name), bar.refresh
        ):
            rows += lab.summed_up(played, trained.task.name)
            if save:
                lab.keep(run / "evaluations.csv", played)
        if routes:
            bar.update(work, description="walking")
            lab.walks(trained, chosen, routes, seed, bar.refresh)
    print_rows(rows, json, csv, evaluation_table)


def report(
    runs: Positional[tuple[Path, ...]],
    out: Path = Path("report"),
    reference: str = "paper",
    humans: Path | None = None,
    clip: Flag = False,
    routes: int = 4,
) -> None:
    """Runs, ours or anybody's, as the paper's tables and figures: one HTML page, PNG, SVG, CSV and LaTeX.

    Args:
        runs: Folders of runs, or folders that hold such.
        out: Folder to write.
        reference: What counts as 0 and 100: paper (its Random and Human) or players (our random and remembering ones).
        humans: Human scores recorded by memorylab play, as memorylab human-scores exports them; they go before the
            paper's.
        clip: Clip normalised scores to 0 .. 100; the paper does not.
        routes: Navigation: episodes per level that a run's snapshot walks for maps and times to the goal, unless it has
            walked before; 0 for none.
    """
    if not runs:
        raise ValueError("name the folders of the runs to report, such as: memorylab report runs --out report")
    stick = needs_agent("memorylab.laboratory.references").yardstick(reference, humans)
    lab = needs_agent("memorylab.laboratory.report")
    with progress() as bar:
        work = bar.add_task("reading", total=len(lab.SECTIONS) + 1)

        def on_section(name: str) -> None:
            bar.update(work, description=name, advance=1)

        print(lab.report(runs, out, stick, clip, routes, lambda text: errors.print(text, highlight=False), on_section))


def play(scores: Path = SCORES, host: str = LOOPBACK, port: int = 8400) -> None:
    """A web page on which people play the tasks; every finished episode is stored.

    Args:
        scores: SQLite file for what was played; made if it is not there.
        host: Address to listen on. Others than this machine can then reach the server: it asks for a token.
        port: Port to listen on; 0 for any free one.
    """
    needs_web("memorylab.web.commands").play(scores, host, port)


def human_scores(
    scores: Positional[Path] = SCORES, json: Flag = False, csv: Flag = False, out: Path | None = None
) -> None:
    """What people scored, as the laboratory's R_human: mean, standard error and number of finished episodes.

    Args:
        scores: The file that `memorylab play` filled.
        json: Print JSON instead of a table.
        csv: Print CSV instead of a table.
        out: Also write the scores to this .csv or .json file.
    """
    if out and out.suffix not in (".csv", ".json"):
        raise ValueError(f"--out must end in .csv or .json, not {out.name!r}")
    rows = needs_web("memorylab.web.store").EpisodeStore(scores, create=False).human_scores()
    if not rows:
        raise ValueError(f"{scores} holds no finished episode yet")
    if out:
        with replacing(out) as temporary:
            temporary.write_text(as_csv(rows) if out.suffix == ".csv" else as_json(rows))
    print_rows(rows, json, csv, human_table)


def watch_player(
    run: Positional[Path | None] = None,
    player: Player | None = None,
    episode: int | None = None,
    task: str | None = None,
    level: str = "train",
    seed: int = 0,
    step: str = "snapshot",
    scores: Path = SCORES,
    export: Path | None = None,
    host: str = LOOPBACK,
    port: int = 8401,
) -> None:
    """Watch an agent play in the browser and see what it recalls; or a scripted player, or a person's episode.

    Args:
        run: Folder of a run: its agent plays.
        player: A scripted player instead; needs --task.
        episode: A person's episode instead, by its number in --scores.
        task: The task to play; a run has its own.
        level: The level to play.
        seed: Seed of the first episode.
        step: Which weights of the run: snapshot (where the training score was best), last or the number of a step.
        scores: File that `memorylab play` filled.
        export: Write the episode to this .html file, which needs no server, and end.
        host: Address to listen on. Others than this machine can then reach the server: it asks for a token.
        port: Port to listen on; 0 for any free one.
    """
    check_level(level)
    if sum(given is not None for given in (run, player, episode)) != 1:
        raise ValueError("name one to watch: the folder of a run, or --player, or --episode")
    if player and not task:
        raise ValueError("--player needs --task")
    if export and export.suffix != ".html":
        raise ValueError(f"--export must end in .html, not {export.name!r}")
    chosen = None if task is None else find_task(task).name
    commands = needs_web("memorylab.web.commands")
    if run:
        someone = needs_agent("memorylab.web.agent_player").agent_player(run, chosen, level, step)
    elif player:
        someone = commands.scripted_player(chosen, level, player)
    else:
        someone = commands.human_player(commands.EpisodeStore(scores, create=False).get(episode))
    if export:
        with progress() as bar:
            work = bar.add_task("steps", total=None)
            commands.export_episode(someone, seed, export, lambda: bar.advance(work))
        print(export)
    else:
        commands.watch(someone, seed, host, port)


def dashboard(folder: Positional[Path] = Path("runs"), host: str = LOOPBACK, port: int = 8402) -> None:
    """The runs in a folder with their curves in the browser, refreshed while training goes on.

    Args:
        folder: The folder that holds the runs, or one of them.
        host: Address to listen on. Others than this machine can then reach the server: it asks for a token.
        port: Port to listen on; 0 for any free one.
    """
    needs_web("memorylab.web.commands").dashboard(folder, host, port)


def train() -> None:
    """Train an agent on a task; memorylab train --help tells all settings."""


def ablate() -> None:
    """Train models x tasks x seeds and report them; memorylab ablate --help tells all settings."""


# --- helpers


def described(task: Task) -> dict[str, Any]:
    levels = {
        name: {"stimuli": level.stimuli, "scales": [asdict(scale) for scale in task.scales_of(name)]}
        for name, level in LEVELS.items()
    }
    names = ("name", "short", "title", "rule", "actions", "keywords")
    return {name: getattr(task, name) for name in names} | {"stimuli": stimuli_of(task.name), "levels": levels}


def chosen_tasks(names: Sequence[str]) -> list[str]:
    return list(TASKS) if not names or tuple(names) == ("all",) else [find_task(name).name for name in names]


def at_least_one(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"--{name} must be 1 or more, not {value}")


VERBS: dict[str, Callable] = {
    "list": list_tasks,
    "presets": presets,
    "snapshot": snapshot,
    "baseline": baseline,
    "bench": bench,
    "train": train,
    "curve": curve,
    "evaluate": evaluate,
    "ablate": ablate,
    "report": report,
    "play": play,
    "human-scores": human_scores,
    "watch": watch_player,
    "dashboard": dashboard,
}


def needs_agent(module: str, extra: str = "agent") -> Any:
    """A module that only an extra can import; the suite alone must not wait for PyTorch."""
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise ValueError(f"this needs more packages ({problem.name}): pip install 'memorylab[{extra}]'") from None


def needs_web(module: str) -> Any:
    return needs_agent(module, "web")


def main(arguments: Sequence[str] | None = None) -> None:
    description = "Thirteen first-person memory tasks. Short names: " + ", ".join(SHORT_NAMES)
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given[:1] == ["train"]:
            needs_agent("memorylab.runtime.command").train(given[1:])
            return
        if given[:1] == ["ablate"]:
            needs_agent("memorylab.laboratory.ablate").ablate(given[1:])
            return
        tyro.extras.subcommand_cli_from_dict(VERBS, prog="memorylab", description=description, args=given)
    except (ValueError, TypeError, OSError, RuntimeError) as problem:
        print(f"memorylab: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
