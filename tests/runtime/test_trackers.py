"""Trackers with their real libraries, as far as they are installed: what is told, and how a run goes on."""

import importlib.util
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_training import TINY, command
from tiny_runs import make_hasty, rows

from memorylab.runtime import trackers as module
from memorylab.runtime.trackers import TRACKERS, Trackers, run_id
from memorylab.runtime.training import Report


@dataclass
class Config:
    task: str = "avm"
    seed: int = 0


def training_at(folder: Path, step: int) -> SimpleNamespace:
    return SimpleNamespace(step=step, folder=SimpleNamespace(path=folder), config=Config(), tell=None)


def report_at(step: int, doing: str = "") -> Report:
    levels, metrics = {"holdout_extrapolate": 2.0}, {"loss": 0.25}
    return Report(step, 1.0, 99.0, "trials 1", step / 2, 15.0, 3, levels, metrics, doing=doing, stage_number=1)


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps({"history": {"begun": {"date": "today"}}}))
    return tmp_path


def told_twice(name: str, folder: Path) -> None:
    """A run that is interrupted after step 30 and goes on from step 20."""
    for first in (0, 20):
        training = training_at(folder, first)
        trackers = Trackers([name], training, lambda _: None)
        for step in range(first + 10, first + 40, 10):
            training.tell(report_at(step))
        trackers.close()
        assert trackers.open.keys() == {name}, "it was let go"


def in_tensorboard(folder: Path) -> dict[str, list[tuple[int, float]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder / "tensorboard"))
    found.Reload()
    return {tag: [(e.step, e.value) for e in found.Scalars(tag)] for tag in found.Tags()["scalars"]}


def test_tensorboard_forgets_what_came_after_the_checkpoint(folder):
    pytest.importorskip("tensorboard")
    told_twice("tensorboard", folder)
    found = in_tensorboard(folder)
    assert found["score"] == [(step, step / 2) for step in (10, 20, 30, 40, 50)]
    assert found.keys() == {"score", "steps_per_second", "stage", "loss", "holdout_extrapolate"}
    assert found["stage"][0] == (10, 1.0)


def test_wandb_writes_offline_under_one_name(folder, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.delenv("WANDB_MODE", raising=False)
    told_twice("wandb", folder)
    files = list((folder / "wandb").glob(f"offline-run-*-{run_id(folder)}/*.wandb"))
    assert files
    assert all(file.stat().st_size for file in files)


def test_mlflow_goes_on_with_the_same_run(folder, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    told_twice("mlflow", folder)
    client = mlflow.MlflowClient((folder / "mlflow").as_uri())
    (run,) = client.search_runs([client.get_experiment_by_name("memorylab").experiment_id])
    assert (run.data.params["task"], run.info.status) == ("avm", "FINISHED")
    assert [(m.step, m.value) for m in client.get_metric_history(run.info.run_id, "score")][-1] == (50, 25.0)


@pytest.mark.skipif(not importlib.util.find_spec("trackio"), reason="Trackio is not installed")
def test_trackio_goes_on_with_the_same_run(folder, monkeypatch):
    monkeypatch.setenv("TRACKIO_DIR", str(folder / "kept"))  # before it is imported
    told_twice("trackio", folder)
    assert list((folder / "kept").rglob("memorylab*.db")), os.listdir(folder)


def test_the_command_tells_tensorboard_what_metrics_say(capsys, tmp_path, monkeypatch):
    pytest.importorskip("tensorboard")
    make_hasty(monkeypatch.setattr)
    assert command(capsys, *TINY, "--track", "tensorboard", "--out", tmp_path / "run")[0] == 0
    table = [(int(row["step"]), float(row["loss"])) for row in rows(tmp_path / "run" / "metrics.csv")]
    found = in_tensorboard(tmp_path / "run")
    assert [step for step, _ in table] == [step for step, _ in found["loss"]] == [40, 80]
    assert [loss for _, loss in found["loss"]] == pytest.approx([loss for _, loss in table], rel=1e-5)
    assert not (tmp_path / "run" / "wandb").exists()


def test_a_missing_library_is_one_sentence_before_anything_is_written(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    code, said = command(capsys, *TINY, "--track", "tensorboard", "mlflow", "--out", tmp_path / "run")
    assert (code, list(tmp_path.iterdir())) == (2, [])
    assert said.splitlines()[-1].endswith("--track tensorboard needs a package more: pip install tensorboard")
    with pytest.raises(ValueError, match="pip install mlflow-skinny"):
        module.check_trackers(["mlflow"])


class Notebook:
    """A tracker that remembers."""

    opened: list["Notebook"] = []  # noqa: RUF012

    def __init__(self, folder: Path, config: Mapping, step: int):
        self.begun, self.steps, self.is_closed = step, [], False
        self.opened.append(self)

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        self.steps.append(step)

    def close(self) -> None:
        self.is_closed = True


class Broken(Notebook):
    def log(self, numbers: Mapping[str, float], step: int) -> None:
        raise ConnectionError("the server is gone")


@pytest.fixture
def notebooks(monkeypatch) -> list[Notebook]:
    monkeypatch.setattr(Notebook, "opened", [])
    monkeypatch.setitem(TRACKERS, "tensorboard", Notebook)
    monkeypatch.setitem(TRACKERS, "wandb", Broken)
    return Notebook.opened


def begun(folder: Path, *names: str) -> tuple[SimpleNamespace, Trackers, Callable]:
    shown: list[int] = []
    training = training_at(folder, 0)
    return training, Trackers(names, training, lambda report: shown.append(report.step)), shown


def test_a_run_that_went_back_is_opened_anew_where_it_went(folder, notebooks):
    training, trackers, shown = begun(folder, "tensorboard")
    for report in (report_at(10), report_at(20), report_at(5, doing="going on"), report_at(25)):
        training.tell(report)
    trackers.close()
    assert [(book.begun, book.steps, book.is_closed) for book in notebooks] == [(0, [10, 20], True), (5, [25], True)]
    assert shown == [10, 20, 5, 25]  # the terminal is told all the same


def test_one_that_fails_is_let_go_and_the_run_and_the_others_go_on(folder, notebooks, capsys):
    training, trackers, shown = begun(folder, "wandb", "tensorboard")
    for step in (10, 20):
        training.tell(report_at(step))
    trackers.close()
    assert capsys.readouterr().err == "memorylab: wandb is told no more of this run (the server is gone)\n"
    assert notebooks[1].steps == shown == [10, 20]


def test_a_run_that_is_begun_anew_is_another(folder):
    before = run_id(folder)
    assert run_id(folder) == before
    (folder / "config.json").write_text(json.dumps({"history": {"begun": {"date": "tomorrow"}}}))
    assert run_id(folder) != before
