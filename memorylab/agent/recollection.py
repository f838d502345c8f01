"""Contrastive recollection: CPC backwards in time, so that h_t holds what was seen and x_t tells things apart."""

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn

from memorylab.agent.auxiliary import AuxiliaryLoss, Metrics
from memorylab.agent.data import Inputs, Output

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig


class Recollected(NamedTuple):
    """What a trajectory came to."""

    loss: Tensor
    accuracy: Tensor  # how often the true past scores highest


class Recollection(AuxiliaryLoss):
    """For k = 1, 2, 4 ... 2^(lags - 1), tell x_(t-k) among all pictures of its trajectory by exp(x_j' W_k h_t)."""

    def __init__(self, config: "AgentConfig", *, lags: int = 6, weight: float = 0.1):
        super().__init__()
        if lags < 1:
            raise ValueError(f"recollection.lags must be at least 1, not {lags}")
        self.weight, self.lags = weight, [2**i for i in range(lags)]
        # W_1, W_2, W_4 ..., one above the other
        self.recall = nn.Linear(config.hidden_size, lags * config.embedding_size, bias=False)

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, Metrics]:
        """`recollection` and how often the true past scores highest, `recollection_accuracy`."""
        found = self(output.x, output.h, inputs.resets)
        return found.loss, {"recollection": found.loss, "recollection_accuracy": found.accuracy}

    def forward(self, x: Tensor, h: Tensor, resets: Tensor) -> Recollected:
        """x (T, B, X), h (T, B, H), resets (T, B): the mean of -log p over all (t, k) within one episode."""
        T, B, X = x.shape
        if self.lags[-1] >= T:
            needed = f"{self.lags[-1]} steps with {len(self.lags)} lags"
            raise ValueError(f"recollection needs an unroll of at least {needed}, not {T - 1}")
        k = torch.tensor(self.lags, device=x.device)
        recalled = self.recall(h.transpose(0, 1)).view(B, -1, X)
        log_p = (recalled @ x.permute(1, 2, 0)).view(B, T, len(k), T).log_softmax(-1)
        t = torch.arange(T, device=x.device)
        past = (t[:, None] - k).clamp_min(0)  # (T, lags)
        episode = resets.long().cumsum(0).T  # (B, T)
        counts = (t[:, None] >= k) & (episode[:, past] == episode[:, :, None])
        true = log_p.gather(-1, past[None, :, :, None].expand(B, -1, -1, 1))[..., 0]
        pairs = self.over_learners(counts.sum()).clamp_min(1e-6)
        is_hit = (log_p.detach().argmax(-1) == past) & counts
        return Recollected(-(true * counts).sum() / pairs, is_hit.sum() / counts.sum().clamp_min(1))
