"""What a run needs of whoever plays and learns, and of whoever evaluates: one process and a cluster both offer it."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any, NamedTuple, Protocol

import numpy as np
from torch import Tensor

from memorylab.learning.actor import BatchedEnv
from memorylab.learning.learner import Metrics
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode

GiveWay = Callable[[], None]  # raises KeyboardInterrupt if somebody asked to stop


def nobody_asks() -> None:
    """A GiveWay for those whom nobody stops."""


class SavableEnv(BatchedEnv, Protocol):
    """Games that a checkpoint can hold."""

    def get_state(self) -> np.ndarray:
        """(B, n) uint8: every game as it stands."""
        ...

    def set_state(self, state: np.ndarray) -> None:
        """Go on from there."""
        ...


MakeEnv = Callable[..., SavableEnv]  # called with seed= and the keywords of a stage


class Stage(NamedTuple):
    """Which games are played: the training level, changed by these scale keywords."""

    keywords: dict[str, Any]
    seed: int


class Checkpoint(NamedTuple):
    """What a run goes on from."""

    tensors: Mapping[str, Tensor]
    facts: Mapping[str, Any]


class Progress(NamedTuple):
    """One update."""

    steps: int  # of the agent, that it learned from
    metrics: Metrics
    episodes: list[Episode]  # that ended in them


class LearnerLost(RuntimeError):
    """A learner's process or node died: what it learned since the last checkpoint is gone."""


class Stuck(RuntimeError):
    """Nobody can play or learn any more, but what was learned is still there: the run saves it and ends."""


class Runtime(Protocol):
    """Who calls actors and learner. `begin` comes first, and again after LearnerLost."""

    stopwatch: Stopwatch

    def begin(self, stage: Stage, checkpoint: Checkpoint | None = None) -> None:
        """From a checkpoint of whatever runtime, or from new weights; plays the games of this stage."""
        ...

    def new_envs(self, stage: Stage) -> None:
        """Play these from now on; trajectories of the games of before are dropped."""
        ...

    def advance(self, share_done: float, give_way: GiveWay = nobody_asks) -> Progress:
        """The next update; `share_done` of the run lies behind it. May raise Diverged, LearnerLost or Stuck."""
        ...

    def state_dict(self) -> dict[str, Tensor]:
        """Between two calls of `advance`, for a checkpoint: weights and moments, and what else it goes on from."""
        ...

    def facts(self) -> dict[str, Any]:
        """The same that is no tensor; `version` is the number of updates."""
        ...

    def summed_up(self, gathered: Sequence[Metrics]) -> tuple[Metrics, list[dict[str, Any]]]:
        """The metrics of these updates as one, and a row for each actor on a cluster, since it was last asked."""
        ...

    def close(self) -> None:
        """End threads and processes."""
        ...


def averaged(gathered: Sequence[Metrics]) -> Metrics:
    """Over these updates."""
    return {name: mean(metrics[name] for metrics in gathered) for name in gathered[0]}


class Evaluated(NamedTuple):
    """The true levels as played with the weights of a step."""

    step: int
    played: list[list[Episode]]  # by level
    weights: Mapping[str, Tensor]


class Evaluator(Protocol):
    """Who plays the true levels, at once or beside training."""

    @property
    def is_busy(self) -> bool:
        """Whether an evaluation is under way; there is one at a time."""
        ...

    def start(self, step: int, give_way: GiveWay) -> None:
        """Play with the runtime's weights of now, which are those of `step`."""
        ...

    def finished(self, wait: bool, give_way: GiveWay) -> Evaluated | None:
        """What has come of it, once; None if it is still under way, or was lost."""
        ...

    def forget(self) -> None:
        """The run goes back to a checkpoint: what is under way does not count."""
        ...

    def close(self) -> None:
        """End its processes."""
        ...
