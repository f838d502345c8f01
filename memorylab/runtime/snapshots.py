"""The weights where the training score was best."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from memorylab.learning.scores import alpha_of, as_curve, best_step
from memorylab.learning.trajectory import Episode
from memorylab.runs import RunFolder
from memorylab.runs.checkpoints import checkpoints, facts_of, keep_only, save_checkpoint, step_of


class Snapshots:
    """Kept by the rule of learning/scores.py. Earlier ones stay until no checkpoint is older than the best: a run that
    goes on from there may find another."""

    def __init__(self, folder: RunFolder, task: str):
        self.folder, self.alpha = folder, alpha_of(task)

    def begin(self, evaluated: int) -> None:
        """From a checkpoint that knows evaluations up to this step; later snapshots go, as their scores did."""
        self.steps, self.scores = self.folder.returns("train")
        keep_only(self.folder.snapshot, [path for path in self.found() if step_of(path) <= evaluated])

    def offer(
        self, step: int, played: Sequence[Episode], weights: Mapping[str, Tensor], facts: Mapping[str, Any]
    ) -> None:
        """Save the weights if the training score has never been higher."""
        self.steps += [step] * len(played)
        self.scores += [episode.score for episode in played]
        if best_step(as_curve(np.array(self.steps), np.array(self.scores)), self.alpha) == step:
            agent = {f"agent.{name}": part for name, part in weights.items()}
            save_checkpoint(self.folder.snapshot, step, agent, facts, keep=None)

    def drop_beaten(self) -> None:
        """All but the best that the oldest checkpoint knows, and those after it."""
        oldest = facts_of(checkpoints(self.folder.checkpoints)[0]).get("evaluated", -1)
        known = [path for path in self.found() if step_of(path) <= oldest]
        later = [path for path in self.found() if step_of(path) > oldest]
        keep_only(self.folder.snapshot, known[-1:] + later)

    def found(self) -> list[Any]:
        """Oldest first."""
        return checkpoints(self.folder.snapshot)
