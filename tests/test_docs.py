"""What the pages say of the code: blocks run or are quotes, and files, links, verbs and names are there."""

import ast
import importlib
import re
import textwrap
from functools import cache
from pathlib import Path
from unittest.mock import create_autospec

import numpy as np
import pytest
from PIL import Image

from memorylab.cli.main import VERBS
from memorylab.runtime.on_ray import sweep

ROOT = Path(__file__).parent.parent
AT_THE_ROOT = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "results" / "README.md"]
PAGES = [*AT_THE_ROOT, *sorted((ROOT / "docs").rglob("*.md"))]
CODE = ("memorylab", "examples", "benchmarks", "studies")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
TICKED = re.compile(r"`([^`\n]+)`")
RUN_ELSEWHERE = "extend.md"  # tests/agent/test_extend.py lets each block learn

# What makes a block quick: the same calls, with less to do.
SMALLER = {
    "laboratory.md": {
        "range(100)": "range(1)",
        "10_000": "64",
        "size=(36, 48)": "size=(36, 48), seconds=1",
        'PPO("CnnPolicy", train,': 'PPO("CnnPolicy", train, n_steps=64, batch_size=32, n_epochs=1, device="cpu",',
        "n_eval_episodes=8": "n_eval_episodes=1, warn=False",
    },
    "interfaces.md": {
        "size=(36, 48)": "size=(36, 48), seconds=1",
        "1_000_000": "64",
        "seed=0).learn": 'seed=0, n_steps=8, batch_size=64, n_epochs=1, device="cpu", policy_kwargs=SMALL).learn',
        "import memorylab\n": "import memorylab\nSMALL = {'lstm_hidden_size': 8}\n",
    },
}
FOREIGN = {  # names of others: of the original release, of HTTP, of libraries; and what stands for any name
    *("AvatarPosition", "RGB_INTERLEAVED", "Score", "Host", "Origin", "SAME_STEP", "NCCL_SOCKET_IFNAME"),
    *("setup_commands", "file_mounts", "dm_env.Environment", "torch.distributed", "RUNS"),
}


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


pages = pytest.mark.parametrize("page", PAGES, ids=named)


def python_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


@cache
def sources() -> list[str]:
    return [path.read_text() for path in python_files(*CODE)]


@cache
def words() -> set[str]:
    """Every word in the code, its strings included; those that it puts together as far as they are fixed: `lag_{`."""
    tests = {name for path in python_files("tests") for name in re.findall(r"^def (test_\w+)", path.read_text(), re.M)}
    return tests | {word for text in sources() for word in re.findall(r"\w+_{|\w+", text)}


@cache
def members() -> dict[str, set[str]]:
    """Class -> its methods and fields."""
    found: dict[str, set[str]] = {}
    for node in (node for text in sources() for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)):
        methods = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
        fields = {ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)}
        found.setdefault(node.name, set()).update(methods | fields)
    return found


def is_known(word: str) -> bool:
    beginnings = {word[: match.end()] + "{" for match in re.finditer("_", word)}
    return word in words() or not beginnings.isdisjoint(words())


def bare(code: str) -> str:
    """Without comments and indentation."""
    lines = (re.sub(r"\s*#.*", "", line) for line in textwrap.dedent(code).splitlines())
    return "\n".join(line.strip() for line in lines if line.strip())


def is_quote(block: str) -> bool:
    return any(bare(block) in bare(text) for text in sources())


@pytest.fixture
def _a_folder_of_ones_own(tmp_path, monkeypatch):
    """With pictures, and no cluster to send runs to."""
    (tmp_path / "my_pictures").mkdir()
    for number in range(200):
        Image.fromarray(np.full((4, 4, 3), number, np.uint8)).save(tmp_path / "my_pictures" / f"{number:03}.png")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sweep, "run_many", create_autospec(sweep.run_many, return_value=[]))


WITH_BLOCKS = [page for page in PAGES if page.name != RUN_ELSEWHERE and BLOCK.search(page.read_text())]


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=named)
@pytest.mark.usefixtures("_a_folder_of_ones_own")
def test_blocks_run_or_are_quotes(page):
    names: dict = {"__name__": "page"}
    for block in BLOCK.findall(page.read_text()):
        for long, short in SMALLER.get(page.name, {}).items():
            block = block.replace(long, short)
        if not is_quote(block):
            exec(compile(block, named(page), "exec"), names)


@pages
def test_files_are_there(page):
    """From the root, inside the package, or by their name alone, beside others of the same line."""
    names = {path.name for path in python_files(*CODE, "tests")}
    for path in re.findall(r"(?<![\w/.*-])([\w/]+\.py)\b", FENCED.sub("", page.read_text())):
        found = path in names if "/" not in path else any((ROOT / part / path).exists() for part in ("", "memorylab"))
        assert found, f"there is no {path}"


@pages
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", page.read_text())):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), f"there is no {target}"
        if anchor:
            heads = re.findall(r"^#+ (.*)$", path.read_text(), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}, target


@pages
def test_verbs_are_there(page):
    text = page.read_text()
    called = re.findall(r"`memorylab ([a-z][\w-]*)", text) + re.findall(r"^memorylab ([\w-]+)", text, re.MULTILINE)
    assert set(called) <= VERBS.keys()


@pages
def test_names_are_there(page):
    """Those with a capital, an underscore or a dot that say they are code; plain words may be anything."""
    text = page.read_text()
    own = {word for block in BLOCK.findall(text) for word in re.findall(r"\w+", block)}
    unknown = []
    for name in TICKED.findall(FENCED.sub("", text)):
        is_file = re.search(r"\.(py|csv|json|txt|toml|md|cff)$", name)
        if is_file or not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\(\))?", name) or name in FOREIGN:
            continue
        first, *rest = name.removesuffix("()").split(".")
        if first == "memorylab" and rest:
            assert is_public_path(name), f"there is no {name}"
        elif first in members() and rest:
            unknown += [name] if rest[0] not in members()[first] else []
        elif re.search(r"[A-Z_]", name) or name.endswith("()"):
            unknown += [part for part in (first, *rest) if part not in own and not is_known(part)]
    assert unknown == []


def is_public_path(name: str) -> bool:
    """A module, or something in one."""
    module, _, last = name.rpartition(".")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        return hasattr(importlib.import_module(module), last)
    return True
