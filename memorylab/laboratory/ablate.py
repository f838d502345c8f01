"""Tasks x models x seeds as runs: the plan, how long it will take, and its execution."""

import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Literal

import rich
import tyro
from rich.table import Column, Table
from tyro.conf import Positional

from memorylab.agent import MODELS
from memorylab.laboratory.references import yardstick
from memorylab.laboratory.report import report
from memorylab.learning.config import TrainConfig
from memorylab.options import parsed
from memorylab.runs.checkpoints import checkpoints
from memorylab.runs.files import check_writable
from memorylab.runtime.command import train, train_options
from memorylab.runtime.in_process import training_here
from memorylab.tasks.task import find_task, task_names

PROBE_SECONDS = 3.0


@dataclass(frozen=True)
class AblateOptions:
    """Train every model on every task with every seed, then report: memorylab ablate avm cr --models mra lstm ...

    Finished runs are skipped, begun ones go on: the same command continues. Any other option is handed to
    `memorylab train`, such as --learning-rate 1e-4.
    """

    tasks: Positional[tuple[str, ...]]
    """Tasks, by name or short name; all for the thirteen."""
    models: tuple[str, ...] = tuple(MODELS)
    """Which models."""
    seeds: int = 3
    """How many seeds: 0, 1, 2 ..."""
    preset: str = "laptop"
    """laptop or paper."""
    steps: int | None = None
    """Agent steps per run."""
    minutes: float | None = None
    """Minutes of training per run."""
    out: Path = Path("runs/ablation")
    """Folder for the runs and the report."""
    plan: tyro.conf.FlagCreatePairsOff[bool] = False
    """Only show the plan."""
    runtime: Literal["in-process", "ray"] = "in-process"
    """One run after the other on this machine, or many at once over a Ray cluster that shares the folder."""
    address: str | None = None
    """Ray: cluster to join, auto or HOST:PORT; if not given, a cluster of this machine alone is begun."""
    cpus: int = 2
    """Ray: cores of each run."""
    gpus: float = 0
    """Ray: GPUs of each run."""


@dataclass(frozen=True)
class Planned:
    """One run."""

    config: TrainConfig
    folder: Path
    arguments: tuple[str, ...]  # of `memorylab train`
    steps: int  # done so far
    seconds: float

    def is_finished(self, minutes: float | None) -> bool:
        """By its steps or its minutes."""
        return self.steps >= self.config.steps or (minutes is not None and self.seconds >= 60 * minutes)


def planned_runs(options: AblateOptions, others: Sequence[str]) -> list[Planned]:
    """Seed by seed, so that a plan cut short has a whole comparison of fewer seeds. Every setting is checked here."""
    if not options.tasks:
        raise ValueError("name the tasks, such as: memorylab ablate avm cr --models mra lstm --steps 5000000")
    if options.seeds < 1:
        raise ValueError(f"--seeds must be 1 or more, not {options.seeds}")
    if options.steps is None and options.minutes is None:
        raise ValueError("say how long each run shall be: --steps or --minutes")
    if options.minutes is not None and not options.minutes > 0:
        raise ValueError(f"--minutes must be more than 0, not {options.minutes:g}")
    ends = [] if options.steps is None else ["--steps", str(options.steps)]
    ends += [] if options.minutes is None else ["--minutes", f"{options.minutes:g}"]
    names = task_names() if options.tasks == ("all",) else options.tasks
    found = []
    for seed in range(options.seeds):
        for task in map(find_task, names):
            for model in options.models:
                folder = options.out.resolve() / f"{task.short}-{model}-seed{seed}"
                arguments = (task.short, "--model", model, "--preset", options.preset, "--seed", str(seed), *ends,
                             *others, "--out", str(folder))  # fmt: skip
                found.append(Planned(train_options(arguments).config, folder, arguments, *progress_of(folder)))
    return found


def progress_of(folder: Path) -> tuple[int, float]:
    """Steps and seconds of the newest checkpoint."""
    for path in reversed(checkpoints(folder / "checkpoints")):
        try:
            facts = json.loads(path.read_text())
            return int(facts["step"]), float(facts["seconds"])
        except (ValueError, KeyError, OSError):
            continue
    return 0, 0.0


