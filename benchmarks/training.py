"""End-to-end training speed, beside what the network's bare passes allow, as ratios of one run.

python benchmarks/training.py [--seconds 20] [--json results/training_speed.json]
"""

import argparse
import json
import os
import resource
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import torch

from memorylab.agent import MemoryRecallAgent
from memorylab.learning.config import TrainConfig
from memorylab.learning.presets import preset_config
from memorylab.runtime.training import Training


def training_rate(config: TrainConfig, seconds: float) -> float:
    """Agent steps a second of a whole run: games, acting, learning, records."""
    with tempfile.TemporaryDirectory() as folder:
        training = Training(replace(config, evaluate_every=0), Path(folder) / "run")
        for _ in range(2):  # compile and warm up
            training.runtime.advance(0.0)
        start = perf_counter()
        steps = 0
        while perf_counter() - start < seconds:
            progress = training.runtime.advance(0.0)
            training.count(progress)
            steps += progress.steps
        rate = steps / (perf_counter() - start)
        training.close()
    return rate


def per_call(run: Callable[[], object], seconds: float) -> float:
    run()
    start, calls = perf_counter(), 0
    while perf_counter() - start < seconds:
        run()
        calls += 1
    return (perf_counter() - start) / calls


def bare_rate(config: TrainConfig, seconds: float) -> float:
    """Steps a second if there were nothing but the encoder: forward for acting, forward and backward for learning."""
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    agent, c = MemoryRecallAgent(config.agent), config.agent
    pictures = torch.randint(0, 256, (config.unroll, config.games, c.height, c.width, 3), dtype=torch.uint8)

    def act() -> None:
        with torch.no_grad():
            agent.encode(pictures[:1])

    def learn() -> None:
        agent.zero_grad()
        agent.encode(pictures).square().mean().backward()

    acting = per_call(act, seconds / 2) * config.unroll
    learning = per_call(learn, seconds / 2)
    return config.unroll * config.games / (acting + learning)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each measurement")
    parser.add_argument("--json", help="also write the figures to this file")
    arguments = parser.parse_args()
    figures: dict[str, float] = {"cores": len(os.sched_getaffinity(0))}
    for model in ("lstm", "lstm+mem", "mra"):
        figures[f"laptop {model}"] = training_rate(preset_config("avm", model), arguments.seconds)
        print(f"laptop {model}: {figures[f'laptop {model}']:,.0f} steps/s", flush=True)
    paper = preset_config("avm", "mra", "paper")
    figures["paper mra, bare passes of the encoder"] = bare_rate(paper, arguments.seconds)
    figures["paper mra"] = training_rate(paper, arguments.seconds)
    figures["paper mra, share of bare passes"] = figures["paper mra"] / figures["paper mra, bare passes of the encoder"]
    figures["paper mra, 64 games"] = training_rate(replace(paper, games=64), arguments.seconds)
    figures["peak memory, GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    for name, value in figures.items():
        print(f"{name:40s} {value:12,.2f}")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
