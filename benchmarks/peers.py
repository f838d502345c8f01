"""memorylab beside its peers on this machine, in one run: `python benchmarks/peers.py [--seconds 10] [--json FILE]`.

Each peer runs in a virtual environment of its own (their pins conflict) with one process per core, all at once;
then memorylab with one thread per core. Rates on a shared machine are noisy, so what counts is the ratio.
A peer that does not run here is named with the reason, and the others are still measured.
MiniWorld needs the Debian packages xvfb, libgl1 and libglu1-mesa; Memory Maze libegl1.
"""

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

from memorylab.laboratory.bench import bench
from memorylab.machine import usable_cores
from memorylab.tasks.task import TASKS

HERE = Path(__file__).parent
CORES = usable_cores()


class Peer(NamedTuple):
    packages: list[str]
    prefix: tuple[str, ...] = ()  # comes before the command


PEERS = {
    "vizdoom": Peer(["vizdoom==1.3.2"]),
    "miniworld": Peer(["miniworld==2.1.0"], prefix=("xvfb-run", "-a")),
    "memory_maze": Peer(["memory-maze==1.0.3", "dm_control==1.0.28", "mujoco==3.3.0", "gym==0.26.2"]),
}


def outputs(command: list, copies: int = 1) -> list[str]:
    """What that many copies of the command print, run at once; if one fails, its last line is the error."""
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) for _ in range(copies)]
    printed = [process.communicate() for process in processes]
    for process, (output, errors) in zip(processes, printed, strict=True):
        if process.returncode:
            lines = (output + errors).split("\n")
            raise RuntimeError(next(filter(str.strip, reversed(lines)), f"exit status {process.returncode}"))
    return [output for output, _ in printed]


def python_of(peer: str, *installs: list) -> Path:
    """The peer's own interpreter, with what these calls of pip install; made on first use."""
    home = HERE.parent / f".venv-{peer}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        print(f"setting up {peer} ...", file=sys.stderr)
        venv.create(home, with_pip=True)
        for packages in installs:
            outputs([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
        (home / "ready").touch()
    return python


def peer_rate(peer: str, seconds: float) -> float | None:
    """Steps per second of one process per core, added up; None, with the reason printed, if it does not run."""
    try:
        python = python_of(peer, PEERS[peer].packages)
        command = [*PEERS[peer].prefix, python, HERE / "peers" / f"{peer}_steps.py", str(seconds)]
        return sum(float(output.split()[-1]) for output in outputs(command, CORES))
    except (OSError, subprocess.SubprocessError, RuntimeError) as error:
        print(f"{peer}: not measured ({error})")
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()

    rates = {peer: peer_rate(peer, options.seconds) for peer in PEERS}
    measured = {peer: rate for peer, rate in rates.items() if rate}
    speeds = list(bench(TASKS, "train", 256, (72, 96), options.seconds, CORES))
    print(f"{CORES} cores; steps per second, all cores together")
    for peer, rate in measured.items():
        print(f"{peer:32}{rate:12,.0f}")
    for speed in speeds:
        notes = [f"{speed.random_steps_per_second / rate:.1f} x {peer}" for peer, rate in measured.items()]
        notes += [f"{speed.share_of_copying:.1%} of copying", f"one Env {speed.single_env_steps_per_second:,.0f}"]
        print(f"{speed.task:32}{speed.random_steps_per_second:12,.0f}  {', '.join(notes)}")
    if options.json:
        figures = {"cores": CORES, "peers": rates, "memorylab": [vars(speed) for speed in speeds]}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
