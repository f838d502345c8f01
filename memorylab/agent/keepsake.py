"""A keepsake: the paper's episodic memory, and beside it the moment that last paid, always in hand.

The paper's read finds what looks like now. Who was put down somewhere else after a reward looks for what does not look
like now: the place that paid. So m_t also has the last slot that was written before the latest reward,

    m_t = [sum_j w_j v_j,  p_s, v_s],    s the step before the latest reward; zeros before the first.

Where that is, seen from here, is left to the agent to learn.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicMemory, EpisodicStore, Neighbours, Recalled
from memorylab.agent.memory import Memory

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig


class Kept(NamedTuple):
    """What a read found, and the keepsake."""

    pv: Tensor  # as in Recalled
    valid: Tensor
    age: Tensor
    keepsake: Tensor  # (..., P + H)


class Near(NamedTuple):
    """The same as a read needs it."""

    keys: Tensor  # as in Neighbours
    pv: Tensor
    valid: Tensor
    keepsake: Tensor


class KeepsakeStore(EpisodicStore):
    """With a slot apart for the moment that last paid."""

    def __init__(self, *sizes: int, **options: Any):
        super().__init__(*sizes, **options)
        self.keepsake = torch.zeros_like(self.pv[:, 0])
        self.update(keepsake=self.keepsake)

    def wipe(self, reset: Tensor) -> None:
        """The keepsake, too."""
        super().wipe(reset)
        self.keepsake.masked_fill_(reset[:, None], 0)

    def keep(self, rewards: Tensor) -> Tensor:
        """The keepsake; where a reward has just come, it is now the slot before."""
        last = self.pv[:, (self.next_slot - 1) % self.capacity]
        self.keepsake.copy_(torch.where((rewards > 0)[:, None], last, self.keepsake))
        return self.keepsake.clone()


class KeepsakeMemory(EpisodicMemory):
    """m_t = [the paper's, the keepsake]. Queries have nothing of h, so that a learner reads all steps at once."""

    def __init__(self, config: "AgentConfig"):
        super().__init__(config)
        self.size = 2 * self.hidden_size + self.input_size

    query = Memory.query

    def new_store(self, num_envs: int, **options: Any) -> KeepsakeStore:
        """Rings of `capacity` slots, and no keepsake yet."""
        return KeepsakeStore(num_envs, self.capacity, self.input_size, self.hidden_size, self.key_size, **options)

    def new_recalled(self, lead: tuple[int, ...], **options: Any) -> Kept:  # type: ignore[override]
        """K slots and one more, a step."""
        keepsake = torch.zeros(*lead, self.input_size + self.hidden_size, **options)
        return Kept(*super().new_recalled(lead, **options), keepsake)

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The reward that came with each picture; none where an episode begins."""
        return inputs.rewards.masked_fill(inputs.resets, 0)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Kept:  # type: ignore[override]
        """The K nearest slots, and the keepsake."""
        return Kept(*super().search(store, q_t), store.keep(looked_t))

    def project(self, recalled: Kept) -> Near:  # type: ignore[override]
        """Keys anew, as in the episodic memory."""
        return Near(*super().project(Recalled(*recalled[:3])), recalled.keepsake)

    def forward(self, q_t: Tensor, near: Near) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(m_t, w_t)."""
        m_t, w_t = self.read_slots(q_t, Neighbours(*near[:3]))
        return torch.cat([m_t, near.keepsake], -1), w_t
