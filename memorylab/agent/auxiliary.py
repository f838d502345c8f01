"""The contract of an auxiliary loss: something to learn from a trajectory beside its rewards."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from torch import Tensor, nn

from memorylab.agent.data import Inputs, Output

Metrics = dict[str, Tensor]  # scalars


class Lesson(NamedTuple):
    """What a teacher said along a trajectory, and how much it counts."""

    advice: Tensor  # (T, B) int64: action a as bit a; above the actions what else a task's teacher tells
    weight: float


class AuxiliaryLoss(nn.Module):
    """Made as `cls(config, **settings)` from the AgentConfig, which has all sizes, and its own keyword-only arguments.

    An agent may have any set of them. The learner adds `weight * loss` to IMPALA's losses, which are means over the
    steps of a batch; with `reduction = "sum"` the whole is then multiplied by the number of steps, this loss with it
    unless its own `reduction` is "mean". Its modules are trained with the agent's and saved with them.
    """

    part: ClassVar[str] = ""  # what the agent calls it, in checkpoints and in metrics; empty for its registered name
    weight: float = 1.0
    reduction: str = "same"
    lesson: Lesson | None = None  # of the trajectory, if there is a teacher whose weight is not zero
    turn: int = 0  # how many updates were before this one, for a loss that takes a part of a trajectory at a time

    def __init__(self) -> None:
        super().__init__()
        # Mean over the learners that share a batch: for a loss that divides by something counted in it.
        self.over_learners: Callable[[Tensor], Tensor] = lambda count: count

    def configure(self, learner: Any) -> None:
        """What the learner's configuration says of it, for a loss that has settings there."""

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, Metrics]:
        """The loss of a trajectory (T, B), a scalar with gradient, and scalars that a user wants to see, by name."""
        raise NotImplementedError
