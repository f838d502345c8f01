"""The folder of a run: rows, configuration, format."""

import csv
import json
import os
import platform
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import memorylab
from memorylab.learning.presets import preset_config
from memorylab.runs import FORMAT, RunFolder, ScoreRow, read_config
from memorylab.runs import config as config_file

CONFIG = preset_config("avm")


def rows_of(file: Path) -> list[list[str]]:
    with file.open(newline="") as lines:
        return list(csv.reader(lines))


def test_rows_after_the_checkpoint_are_cut(tmp_path):
    folder = RunFolder(tmp_path)
    for step in (10, 20, 30):
        folder.add_metrics({"step": step, "loss": 0.5})
        folder.add_scores([ScoreRow(step, "train", 1.0, 2.5, 15, 7)] * 2)
    with folder.metrics.open("a") as out:
        out.write("1")  # a crash in the middle of a row
    folder.cut_after(step=20, evaluated=10)
    assert rows_of(folder.metrics) == [["step", "loss"], ["10", "0.5"], ["20", "0.5"]]
    row = ["10", "train", "1.0", "2.5", "15", "7"]
    assert rows_of(folder.scores) == [["step", "level", "scale", "return", "length", "seed"], row, row]
    folder.cut_after(-1, -1)
    assert not folder.metrics.exists()
    assert not folder.scores.exists()


def test_an_empty_file_of_records_is_begun_anew(tmp_path):
    folder = RunFolder(tmp_path)
    folder.metrics.touch()
    folder.cut_after(20, 20)
    folder.add_metrics({"step": 21, "loss": 1})
    folder.add_metrics({"loss": 2, "step": 22, "new": 3})
    assert rows_of(folder.metrics) == [["step", "loss"], ["21", "1"], ["22", "2"]]


def test_a_run_goes_on_with_its_configuration_only(tmp_path):
    folder = RunFolder(tmp_path)
    folder.open(asdict(CONFIG))
    folder.open(asdict(CONFIG))
    folder.open(asdict(replace(CONFIG, steps=CONFIG.steps + 1)))
    other = replace(CONFIG, learner=replace(CONFIG.learner, discount=0.5), num_envs=3)
    told = rf"num_envs is {CONFIG.num_envs} there, not 3; learner.discount is {CONFIG.learner.discount} there, not 0.5"
    with pytest.raises(ValueError, match=told):
        folder.open(asdict(other))
    folder.open(asdict(CONFIG))


def test_a_wrong_field_is_named(tmp_path):
    folder = RunFolder(tmp_path)
    folder.open(asdict(CONFIG))
    file = tmp_path / "config.json"
    file.write_text(file.read_text().replace('"num_envs"', '"num_nevs"'))
    before = file.read_text()
    told = f"num_nevs is {CONFIG.num_envs} there, not 'missing'; num_envs is 'missing' there, not {CONFIG.num_envs}"
    with pytest.raises(ValueError, match=told):
        folder.open(asdict(CONFIG))
    assert file.read_text() == before


@pytest.mark.parametrize("text", ["{", "[1, 2]", "", "\x00"])
def test_a_config_file_that_is_none_is_named(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(ValueError, match=r"config.json is not"):
        RunFolder(tmp_path).open(asdict(CONFIG))
    assert (tmp_path / "config.json").read_text() == text


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=r"file"):
        RunFolder(tmp_path / "file" / "run").open(asdict(CONFIG))


def test_config_json_is_the_configuration(tmp_path):
    RunFolder(tmp_path).open(asdict(CONFIG))
    found = json.loads((tmp_path / "config.json").read_text())
    assert found["agent"]["hidden_size"] == CONFIG.agent.hidden_size
    assert os.listdir(tmp_path) == ["config.json"]


def test_a_run_without_a_format_is_read_and_gone_on_with(tmp_path):
    """As every run was written before there was one."""
    (tmp_path / "config.json").write_text(json.dumps(asdict(CONFIG)))
    assert read_config(tmp_path) == json.loads(json.dumps(asdict(CONFIG)))
    RunFolder(tmp_path).open(asdict(CONFIG))
    written = json.loads((tmp_path / "config.json").read_text())
    assert written.pop("format") == FORMAT
    assert written.pop("history").keys() == {"gone_on"}, "how it was begun is not known"
    assert written == read_config(tmp_path)


