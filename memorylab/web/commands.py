"""What the verbs of the command line do with a browser."""

from collections.abc import Callable
from pathlib import Path

from memorylab.envs.batch import EnvBatch
from memorylab.envs.spec import GameSpec
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.web import watch as watching
from memorylab.web.dashboard import dashboard_app
from memorylab.web.play import play_app
from memorylab.web.recording import Performer, Recording, human_player, scripted_player
from memorylab.web.server import serve
from memorylab.web.store import EpisodeStore

__all__ = ["EpisodeStore", "dashboard", "export_episode", "human_player", "play", "scripted_player", "watch"]


def play(game: GameSpec | None, scores: Path, host: str, port: int) -> None:
    """Serve the page on which people play one game, or all tasks."""
    if game:
        check_game(game)
    serve(play_app(EpisodeStore(scores), [game] if game else None), host, port, "Play here")


def check_game(game: GameSpec) -> None:
    """Or one sentence. The paper's levels have all scales and both halves of the stimuli."""
    for level in PAPER_LEVELS:
        EnvBatch(game.changed(level), 1, threads=1)


def watch(player: Performer, seed: int, host: str, port: int) -> None:
    """Serve the page that shows someone at play."""
    serve(watching.watch_app(player, seed), host, port, "Watch here")


def export_episode(player: Performer, seed: int, path: Path, on_step: Callable[[], None]) -> None:
    """One episode as a file of HTML."""
    recording = Recording(player, seed)
    recording.record(on_step)
    watching.export(recording, path)


def dashboard(folder: Path, host: str, port: int) -> None:
    """Serve the page of the runs."""
    serve(dashboard_app(folder), host, port, "Runs here")
