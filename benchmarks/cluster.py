"""What Ray costs beside one process, and how many actors a learner can feed on, from rates measured in one run.

python benchmarks/cluster.py [--seconds 20] [--json results/cluster_speed.json]
"""

import argparse
import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import ray
from ray.experimental import get_object_locations

from memorylab.agent import AgentConfig, model_config
from memorylab.envs.diagnostic_games import SIDE, RememberBit
from memorylab.learning.config import LearnerConfig, TrainConfig
from memorylab.learning.curriculum import Curriculum
from memorylab.learning.presets import preset_config
from memorylab.learning.stopwatch import Stopwatch
from memorylab.machine import usable_cores
from memorylab.runs.files import replacing
from memorylab.runtime.in_process import training_here
from memorylab.runtime.on_ray.actor_pool import ActorPool
from memorylab.runtime.on_ray.cluster import connect
from memorylab.runtime.on_ray.learners import Learners
from memorylab.runtime.on_ray.options import ClusterOptions
from memorylab.runtime.on_ray.runtime import RayRuntime
from memorylab.runtime.on_ray.training import envs_of_actor, training_on_ray
from memorylab.runtime.protocol import Stage
from memorylab.runtime.training import Training

ROUNDS = 4
ACTORS = (1, 10, 100, 1000)
ACTORS_PER_NODE = 32
TINY_ACTORS = 4
LINK = 10e9  # bits a second
Figures = dict[str, float]


def per_second(advance: Callable[[], float], seconds: float) -> float:
    """What `advance` returns, added up over time."""
    start, done = perf_counter(), 0.0
    while perf_counter() - start < seconds:
        done += advance()
    return done / (perf_counter() - start)


def steps(training: Training) -> float:
    progress = training.runtime.advance(0.0)
    training.count(progress)
    return progress.steps


