"""Verbs that open a page in the browser, and what people played there: play, human-scores, watch, dashboard."""

from pathlib import Path
from typing import Any

from tyro.conf import Positional

from memorylab.cli.tables import human_table, print_rows, progress
from memorylab.cli.verbs import Flag, check_ending, from_signatures, needs_agent, needs_web, save_rows
from memorylab.envs.spec import GameSpec, parse_scale
from memorylab.laboratory.baseline import ScriptedPlayer
from memorylab.laboratory.zoo import offered, run_folder
from memorylab.runs.files import check_writable
from memorylab.tasks.task import check_level, find_task

LOOPBACK = "127.0.0.1"
SCORES = Path("human-scores.db")


def play(
    task: str | None = None,
    stimuli: Path | None = None,
    scale: tuple[str, ...] = (),
    scores: Path = SCORES,
    host: str = LOOPBACK,
    port: int = 8400,
) -> None:
    """A web page on which people play the tasks; every finished episode is stored.

    Args:
        task: Offer this task alone.
        stimuli: A folder of your own pictures or digits; needs --task. Scores are counted apart.
        scale: Scale keywords of the task, such as side=15 delays=2,8; needs --task. Scores are counted apart.
        scores: SQLite file for what was played; made if it is not there.
        host: Address to listen on. Others than this machine can then reach the server: it asks for a token.
        port: Port to listen on; 0 for any free one.
    """
    if task is None and (stimuli or scale):
        raise ValueError("--stimuli and --scale need --task: they are those of one task")
    game = None if task is None else own_game(task, "train", stimuli and stimuli.resolve(), scale)
    check_writable(scores.parent)
    needs_web("memorylab.web.server").check_address(host, port)  # before the file of scores is made
    needs_web("memorylab.web.commands").play(game, scores, host, port)


def own_game(task: str, level: str, stimuli: Path | None, scale: tuple[str, ...]) -> GameSpec:
    """As the options say it."""
    return GameSpec(find_task(task).name, level, stimuli=stimuli, scale=parse_scale(task, scale))


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
    check_ending("out", out, ".csv", ".json")
    rows = needs_web("memorylab.web.store").EpisodeStore(scores, create=False).human_scores()
    if not rows:
        raise ValueError(f"{scores} holds no finished episode yet")
    save_rows(rows, out)
    print_rows(rows, json, csv, human_table)


def watch_player(
    run: Positional[Path | None] = None,
    player: ScriptedPlayer | None = None,
    episode: int | None = None,
    task: str | None = None,
    level: str = "train",
    seed: int = 0,
    step: str = "snapshot",
    stimuli: Path | None = None,
    scale: tuple[str, ...] = (),
    scores: Path = SCORES,
    export: Path | None = None,
    host: str = LOOPBACK,
    port: int = 8401,
) -> None:
    """Watch an agent play in the browser and see what it recalls; or a scripted player, or a person's episode.

    Args:
        run: Folder of a run: its agent plays. Or zoo:TASK/MODEL, a trained agent of `memorylab zoo`.
        player: A scripted player instead; needs --task.
        episode: A person's episode instead, by its number in --scores.
        task: The task that --player plays; a run has its own.
        level: The level to play.
        seed: Seed of the first episode.
        step: Which weights of the run: snapshot (where the training score was best), last or the number of a step.
        stimuli: A folder of your own pictures or digits.
        scale: Scale keywords of the task, such as side=15 delays=2,8.
        scores: File that `memorylab play` filled.
        export: Write the episode to this .html file, which needs no server, and end.
        host: Address to listen on. Others than this machine can then reach the server: it asks for a token.
        port: Port to listen on; 0 for any free one.
    """
    check_ending("export", export, ".html")
    check_watched(run, player, episode, task, changes=bool(stimuli or scale))
    check_level(level)
    chosen = None if task is None else find_task(task).name
    who = (run, player, chosen, level, step, stimuli, scale)
    show(performer(*who) if episode is None else person(scores, episode), seed, export, host, port)


def performer(
    run: Path | None,
    player: str | None,
    task: str | None,
    level: str,
    step: str,
    stimuli: Path | None,
    scale: tuple[str, ...],
) -> Any:
    """A run's agent, or a scripted player."""
    if run:
        return needs_agent("memorylab.web.agent_player").agent_player(run_folder(run), level, step, stimuli, scale)
    assert task  # a scripted player has one
    return needs_web("memorylab.web.commands").scripted_player(own_game(task, level, stimuli, scale), player)


def check_watched(run: Path | None, player: str | None, episode: int | None, task: str | None, changes: bool) -> None:
    """One of the three, with what it needs, or one sentence."""
    if sum(given is not None for given in (run, player, episode)) != 1:
        agents = f"; or a trained agent: {offered()}" if offered() else ""
        raise ValueError(f"name one to watch: the folder of a run, or --player, or --episode{agents}")
    if player and not task:
        raise ValueError("--player needs --task")
    if task and not player:
        raise ValueError("--task is for a --player: a run and a person's episode have their own")
    if episode is not None and changes:
        raise ValueError("--stimuli and --scale are for a run or a --player: a person's episode is as it was played")


def person(scores: Path, episode: int) -> Any:
    """Who played an episode, by its number."""
    commands = needs_web("memorylab.web.commands")
    return commands.human_player(commands.EpisodeStore(scores, create=False).get(episode))


def show(someone: Any, seed: int, export: Path | None, host: str, port: int) -> None:
    """On a page, or as one file of HTML with a bar while it is played."""
    commands = needs_web("memorylab.web.commands")
    if export is None:
        commands.watch(someone, seed, host, port)
        return
    with progress() as bar:
        work = bar.add_task("steps", total=None)
        commands.export_episode(someone, seed, export, lambda: bar.advance(work))
    print(export)


def dashboard(folder: Positional[Path] = Path("runs"), host: str = LOOPBACK, port: int = 8402) -> None:
    """The runs in a folder with their curves in the browser, refreshed while training goes on.

    Args:
        folder: The folder that holds the runs, or one of them.
        host: Address to listen on. Others than this machine can then reach the server: it asks for a token.
        port: Port to listen on; 0 for any free one.
    """
    needs_web("memorylab.web.commands").dashboard(folder, host, port)


VERBS = from_signatures({"play": play, "human-scores": human_scores, "watch": watch_player, "dashboard": dashboard})
