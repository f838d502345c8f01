"""What goes into an agent and what comes out of it."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from memorylab.agent.kernels import array, fill_previous, suits

Tensors = TypeVar("Tensors", bound=tuple)  # a NamedTuple of tensors


class Inputs(NamedTuple):
    """What the agent meets at a step. All have leading axes (B,) in `step` and (T, B) in `unroll`."""

    pictures: Tensor  # (..., height, width, 3) uint8
    rewards: Tensor  # (...) float: for the action before this picture
    actions: Tensor  # (...) int64: the action before this picture
    resets: Tensor  # (...) bool: this picture begins an episode; reward and action before it do not count


class Output(NamedTuple):
    """What the agent makes of it, with the same leading axes."""

    logits: Tensor  # (..., A) of the policy pi
    baseline: Tensor  # (...) V
    x: Tensor  # (..., X)
    h: Tensor  # (..., H)
    recalled: Any  # what the memory read found, a NamedTuple of the memory's own; None without memory
    weights: Tensor | None  # (..., K): w_j of the read, where the memory has such

    def at(self, t: int) -> "Output":
        """Step t of a trajectory."""
        recalled = None if self.recalled is None else at_step(self.recalled, t)
        weights = None if self.weights is None else self.weights[t]
        return Output(self.logits[t], self.baseline[t], self.x[t], self.h[t], recalled, weights)


def at_step(parts: Tensors, t: int) -> Tensors:
    """Step t of tensors that have one entry a step."""
    return type(parts)(*(part[t] for part in parts))


def stacked(steps: Sequence[Tensors]) -> Tensors:
    """Single steps as a trajectory."""
    if len(steps) == 1:  # nothing to copy
        return type(steps[0])(*(part[None] for part in steps[0]))
    return type(steps[0])(*(torch.stack(parts) for parts in zip(*steps, strict=True)))


def previous(inputs: Inputs, actions: int, dtype: torch.dtype) -> Tensor:
    """Reward, clipped as in IMPALA, and one-hot action before each picture; zeros where an episode begins."""
    if suits(inputs.rewards):
        return previous_here(inputs, actions, dtype)
    reward = inputs.rewards.to(dtype).clamp(-1, 1)[..., None]
    action = F.one_hot(inputs.actions.masked_fill(inputs.resets, 0), actions).to(dtype)
    return torch.cat([reward, action], -1) * (~inputs.resets)[..., None]


def previous_here(inputs: Inputs, actions: int, dtype: torch.dtype) -> Tensor:
    """The same in one call, where the kernels run."""
    found = torch.zeros(*inputs.resets.shape, 1 + actions, dtype=dtype)
    given = (array(part).reshape(-1) for part in (inputs.rewards, inputs.actions, inputs.resets))
    fill_previous(*given, array(found).reshape(-1, 1 + actions))
    return found
