"""What is published says the same everywhere: names, versions, bounds, licences, files and links."""

import importlib.util
import json
import re
import subprocess
import tomllib
from pathlib import PurePath

import pytest
from packaging.licenses import canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from test_docs import ROOT

from memorylab.version import __version__

CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = CONFIGURATION["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = ("dev", "docs")
BY_REASON = ("cluster",)  # Ray's bound is the first version with tokens, docs/cluster.md


def tracked(*patterns: str) -> list[PurePath]:
    found = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True)
    if found.returncode:
        pytest.skip("not a checkout")
    return [PurePath(line) for line in found.stdout.splitlines()]


def setup_file():
    spec = importlib.util.spec_from_file_location("setup_file", ROOT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pins(file: str) -> dict[str, str]:
    """Name -> version of a file of constraints."""
    lines = (ROOT / file).read_text().split()
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def requirements(*extras: str) -> list[Requirement]:
    lines = PROJECT["dependencies"] + [line for extra in extras for line in EXTRAS[extra]]
    return [asked for asked in map(Requirement, lines) if asked.name != PROJECT["name"]]


def test_whoever_says_pip_install_says_our_name_and_an_extra_that_is_there():
    wrong, found = [], 0
    for path in tracked("*.md", "*.py", "*.toml", "*.ipynb", "Makefile"):
        for name, extras in re.findall(r"\b(memorylab(?:-rl)?)\[([a-z,]+)\]", (ROOT / path).read_text()):
            found += 1
            wrong += [] if name == PROJECT["name"] and set(extras.split(",")) <= EXTRAS.keys() else [(path, extras)]
    assert found > 10
    assert [(path, extras) for path, extras in wrong if path.name != "test_readme.py"] == []


def test_lower_bounds_are_what_is_tested():
    users = set(EXTRAS) - {*FOR_DEVELOPERS, *BY_REASON}
    bounds = {canonicalize_name(each.name): str(each.specifier).removeprefix(">=") for each in requirements(*users)}
    lowest = pins("constraints-lowest.txt")
    assert bounds.keys() == lowest.keys()
    differing = [name for name, bound in bounds.items() if not (lowest[name] + ".0.0").startswith(bound + ".")]
    assert differing == []


def test_whatever_is_needed_is_pinned():
    pinned = pins("constraints.txt")
    asked = requirements(*EXTRAS)
    assert [each.name for each in asked if canonicalize_name(each.name) not in pinned] == []
    assert [each for each in asked if pinned[canonicalize_name(each.name)] not in each.specifier] == []


def test_every_file_of_the_package_is_in_the_wheel():
    patterns = CONFIGURATION["tool"]["setuptools"]["package-data"]["memorylab"]
    others = [path for path in tracked("memorylab") if path.suffix != ".py"]
    packed = {path.relative_to(ROOT) for pattern in patterns for path in (ROOT / "memorylab").glob(pattern)}
    assert len(others) > 20
    assert [path for path in others if path not in packed] == []


def test_the_licence_is_an_expression_with_those_of_the_data():
    expression = canonicalize_license_expression(PROJECT["license"])
    assert all(part in expression for part in ("Apache-2.0", "MIT", "CC-BY-SA-3.0", "LicenseRef-Public-Domain"))
    assert all((ROOT / file).exists() for file in PROJECT["license-files"])


def test_the_version_is_cited():
    cited = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {__version__}\n" in cited


def links(page: str) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", page)


def test_links_of_the_index_page_lead_to_the_repository():
    readme = (ROOT / "README.md").read_text()
    page = setup_file().index_page(readme, "https://host.example/lab")
    assert len(links(page)) == len(links(readme)) > 15
    assert [link for link in links(page) if not re.match(r"https://|#", link)] == []
    assert "![The tasks as an agent sees them](https://host.example/lab/raw/HEAD/docs/images/tasks.png)" in page
    assert "(https://host.example/lab/blob/HEAD/docs/walked.md#three-anchors)" in page


def test_without_an_address_the_index_page_leads_nowhere():
    module = setup_file()
    page = module.index_page((ROOT / "README.md").read_text(), "")
    assert [link for link in links(page) if not re.match(r"https://|#", link)] == []
    assert "![" not in page
    assert "More in docs/web.md." in page
    assert module.addresses("") == {"Paper": module.PAPER}


def test_the_workflow_calls_make_and_nothing_else():
    workflow = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
    commands = re.findall(r"- run: (.*)", workflow)
    makefile = (ROOT / "Makefile").read_text()
    assert {"make test", "make lint", "make lowest", "make wheel", "make docs", "make notebook"} == set(commands)
    assert all(re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE) for command in commands)


def test_the_notebook_was_run_from_top_to_bottom():
    cells = json.loads((ROOT / "examples" / "first_look.ipynb").read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert sum("image/png" in output.get("data", {}) for cell in code for output in cell["outputs"]) == 3
