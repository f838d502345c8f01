"""Our learner beside Sample Factory's APPO and CleanRL's PPO with an LSTM, end to end, in one run.

python benchmarks/learners.py [--seconds 8] [--rounds 3] [--json results/learner_speed.json]

Each learner is a process that prints, after each update, from how many agent steps it has learned. It is watched from
outside: the clock and the CPU seconds of all its processes, after a warm-up. Sample Factory's settings are tried once,
the best of them by steps per second is then measured in turns with the others.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import nan
from pathlib import Path
from statistics import median
from threading import Timer
from time import perf_counter, sleep
from typing import IO, NamedTuple

from peers import CORES, HERE, python_of

from memorylab.runs.files import replacing

START_SECONDS = 180.0  # a first use of the task compiles it
WARM_UP_SECONDS = 3.0

SAME = "AVM's true training level, 36 x 48 pictures, small encoder of 128 units, LSTM of 128, Adam, float32 on the CPU"
DIFFERS = (
    "memorylab LSTM: V-trace, 32 or 64 games x 25 steps, each learned from once; it sees the last action and reward",
    "memorylab MRA: the same with an episodic memory and CPC",
    "Sample Factory: APPO (PPO's clipped loss), rollouts of 32 steps, each learned from once",
    "PPO-LSTM: rollouts of 128 steps in 4 minibatches, each learned from four times or once",
)


class Learner(NamedTuple):
    """A script under peers/ and what it is told."""

    script: str
    arguments: tuple[str, ...]


def sample_factory(games: int, workers: int, batch: int, **others: object) -> Learner:
    """APPO with `workers` environments of so many games."""
    options = {"num_workers": workers, "batch_size": batch, **others}
    return Learner("sample_factory", (str(games), *(f"--{name}={value}" for name, value in options.items())))


BATCHED = {"batched_sampling": True, "num_envs_per_worker": 1, "worker_num_splits": 1}
IN_ONE_PROCESS = {"serial_mode": True, "async_rl": False, **BATCHED}
LEARNERS = {
    "memorylab LSTM": Learner("memorylab", ("lstm",)),
    "memorylab LSTM, 64 games": Learner("memorylab", ("lstm", "64")),
    "memorylab MRA": Learner("memorylab", ("mra",)),
    f"Sample Factory, usual: {CORES} workers, 16 games each": sample_factory(1, CORES, 1024, num_envs_per_worker=16),
    "PPO-LSTM, usual: 32 games, 4 epochs": Learner("ppo_lstm", ("32", "4")),
    "PPO-LSTM, cheap: 128 games, 1 epoch": Learner("ppo_lstm", ("128", "1")),
}
SAMPLE_FACTORY_SETTINGS = {
    "one process, 64 games": sample_factory(64, 1, 2048, **IN_ONE_PROCESS),
    "one process, 128 games": sample_factory(128, 1, 4096, **IN_ONE_PROCESS),
    "one process, 256 games": sample_factory(256, 1, 8192, **IN_ONE_PROCESS),
    "one worker, 128 games": sample_factory(128, 1, 4096, **BATCHED),
    "one worker, 256 games": sample_factory(256, 1, 8192, **BATCHED),
    "two workers, 64 games each": sample_factory(64, 2, 4096, **BATCHED),
}


class Speed(NamedTuple):
    """Of one learner, after its warm-up."""

    steps: int
    seconds: float
    cpu_seconds: float


class Summary(NamedTuple):
    """Of all rounds: medians."""

    steps_per_second: float
    steps_per_cpu_second: float


def summary(speeds: list[Speed]) -> Summary:
    return Summary(median(s.steps / s.seconds for s in speeds), median(s.steps / s.cpu_seconds for s in speeds))


def interpreter(script: str) -> Path:
    """Sample Factory has its own: it asks for NumPy and Gymnasium of before 2 and 1, but runs with these."""
    if script != "sample_factory":
        return Path(sys.executable)
    shared = ["--constraint", HERE.parent / "constraints.txt", "torch", "numba", "gymnasium", "pillow"]
    needed = ["colorlog==6.12.0", "faster-fifo==1.5.2", "opencv-python-headless==5.0.0.93", "psutil==7.2.2",
              "tensorboardX==2.6.5", "threadpoolctl==3.8.0"]  # fmt: skip
    alone = ["--no-deps", "sample-factory==2.1.1", "signal-slot-mp==1.0.5", "numpy==2.3.5"]
    return python_of(script, [*shared, *needed], alone)


@contextmanager
def running(learner: Learner, limit: float, errors: IO[str]) -> Iterator[subprocess.Popen]:
    """The learner in a session of its own, which ends with the block or after so many seconds."""
    command = [interpreter(learner.script), HERE / "peers" / f"{learner.script}_learner.py", *learner.arguments]
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, "PYTHONPATH": str(HERE.parent), "TMPDIR": folder}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=settings, start_new_session=True
        )
        timer = Timer(limit, tell_all, (process.pid, signal.SIGTERM))
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            tell_all(process.pid, signal.SIGTERM)
            process.wait()
            sleep(0.5)  # Python's own helper process clears away shared memory
            tell_all(process.pid, signal.SIGKILL)


def tell_all(session: int, message: signal.Signals) -> None:
    """All processes of a learner, if any are left."""
    with suppress(ProcessLookupError):
        os.killpg(session, message)


def cpu_seconds(session: int) -> float:
    """User and system time of all processes of a session."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it may end meanwhile
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[3]) == session:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def reading(process: subprocess.Popen, since: float) -> Speed:
    """Steps, clock and CPU seconds at the first update after that time."""
    for line in process.stdout or ():
        if perf_counter() >= since:
            return Speed(int(line), perf_counter(), cpu_seconds(process.pid))
    raise EOFError


