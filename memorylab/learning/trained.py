"""A run's agent as one of its checkpoints has it."""

from pathlib import Path
from typing import Any, NamedTuple

from memorylab.agent.config import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.checkpoints import load_checkpoint
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


def load_trained(folder: Path, step: int | None = None, device: str = "cpu") -> Trained:
    """The newest checkpoint, or that of a step."""
    if not (folder / "config.json").exists():
        raise ValueError(f"{folder} is not the folder of a run: it has no config.json")
    config = read_json(folder / "config.json")
    found = load_checkpoint(RunFolder(folder).checkpoints, step)
    if found is None:
        raise ValueError(f"{folder} has no checkpoint yet; wait until training has saved one")
    tensors, facts = found
    try:
        agent = MemoryRecallAgent(AgentConfig(**config["agent"]))
        agent.load_state_dict(part_of(tensors, "agent."))
    except (KeyError, TypeError, RuntimeError) as problem:
        raise ValueError(f"the checkpoint in {folder} is not of this version: {problem}") from problem
    return Trained(folder, config, agent.to(device), int(facts["step"]))
