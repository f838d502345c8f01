"""Can one play well with the page's keys? Three players in a real Chromium, at the page's own 15 steps a second.

    python studies/play_by_keys.py avm sdp vgb --out results/play_by_keys.txt

Each knows what a remembering player would do next and does it as a person would: presses and releases keys on the
page, which tells the server. Where the page's controls are too coarse or too slow for a game, they score too little.
Needs Chromium and Playwright.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

from memorylab.envs.batch import EnvBatch
from memorylab.tasks.task import find_task
from memorylab.web import loading
from memorylab.web.game import PlayedGame, replay
from memorylab.web.play import play_app
from memorylab.web.server import bound, server_for
from memorylab.web.store import EpisodeStore

LEAST = {"avm": 45, "sdp": 1, "vgb": 15}
KEYS = {
    "look left": ("ArrowLeft",), "look right": ("ArrowRight",), "look up": ("ArrowUp",), "look down": ("ArrowDown",),
    "nothing": (), "forward": ("ArrowUp",), "backward": ("ArrowDown",), "strafe left": ("q",), "strafe right": ("e",),
    "forward and look left": ("ArrowUp", "ArrowLeft"), "forward and look right": ("ArrowUp", "ArrowRight"),
}  # fmt: skip
LOOK_SECONDS = 0.005
games: list[PlayedGame] = []


class SeenGame(PlayedGame):
    """A game of the server's into which the players look."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        games.append(self)


@contextmanager
def served(store: EpisodeStore) -> Iterator[str]:
    """host:port of `memorylab play`, in a thread."""
    loading.PlayedGame = SeenGame  # type: ignore[misc]
    with bound("127.0.0.1", 0) as listening:
        server = server_for(play_app(store))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


def opened(page: Page, place: str, short: str) -> PlayedGame:
    """The game of somebody who has practised it, from its first step on."""
    page.goto(place)
    page.evaluate(f"localStorage.setItem('memorylab-practised', '[\"{short}\"]')")
    page.goto(f"{place}#{short}")
    page.reload()
    page.click("#play")
    page.wait_for_selector("#cover", state="hidden", timeout=120_000)
    return games[-1]


def hold(page: Page, held: set[str], wanted: set[str]) -> None:
    """These keys and no others."""
    for key in held - wanted:
        page.keyboard.up(key)
    for key in wanted - held:
        page.keyboard.down(key)


def play(page: Page, game: PlayedGame, until: float) -> None:
    """As a player who remembers would, by keys, until the episode is over."""
    twin, action, held, step = EnvBatch(game.spec, 1, threads=1), np.zeros(1, np.int64), set[str](), -1
    while not game.is_over and time.monotonic() < until:
        if len(game.actions) == step:
            time.sleep(LOOK_SECONDS)
            continue
        step = len(game.actions)
        twin.records[:] = game.batch.records
        twin.act("remembering", action)
        wanted = set(KEYS[twin.task.actions[action[0]]])
        hold(page, held, wanted)
        held = wanted
    hold(page, held, set())


def score_by_keys(page: Page, place: str, store: EpisodeStore, short: str, minutes: float) -> str:
    """A line of the outcome; the episode is found in the file of scores, and replayed from it."""
    game, start = opened(page, place, short), time.monotonic()
    play(page, game, start + 60 * minutes)
    page.wait_for_selector("#final-score", timeout=20_000)
    seconds, shown = time.monotonic() - start, float(page.text_content("#final-score") or "nan")
    kept = store.all()[-1]
    *_, end = replay(kept.episode)
    assert kept.outcome == "finished"
    assert shown == kept.episode.score == end.score
    verdict = "enough" if shown >= LEAST[short] else "too little"
    steps = len(kept.episode.actions)
    return (
        f"{find_task(short).title}, level train: {shown:g} (at least {LEAST[short]}: {verdict}), "
        f"{steps:,} steps in {seconds:.0f} s, {steps / seconds:.1f} a second"
    )


def main() -> None:
    """One line a game."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=list(LEAST), choices=list(LEAST))
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        store = EpisodeStore(Path(folder) / "scores.db")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(store) as place:
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            for short in options.games:
                line = score_by_keys(page, place, store, short, options.minutes)
                print(line, flush=True)
                if options.out:
                    with options.out.open("a") as file:
                        file.write(f"{line}\n")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
