"""A run on a Ray cluster. The driver keeps the records; actors, learners and evaluation are Ray processes."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.vector import vector_env
from memorylab.learning.config import TrainConfig
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import empty_trajectory
from memorylab.runs.config import NO_TEACHER
from memorylab.runtime.on_ray.actor_pool import ActorPool
from memorylab.runtime.on_ray.cluster import check_room, connect
from memorylab.runtime.on_ray.evaluation import RayEvaluator
from memorylab.runtime.on_ray.learners import Learners
from memorylab.runtime.on_ray.options import ClusterOptions
from memorylab.runtime.on_ray.runtime import RayRuntime
from memorylab.runtime.on_ray.trouble import Room
from memorylab.runtime.protocol import MakeEnv
from memorylab.runtime.training import Report, Training

LEAST_STORE = 256 * 2**20


def training_on_ray(
    config: TrainConfig,
    folder: Path,
    options: ClusterOptions,
    threads: int | None = None,
    tell: Callable[[Report], None] = lambda _: None,
) -> Training:
    """A run on the cluster that the options name."""
    c, o, threads = config, options, threads or 1
    trajectories = o.trajectories_per_update(c)  # says so if the settings do not fit, before anything begins
    owns_cluster = join_cluster(c, o, threads)
    learners = Learners(c.agent, c.learner, c.seed, o.learners, threads, o.learner_gpus)
    pool = ActorPool(envs_of_actor(c, o), c.agent, c.unroll, o.actors, c.teaching_player)
    lag = o.lag_bound(c)
    room = Room(threads * o.learners + 1 + (c.evaluate_every > 0), o.learner_gpus * o.learners)
    runtime = RayRuntime(learners, pool, trajectories, Stopwatch(), lag, owns_cluster, room)
    return Training(c, folder, runtime, RayEvaluator(c, runtime), tell)


def join_cluster(config: TrainConfig, options: ClusterOptions, threads: int) -> bool:
    """Whether this call connected; an error or a remark if the run has not enough room."""
    cpus = options.actors + threads * options.learners + (config.evaluate_every > 0)
    store = 4 * options.actors * trajectory_bytes(config, options.envs_of_actor(config))
    connected = connect(options.address, cpus, max(store, LEAST_STORE))
    remark = check_room(threads * options.learners, options.learner_gpus * options.learners, cpus)
    if remark:
        print(f"memorylab: {remark}", file=sys.stderr)
    return connected


def envs_of_actor(config: TrainConfig, options: ClusterOptions) -> MakeEnv:
    """What each actor plays."""
    return partial(vector_env, config.game("train"), options.envs_of_actor(config), threads=1)


def trajectory_bytes(config: TrainConfig, num_envs: int) -> int:
    """Of one actor's trajectory."""
    agent = MemoryRecallAgent(config.agent)
    room = empty_trajectory(agent, config.unroll, num_envs, config.teacher != NO_TEACHER)
    return sum(part.nbytes for part in room.state_dict().values())
