"""Trained agents that come with the package: their cards are true, and runs become such agents."""

import fnmatch
import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from memorylab.cli import main
from memorylab.laboratory import evaluate as evaluate_module
from memorylab.laboratory.evaluate import evaluated
from memorylab.laboratory.evaluations import summed_up
from memorylab.laboratory.zoo import HEADER, ZOO, cards, entry, markdown_row, names, run_folder
from memorylab.laboratory.zoo_entry import entry_name
from memorylab.learning.evaluation import evaluate
from memorylab.learning.trained import load_trained
from memorylab.runs import read_config
from memorylab.runs.config import model_name
from memorylab.tasks.levels import LEVELS
from memorylab.tasks.task import find_task
from memorylab.web.agent_player import agent_player

ROOT = Path(__file__).parent.parent.parent
TINY = ["--num-envs", "2", "--unroll", "10", "--steps", "40", "--height", "20", "--width", "24",
        "--embedding-size", "8", "--hidden-size", "8", "--key-size", "4", "--capacity", "16", "--neighbours", "3",
        "--cpc-steps", "3", "--evaluate-every", "0", "--threads", "1"]  # fmt: skip
THREE = {"avm/mra": 16, "avm/lstm": 16, "vgb/mra": 4}  # agent -> episodes


def refused(capsys, *arguments: object) -> str:
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    assert ended.value.code == 2
    return capsys.readouterr().err


def printed(capsys, *arguments: object) -> str:
    capsys.readouterr()
    main([*map(str, arguments)])
    return capsys.readouterr().out


# --- what the package has


@pytest.mark.parametrize("card", cards(), ids=lambda card: card.name)
def test_a_card_is_of_its_weights_and_its_run(card):
    folder = entry(card.name)
    trained, config = load_trained(folder), read_config(folder)
    assert card.name == f"{find_task(config['task']).short}/{config['model']}"
    assert (card.called, card.taught) == (model_name(config), "taught" in model_name(config))
    assert (card.task, card.model, card.seed, card.step) == (
        trained.task.name,
        config["model"],
        config["seed"],
        trained.step,
    )
    assert card.parameters == sum(part.numel() for part in trained.agent.parameters())
    assert [score.level for score in card.levels] == list(LEVELS)
    assert all(score.low <= score.mean <= score.high for score in card.levels)
    assert sum(file.stat().st_size for file in folder.rglob("*")) < 4e6
    assert {file.name for file in folder.glob("*/*.safetensors")} == {f"step-{card.step:012d}.safetensors"}


@pytest.mark.parametrize("name", [name for name in THREE if name in names()])
def test_evaluation_finds_what_the_card_says(name):
    """Other and fewer episodes: their interval and the card's meet."""
    (card,) = (card for card in cards() if card.name == name)
    trained = load_trained(entry(name))
    (rows,) = evaluated(trained, ["train"], trained.game("train"), (), THREE[name], seed=5)
    (found,) = summed_up(rows, card.task)
    there = card.score("train")
    assert found.low <= there.high
    assert there.low <= found.high


def test_every_file_of_the_zoo_is_package_data():
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["memorylab"]
    files = [file.relative_to(ROOT / "memorylab") for file in ZOO.rglob("*") if file.is_file()]
    assert len(files) > 10
    assert all(any(fnmatch.fnmatch(file.as_posix(), pattern) for pattern in patterns) for file in files)


def test_the_page_lists_the_zoo():
    _, _, below = (ROOT / "docs" / "zoo.md").read_text().partition("\n".join(HEADER) + "\n")
    table = below.partition("\n\n")[0].splitlines()
    assert table == [markdown_row(card) for card in cards()], "docs/zoo.md has other rows than the cards"


# --- the verbs


def test_the_list_and_a_card(capsys):
    rows = json.loads(printed(capsys, "zoo", "--json"))
    assert [row["name"] for row in rows] == names()
    assert [len(row["levels"]) for row in rows] == [9] * len(rows)
    table = printed(capsys, "zoo")
    assert all(name in table for name in names())
    (one,) = json.loads(printed(capsys, "zoo", "AVM/mra", "--json"))
    assert one == next(row for row in rows if row["name"] == "avm/mra")
    told = printed(capsys, "zoo", "avm/mra")
    assert "mra (taught)" in told
    assert "memorylab train avm --model mra" in told
    assert all(level in told for level in LEVELS)


