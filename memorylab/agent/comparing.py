"""A memory that compares: what is seen now beside what looked most like it, a while ago.

Telling same from different is what a recurrent network hardly learns from its inputs side by side, and learns soon from
their difference (docs/signatures.md). Here the read has that: of the moments that have rested, the K nearest to x_t
give p_t = sum_j w_j p_j and v_t = sum_j w_j v_j as in the paper, and

    m_t = [v_t, ReLU(W_c [x_t, p_t, |x_t - p_t|] + b_c)].
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from memorylab.agent.episodic import EpisodicMemory, Neighbours
from memorylab.agent.memory import Memory

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig


class ComparingMemory(EpisodicMemory):
    """Queries have nothing of h, so that a learner reads all steps at once."""

    def __init__(self, config: "AgentConfig", *, rest: int = 64):
        super().__init__(config, rest=rest)
        self.compare = nn.Linear(3 * self.input_size, self.hidden_size)
        self.size = 2 * self.hidden_size

    def embed(self, x: Tensor) -> Tensor:
        """The query, and x to compare with."""
        return torch.cat([self.query_of_x(x), x], -1)

    query = Memory.query

    def search_weights(self) -> Iterator[nn.Parameter]:
        """Comparing is learned as fast as the rest."""
        return (weight for name, weight in self.named_parameters() if not name.startswith("compare"))

    def search(self, store, embedded_t):
        """By the query alone."""
        return store.recall(embedded_t[..., : self.key_size].contiguous(), self.neighbours)

    def forward(self, embedded_t: Tensor, near: Neighbours) -> tuple[Tensor, Tensor]:
        """(m_t, w_t)."""
        q, x = embedded_t.split([self.key_size, self.input_size], -1)
        squared_distance = (q[..., None, :] - near.keys).square().sum(-1)
        w = near.valid / (self.epsilon + squared_distance)
        total = w.sum(-1, keepdim=True)
        w = w / torch.where(total > 0, total, 1)
        p, v = (w[..., None, :] @ near.pv)[..., 0, :].split([self.input_size, self.hidden_size], -1)
        found = torch.relu(self.compare(torch.cat([x, p, (x - p).abs()], -1)))
        return torch.cat([v, found * (total > 0)], -1), w
