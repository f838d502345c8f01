"""Bad files in the folders of runs cost only themselves: they are named, and the rest is reported."""

import base64
import csv
import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest
from PIL import Image
from synthetic_runs import write_run

from memorylab.laboratory.find_runs import find_runs
from memorylab.laboratory.references import yardstick
from memorylab.laboratory.report import report
from memorylab.learning.presets import preset_config
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.web.dashboard import Runs

TASK = "visible_goal_with_buildings"
ROWS = [(1000 * step, level, float(step)) for step in (1, 2) for level in PAPER_LEVELS]
SECRET = b"the secret of another folder"


def good_run(folder: Path, seed: int = 0, **config) -> Path:
    return write_run(folder, TASK, config.pop("model", "mra"), seed, ROWS, **config)


def config_of(folder: Path, text: str | bytes) -> None:
    good_run(folder)
    (folder / "config.json").write_bytes(text.encode() if isinstance(text, str) else text)


def scores_of(folder: Path, text: bytes) -> None:
    good_run(folder)
    (folder / "scores.csv").write_bytes(text)


def with_fifo(folder: Path, name: str) -> None:
    good_run(folder)
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)


def settings(**changes) -> str:
    return json.dumps({"task": TASK, "model": "mra", "seed": 0, **changes})


LEFT_OUT = {  # the whole run
    "null-seed": lambda folder: config_of(folder, settings(seed=None)),
    "list-seed": lambda folder: config_of(folder, settings(seed=[1])),
    "infinite-seed": lambda folder: config_of(folder, settings(seed=float("inf"))),
    "deep": lambda folder: config_of(folder, '{"task": ' + "[" * 100_000),
    "rather-deep": lambda folder: config_of(folder, settings(more=json.loads("[" * 400 + "]" * 400))),
    "no-text": lambda folder: config_of(folder, b'{"task": "\xff\xfe"}'),
    "long-name": lambda folder: config_of(folder, settings(model="m" * 20_000)),
    "long-task": lambda folder: config_of(folder, settings(task="m" * 20_000)),
    "unprintable": lambda folder: config_of(folder, settings(model="\ud800\n\x00")),
    "odd-curriculum": lambda folder: config_of(folder, settings(curriculum={"keyword": 1})),
    "pipe-config": lambda folder: with_fifo(folder, "config.json"),
    "pipe-scores": lambda folder: with_fifo(folder, "scores.csv"),
    "folder-scores": lambda folder: [
        good_run(folder),
        (folder / "scores.csv").unlink(),
        (folder / "scores.csv").mkdir(),
    ],
    "long-header": lambda folder: scores_of(folder, b"step," + b"x" * 200_000 + b"\n1,2\n"),
}
HEADER = b"step,level,return\n"
ROWS_LEFT_OUT = {  # of a run that is reported
    "byte": lambda folder: scores_of(folder, HEADER + b"5,tr\xffain,1\n10,train,2\n"),
    "field": lambda folder: scores_of(folder, HEADER + b"5,train," + b"1" * 200_000 + b"\n10,train,2\n"),
    "quoted": lambda folder: scores_of(folder, HEADER + b'5,train,"' + b"1" * 200_000 + b'"\n10,train,2\n'),
    "step": lambda folder: scores_of(folder, HEADER + b"9" * 30 + b",train,1\n10,train,2\n"),
    "score": lambda folder: scores_of(folder, HEADER + b"5,train,1e300\n10,train,2\n"),
}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_run_that_cannot_be_read_is_named_and_left_out(tmp_path, name):
    good = good_run(tmp_path / "good", seed=7)
    LEFT_OUT[name](tmp_path / "bad")
    told = []
    assert [run.folder for run in find_runs([tmp_path], told.append)] == [good]
    assert len(told) == 1
    assert "bad" in told[0]
    assert told[0].endswith("is left out")
    assert len(told[0]) < 1000


@pytest.mark.parametrize("name", ROWS_LEFT_OUT)
def test_a_row_that_is_none_is_named_and_the_others_count(tmp_path, name):
    ROWS_LEFT_OUT[name](tmp_path / "run")
    told = []
    [run] = find_runs([tmp_path], told.append)
    assert run.curves["train"].steps.tolist() == [10]
    assert len(told) == 1
    assert "row 2" in told[0]


@pytest.mark.parametrize("bad", [*LEFT_OUT, "pipe-metrics"])
def test_the_dashboard_shows_the_others(tmp_path, bad):
    good_run(tmp_path / "good")
    (LEFT_OUT | {"pipe-metrics": lambda folder: with_fifo(folder, "metrics.csv")})[bad](tmp_path / "bad")
    runs = Runs(tmp_path).read()
    json.dumps(runs, ensure_ascii=False, allow_nan=False).encode()  # as it is sent
    assert [run["name"] for run in runs] == ["bad", "good"]
    assert "train" in runs[1]["levels"]
    assert len(json.dumps(runs[0])) < 5000


