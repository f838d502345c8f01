"""One of several learners that share a batch: python data_parallel_updates.py RANK LEARNERS FOLDER.

Makes the same batches in every process, learns from its share of them and writes its weights. The first prints the port
at which the others find it; these read it.
"""

import sys
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import save_file
from tiny_runs import tiny_config

from memorylab.agent import MemoryRecallAgent
from memorylab.learning.config import LearnerConfig
from memorylab.learning.trajectory import Trajectory, empty_trajectory
from memorylab.runtime.data_parallel import DataParallelLearner, find_store, joint_trajectory, serve_store

GAMES, UPDATES, HOST = 6, 4, "127.0.0.1"
CASES = [(model, {"reduction": reduction}) for model in ("mra", "lstm+mem+rec", "ff") for reduction in ("mean", "sum")]
CASES += [("mra", {"reduction": "sum", "cpc_reduction": "mean", "cpc_weight": 10.0})]


def batch(agent: MemoryRecallAgent, seed: int) -> Trajectory:
    """Anything goes, as long as some games end often and others do not."""
    draw = torch.Generator().manual_seed(seed)
    trajectory = empty_trajectory(agent, 8, GAMES)
    for part in trajectory.state_dict().values():
        most = {torch.uint8: 255, torch.int64: 3, torch.bool: 2}.get(part.dtype, 1)
        part.copy_(most * torch.rand(part.shape, generator=draw))
    trajectory.inputs.resets.copy_(torch.rand(9, GAMES, generator=draw) < torch.arange(GAMES) / (2 * GAMES))
    trajectory.log_mu.sub_(2)
    return trajectory


def share(agent: MemoryRecallAgent, trajectory: Trajectory, rank: int, learners: int) -> Trajectory:
    """Games rank * B / learners ... of each part."""
    some = slice(rank * GAMES // learners, (rank + 1) * GAMES // learners)
    arrays = {
        name: (part[some] if name.startswith("state") else part[:, some]).numpy()
        for name, part in trajectory.state_dict().items()
    }
    return joint_trajectory([arrays], agent)


def learned(config: LearnerConfig, model: str, rank: int, learners: int, store) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    learner = DataParallelLearner(MemoryRecallAgent(tiny_config(model).agent), config)
    if store is not None:
        learner.join(store, rank, learners, HOST)
    for seed in range(UPDATES):
        metrics = learner.update(share(learner.agent, batch(learner.agent, seed), rank, learners))
    if store is not None:
        torch.distributed.destroy_process_group()
    tensors = {name: part.contiguous() for name, part in learner.state_dict().items()}
    return tensors | {"gradient": torch.tensor(metrics["gradient"])}


def main(rank: int, learners: int, folder: Path) -> None:
    torch.set_num_threads(1)
    if rank == 0:
        store, port = serve_store(HOST)
        print(port, flush=True)
    else:
        store = find_store(HOST, int(input()))
    for number, (model, reductions) in enumerate(CASES):
        config = replace(tiny_config().learner, gradient_norm=0.05, **reductions)
        prefixed = torch.distributed.PrefixStore(str(number), store)
        save_file(learned(config, model, rank, learners, prefixed), folder / f"{rank}-{number}.safetensors")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
