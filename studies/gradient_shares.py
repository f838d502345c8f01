"""How large is CPC's gradient in the encoder beside that of reinforcement learning?

python studies/gradient_shares.py [--tasks avm ti --updates 300] [--run runs/avm-mra-laptop-seed0]

The `paper` preset, at the start and after some updates; a run of any preset as its newest checkpoint has it, with the
paper's costs and weights. Norms are of the losses summed over steps and games, as IMPALA does, and CPC's also over k,
with the paper's weight. Other reductions divide CPC's by what is named, so the table needs no further gradients.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import torch
import tyro
from torch import Tensor

from memorylab.agent import MemoryRecallAgent
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.actor import Actor
from memorylab.learning.config import TrainConfig
from memorylab.learning.learner import Learner
from memorylab.learning.presets import preset_config
from memorylab.learning.trained import load_trained
from memorylab.learning.trajectory import Trajectory

COLUMNS = ("RL", "CPC", "ratio", "/ B", "/ T", "/ N", "/ BT", "/ BTN")


@dataclass
class Settings:
    tasks: tuple[str, ...] = ("avm", "ti")
    updates: int = 300
    games: int = 2
    """Games of a batch between the measurements: the paper's network is slow."""
    trajectories: int = 4
    """Batches of the paper's size over which a measurement is averaged."""
    run: Path | None = None
    """Measure the agent of this run instead."""
    threads: int = 1


def new_actor(config: TrainConfig, agent: MemoryRecallAgent, games: int, **keywords: int) -> Actor:
    size = config.agent.height, config.agent.width
    env = MemoryVectorEnv(config.task, "train", games, seed=1, size=size, threads=1, **keywords)
    return Actor(env, agent, config.unroll)


def gradient(agent: MemoryRecallAgent, config: TrainConfig, trajectory: Trajectory, cpc_weight: float) -> Tensor:
    """In the encoder, of all losses summed over the steps of the batch."""
    learner = Learner(agent, replace(config.learner, cpc_weight=cpc_weight, reduction="sum", cpc_reduction="same"))
    agent.zero_grad()
    learner.loss(trajectory)[0].backward()
    return torch.cat([part.grad.flatten() for part in agent.encoder.parameters() if part.grad is not None])


def measured(name: str, agent: MemoryRecallAgent, config: TrainConfig, trajectories: int, **keywords: int) -> None:
    actor = new_actor(config, agent, config.num_envs, **keywords)
    norms = []
    for _ in range(trajectories):
        trajectory = actor.collect().trajectory
        of_rl = gradient(agent, config, trajectory, 0.0)
        of_cpc = gradient(agent, config, trajectory, config.learner.cpc_weight) - of_rl
        norms.append((of_rl.norm().item(), of_cpc.norm().item()))
    rl, cpc = (sum(column) / len(column) for column in zip(*norms, strict=True))
    B, T, N = config.num_envs, config.unroll, config.agent.cpc_steps
    ratios = [cpc / rl / divisor for divisor in (1, B, T, N, B * T, B * T * N)]
    print(f"{name:34s} {rl:9.3g} {cpc:9.3g} " + " ".join(f"{ratio:9.3g}" for ratio in ratios), flush=True)


def measure_task(task: str, settings: Settings) -> None:
    config = preset_config(task, preset="paper")
    torch.manual_seed(0)
    agent = MemoryRecallAgent(config.agent)
    measured(f"{task}, paper, at the start", agent, config, settings.trajectories)
    learner, actor = Learner(agent, config.learner), new_actor(config, agent, settings.batch)
    for _ in range(settings.updates):
        learner.update(actor.collect().trajectory)
    measured(f"{task}, paper, {settings.updates} updates", agent, config, settings.trajectories)


def measure_run(settings: Settings, folder: Path) -> None:
    trained = load_trained(folder, "last")
    paper = preset_config(trained.task.name, preset="paper")
    config = replace(paper, agent=trained.agent.config)
    measured(f"{trained.task.short}, {trained.config['preset']}, {trained.step:,} steps", trained.agent, config,
             settings.trajectories)  # fmt: skip


def main(settings: Settings) -> None:
    torch.set_num_threads(settings.threads)
    print(" " * 34 + "".join(f"{column:>10s}" for column in COLUMNS))
    if settings.run is not None:
        measure_run(settings, settings.run)
        return
    for task in settings.tasks:
        measure_task(task, settings)


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