def rates_in_turns(config: TrainConfig, seconds: float) -> tuple[float, float]:
    """Steps a second in one process and on Ray, one actor and one learner each, in rounds by turns."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [
            training_here(config, Path(folder) / "one process", threads=2),
            training_on_ray(config, Path(folder) / "ray", ClusterOptions(), threads=1),
        ]
        rates: list[list[float]] = [[], []]
        for run in runs:  # compile and warm up
            per_second(partial(steps, run), 5)
        for _ in range(ROUNDS):
            for run, found in zip(runs, rates, strict=True):
                found.append(per_second(partial(steps, run), seconds / ROUNDS))
        for run in runs:
            run.close()
    return sum(rates[0]) / ROUNDS, sum(rates[1]) / ROUNDS


def stored_bytes(future: Any) -> int:
    """As it lies in the object store, and so as it travels."""
    ray.wait([future], fetch_local=False)
    return get_object_locations([future])[future]["object_size"]


def parts(config: TrainConfig, seconds: float, gpus: float) -> Figures:
    """Actor and learner each by itself, and what travels between them."""
    learners = Learners(config.agent, config.learner, seed=0, gpus=gpus)
    learners.start()
    pool = ActorPool(envs_of_actor(config, ClusterOptions()), config.agent, config.unroll, actors=1)
    pool.new_envs(Stage(Curriculum(config.game("train"), config.curriculum).keywords(), seed=0))

    def play() -> Any:
        pool.play(0, learners.weights, learners.version)
        [arrival] = pool.arrivals(None)
        return arrival

    arrival = play()
    a = config.agent
    recalled = min(a.neighbours, a.capacity) * (a.embedding_size + a.hidden_size) * 4 if a.memory != "none" else 0
    raw = a.height * a.width * 3 + recalled
    batch = config.num_envs * config.unroll
    trajectory, weights = stored_bytes(arrival.trajectory), stored_bytes(learners.weights)
    learners.update([arrival.trajectory], 0.0)
    figures = {
        "actor, steps/s": per_second(lambda: play().note.steps, seconds / 2),
        "learner, steps/s": per_second(lambda: batch * bool(learners.update([arrival.trajectory], 0.0)), seconds / 2),
        "raw bytes a step: picture and recalled entries": raw,
        "trajectory, bytes a step": trajectory / batch,
        "weights, bytes": weights,
        "bytes moved a step, one node": (trajectory + weights) / batch,
        "bytes moved, times the raw": (trajectory + weights) / batch / raw,
        "steps an update": batch,
    }
    learners.close()
    pool.close()
    return figures


def driver_rate(seconds: float) -> float:
    """Trajectories that one core of the driver handles in a second, whatever the others are doing."""
    agent = model_config("ff", AgentConfig(encoder="small", height=SIDE, width=SIDE, hidden_size=8, embedding_size=8))
    pool = ActorPool(partial(RememberBit, 5, 1), agent, 1, TINY_ACTORS)
    runtime = RayRuntime(Learners(agent, LearnerConfig(), seed=0), pool, TINY_ACTORS, Stopwatch())
    runtime.begin(Stage({}, seed=0))
    runtime.advance(0.0)
    start, before = perf_counter(), process_time()
    trajectories = 0
    while perf_counter() - start < seconds:
        runtime.advance(0.0)
        trajectories += TINY_ACTORS
    spent = process_time() - before
    runtime.close()
    return trajectories / spent


def model(parts: Figures, driver: float) -> Figures:
    """How many actors each part can serve, the least being the bottleneck; and what so many actors would need.

    Learners that share a batch make it larger: each takes `steps an update` of it, so that however many they are, there
    are as many versions of the weights a second as with one.
    """
    actor, learner, batch = parts["actor, steps/s"], parts["learner, steps/s"], parts["steps an update"]
    bits = 8 * parts["trajectory, bytes a step"]
    figures = {
        "actors that one learner feeds on": learner / actor,
        f"actors that a learner's link of {LINK / 1e9:g} Gbit/s carries": LINK / bits / actor,
        "actors that one driver serves": driver * batch / actor,
    }
    for actors in ACTORS:
        rate, nodes = actors * actor, -(-actors // ACTORS_PER_NODE)
        updates = min(rate, learner) / batch
        figures |= {
            f"{actors} actors, steps/s": rate,
            f"{actors} actors, learners they need": rate / learner,
            f"{actors} actors, trajectories in all, Gbit/s": rate * bits / 1e9,
            f"{actors} actors, weights to {nodes} nodes, Gbit/s": 8e-9 * nodes * parts["weights, bytes"] * updates,
            f"{actors} actors, trajectories/s": rate / batch,
        }
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each measurement")
    parser.add_argument("--learner-gpus", type=float, default=0.0, help="of the learner in the scaling model")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    figures: Figures = {"cores": usable_cores()}

    def note(found: Figures) -> None:
        figures.update(found)
        for name, value in found.items():
            print(f"{name:60s} {value:14,.3f}", flush=True)
        if arguments.json:
            with replacing(arguments.json) as temporary:
                temporary.write_text(json.dumps(figures, indent=2) + "\n")

    connect(None, 8, 512 * 2**20)
    laptop = replace(preset_config("avm", "mra"), evaluate_every=0)
    one_process, on_ray = rates_in_turns(laptop, 2 * arguments.seconds)
    note({"laptop mra, one process, steps/s": one_process, "laptop mra, Ray, steps/s": on_ray})
    note({"laptop mra, Ray, share of one process": on_ray / one_process})
    driver = driver_rate(arguments.seconds / 2)
    note({"driver, trajectories/s of one core": driver})
    for preset in ("laptop", "paper"):
        config = replace(preset_config("avm", "mra", preset), evaluate_every=0)
        found = parts(config, arguments.seconds, arguments.learner_gpus)
        note({f"{preset} mra, {name}": value for name, value in (found | model(found, driver)).items()})
    ray.shutdown()


if __name__ == "__main__":
    main()