def test_the_dashboard_shows_a_folder_whose_name_is_no_text(tmp_path):
    good_run(Path(os.fsdecode(os.fsencode(tmp_path / "run-") + b"\xff")))
    [run] = Runs(tmp_path).read()
    assert run["name"] == "run-\\udcff"
    json.dumps(run, ensure_ascii=False).encode()


# --- the whole report

KEPT = {
    "evaluations.csv": "step,level,keyword,value,scale,return,length,seed",
    "goal_times.csv": "step,level,keyword,value,goal,steps",
}
BAD_ROWS = {
    "evaluations.csv": [
        "x,train,,,1,1,1,1",
        "1000,train,,,1,x,1,1",
        "1000,train,../../up,2,1,1,1,1",
        "1000,nosuch,,,1,1,1,1",
    ],
    "goal_times.csv": ["1000,train,episode,0,x,5", "²,train,episode,0,0,5"],
}


@pytest.fixture(scope="module")
def reported(tmp_path_factory) -> tuple[Path, list[str]]:
    """Good runs with every bad file beside them."""
    runs, out = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("out")
    for name, make in LEFT_OUT.items():
        make(runs / name)
    good = good_run(runs / "good", model="$\\frac{ & ~^ =1+1", scale=5, teacher=["x"], learner=3, stimuli={"a": 1})
    for name, header in KEPT.items():
        (good / name).write_text("\n".join([header, *BAD_ROWS[name]]) + "\n")
    good_run(runs / "formula", model="=1+1")
    piped = good_run(runs / "piped", model="lstm")
    for name in KEPT:
        os.mkfifo(piped / name)
    (piped / "snapshot").mkdir()
    (piped / "snapshot" / "step-000000002000.json").write_text('{"step": 2000}')
    good_run(Path(os.fsdecode(os.fsencode(runs / "run-") + b"\xff")), model="ff")
    put_routes(good / "routes" / "2000", runs.parent)
    told: list[str] = []
    report([runs], out, yardstick(), routes=1, complain=told.append)
    return out, told


def put_routes(folder: Path, elsewhere: Path) -> None:
    """One true picture, one that is none, one that leads elsewhere, and a pipe."""
    folder.mkdir(parents=True)
    Image.new("RGB", (2, 2)).save(folder / "train-0.png")
    (folder / "train-1.png").write_bytes(SECRET)
    (elsewhere / "secret").write_bytes(b"\x89PNG" + SECRET)
    (folder / "train-2.png").symlink_to(elsewhere / "secret")
    os.mkfifo(folder / "train-3.png")


def test_the_rest_is_reported_and_whatever_was_left_out_is_named(reported):
    out, told = reported
    page = (out / "report.html").read_text()
    for name in (*LEFT_OUT, "evaluations.csv", "goal_times.csv", "train-1.png", "train-2.png", "train-3.png"):
        assert any(name in text for text in told), name
        assert name in page
    assert any("piped cannot be walked" in text for text in told)
    assert any("other games than the paper's (5, {'a': 1})" in text for text in told)
    assert "run-\\udcff" in page
    assert not list(out.rglob("*up*"))


def test_routes_do_not_lead_out_of_the_folder(reported):
    page = (reported[0] / "report.html").read_text()
    encoded = [base64.b64encode(head + SECRET).decode()[4:-4] for head in (b"", b"\x89PNG")]
    assert not any(text in page for text in encoded)
    assert page.count("train-0</figcaption>") == 1


def test_names_are_text_in_latex_and_in_a_spreadsheet(reported):
    latex = (reported[0] / "tables" / "ranking.tex").read_text()
    assert r"\$\textbackslash{}frac\{ \& \textasciitilde{}\textasciicircum{} =1+1" in latex
    with (reported[0] / "tables" / "ranking.csv").open(newline="") as lines:
        cells = [cell for row in csv.reader(lines) for cell in row]
    assert "'=1+1" in cells
    assert not any(cell.startswith("=") for cell in cells)
    assert not any(cell.startswith("'-") for cell in cells), "numbers below zero, and the dash for none, stay"


def test_a_path_that_no_system_has_is_named(tmp_path):
    good, told = good_run(tmp_path / "good"), []
    assert len(find_runs([Path("x" * 20_000), good], told.append)) == 1
    assert [text[-15:] for text in told] == ["is not a folder"]


def test_runs_of_two_versions_are_seeds_of_one_thing(tmp_path):
    """One has fewer settings, which then have their defaults, and one more, which is not used."""
    full = json.loads(json.dumps(asdict(preset_config(TASK))))
    older = {name: value for name, value in full.items() if name != "scale"} | {"replay": 0, "in_turns": True}
    for seed, config in enumerate((full, older)):
        settings = {name: value for name, value in config.items() if name not in ("task", "model", "seed")}
        write_run(tmp_path / str(seed), TASK, "mra", seed, ROWS, **settings)
    told = []
    assert len(find_runs([tmp_path], told.append)) == 2
    assert told == []
