"""The page of a package index: README, whose links and pictures lead to the repository if its address is known.

Whoever builds a release says it, MEMORYLAB_REPOSITORY=https://... make wheel; the workflow does, with its own. Without
it the page has no pictures and names files without linking to them, so that nothing leads nowhere.
"""

import os
import re
from pathlib import Path

from setuptools import setup

PAPER = "https://arxiv.org/abs/1910.13406"
LINK = re.compile(r"(!?)\[([^]]*)\]\((?!\w+://)([^)#\s]*)(#[^)\s]*)?\)")  # picture or not, text, file, place in it


def index_page(readme: str, repository: str) -> str:
    """README as a package index shows it, far from the files that it links to."""

    def changed(link: re.Match) -> str:
        is_picture, text, file, place = link.groups(default="")
        if repository:
            return f"{is_picture}[{text}]({repository}/{'raw' if is_picture else 'blob'}/HEAD/{file}{place})"
        return "" if is_picture else text

    return LINK.sub(changed, readme)


def addresses(repository: str) -> dict[str, str]:
    """What `project.urls` would say."""
    if not repository:
        return {"Paper": PAPER}
    changelog, issues = f"{repository}/blob/HEAD/CHANGELOG.md", f"{repository}/issues"
    return {"Source": repository, "Changelog": changelog, "Issues": issues, "Paper": PAPER}


if __name__ == "__main__":
    repository = os.environ.get("MEMORYLAB_REPOSITORY", "").rstrip("/")
    setup(
        long_description=index_page(Path("README.md").read_text(encoding="utf-8"), repository),
        long_description_content_type="text/markdown",
        project_urls=addresses(repository),
    )
