"""A run as other people's tools for following runs know it, beside our own files: `train --track NAME`."""

import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Protocol

from memorylab.runtime.training import Report, Training

TrackerName = Literal["tensorboard", "wandb", "mlflow", "trackio"]
PROJECT = "memorylab"
INSTALLED_BY = {"mlflow": "mlflow-skinny"}  # where the package is not called as its module


class Tracker(Protocol):
    """Takes the numbers of a run. Each is opened as `Name(folder, config, step)`, to go on after that step."""

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """How the run stands."""
        ...

    def close(self) -> None:
        """All is written."""
        ...


class TensorBoard:
    """In the folder `tensorboard` of the run; what was written after the step from which a run goes on is dropped."""

    def __init__(self, folder: Path, config: Mapping[str, Any], step: int):
        from torch.utils.tensorboard import SummaryWriter

        self.writer = SummaryWriter(str(folder / "tensorboard"), purge_step=step + 1)

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """See Tracker."""
        for name, value in numbers.items():
            self.writer.add_scalar(name, value, step)

    def close(self) -> None:
        """See Tracker."""
        self.writer.close()


class Wandb:
    """Offline in the folder `wandb` of the run, for `wandb sync`, unless WANDB_MODE says otherwise."""

    def __init__(self, folder: Path, config: Mapping[str, Any], step: int):
        import wandb

        mode: Any = os.environ.get("WANDB_MODE", "offline")
        again = {"resume": "allow"} if mode == "online" else {}
        where: Any = {"project": PROJECT, "name": folder.name, "id": run_id(folder), "dir": str(folder), **again}
        self.run = wandb.init(**where, mode=mode, config=dict(config), settings=wandb.Settings(silent=True))

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """See Tracker."""
        self.run.log(dict(numbers), step=step)

    def close(self) -> None:
        """See Tracker."""
        self.run.finish()


class MLflow:
    """In the folder `mlflow` of the run, unless MLFLOW_TRACKING_URI names a server."""

    def __init__(self, folder: Path, config: Mapping[str, Any], step: int):
        server = os.environ.get("MLFLOW_TRACKING_URI")
        if not server:
            os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # plain files; a database needs more packages
        from mlflow import MlflowClient
        from mlflow.entities import Metric

        self.metric = Metric
        self.client = MlflowClient(server or (folder / "mlflow").resolve().as_uri())
        found = self.client.get_experiment_by_name(PROJECT)
        experiment = found.experiment_id if found else self.client.create_experiment(PROJECT)
        own = self.client.search_runs([experiment], f"tags.{PROJECT} = '{run_id(folder)}'", max_results=1)
        if own:
            self.id = own[0].info.run_id
            self.client.update_run(self.id, status="RUNNING")
        else:
            tags = {PROJECT: run_id(folder)}
            self.id = self.client.create_run(experiment, run_name=folder.name, tags=tags).info.run_id
            for name, value in config.items():
                self.client.log_param(self.id, name, str(value)[:500])

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """See Tracker."""
        now = int(1000 * time.time())
        self.client.log_batch(self.id, [self.metric(name, value, now, step) for name, value in numbers.items()])

    def close(self) -> None:
        """See Tracker."""
        self.client.set_terminated(self.id)


class Trackio:
    """Where Trackio keeps its runs on this machine; TRACKIO_DIR can name another place."""

    def __init__(self, folder: Path, config: Mapping[str, Any], step: int):
        import trackio

        name = f"{folder.name}-{run_id(folder)[:6]}"
        with redirect_stdout(sys.stderr):  # it tells where it keeps the run; our stdout is for results
            self.run = trackio.init(project=PROJECT, name=name, config=dict(config), resume="allow")

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """See Tracker."""
        self.run.log(dict(numbers), step=step)

    def close(self) -> None:
        """See Tracker."""
        with redirect_stdout(sys.stderr):
            self.run.finish()


TRACKERS: dict[str, Callable[[Path, Mapping[str, Any], int], Tracker]] = {
    "tensorboard": TensorBoard, "wandb": Wandb, "mlflow": MLflow, "trackio": Trackio,
}  # fmt: skip


def check_trackers(names: Sequence[str]) -> None:
    """Or one sentence, before anything is written."""
    for name in names:
        if importlib.util.find_spec(name) is None:
            raise ValueError(f"--track {name} needs a package more: pip install {INSTALLED_BY.get(name, name)}")


def run_id(folder: Path) -> str:
    """The same whenever the run goes on, another for a run that is begun anew."""
    begun = json.loads((folder / "config.json").read_text()).get("history", {}).get("begun", {})
    return blake2b(f"{folder.resolve()} {begun}".encode(), digest_size=8).hexdigest()


class Trackers:
    """Told of a training beside whoever is told already. One that fails is let go: the run is worth more."""

    def __init__(self, names: Sequence[str], training: Training, tell: Callable[[Report], None]):
        self.names, self.training, self.tell_also = list(dict.fromkeys(names)), training, tell
        self.step = training.step
        self.begin()
        training.tell = self.tell

    def begin(self) -> None:
        """Open all, to go on after the step that the run has."""
        self.open: dict[str, Tracker] = {}
        for name in list(self.names):
            with self.letting_go(name):
                self.open[name] = TRACKERS[name](self.training.folder.path, asdict(self.training.config), self.step)

    def tell(self, report: Report) -> None:
        """As Training calls it. Where a run went back to a checkpoint, all are opened anew."""
        self.tell_also(report)
        if report.step < self.step:
            self.close()
            self.step = report.step
            self.begin()
        if report.doing:
            return
        self.step = report.step
        for name, tracker in list(self.open.items()):
            with self.letting_go(name):
                tracker.log(numbers_of(report), report.step)

    def close(self) -> None:
        """All is written."""
        for name, tracker in list(self.open.items()):
            with self.letting_go(name):
                tracker.close()

    @contextmanager
    def letting_go(self, name: str) -> Iterator[None]:
        """Of a tracker, in a sentence, if anything is wrong with it."""
        try:
            yield
        except Exception as problem:
            self.open.pop(name, None)
            self.names.remove(name)
            print(f"memorylab: {name} is told no more of this run ({problem})", file=sys.stderr)


def numbers_of(report: Report) -> dict[str, float]:
    """What trackers are told, by the names of metrics.csv and of the levels."""
    told = {"score": report.score, "steps_per_second": report.rate, "stage": float(report.stage_number)}
    return {**told, **report.metrics, **report.levels}
