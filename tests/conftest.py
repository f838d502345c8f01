"""What tests share: compiled code, and a real browser for those that look at pages."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
DESK = {"width": 1280, "height": 900}


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(tmp_path_factory) -> Iterator[None]:
    """Where tests run in several processes, one compiles a function; the others wait and find it in the cache."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    locks = tmp_path_factory.getbasetemp().parent / "compiling"
    locks.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", in_turns(Dispatcher.compile, locks))
        yield


def in_turns(compile_function, locks: Path):
    """Numba's own lock comes first, in every thread: in another order two of them could wait for each other."""

    def compile_or_load(self, signature):
        with global_compiler_lock, (locks / self.py_func.__qualname__).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return compile_function(self, signature)

    return compile_or_load


@pytest.fixture(scope="module")
def browser() -> Iterator:
    if CHROMIUM is None:
        pytest.skip("no Chromium found: apt-get install chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser):
    """Opens pages; at the end nobody may have complained on any console."""
    complaints: list[str] = []
    contexts = []

    def opened(url: str, viewport=DESK, **options):
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda problem: complaints.append(str(problem)))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