def measured(name: str, learner: Learner, seconds: float) -> Speed | None:
    """After a warm-up; None, with the reason printed, if it does not run."""
    with tempfile.TemporaryFile("w+") as errors:
        try:
            with running(learner, START_SECONDS + 2 * seconds, errors) as process:
                first = reading(process, 0.0)
                before = reading(process, first.seconds + WARM_UP_SECONDS)
                after = reading(process, before.seconds + seconds)
        except (OSError, EOFError, RuntimeError) as error:
            errors.seek(0)
            last = next(filter(str.strip, reversed(errors.read().split("\n"))), "no update in time")
            print(f"{name}: not measured ({str(error) or last})")
            return None
    speed = Speed(*(now - then for now, then in zip(after, before, strict=True)))
    print(f"{name:50}" + "".join(f"{rate:12,.0f}" for rate in summary([speed])), flush=True)
    return speed


def best_of(settings: dict[str, Learner], seconds: float) -> tuple[dict[str, Speed], dict[str, Learner]]:
    """All settings that run, and the fastest of them under its name."""
    tried = {name: measured(f"Sample Factory, {name}", learner, seconds) for name, learner in settings.items()}
    found = {name: speed for name, speed in tried.items() if speed}
    if not found:
        return {}, {}
    best = max(found, key=lambda name: found[name].steps / found[name].seconds)
    return found, {f"Sample Factory, best: {best}": settings[best]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=8.0, help="for each measurement")
    parser.add_argument("--rounds", type=int, default=3, help="how often each learner has its turn")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no learner outlives us

    print(f"{'':50}{'steps/s':>12}{'/CPU s':>12}")
    tried, best = best_of(SAMPLE_FACTORY_SETTINGS, options.seconds / 2)
    learners = {**LEARNERS, **best}
    rounds: dict[str, list[Speed]] = {name: [] for name in learners}
    for _ in range(options.rounds):
        for name, learner in learners.items():
            if speed := measured(name, learner, options.seconds):
                rounds[name].append(speed)
    summaries = {name: summary(speeds) for name, speeds in rounds.items() if speeds}
    show(summaries)
    if options.json:
        figures = {
            "cores": CORES,
            "the same": SAME,
            "what differs": DIFFERS,
            "sample factory's settings": {name: speed._asdict() for name, speed in tried.items()},
            "rounds": {name: [speed._asdict() for speed in speeds] for name, speeds in rounds.items()},
            "medians": {name: rates._asdict() for name, rates in summaries.items()},
        }
        with replacing(options.json) as temporary:
            temporary.write_text(json.dumps(figures, indent=2) + "\n")


def show(summaries: dict[str, Summary]) -> None:
    """The table, with how many times each our LSTM's rate is."""
    print(f"\n{CORES} cores, medians of all rounds. The same for all: {SAME}.\nWhat differs:", *DIFFERS, sep="\n  ")
    ours = summaries.get("memorylab LSTM")
    print(f"{'':50}{'steps/s':>12}{'/CPU s':>12}{'our LSTM is':>16}{'per CPU s':>12}")
    for name, rates in summaries.items():
        ratios = [mine / theirs for mine, theirs in zip(ours or (nan, nan), rates, strict=True)]
        print(f"{name:50}{rates[0]:12,.0f}{rates[1]:12,.0f}{ratios[0]:14.2f} x{ratios[1]:10.2f} x")


if __name__ == "__main__":
    main()
