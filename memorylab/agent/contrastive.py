"""Contrastive predictive coding (CPC; van den Oord et al. 2018; paper, appendix A.3)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

NEVER = -1e9


class ContrastiveLoss(NamedTuple):
    loss: Tensor
    accuracy: Tensor  # how often the true future scores highest


class Contrastive(nn.Module):
    """For k = 1..N, tell x_(t+k) among the samples of its trajectory by f_k(x_j, h_t) = exp(x_j' W_k h_t)."""

    def __init__(self, embedding_size: int, hidden_size: int, steps: int):
        super().__init__()
        self.embedding_size, self.steps = embedding_size, steps
        self.predict = nn.Linear(hidden_size, steps * embedding_size, bias=False)  # W_1 ... W_N, one above the other

    def forward(self, x: Tensor, h: Tensor, resets: Tensor) -> ContrastiveLoss:
        """x (T, B, X), h (T, B, H), resets (T, B): the sum over k of the mean loss of all (t, k) in one episode.

        The samples are x_(k+1) ... x_T; one of them is positive. With p_j = f_k(x_j, h_t) / sum_i f_k(x_i, h_t), the
        loss is -log p_(t+k) - the mean of log(1 - p_j) over the negatives.
        """
        if self.steps >= len(x):
            raise ValueError(f"cpc_steps must be at most {len(x) - 1} with an unroll of {len(x)}, not {self.steps}")
        T, B = resets.shape
        N = self.steps
        predictions = self.predict(h).view(T, B, N, self.embedding_size)
        scores = torch.einsum("tbkx,jbx->bktj", predictions, x)

        t = torch.arange(T, device=x.device)
        k = torch.arange(1, N + 1, device=x.device)
        is_sample = t >= k[:, None]  # (N, j): with t counted from 0, x_k ... x_(T-1)
        log_p = scores.masked_fill(~is_sample[None, :, None, :], NEVER).log_softmax(-1)

        target = (t + k[:, None]).clamp_max(T - 1)  # (N, t)
        positive = log_p.gather(-1, target[None, :, :, None].expand(B, N, T, 1))[..., 0]
        is_negative = is_sample[:, None, :] & (t != target[:, :, None])  # (N, t, j)
        negative = torch.where(is_negative, torch.log1p(-log_p.exp().clamp_max(1 - 1e-6)), 0).sum(-1)
        negative = negative / is_negative.sum(-1).clamp_min(1)

        counts = self.pairs_within_episodes(resets, target)
        loss = -((positive + negative) * counts).sum((0, 2)) / counts.sum((0, 2)).clamp_min(1)
        is_hit = log_p.argmax(-1) == target
        return ContrastiveLoss(loss.sum(), ((is_hit * counts).sum() / counts.sum().clamp_min(1)).detach())

    def pairs_within_episodes(self, resets: Tensor, target: Tensor) -> Tensor:
        """(B, N, t): 1 where t + k is still in the trajectory and in the episode of t."""
        T = len(resets)
        episode = resets.long().cumsum(0)  # (T, B)
        t = torch.arange(T, device=resets.device)
        k = torch.arange(1, self.steps + 1, device=resets.device)
        is_inside = t + k[:, None] < T  # (N, t)
        is_same = episode[target] == episode  # (N, t, B)
        return (is_inside[:, :, None] & is_same).permute(2, 0, 1)
