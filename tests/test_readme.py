"""README followed word by word: all its commands from top to bottom, in one folder. tests/test_docs.py runs its Python.

What would take long has its budget cut: `LESS` says how. Pages are served to nobody and end at once.
"""

import re
import shlex
import tomllib
from datetime import UTC, datetime

import pytest
import uvicorn
from packaging.requirements import Requirement
from test_docs import ROOT, WITH_BLOCKS

from memorylab.cli import main
from memorylab.envs.spec import GameSpec
from memorylab.laboratory import ablate
from memorylab.web.game import PlayedGame
from memorylab.web.store import EpisodeStore

README = (ROOT / "README.md").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SHELL = [block for language, block in BLOCKS if not language and not block.startswith("memorylab/")]
(TREE,) = [block for language, block in BLOCKS if not language and block.startswith("memorylab/")]

TINY_AGENT = "--height 20 --width 24 --embedding-size 8 --hidden-size 8 --key-size 4 --capacity 80 --neighbours 3"
TINY_RUN = f"--steps 40 --num-envs 2 --unroll 10 --threads 1 --scale seconds=1 --cpc-steps 3 {TINY_AGENT}"
SELDOM = "--evaluate-every 40 --evaluation-episodes 1 --evaluation-levels train"
LESS = {
    r"--minutes \d+": f"{TINY_RUN} {SELDOM}",
    r"(?<=skills|iarity) --steps \d+": f" {TINY_RUN} {SELDOM}",
    r"--track tensorboard": f"--track tensorboard --out runs/tracked {TINY_RUN} {SELDOM}",
    r"avm cr --models mra lstm ff --seeds 3 --steps 5000000": f"avm --models lstm ff --seeds 1 {TINY_RUN} {SELDOM}",
    r"trials=25,50,100,200": "trials=25 --episodes 1",
    r"--episodes 500": "--episodes 4",
    r"bench$": "bench cd --seconds 0.05 --num-envs 4",
    r"snapshot avm": "snapshot avm --frames 4",
    r"watch RUN": "watch runs/avm-mra-laptop-seed0 --port 0",
    r"(play|dashboard runs)$": r"\1 --port 0",
}


def calls(block: str) -> list[list[str]]:
    """Its lines as words, without comments."""
    return [words for line in block.splitlines() if (words := shlex.split(line, comments=True))]


def with_less_to_do(words: list[str]) -> list[str]:
    call = " ".join(words)
    for long, short in LESS.items():
        call = re.sub(long, short, call)
    return call.split()


def targets() -> set[str]:
    return set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def check_pip(what: str) -> None:
    """This folder, or the distribution by its name; with extras that there are."""
    asked = Requirement(re.sub(r"^(\.|git\+file://\$PWD)", PROJECT["name"], what.partition(" @ ")[0]))
    assert asked.name == PROJECT["name"]
    assert asked.extras <= PROJECT["optional-dependencies"].keys()


def carry_out(words: list[str]) -> None:
    match words:
        case ["make", target]:
            assert target in targets()
        case ["pip", "install", what]:
            check_pip(what)
        case ["uvx", "--from", ".", "memorylab", *rest] | ["memorylab", *rest]:
            main(with_less_to_do(rest))
        case _:
            pytest.fail(f"nobody knows how to test {shlex.join(words)!r}")


@pytest.fixture
def _hasty(tmp_path, monkeypatch):
    """A folder of its own in which somebody has played; no server waits, no run has a process of its own, and what the
    verb `report` does is done once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(uvicorn.Server, "run", lambda *_, **__: None)
    monkeypatch.setattr(ablate, "PROBE_SECONDS", 0.05)
    monkeypatch.setattr(ablate, "carried_out", lambda run: main(["train", *run.arguments]) or True)
    monkeypatch.setattr(ablate, "report", lambda paths, out, *_, **__: f"report in {out}")
    game = PlayedGame(GameSpec("ti"), seed=0)
    game.step(0)
    EpisodeStore(tmp_path / "human-scores.db").add(game.episode(), "finished", "Ada", datetime.now(UTC), 1.0)


@pytest.mark.usefixtures("_hasty")
def test_every_command_works_from_top_to_bottom(tmp_path, capsys):
    for block in SHELL:
        for words in calls(block):
            carry_out(words)
            capsys.readouterr()
    files = ("avm.gif", "curve.png", "report/report.html", "runs/avm-mra-laptop-taught-seed0/scores.csv")
    assert [file for file in files if not (tmp_path / file).exists()] == []
    assert len(list((tmp_path / "runs" / "ablation").glob("*/scores.csv"))) == 2


def test_other_blocks_are_tested_too():
    assert {language for language, _ in BLOCKS} == {"", "python"}
    assert ROOT / "README.md" in WITH_BLOCKS


def test_folders_are_there():
    paths = [f"memorylab/{name}" for name in re.findall(r"^  (\w+/) ", TREE, re.MULTILINE)]
    paths += re.findall(r"^(\w+/) ", TREE, re.MULTILINE) + re.findall(r"docs/\w+\.md", TREE)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_a_name_or_an_extra_that_is_not_ours_is_noticed():
    for wrong in ("memorylab", "memorylab-rl[cli]", ".[agents]", "memorylab[web] @ git+file:///x"):
        with pytest.raises(AssertionError):
            check_pip(wrong)
