"""V-trace (Espeholt et al. 2018; paper, appendix A.1): value targets from a policy that lags behind.

With rho_t = min(rho_bar, pi(a_t|x_t) / mu(a_t|x_t)) and c_t = min(c_bar, the same ratio):

  delta_t = rho_t (r_t + gamma_t V(x_(t+1)) - V(x_t))
  v_s = V(x_s) + sum over t >= s of (prod of gamma_i c_i for s <= i < t) delta_t

gamma_t is 0 where the step from t to t + 1 ends an episode, so that one trajectory can hold several.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class VTrace(NamedTuple):
    """What V-trace gives the losses."""

    v: Tensor  # (T, B): targets for the baseline
    advantages: Tensor  # (T, B): rho_t (r_t + gamma_t v_(t+1) - V(x_t)), for the policy gradient


@torch.no_grad()
def vtrace(
    log_ratios: Tensor,  # (T, B): log pi(a_t|x_t) - log mu(a_t|x_t)
    discounts: Tensor,  # (T, B): gamma_t
    rewards: Tensor,  # (T, B): r_t, for the action at t
    values: Tensor,  # (T, B): V(x_t)
    bootstrap: Tensor,  # (B,): V(x_T)
    rho_bar: float = 1.0,
    c_bar: float = 1.0,
) -> VTrace:
    """One loop backwards in time: see the module."""
    ratios = log_ratios.exp()
    rho, c = ratios.clamp_max(rho_bar), ratios.clamp_max(c_bar)
    next_values = torch.cat([values[1:], bootstrap[None]])
    delta = rho * (rewards + discounts * next_values - values)

    v = torch.empty_like(values)
    excess = torch.zeros_like(bootstrap)  # v_(t+1) - V(x_(t+1))
    for t in reversed(range(len(values))):
        excess = delta[t] + discounts[t] * c[t] * excess
        v[t] = values[t] + excess
    next_v = torch.cat([v[1:], bootstrap[None]])
    return VTrace(v, rho * (rewards + discounts * next_v - values))
