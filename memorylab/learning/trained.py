"""A run's agent as one of its checkpoints has it."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from memorylab.agent.config import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.checkpoints import checkpoints, load_checkpoint, step_of
from memorylab.learning.run_folder import RunFolder, read_json
from memorylab.learning.trajectory import part_of
from memorylab.tasks.task import Task, find_task


class Trained(NamedTuple):
    folder: Path
    config: dict[str, Any]
    agent: MemoryRecallAgent
    step: int

    @property
    def task(self) -> Task:
        return find_task(self.config["task"])


def load_trained(folder: Path, step: str | int = "snapshot", device: str = "cpu") -> Trained:
    """A run's agent where its training score was best (`snapshot`), at its newest checkpoint (`last`) or at a step."""
    if not (folder / "config.json").exists():
        raise ValueError(f"{folder} is not the folder of a run: it has no config.json")
    config = read_json(folder / "config.json")
    found = find_weights(RunFolder(folder), str(step))
    if found is None:
        raise ValueError(f"{folder} has no checkpoint yet; wait until training has saved one")
    tensors, facts = found
    try:
        agent = MemoryRecallAgent(AgentConfig(**config["agent"]))
        agent.load_state_dict(part_of(tensors, "agent."))
    except (KeyError, TypeError, RuntimeError) as problem:
        raise ValueError(f"the checkpoint in {folder} is not of this version: {problem}") from problem
    return Trained(folder, config, agent.to(device), int(facts["step"]))


def find_weights(run: RunFolder, step: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    best, newest = checkpoints(run.snapshot), checkpoints(run.checkpoints)
    if step == "snapshot" and newest and not best:
        print(f"memorylab: {run.path} has no snapshot; its newest checkpoint plays", file=sys.stderr)
    if step in ("snapshot", "last"):
        return load_checkpoint(run.snapshot if step == "snapshot" and best else run.checkpoints)
    if not step.isdigit():
        raise ValueError(f"--step must be snapshot, last or the number of a step, not {step!r}")
    known = {step_of(path): path.parent for path in best + newest}
    if int(step) not in known:
        raise ValueError(f"{run.path} has no weights of step {step}; it has {', '.join(map(str, known)) or 'none'}")
    return load_checkpoint(known[int(step)], int(step))