def test_a_run_says_when_where_and_by_which_version_it_was_begun_and_gone_on_with(tmp_path, monkeypatch):
    def opened(version: str, machine: str) -> dict:
        monkeypatch.setattr(config_file, "here_and_now", lambda: {"version": version, "machine": machine})
        RunFolder(tmp_path).open(asdict(CONFIG))
        return json.loads((tmp_path / "config.json").read_text())["history"]

    begun = {"version": "1", "machine": "a laptop"}
    assert opened(**begun) == {"begun": begun}
    assert opened("2", "a server") == {"begun": begun, "gone_on": {"version": "2", "machine": "a server"}}
    assert opened("3", "a cluster") == {"begun": begun, "gone_on": {"version": "3", "machine": "a cluster"}}
    assert read_config(tmp_path) == json.loads(json.dumps(asdict(CONFIG))), "no part of the configuration"


def test_the_history_has_facts_of_here_and_now(tmp_path):
    RunFolder(tmp_path).open(asdict(CONFIG))
    begun = json.loads((tmp_path / "config.json").read_text())["history"]["begun"]
    assert begun["version"] == memorylab.__version__
    assert abs((datetime.now(UTC) - datetime.fromisoformat(begun["date"])).total_seconds()) < 60
    assert f"Python {platform.python_version()}" in begun["machine"]
    assert (platform.node() or "?") not in begun["machine"]


def test_an_old_run_is_called_by_its_parts(tmp_path):
    """`--model lstm --memory episodic` was once recorded as lstm."""
    agent = asdict(CONFIG.agent) | {"memory": True, "auxiliary": "none"}
    (tmp_path / "config.json").write_text(json.dumps(asdict(CONFIG) | {"model": "lstm", "agent": agent}))
    assert read_config(tmp_path)["model"] == "lstm+mem"
    (tmp_path / "config.json").write_text(json.dumps({"task": "avm", "model": "PPO", "agent": {"layers": 2}}))
    assert read_config(tmp_path)["model"] == "PPO"


def test_checking_a_folder_writes_nothing(tmp_path):
    folder = RunFolder(tmp_path)
    folder.check(asdict(CONFIG))
    assert os.listdir(tmp_path) == []
    folder.open(asdict(CONFIG))
    before = (tmp_path / "config.json").read_bytes()
    with pytest.raises(ValueError, match="num_envs is"):
        folder.check(asdict(replace(CONFIG, num_envs=3)))
    assert (tmp_path / "config.json").read_bytes() == before


@pytest.mark.parametrize("newer", [FORMAT + 1, "two"])
def test_a_run_of_a_newer_format_is_refused_in_a_sentence(tmp_path, newer):
    (tmp_path / "config.json").write_text(json.dumps({"format": newer, **asdict(CONFIG)}))
    told = f"config.json is of format {newer!r}, this version of memorylab reads up to {FORMAT}; update it"
    for read in (read_config, lambda folder: RunFolder(folder).open(asdict(CONFIG))):
        with pytest.raises(ValueError, match=told):
            read(tmp_path)


def test_a_curriculum_of_one_keyword_is_read_as_stages(tmp_path):
    old = asdict(CONFIG) | {"curriculum": {"keyword": "trials", "stages": [1, 2, 4, 8, 16, 32], "share": 0.8}}
    (tmp_path / "config.json").write_text(json.dumps(old))
    assert read_config(tmp_path)["curriculum"] == {"stages": [*CONFIG.curriculum.stages], "share": 0.8}
    RunFolder(tmp_path).open(asdict(CONFIG), asdict(CONFIG))
    none = old | {"curriculum": {"keyword": "", "stages": []}}
    (tmp_path / "config.json").write_text(json.dumps(none))
    assert read_config(tmp_path)["curriculum"] == {"stages": []}
