"""Checkpoints on levels and scales beyond training, for a run of a few steps."""

import csv
import json

import numpy as np
import pytest
from PIL import Image

from memorylab.cli import main
from memorylab.laboratory.evaluate import keep, parse_sweep, read_rows, summed_up

TINY = ["--games", "2", "--unroll", "10", "--steps", "40", "--height", "20", "--width", "24", "--embedding-size", "8",
        "--hidden-size", "8", "--key-size", "4", "--capacity", "16", "--neighbours", "3", "--cpc-steps", "3",
        "--evaluate-every", "0", "--threads", "1"]  # fmt: skip


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for task in ("avm", "iga"):
        main(["train", task, "--model", "mra", "--out", str(folder / task), *TINY])
    return folder


def evaluated(capsys, *arguments) -> list[dict]:
    capsys.readouterr()
    main(["evaluate", *map(str, arguments), "--json"])
    return json.loads(capsys.readouterr().out)


def test_levels_and_sweeps(runs, capsys):
    rows = evaluated(capsys, runs / "avm", "--levels", "all", "--sweep", "seconds=1", "--episodes", "3")
    assert len({row["level"] for row in rows}) == 9
    assert all(row["episodes"] == 3 and row["mean_length"] == 15 for row in rows)  # 15 steps a second
    assert all(row["low"] <= row["mean"] <= row["high"] for row in rows)
    rows = evaluated(capsys, runs / "avm", "--levels", "train", "--sweep", "seconds=1,2", "--episodes", "2")
    assert [(row["keyword"], row["value"], row["mean_length"]) for row in rows] == [
        ("seconds", "1", 15),
        ("seconds", "2", 30),
    ]


def test_what_is_saved_can_be_added_to(runs, capsys):
    for seconds in ("1", "2", "1"):
        evaluated(
            capsys, runs / "avm", "--levels", "train", "--sweep", f"seconds={seconds}", "--episodes", "2", "--save"
        )
    rows = read_rows(runs / "avm" / "evaluations.csv")
    assert [row["value"] for row in rows] == ["2", "2", "1", "1"]


def test_the_interval_is_students(tmp_path):
    rows = [
        {"step": 1, "level": "train", "keyword": "", "value": "", "return": score, "length": 4}
        for score in (1, 2, 3, 6)
    ]
    (found,) = summed_up(rows)
    half = 3.182446 * np.std([1, 2, 3, 6], ddof=1) / 2  # t of three degrees of freedom
    assert (found.mean, found.low, found.high) == pytest.approx((3, 3 - half, 3 + half))
    keep(tmp_path / "rows.csv", rows)
    assert len(read_rows(tmp_path / "rows.csv")) == 4


def test_routes_and_times(runs, capsys):
    short = ["--levels", "train_small", "--sweep", "seconds=2", "--episodes", "1"]
    evaluated(capsys, runs / "iga", *short, "--routes", "1", "--save")
    drawn = np.asarray(Image.open(runs / "iga" / "routes" / "train_small-0.png"))
    assert drawn.shape[0] == drawn.shape[1]
    assert (drawn == (40, 90, 220)).all(-1).any() or drawn.std() > 10  # walls, a goal, a way


def test_sweeps_of_lists_play_one_value_at_a_time():
    assert parse_sweep("delays=4,128", "cd") == [{"delays": (4,)}, {"delays": (128,)}]
    assert parse_sweep("trials=7", "avm") == [{"trials": 7}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["avm", "--sweep", "trials=few"], "--sweep must look like trials=1,2,4"),
        (["avm", "--sweep", "doors=1"], "no keyword 'doors'"),
        (["avm", "--levels", "moon"], "unknown level 'moon'"),
        (["avm", "--step", "7"], "no checkpoint of step 7; it has 40"),
        (["avm", "--routes", "2", "--save"], "--routes is for navigation tasks"),
        (["iga", "--routes", "2"], "needs --save"),
        (["avm", "--episodes", "0"], "--episodes must be 1 or more"),
        (["nothing"], "is not the folder of a run"),
    ],
)
def test_bad_input_is_told_in_a_sentence(runs, capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        main(["evaluate", str(runs / arguments[0]), *arguments[1:]])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_table_too(runs, capsys):
    main(["evaluate", str(runs / "avm"), "--levels", "train", "--sweep", "seconds=1", "--episodes", "2", "--csv"])
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert row["level"] == "train"
    main(["evaluate", str(runs / "avm"), "--levels", "train", "--sweep", "seconds=1", "--episodes", "2"])
    assert "95 % interval" in capsys.readouterr().out
