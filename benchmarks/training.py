"""End-to-end training speed, beside what the network's bare passes allow, as ratios of one run.

python benchmarks/training.py [--seconds 20] [--json results/training_speed.json]
python benchmarks/training.py --against OTHER_CHECKOUT [--rounds 5]

The second alternates this checkout with another one, each in a process of its own, and tells medians and ratios.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter

import torch

from memorylab.agent import Inputs, MemoryRecallAgent
from memorylab.laboratory.ablate import measured_rate
from memorylab.learning.config import TrainConfig
from memorylab.learning.presets import preset_config
from memorylab.learning.trajectory import empty_trajectory
from memorylab.machine import usable_cores
from memorylab.runs.files import replacing


def per_call(run: Callable[[], object], seconds: float) -> float:
    run()
    start, calls = perf_counter(), 0
    while perf_counter() - start < seconds:
        run()
        calls += 1
    return (perf_counter() - start) / calls


def bare_rate(config: TrainConfig, seconds: float, encoder_only: bool = False) -> float:
    """Steps a second if there were nothing but the network: forward for acting, forward and backward for learning."""
    torch.set_num_threads(usable_cores())
    agent = MemoryRecallAgent(config.agent)
    trajectory = empty_trajectory(agent, config.unroll - 1, config.num_envs)
    inputs, store = trajectory.inputs, agent.new_store(config.num_envs)
    inputs.pictures.random_(0, 256)
    first = Inputs(*(part[0] for part in inputs))

    def act() -> None:
        with torch.no_grad():
            if encoder_only:
                agent.encode(inputs.pictures[:1])
            else:
                agent.step(first, trajectory.state, store)

    def learn() -> None:
        agent.zero_grad()
        if encoder_only:
            agent.encode(inputs.pictures).square().mean().backward()
        else:
            output, _ = agent.unroll(inputs, trajectory.state, trajectory.recalled)
            (output.logits.square().mean() + output.baseline.square().mean()).backward()

    acting = per_call(act, seconds / 2) * config.unroll
    learning = per_call(learn, seconds / 2)
    return config.unroll * config.num_envs / (acting + learning)


HERE = Path(__file__).parent.parent
COMPARED = ["laptop lstm", "laptop lstm+mem", "laptop mra", "paper mra"]
RATE = """
import sys
from dataclasses import replace
from memorylab.laboratory.ablate import measured_rate
from memorylab.learning.presets import preset_config
preset, model, seconds = sys.argv[1:]
config = preset_config("avm", model, preset)
if preset == "laptop":  # the same network in all checkouts, whatever has become of the preset
    config = replace(config, unroll=25, agent=replace(config.agent, encoder="small", neighbours=10, epsilon=1e-3))
print(measured_rate(config, float(seconds)))
"""


def rate_of(checkout: Path, what: str, seconds: float) -> float:
    """Steps a second of the whole loop as the code in that folder has it."""
    command = [sys.executable, "-c", RATE, *what.split(), str(seconds)]
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    return float(subprocess.run(command, cwd=checkout, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def compare(other: Path, rounds: int, seconds: float, note: Callable[[str, float], None]) -> None:
    """Old, new, old, new: what else the machine does meets both."""
    for what in COMPARED:
        rates = [(rate_of(other, what, seconds), rate_of(HERE, what, seconds)) for _ in range(rounds)]
        for name, found in zip(("there", "here"), zip(*rates, strict=True), strict=True):
            note(f"{what}, {name}, steps/s", median(found))
        note(f"{what}, here / there", median(here / there for there, here in rates))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each measurement")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="another checkout: ratios instead")
    parser.add_argument("--rounds", type=int, default=5, help="of both checkouts, with --against")
    arguments = parser.parse_args()
    figures: dict[str, float] = {"cores": usable_cores()}

    def note(name: str, value: float) -> None:
        figures[name] = value
        print(f"{name:45s} {value:10,.2f}", flush=True)
        if arguments.json:
            with replacing(arguments.json) as temporary:
                temporary.write_text(json.dumps(figures, indent=2) + "\n")

    if arguments.against:
        compare(arguments.against, arguments.rounds, arguments.seconds, note)
        return
    for model in ("lstm", "lstm+mem", "mra"):
        note(f"laptop {model}, steps/s", measured_rate(preset_config("avm", model), arguments.seconds))
    paper = preset_config("avm", "mra", "paper")
    bare = bare_rate(paper, arguments.seconds)
    encoder = bare_rate(paper, arguments.seconds, encoder_only=True)
    note("paper mra, bare passes of the network, steps/s", bare)
    note("paper mra, bare passes of the encoder, steps/s", encoder)
    loop = measured_rate(paper, arguments.seconds)
    note("paper mra, steps/s", loop)
    note("paper mra, share of the network's bare passes", loop / bare)
    note("paper mra, share of the encoder's bare passes", loop / encoder)
    note("paper mra, 64 games, steps/s", measured_rate(replace(paper, num_envs=64), arguments.seconds))
    note("peak memory with 64 games, GB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


if __name__ == "__main__":
    main()
