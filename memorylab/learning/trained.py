"""A run's agent as one of its checkpoints has it."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from memorylab.agent.config import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.spec import GameSpec, parse_scale
from memorylab.learning.scores import alpha_of, as_curve, best_step
from memorylab.learning.trajectory import part_of
from memorylab.runs import RunFolder, read_config
from memorylab.runs.checkpoints import checkpoints, load_checkpoint, readable_checkpoints, step_of
from memorylab.runs.config import UNUSED
from memorylab.tasks.task import Task, find_task


class Trained(NamedTuple):
    """An agent with the weights of a step, and the run it comes from."""

    folder: Path
    config: dict[str, Any]
    agent: MemoryRecallAgent
    step: int

    @property
    def task(self) -> Task:
        """The one it was trained on."""
        return find_task(self.config["task"])

    def game(self, level: str) -> GameSpec:
        """What it was trained to play, on any level."""
        size = self.agent.config.height, self.agent.config.width
        scale = parse_scale(self.task.name, self.config.get("scale", ()))
        return GameSpec(self.task.name, level, size, self.config.get("stimuli"), scale)


def load_trained(folder: Path, step: str | int = "snapshot", device: str = "cpu") -> Trained:
    """A run's agent where its training score was best (`snapshot`), at its newest checkpoint (`last`) or at a step."""
    config = read_config(folder)
    run = RunFolder(folder)
    found = find_weights(run, str(step))
    if found is None and checkpoints(run.snapshot):
        raise ValueError(f"{folder} has the weights of its snapshot and no others; leave --step {step} out")
    if found is None:
        raise ValueError(f"{folder} has no checkpoint yet; wait until training has saved one")
    tensors, facts = found
    try:
        agent = MemoryRecallAgent(AgentConfig(**known_settings(config["agent"])))
        agent.load_state_dict(part_of(tensors, "agent."))
    except (KeyError, TypeError, RuntimeError) as problem:
        raise ValueError(f"the checkpoint in {folder} is not of this version: {problem}") from problem
    return Trained(folder, config, agent.to(device), int(facts["step"]))


def known_settings(agent: dict[str, Any]) -> dict[str, Any]:
    """Without those of another version that say that nothing is used."""
    known = [each.name for each in fields(AgentConfig)]
    return {name: value for name, value in agent.items() if name in known or value not in UNUSED}


def find_weights(run: RunFolder, step: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Tensors and facts of the checkpoint that `step` names."""
    known = {step_of(path): path.parent for path in checkpoints(run.checkpoints) + checkpoints(run.snapshot)}
    if step == "last" or not known:
        return load_checkpoint(run.checkpoints)
    if step == "snapshot":
        return load_snapshot(run)
    if not step.isdigit():
        raise ValueError(f"--step must be snapshot, last or the number of a step, not {step!r}")
    if int(step) not in known:
        raise ValueError(f"{run.path} has no weights of step {step}; it has {', '.join(map(str, sorted(known)))}")
    return load_checkpoint(known[int(step)], int(step))


def load_snapshot(run: RunFolder) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """Says so where these are not the weights that the run's scores name: it was begun by an earlier version, or killed
    in the moment between."""
    kept = next(readable_checkpoints(run.snapshot), None)
    found = (kept.tensors, kept.facts) if kept else load_checkpoint(run.checkpoints)
    if run.card.exists():
        return found
    steps, scores = run.returns("train")
    if found and not steps:
        tell(f"{run.path} was never evaluated on its training level; its newest weights play, step {found[1]['step']}")
    elif found:
        curve = as_curve(np.array(steps), np.array(scores))
        best = best_step(curve, alpha_of(read_config(run.path)["task"]))
        if best != found[1]["step"]:
            tell(f"{run.path} has no weights of its best step, {best}; those of step {found[1]['step']} play")
    return found


def tell(text: str) -> None:
    """On the terminal, beside what is asked for."""
    print(f"memorylab: {text}", file=sys.stderr)