def measured_rate(config: TrainConfig, seconds: float, warm_up: int = 2) -> float:
    """Agent steps a second of a whole run: games, acting, learning."""
    with tempfile.TemporaryDirectory() as folder:
        training = training_here(replace(config, evaluate_every=0), Path(folder) / "run")
        for _ in range(warm_up):
            training.runtime.advance(0.0)
        start, steps = perf_counter(), 0
        while perf_counter() - start < seconds:
            progress = training.runtime.advance(0.0)
            training.count(progress)
            steps += progress.steps
        rate = steps / (perf_counter() - start)
        training.close()
    return rate


def seconds_left(plan: Iterable[Planned], minutes: float | None, on_probe: Callable[[str], None]) -> Iterator[float]:
    """Of each run. Where steps decide, from a short probe of each task and model."""
    rates: dict[tuple[str, str], float] = {}
    for run in plan:
        if run.is_finished(minutes):
            yield 0.0
        elif minutes is not None:
            yield 60 * minutes - run.seconds
        else:
            key = run.config.task, run.config.model
            if key not in rates:
                on_probe(f"{key[1]} on {key[0]}")
                rates[key] = measured_rate(run.config, PROBE_SECONDS)
            yield (run.config.steps - run.steps) / rates[key]


def plan_table(plan: Sequence[Planned], left: Sequence[float], minutes: float | None) -> Table:
    """What is planned, and how long it will take."""
    right = (Column(name, justify="right") for name in ("seed", "steps so far", "left"))
    table = Table("task", "model", *right, caption="Time left is estimated from a short probe, without evaluations.")
    for run, seconds in zip(plan, left, strict=True):
        state = "finished" if run.is_finished(minutes) else hours(seconds)
        c = run.config
        table.add_row(find_task(c.task).short, c.model, str(c.seed), f"{run.steps:,}", state)
    table.title = f"{len(plan)} runs, {hours(sum(left))} left"
    return table


def hours(seconds: float) -> str:
    """For people."""
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{max(minutes, 1)} min"


def ablate(arguments: Sequence[str]) -> None:
    """What `memorylab ablate` does with what follows."""
    options, others = parsed(AblateOptions, arguments, "memorylab ablate", return_unknown_args=True)
    plan = planned_runs(options, others)
    if options.runtime == "ray" and importlib.util.find_spec("ray") is None:
        raise ValueError("--runtime ray needs Ray: pip install 'memorylab-rl[cluster]'")
    check_writable(options.out)
    left = list(seconds_left(plan, options.minutes, lambda name: print(f"measuring {name} ...", file=sys.stderr)))
    rich.print(plan_table(plan, left, options.minutes))
    if options.plan:
        return
    waiting = [run for run in plan if not run.is_finished(options.minutes)]
    carry_out = over_cluster if options.runtime == "ray" else in_turn
    failed = [run for run, succeeded in carry_out(waiting, options) if not succeeded]
    print(
        report(
            [options.out],
            options.out / "report",
            yardstick(),
            routes=4,
            complain=lambda text: print(text, file=sys.stderr),
        )
    )
    if failed:
        names = ", ".join(str(run.folder) for run in failed)
        raise RuntimeError(f"{len(failed)} of {len(plan)} runs failed: {names}; the same command tries them again")


def in_turn(runs: Sequence[Planned], options: AblateOptions) -> Iterator[tuple[Planned, bool]]:
    """One after the other, on this machine."""
    for run in runs:
        yield run, carried_out(run)


def carried_out(run: Planned) -> bool:
    """In a process of its own: what breaks one run leaves the others alone."""
    child = subprocess.Popen([sys.executable, "-m", "memorylab", "train", *run.arguments])
    try:
        return child.wait() == 0
    except KeyboardInterrupt:
        child.wait()  # it was asked to stop too, and saves
        raise


def over_cluster(runs: Sequence[Planned], options: AblateOptions) -> Iterator[tuple[Planned, bool]]:
    """As many at once as there is room for; Ray gives the runs of a lost node to another."""
    from memorylab.runtime.on_ray.sweep import run_many  # not everyone has Ray

    device = ["--device", "cuda"] if options.gpus else []
    arguments = [[*run.arguments, "--threads", str(options.cpus), *device] for run in runs]
    for ended in run_many(train, arguments, options.cpus, options.gpus, options.address):
        run = runs[ended.number]
        state = "finished" if ended.code == 0 else f"failed: {ended.error.strip().splitlines()[-1:]}"
        print(f"{run.folder} {state}", file=sys.stderr)
        yield run, ended.code == 0
