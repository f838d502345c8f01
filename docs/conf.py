"""The site: `make docs`. Pages are the Markdown files beside this one, and some that lie elsewhere."""

import os
import re
from pathlib import Path

from memorylab.version import __version__

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "results" / "README.md"
ELSEWHERE = {
    "index": DOCS.parent / "README.md",
    "changelog": DOCS.parent / "CHANGELOG.md",
    "contributing": DOCS.parent / "CONTRIBUTING.md",
    "results": RESULTS,
}
PAGES = {file: DOCS / f"{name}.md" for name, file in ELSEWHERE.items()}
LINK = re.compile(r"\]\((?![a-z]+://|#)([^)#\s]+)")  # to a file, up to the place in it

project = "memorylab"
author = "The memorylab developers"
copyright = author
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode", "sphinx_copybutton"]

html_theme = "furo"
html_title = f"memorylab {release}"
html_favicon = "../memorylab/web/static/icon.svg"
html_theme_options = {"navigation_with_keys": True}

myst_heading_anchors = 4
myst_links_external_new_tab = True
suppress_warnings = ["myst.header"]  # some pages begin a part with a heading two levels below

default_role = "code"  # docstrings put names between single backticks
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_mock_imports = ["stable_baselines3"]  # which the site is made without
autosummary_generate = True
templates_path = ["templates"]
exclude_patterns = ["templates"]


def put_together(_, name: str, source: list[str]) -> None:
    """What lies elsewhere comes before what the page itself says; links lead to pages where there are some."""
    page = DOCS / f"{name}.md"
    file = ELSEWHERE.get(name, page)
    if page.exists():
        text = file.read_text() if file != page else ""
        source[0] = LINK.sub(lambda link: f"]({seen_from(page, file.parent / link[1])}", text + "\n" + source[0])


def seen_from(page: Path, target: Path) -> str:
    """A folder of results is told of on their page."""
    found = RESULTS if target.is_dir() else target.resolve()
    return os.path.relpath(PAGES.get(found, found), page.parent)


def setup(app) -> None:
    """Sphinx calls it."""
    app.connect("source-read", put_together)
