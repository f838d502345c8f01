"""Every page as it looks on a desk, on a phone and on a phone that lies on its side.

    python studies/screenshots.py --out docs/images/pages           # all of them, as docs/web.md shows them
    python studies/screenshots.py watch report --whole --out /tmp   # to the very end of the page

The runs that are shown are those of results/. Needs Chromium and Playwright.
"""

import argparse
import io
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

from PIL import Image
from play_by_keys import opened, play, served
from playwright.sync_api import Browser, Page, sync_playwright

from memorylab.cli import main as memorylab
from memorylab.web.agent_player import agent_player
from memorylab.web.dashboard import dashboard_app
from memorylab.web.server import bound, server_for
from memorylab.web.store import EpisodeStore
from memorylab.web.watch import watch_app

RESULTS = Path(__file__).parents[1] / "results"
SCREENS: dict[str, dict[str, Any]] = {
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "landscape": {"viewport": {"width": 844, "height": 390}, "has_touch": True, "is_mobile": True},
}
Show = Callable[[Page], None]


@contextmanager
def running(app: Any) -> Iterator[str]:
    """Its address."""
    with bound("127.0.0.1", 0) as listening:
        server = server_for(app)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join()


def shows_of_play(place: str) -> dict[str, Show]:
    """The menu, the rules of a game, a game, its end."""

    def menu(page: Page) -> None:
        page.goto(place)
        page.wait_for_selector(".card")

    def rules(page: Page) -> None:
        page.goto(f"{place}#avm")
        page.wait_for_selector("#play:visible")

    def game(page: Page) -> None:
        play(page, opened(page, place, "vgb"), time.monotonic() + 6)

    def end(page: Page) -> None:
        play(page, opened(page, place, "avm"), time.monotonic() + 12)
        page.keyboard.down("ArrowUp")
        page.wait_for_selector("#final-score", timeout=120_000)
        page.keyboard.up("ArrowUp")

    return {"menu": menu, "rules": rules, "game": game, "end": end}


def show_watch(place: str) -> Show:
    """A recall worth seeing, once the whole episode is there."""

    def show(page: Page) -> None:
        page.goto(place)
        page.wait_for_selector("#so-far", state="hidden", timeout=300_000)
        page.wait_for_selector("#opened:has-text('most worth seeing')", timeout=300_000)

    return show


def show_page(address: str, ready: str) -> Show:
    """A page that only has to be there."""

    def show(page: Page) -> None:
        page.goto(address)
        page.wait_for_selector(ready, timeout=120_000)
        page.wait_for_timeout(500)

    return show


def made_report(folder: Path) -> Path:
    """Of the runs in results/signatures."""
    memorylab(["report", str(RESULTS / "signatures"), "--out", str(folder / "report")])
    return folder / "report" / "report.html"


def take(browser: Browser, name: str, show: Show, folder: Path, whole: bool) -> None:
    """On all three screens."""
    for screen, options in SCREENS.items():
        context = browser.new_context(**options)
        page = context.new_page()
        show(page)
        picture = Image.open(io.BytesIO(page.screenshot(full_page=whole)))
        picture.convert("RGB").save(folder / f"{name}-{screen}.webp", quality=70, method=6)
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        print(f"{name}-{screen}: {picture.size}" + (f", {wider} px too wide" if wider > 0 else ""), flush=True)
        context.close()


def main() -> None:
    """Those that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", help="menu rules game end watch dashboard report; all if none is named")
    parser.add_argument("--out", type=Path, default=Path("docs/images/pages"))
    parser.add_argument("--report", type=Path, help="a report that is there; made of results/signatures if not given")
    parser.add_argument("--whole", action="store_true", help="the whole page, not only what the screen shows of it")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    wanted = lambda name: not options.pages or name in options.pages  # noqa: E731
    with tempfile.TemporaryDirectory() as scores, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with served(EpisodeStore(Path(scores) / "scores.db")) as place:
            for name, show in shows_of_play(place).items():
                if wanted(name):
                    take(browser, name, show, options.out, options.whole)
        if wanted("watch"):
            with running(watch_app(agent_player(RESULTS / "taught" / "avm-mra-seed2"), seed=0)) as place:
                take(browser, "watch", show_watch(place), options.out, options.whole)
        if wanted("dashboard"):
            with running(dashboard_app(RESULTS / "signatures")) as place:
                take(browser, "dashboard", show_page(place, ".overlay polyline"), options.out, options.whole)
        if wanted("report"):
            report = options.report or made_report(Path(scores))
            take(browser, "report", show_page(report.resolve().as_uri(), "table"), options.out, options.whole)
        browser.close()


if __name__ == "__main__":
    main()
