"""memorylab beside its peers on this machine, in one run: `python benchmarks/peers.py [--seconds 10] [--json FILE]`.

Each peer runs in a virtual environment of its own (their pins conflict) with one process per core, all at once;
then memorylab with one thread per core. Rates on a shared machine are noisy, so what counts is the ratio.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

from memorylab.laboratory.bench import bench
from memorylab.tasks.task import TASKS

HERE = Path(__file__).parent
PEERS = {"vizdoom": ["vizdoom==1.3.2"]}
CORES = len(os.sched_getaffinity(0))


def python_of(peer: str) -> Path:
    """The peer's own interpreter, made on first use."""
    home = HERE.parent / f".venv-{peer}"
    python = home / "bin" / "python"
    if not (home / "ready").exists():
        print(f"setting up {peer} ...", file=sys.stderr)
        venv.create(home, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PEERS[peer]], check=True)
        (home / "ready").touch()
    return python


def peer_rate(peer: str, seconds: float) -> float:
    """Steps per second of one process per core, added up."""
    command = [python_of(peer), HERE / "peers" / f"{peer}_steps.py", str(seconds)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(CORES)]
    outputs = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        raise SystemExit(f"{peer} failed")
    return sum(map(float, outputs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()

    rates = {peer: peer_rate(peer, options.seconds) for peer in PEERS}
    speeds = list(bench(TASKS, "train", 256, (72, 96), options.seconds, CORES))
    print(f"{CORES} cores; steps per second, all cores together")
    for peer, rate in rates.items():
        print(f"{peer:32}{rate:12,.0f}")
    for speed in speeds:
        ratios = ", ".join(f"{speed.random_steps_per_second / rate:.1f} x {peer}" for peer, rate in rates.items())
        limits = f"{speed.share_of_copying:.1%} of copying, one Env {speed.single_env_steps_per_second:,.0f}"
        print(f"{speed.task:32}{speed.random_steps_per_second:12,.0f}  {ratios}, {limits}")
    if options.json:
        figures = {"cores": CORES, "peers": rates, "memorylab": [vars(speed) for speed in speeds]}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
