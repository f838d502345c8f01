"""What the verbs of the command line do with a browser."""

from pathlib import Path

from memorylab.web.play import play_app
from memorylab.web.server import serve
from memorylab.web.store import EpisodeStore


def play(scores: Path, host: str, port: int) -> None:
    serve(play_app(EpisodeStore(scores)), host, port, "Play here")
