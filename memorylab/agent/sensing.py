"""A memory that reads as the paper's does, and beside it tells numbers that it has found out by itself."""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicMemory, Neighbours, Recalled
from memorylab.agent.memory import Memory

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig


class Found(NamedTuple):
    """What a read found, and what was found out."""

    pv: Tensor  # as in Recalled
    valid: Tensor
    age: Tensor
    sensed: Tensor  # (..., S)


class Near(NamedTuple):
    """The same as a read needs it."""

    keys: Tensor  # as in Neighbours
    pv: Tensor
    valid: Tensor
    sensed: Tensor


def acted(inputs: Inputs, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """The action before each picture, and whether that paid; not where an episode begins. Each (T, B, 1)."""
    is_paid = (inputs.rewards > 0) & ~inputs.resets
    return inputs.actions[..., None].to(dtype), is_paid[..., None].to(dtype)


class SensingMemory(EpisodicMemory):
    """m_t = [the paper's, S numbers]. Queries have nothing of h."""

    sensed: int  # S

    def __init__(self, config: "AgentConfig"):
        super().__init__(config)
        self.size = self.hidden_size + self.sensed
        self.sizes = self.capacity, self.input_size, self.hidden_size, self.key_size  # of a store

    query = Memory.query

    def new_recalled(self, lead: tuple[int, ...], **options: Any) -> Found:  # type: ignore[override]
        """K slots and the numbers of a step."""
        return Found(*super().new_recalled(lead, **options), torch.zeros(*lead, self.sensed, **options))

    def found(self, store: Any, q_t: Tensor, sensed: Tensor) -> Found:
        """The K nearest slots, and these numbers."""
        return Found(*super().search(store, q_t), sensed)

    def project(self, recalled: Found) -> Near:  # type: ignore[override]
        """Keys anew, as in the episodic memory."""
        return Near(*super().project(Recalled(*recalled[:3])), recalled.sensed)

    def forward(self, q_t: Tensor, near: Near) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(m_t, w_t)."""
        m_t, w_t = self.read_slots(q_t, Neighbours(*near[:3]))
        return torch.cat([m_t, near.sensed], -1), w_t
