"""Contrastive predictive coding (CPC; van den Oord et al. 2018; paper, appendix A.3)."""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from memorylab.agent.auxiliary import AuxiliaryLoss, Metrics
from memorylab.agent.data import Inputs, Output

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

NEVER = -1e9


class ContrastiveLoss(NamedTuple):
    """What a trajectory came to."""

    loss: Tensor
    accuracy: Tensor  # how often the true future scores highest


class Contrastive(AuxiliaryLoss):
    """For k = 1..N, tell x_(t+k) among the samples of its trajectory by f_k(x_j, h_t) = exp(x_j' W_k h_t)."""

    part = "contrastive"
    every = 1

    def __init__(self, config: "AgentConfig"):
        super().__init__()
        self.embedding_size, self.steps = config.embedding_size, config.cpc_steps
        # W_1 ... W_N, one above the other
        self.predict = nn.Linear(config.hidden_size, self.steps * self.embedding_size, bias=False)

    def configure(self, learner: Any) -> None:
        """Weight and reduction, and how many updates share the steps that are predicted from."""
        self.weight, self.reduction, self.every = learner.cpc_weight, learner.cpc_reduction, learner.cpc_every

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, Metrics]:
        """`cpc` and how often the true future scores highest, `cpc_accuracy`."""
        found = self(output.x, output.h, inputs.resets)
        return found.loss, {"cpc": found.loss, "cpc_accuracy": found.accuracy}

    def forward(self, x: Tensor, h: Tensor, resets: Tensor) -> ContrastiveLoss:
        """x (T, B, X), h (T, B, H), resets (T, B): the sum over k of the mean loss of all (t, k) in one episode.

        The samples are x_(k+1) ... x_T; one of them is positive. With p_j = f_k(x_j, h_t) / sum_i f_k(x_i, h_t), the
        loss is -log p_(t+k) - the mean of log(1 - p_j) over the negatives.

        Of the steps t, this update takes every n-th, counted from its turn, n times: the mean over n turns is the loss
        of all t.
        """
        if self.steps >= len(x):
            raise ValueError(f"cpc_steps must be at most {len(x) - 1} with an unroll of {len(x)}, not {self.steps}")
        T, B = resets.shape
        N = self.steps
        mine = slice(self.turn % self.every, None, self.every)
        predictions = self.predict(h[mine].transpose(0, 1)).view(B, -1, self.embedding_size)
        scores = (predictions @ x.permute(1, 2, 0)).view(B, -1, N, T)

        j = torch.arange(T, device=x.device)
        k = torch.arange(1, N + 1, device=x.device)
        is_sample = j >= k[:, None]  # (N, j): counted from 0, they are x_k ... x_(T-1)
        log_p = scores.masked_fill(~is_sample, NEVER).log_softmax(-1)

        targets = (j[:, None] + k).clamp_max(T - 1)  # (T, N)
        target = targets[mine]
        positive = log_p.gather(-1, target[None, :, :, None].expand(B, -1, N, 1))[..., 0]
        is_negative = is_sample & (j != target[:, :, None])  # (t, N, j)
        log_not_p = torch.log1p(-log_p.exp().clamp_max(1 - 1e-6))
        negative = torch.where(is_negative, log_not_p, 0).sum(-1) / is_negative.sum(-1).clamp_min(1)

        counts = self.pairs_within_episodes(resets, targets)
        pairs = self.over_learners(counts.sum((0, 1))).clamp_min(1e-6)  # a learner's share may be less than one
        counts = counts[:, mine]
        loss = -self.every * ((positive + negative) * counts).sum((0, 1)) / pairs
        is_hit = (log_p.detach().argmax(-1) == target) & counts
        return ContrastiveLoss(loss.sum(), is_hit.sum() / counts.sum().clamp_min(1))

    def pairs_within_episodes(self, resets: Tensor, target: Tensor) -> Tensor:
        """(B, T, N): whether t + k is still in the trajectory, and in the episode of t."""
        T = len(resets)
        episode = resets.long().cumsum(0).T  # (B, T)
        t = torch.arange(T, device=resets.device)
        k = torch.arange(1, self.steps + 1, device=resets.device)
        return (t[:, None] + k < T) & (episode[:, target] == episode[:, :, None])
