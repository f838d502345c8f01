"""Curves of runs, also while they are being written."""

import json
import os

import pytest

from memorylab.cli import main
from memorylab.web.dashboard import MAX_POINTS, Runs

CONFIG = {"task": "avm", "model": "mra", "preset": "laptop", "seed": 0}


@pytest.fixture
def folder(tmp_path):
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps(CONFIG))
    (run / "metrics.csv").write_text(
        "step,stage,score,loss\n10,trials 1,0.5,nan\n20,trials 2,1.5,-0.25\n30,trials 2,9.5,1"
    )
    (run / "scores.csv").write_text("step,level,return\n0,train,1\n0,train,3\n20,train,4\n20,holdout_extrapolate,8\n")
    return tmp_path / "runs"


def test_curves_and_levels_of_a_run_that_is_being_written(folder):
    (run,) = Runs(folder).read()
    assert (run["name"], run["model"], run["stage"], run["is_active"]) == ("one", "mra", "trials 2", True)
    assert run["curves"] == {"score": [[10, 0.5], [20, 1.5]], "loss": [[20, -0.25]]}  # the cut line waits, nan is none
    assert run["levels"]["train"] == [[0, 2, 1.0], [20, 4, 0]]
    assert run["levels"]["holdout_extrapolate"] == [[20, 8, 0]]


def test_what_is_new_is_seen_and_what_rests_is_said(folder):
    runs = Runs(folder)
    runs.read()
    with (folder / "one" / "metrics.csv").open("a") as file:
        file.write("2\n")
    (run,) = runs.read()
    assert (run["curves"]["score"][-1], run["curves"]["loss"][-1]) == ([30, 9.5], [30, 12])
    for name in ("metrics.csv", "scores.csv"):
        os.utime(folder / "one" / name, (0, 1e9))
    assert not runs.read()[0]["is_active"]


def test_the_rate_leaves_out_the_time_of_evaluations(folder):
    """A row that holds an evaluation, at its own step or since the row before, tells no rate."""
    rows = [(0.5, 100), (10, 3000), (20, 50), (30, 2000), (40, 2200), (50, 70)]
    lines = "".join(f"{step},x,{rate},1\n" for step, rate in rows)
    (folder / "one" / "metrics.csv").write_text("step,stage,steps_per_second,score\n" + lines)
    (folder / "one" / "scores.csv").write_text("step,level,return\n0,train,1\n15,train,3\n50,train,4\n")
    (run,) = Runs(folder).read()
    assert run["rate"] == 2200
    assert run["curves"]["steps_per_second"] == [[10, 3000], [30, 2000], [40, 2200]]
    assert len(run["curves"]["score"]) == len(rows)
    (folder / "one" / "metrics.csv").write_text("step,stage,score\n10,x,1\n")
    assert Runs(folder).read()[0]["rate"] is None


def test_long_curves_are_thinned_and_end_where_they_end(folder):
    rows = "".join(f"{step},x,{step},0\n" for step in range(5000))
    (folder / "one" / "metrics.csv").write_text("step,stage,score,loss\n" + rows)
    curve = Runs(folder).read()[0]["curves"]["score"]
    assert len(curve) == MAX_POINTS
    assert (curve[0], curve[-1]) == ([0, 0], [4999, 4999])


def test_a_damaged_run_does_not_hide_the_others(folder):
    for name, content in (("bad", "{"), ("list", "[1]"), ("empty", "")):
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(content)
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "config.json").write_text(json.dumps(CONFIG))
    told = {run["name"]: run for run in Runs(folder).read()}
    assert told.keys() == {"bad", "list", "empty", "one", "deep/er"}
    assert "cannot be read" in told["bad"]["problem"]
    json.dumps(list(told.values()), allow_nan=False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("notes of another kind\n", "the scores cannot be read: scores.csv has no column step and no column level"),
        ("step,level,return\n0,train,x\n10,train,4\n", "scores.csv, row 2: '0,train,x' is no score; it is left out"),
        (None, "the scores cannot be read: scores.csv is not a plain file"),
    ],
)
def test_scores_that_cannot_be_read_are_named_beside_the_curves(folder, content, said):
    file = folder / "one" / "scores.csv"
    file.unlink()
    os.mkfifo(file) if content is None else file.write_text(content)
    (run,) = Runs(folder).read()
    assert run["notes"][0].startswith(said)
    assert run["curves"]["score"] == [[10, 0.5], [20, 1.5]]
    file.unlink()
    assert Runs(folder).read()[0]["notes"] == []  # not evaluated yet


def test_one_run_may_be_named_itself(folder):
    assert [run["name"] for run in Runs(folder / "one").read()] == ["one"]


def test_a_folder_that_is_none(capsys):
    with pytest.raises(SystemExit) as exit:
        main(("dashboard", "nowhere"))
    assert exit.value.code == 2
    assert "nowhere is not a folder" in capsys.readouterr().err
