"""IMPALA's three losses, as means over the steps of a trajectory."""

from typing import NamedTuple

import torch
from torch import Tensor

from memorylab.learning.vtrace import VTrace, vtrace


class ActorCritic(NamedTuple):
    """The losses, and what they were made of."""

    policy_gradient: Tensor  # -A_t log pi(a_t|x_t)
    baseline: Tensor  # (v_t - V(x_t))^2 / 2
    entropy: Tensor  # of pi, to be subtracted
    targets: VTrace
    log_ratios: Tensor


def actor_critic(
    logits: Tensor,  # (T, B, A)
    actions: Tensor,  # (T, B)
    log_mu: Tensor,  # (T, B)
    discounts: Tensor,  # (T, B)
    rewards: Tensor,  # (T, B)
    values: Tensor,  # (T + 1, B)
    rho_bar: float,
    c_bar: float,
) -> ActorCritic:
    """Of T steps of B games, by V-trace."""
    log_policy = logits.log_softmax(-1)
    log_pi = log_policy.gather(-1, actions[..., None])[..., 0]
    log_ratios = (log_pi - log_mu).detach()
    targets = vtrace(log_ratios, discounts, rewards, values[:-1].detach(), values[-1].detach(), rho_bar, c_bar)
    return ActorCritic(
        policy_gradient=-(log_pi * targets.advantages).mean(),
        baseline=(targets.v - values[:-1]).square().mean() / 2,
        entropy=-(log_policy.exp() * log_policy).sum(-1).mean(),
        targets=targets,
        log_ratios=log_ratios,
    )


class Taught(NamedTuple):
    """What a teacher's advice comes to."""

    loss: Tensor  # -log of the probability that pi gives to what the teacher finds good
    agreement: Tensor  # how often the agent finds one of these likeliest


def teaching(logits: Tensor, advice: Tensor) -> Taught:
    """Kickstarting (Schmitt et al. 2018) by a teacher that names one action or several between which it has no opinion:
    logits (T, B, A), advice (T, B) with a bit for each. With one action this is the cross-entropy."""
    is_good = (advice[..., None] >> torch.arange(logits.shape[-1], device=logits.device)) & 1 == 1
    loss = logits.logsumexp(-1) - logits.masked_fill(~is_good, -torch.inf).logsumexp(-1)
    agrees = is_good.gather(-1, logits.argmax(-1, keepdim=True))
    return Taught(loss.mean(), agrees.float().mean())


def clipped(rewards: Tensor, how: str) -> Tensor:
    """IMPALA's two ways, by its names for them, or as they are."""
    if how == "abs_one":
        return rewards.clamp(-1, 1)
    if how == "soft_asymmetric":  # up to 5, and losses count less than gains
        squeezed = 5 * torch.tanh(rewards / 5)
        return torch.where(rewards < 0, 0.3 * squeezed, squeezed)
    return rewards