def test_a_name_leads_to_its_folder():
    assert run_folder(Path("zoo:avm/mra")) == entry("arbitrary_visuomotor_mapping/MRA") == ZOO / "avm" / "mra"
    assert run_folder(Path("runs/x")) == Path("runs/x")


def test_the_zoo_takes_the_place_of_a_run(capsys, tmp_path, monkeypatch):
    quick(monkeypatch)
    (row,) = json.loads(printed(capsys, "evaluate", "zoo:avm/mra", "--levels", "train", "--episodes", "2", "--json"))
    assert row["step"] == next(card.step for card in cards() if card.name == "avm/mra")
    printed(capsys, "curve", "zoo:avm/mra", "zoo:avm/lstm", "--out", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 10_000
    assert agent_player(run_folder(Path("zoo:avm/mra"))).facts["player"].startswith("mra (taught) after")
    printed(capsys, "report", "zoo:vgb/mra", "--out", tmp_path / "report")
    assert "mra (taught)" in (tmp_path / "report" / "report.html").read_text()
    assert not (ZOO / "vgb" / "mra" / "routes").exists()  # nobody walks there for a report


# --- from a run to an agent of the zoo


def quick(monkeypatch) -> None:
    """A trial of a second at most."""
    monkeypatch.setattr(
        evaluate_module,
        "evaluate",
        lambda agent, game, *a, **o: evaluate(agent, game.changed(trials=1, seconds=1), *a, **o),
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "avm"
    main(["train", "avm", "--teacher", "skills", "--entropy-cost", "0.003", "--out", str(folder), *TINY])
    return folder


def test_a_run_becomes_an_agent(run, capsys, tmp_path, monkeypatch):
    quick(monkeypatch)
    row = printed(capsys, "zoo-add", run, "--step", "last", "--episodes", "2", "--folder", tmp_path).splitlines()[-1]
    (card,) = cards(tmp_path)
    assert row == markdown_row(card)
    assert row.startswith("| `avm/mra` | skills |")
    assert (card.step, card.weights, card.episodes, len(card.levels)) == (40, "last", 2, 9)
    assert "--teacher skills" in card.command
    assert "--entropy-cost 0.003" in card.command
    there, here = load_trained(tmp_path / "avm" / "mra"), load_trained(run, "last")
    for name, part in there.agent.state_dict().items():
        assert torch.equal(part, here.agent.state_dict()[name])
    assert capsys.readouterr().err == "", "nobody is told of a run that was never evaluated"
    assert "avm/mra is in the zoo already, with" in refused(capsys, "zoo-add", run, "--folder", tmp_path)
    printed(capsys, "zoo-add", run, "--step", "last", "--episodes", "3", "--replace", "--folder", tmp_path)
    assert [card.episodes for card in cards(tmp_path)] == [3]
    assert [file.name for file in (tmp_path / "avm").iterdir()] == ["mra"], "nothing temporary is left"


def test_what_breaks_leaves_the_zoo_as_it_was(run, tmp_path, monkeypatch):
    quick(monkeypatch)
    add = ["zoo-add", str(run), "--step", "last", "--episodes", "2", "--folder", str(tmp_path)]
    main(add)
    before = cards(tmp_path)
    monkeypatch.setattr("memorylab.laboratory.zoo_entry.write_card", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main([*add, "--replace"])
    assert cards(tmp_path) == before
    assert [file.name for file in (tmp_path / "avm").iterdir()] == ["mra"]


def test_only_agents_of_the_tasks_as_they_are(run):
    own = load_trained(run, "last")
    with pytest.raises(ValueError, match="the zoo has none such"):
        entry_name(own._replace(config=own.config | {"scale": ["trials=3"]}))
    with pytest.raises(ValueError, match=r"not '\.\./x'"):
        entry_name(own._replace(config=own.config | {"model": "../x"}))


def test_an_untaught_agent_is_not_called_taught():
    card = replace(cards()[0], taught=False, teacher="none", called="mra")
    assert markdown_row(card).split(" | ")[1] == "nobody"
    assert card.facts()["taught by"] == "nobody"
