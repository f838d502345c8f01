"""Checkpoints on levels and scales beyond training, for a run of a few steps."""

import csv
import json
import shutil
from functools import partial

import numpy as np
import pytest
import torch
from PIL import Image

from memorylab.cli import main
from memorylab.envs.vector import vector_env
from memorylab.laboratory import figures
from memorylab.laboratory import report as report_module
from memorylab.laboratory.evaluate import parse_sweep
from memorylab.laboratory.evaluations import keep, summed_up
from memorylab.laboratory.find_runs import find_runs
from memorylab.laboratory.kept import other_weights, walk_snapshots
from memorylab.laboratory.references import scripted_players, yardstick
from memorylab.learning.trained import load_trained
from memorylab.runs.checkpoints import load_checkpoint, save_checkpoint
from memorylab.runs.tables import read_rows
from memorylab.web.agent_player import agent_player

TINY = ["--num-envs", "2", "--unroll", "10", "--steps", "40", "--height", "20", "--width", "24",
        "--embedding-size", "8", "--hidden-size", "8", "--key-size", "4", "--capacity", "16", "--neighbours", "3",
        "--cpc-steps", "3", "--evaluate-every", "0", "--threads", "1"]  # fmt: skip


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
    (found,) = summed_up(rows, "arbitrary_visuomotor_mapping")
    half = 3.182446 * np.std([1, 2, 3, 6], ddof=1) / 2  # t of three degrees of freedom
    assert (found.mean, found.low, found.high) == pytest.approx((3, 3 - half, 3 + half))
    assert found.human_normalised == pytest.approx(100 * (3 - 0.06) / (50 - 0.06))
    forgetting, remembering = (
        scripted_players()["arbitrary_visuomotor_mapping", who, "train"].mean for who in ("forgetting", "remembering")
    )
    assert found.memory_score == pytest.approx(100 * (3 - forgetting) / (remembering - forgetting))
    keep(tmp_path / "rows.csv", rows)
    assert len(read_rows(tmp_path / "rows.csv")) == 4


def test_routes_and_times(runs, capsys, monkeypatch):
    monkeypatch.setattr("memorylab.laboratory.evaluate.vector_env", partial(vector_env, seconds=8))
    short = ["--levels", "train_small", "--sweep", "seconds=2", "--episodes", "1"]
    evaluated(capsys, runs / "iga", *short, "--routes", "1", "--save")
    drawn = np.asarray(Image.open(runs / "iga" / "routes" / "40" / "train_small-0.png"))
    assert drawn.shape[0] == drawn.shape[1]
    assert (drawn == (40, 90, 220)).all(-1).any() or drawn.std() > 10  # walls, a goal, a way


def best_at(step: int) -> str:
    """Scores of a run, ten episodes at a step and ten at its end."""
    return "step,level,return\n" + f"{step},train,3\n" * 10 + "40,train,1\n" * 10


def test_the_snapshot_plays_unless_told_otherwise(runs, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(runs / "avm", run)
    short = ["--levels", "train", "--sweep", "seconds=1", "--episodes", "1"]
    weights, _ = load_checkpoint(run / "checkpoints")
    best = {name: part + 1 for name, part in weights.items() if name.startswith("agent.")}
    save_checkpoint(run / "snapshot", 20, best, {})
    (run / "scores.csv").write_text(best_at(20))
    for chosen, step in (((), 20), (("--step", "last"), 40), (("--step", "20"), 20), (("--step", "40"), 40)):
        assert evaluated(capsys, run, *short, *chosen)[0]["step"] == step
    assert torch.equal(load_trained(run).agent.policy.bias, best["agent.policy.bias"])
    assert not capsys.readouterr().err
    assert agent_player(run).facts["player"] == "mra after 20 steps"
    assert agent_player(run, step="last").facts["player"] == "mra after 40 steps"


def test_other_weights_than_the_snapshots_are_told(runs, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(runs / "avm", run)
    assert load_trained(run).step == 40
    assert "was never evaluated on its training level; its newest weights play, step 40" in capsys.readouterr().err
    (run / "scores.csv").write_text(best_at(10) + "50,train")  # by an earlier version; a row is being written
    assert load_trained(run).step == 40
    assert "has no weights of its best step, 10; those of step 40 play" in capsys.readouterr().err


def test_a_report_walks_the_snapshots_of_navigation_by_itself(runs, tmp_path, monkeypatch):
    run = tmp_path / "run"
    shutil.copytree(runs / "iga", run, ignore=shutil.ignore_patterns("routes", "evaluations.csv"))
    weights, _ = load_checkpoint(run / "checkpoints")
    monkeypatch.setattr("memorylab.laboratory.evaluate.vector_env", partial(vector_env, seconds=2))
    for step in (20, 30):  # the snapshot moves on
        save_checkpoint(run / "snapshot", step, weights, {})
        (run / "scores.csv").write_text(best_at(step))
        walk_snapshots(find_runs([run], pytest.fail), 2)
        assert len(list((run / "routes" / str(step)).glob("*.png"))) == 6  # two of each level
    monkeypatch.setattr("memorylab.laboratory.evaluate.walks", pytest.fail)  # it has been walked
    times = "step,level,keyword,value,goal,steps\n20,train,episode,0,0,99\n30,train,episode,0,0,7\n"
    (run / "goal_times.csv").write_text(times)
    drawn = []
    goal_times = figures.goal_times
    monkeypatch.setattr(figures, "goal_times", lambda *given: [drawn.append(given[1]), goal_times(*given)][1])
    page = report_module.report([run], tmp_path / "report", yardstick(), routes=2, complain=pytest.fail).read_text()
    assert page.count("holdout_extrapolate-1</figcaption>") == 1
    assert drawn == [{"mra, train": {0: [7.0]}}]


def test_what_is_shown_of_other_weights_is_named(runs, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(runs / "iga", run, ignore=shutil.ignore_patterns("routes"))
    (run / "scores.csv").write_text(best_at(10))
    evaluated(capsys, run, "--levels", "train_small", "--sweep", "seconds=1", "--episodes", "1", "--save")
    (run / "routes" / "40").mkdir(parents=True)
    told: list[str] = []
    other_weights(find_runs([run], pytest.fail), told.append)
    ended = "with its weights of step 40; its snapshot is 10"
    assert [line.split("run was ")[1] for line in told] == [f"evaluated {ended}", f"walked {ended}"]


def test_sweeps_of_lists_play_one_value_at_a_time():
    assert parse_sweep("delays=4,128", "cd") == [{"delays": (4,)}, {"delays": (128,)}]
    assert parse_sweep("trials=7", "avm") == [{"trials": 7}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["avm", "--sweep", "trials=few"], "--sweep must look like trials=1,2,4"),
        (["avm", "--sweep", "doors=1"], "no keyword 'doors'"),
        (["avm", "--levels", "moon"], "unknown level 'moon'"),
        (["avm", "--step", "7"], "has no weights of step 7; it has 40"),
        (["avm", "--step", "best"], "--step must be snapshot, last or the number of a step, not 'best'"),
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
