"""Verbs that measure trained agents: evaluate, curve, report."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from memorylab.cli.tables import errors, evaluation_table, print_rows, progress
from memorylab.cli.verbs import Flag, at_least_one, check_ending, from_signatures, needs_agent
from memorylab.envs.spec import GameSpec, parse_scale
from memorylab.laboratory.references import yardstick
from memorylab.laboratory.zoo import is_of_zoo, run_folder
from memorylab.runs.files import check_writable
from memorylab.tasks.levels import LEVELS, PAPER_LEVELS
from memorylab.tasks.task import check_level

EVALUATION_SEED = 2_000_003


def curve(runs: Positional[tuple[Path, ...]], out: Path = Path("curve.png")) -> None:
    """The learning curve of a run beside the scripted players, as a figure; or several runs of one task side by side.

    Args:
        runs: Folder of a run, or of several; zoo:TASK/MODEL for a trained agent of `memorylab zoo`.
        out: File to write: .png, .svg or .pdf.
    """
    if not runs:
        raise ValueError("name the folder of a run, such as: memorylab curve runs/avm-mra-laptop-seed0")
    check_ending("out", out, ".png", ".svg", ".pdf")
    folders = [run_folder(run) for run in runs]
    curves = needs_agent("memorylab.laboratory.curves")
    if len(folders) == 1:
        curves.draw_run(folders[0], out)
    else:
        curves.draw_comparison(folders, out)
    print(out)


def evaluate(
    run: Annotated[Positional[Path], tyro.conf.arg(metavar="RUN")],
    levels: tuple[str, ...] = PAPER_LEVELS,
    sweep: tyro.conf.UseAppendAction[tuple[str, ...]] = (),
    episodes: int = 64,
    seed: int = EVALUATION_SEED,
    step: str = "snapshot",
    stimuli: Path | None = None,
    scale: tuple[str, ...] = (),
    routes: int = 0,
    save: Flag = False,
    device: str = "cpu",
    json: Flag = False,
    csv: Flag = False,
) -> None:
    """A trained agent on any levels and scales: mean score with a 95 % interval, human-normalised and memory score.

    Args:
        run: Folder of a run; or zoo:TASK/MODEL, a trained agent of `memorylab zoo`.
        levels: Which levels; `all` for the nine.
        sweep: A scale keyword and its values, such as trials=25,50,100,200; each is played on each level.
        episodes: Episodes per level and value.
        seed: Seed of the first episode; others than those of training and its evaluations.
        step: Which weights: snapshot (where the training score was best), last or the number of a step.
        stimuli: A folder of your own pictures or digits; those of the run if not given.
        scale: Scale keywords for all levels, such as side=15 delays=2,8; those of the run stay where none is given.
        routes: Navigation: also walk so many single episodes per level, for maps and times to the goal; with --save.
        save: Keep the episodes in the run's folder, for the report.
        device: Where the agent computes.
        json: Print JSON instead of a table.
        csv: Print CSV instead of a table.
    """
    chosen = tuple(LEVELS) if levels == ("all",) else levels
    check_evaluation(run, chosen, episodes, save, device)
    trained = needs_agent("memorylab.learning.trained").load_trained(run_folder(run), step, device)
    if routes and not (save and "goal_step" in trained.task.report):
        raise ValueError("--routes is for navigation tasks and needs --save: maps are files in the run's folder")
    game = trained.game("train").changed(stimuli=stimuli, **parse_scale(trained.task.name, scale))
    rows = evaluations(trained, chosen, game, sweep, episodes, seed, save, routes)
    print_rows(rows, json, csv, evaluation_table)


def check_evaluation(run: Path, levels: Sequence[str], episodes: int, save: bool, device: str) -> None:
    """Or one sentence, before weights are loaded."""
    at_least_one("episodes", episodes)
    for level in levels:
        check_level(level)
    if save and is_of_zoo(run):
        raise ValueError("--save is for a run of your own: the zoo stays as it is")
    if save:
        check_writable(run)
    needs_agent("memorylab.runtime.command").check_device(device)


def evaluations(
    trained: Any,
    levels: Sequence[str],
    game: GameSpec,
    sweeps: Sequence[str],
    episodes: int,
    seed: int,
    save: bool,
    routes: int,
) -> list[Any]:
    """What the agent came to, with a bar while it plays."""
    lab, sums = needs_agent("memorylab.laboratory.evaluate"), needs_agent("memorylab.laboratory.evaluations")
    rows = []
    with progress() as bar:
        work = bar.add_task("evaluating", total=None)

        def on_setting(name: str) -> None:
            bar.update(work, description=name)

        for played in lab.evaluated(trained, levels, game, sweeps, episodes, seed, on_setting, bar.refresh):
            rows += sums.summed_up(played, trained.task.name)
            if save:
                sums.keep(trained.folder / "evaluations.csv", played)
        if routes:
            on_setting("walking")
            lab.walks(trained, levels, routes, seed, bar.refresh)
    return rows


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
        runs: Folders of runs, or folders that hold such; zoo:TASK/MODEL for a trained agent of `memorylab zoo`.
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
    check_writable(out)
    folders = [run_folder(run) for run in runs]
    stick = yardstick(reference, humans)
    lab = needs_agent("memorylab.laboratory.report", "report")
    with progress() as bar:
        work = bar.add_task("reading", total=len(lab.SECTIONS) + 1)

        def on_section(name: str) -> None:
            bar.update(work, description=name, advance=1)

        print(
            lab.report(folders, out, stick, clip, routes, lambda text: errors.print(text, highlight=False), on_section)
        )


VERBS = from_signatures({"evaluate": evaluate, "curve": curve, "report": report})
