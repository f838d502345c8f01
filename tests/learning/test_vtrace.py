"""V-trace against sums and products written out, and the losses by hand."""

import numpy as np
import pytest
import torch

from memorylab.learning.losses import actor_critic
from memorylab.learning.vtrace import vtrace

T, B, A = 9, 5, 3


def slow_vtrace(log_ratios, discounts, rewards, values, bootstrap, rho_bar, c_bar):
    """delta_t and v_s as the docstring has them; one game at a time, no recursion."""
    steps, num_envs = values.shape
    v, advantages = np.zeros((2, steps, num_envs))
    for b in range(num_envs):
        gamma, r, ratio = discounts[:, b], rewards[:, b], np.exp(log_ratios[:, b])
        V = np.append(values[:, b], bootstrap[b])
        rho, c = np.minimum(rho_bar, ratio), np.minimum(c_bar, ratio)
        targets = np.append(V[:-1], bootstrap[b])
        for s in range(steps):
            for t in range(s, steps):
                delta_t = rho[t] * (r[t] + gamma[t] * V[t + 1] - V[t])
                targets[s] += np.prod([gamma[i] * c[i] for i in range(s, t)]) * delta_t
        for t in range(steps):
            advantages[t, b] = rho[t] * (r[t] + gamma[t] * targets[t + 1] - V[t])
        v[:, b] = targets[:-1]
    return v, advantages


def chance(seed: int) -> dict[str, np.ndarray]:
    """Ratios from a fifth to five; in each game several episodes, one of them ending with the trajectory."""
    draw = np.random.default_rng(seed)
    ends = draw.random((T, B)) < 0.25
    ends[3, 0] = ends[4, 0] = ends[-1, 1] = True
    return {
        "log_ratios": draw.uniform(-np.log(5), np.log(5), (T, B)),
        "discounts": np.where(ends, 0.0, draw.uniform(0.8, 1, (T, B))),
        "rewards": draw.normal(size=(T, B)),
        "values": draw.normal(size=(T, B)),
        "bootstrap": draw.normal(size=B),
    }


def tensors(arrays: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


@pytest.mark.parametrize(("rho_bar", "c_bar"), [(1.0, 1.0), (2.0, 1.0), (1.0, 0.5), (3.0, 2.0), (np.inf, np.inf)])
def test_vtrace_is_the_double_loop(rho_bar, c_bar):
    given = chance(seed=1)
    ratios = np.exp(given["log_ratios"])
    for bar in (rho_bar, c_bar):
        assert bar == np.inf or 0.1 < (ratios > bar).mean() < 0.9
    v, advantages = vtrace(**tensors(given), rho_bar=rho_bar, c_bar=c_bar)
    slow_v, slow_advantages = slow_vtrace(**given, rho_bar=rho_bar, c_bar=c_bar)
    np.testing.assert_allclose(v, slow_v, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(advantages, slow_advantages, rtol=1e-12, atol=1e-12)


def test_on_policy_targets_are_n_step_returns():
    given = chance(seed=2) | {"log_ratios": np.zeros((T, B))}
    returns, following = np.zeros((T, B)), given["bootstrap"]
    for t in reversed(range(T)):
        following = returns[t] = given["rewards"][t] + given["discounts"][t] * following
    v, advantages = vtrace(**tensors(given))
    np.testing.assert_allclose(v, returns, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(advantages, returns - given["values"], rtol=1e-12, atol=1e-12)


def test_nothing_flows_back_over_the_end_of_an_episode():
    given = chance(seed=3)
    given["discounts"][4] = 0
    changed = given | {"bootstrap": given["bootstrap"] + 7, "rewards": given["rewards"].copy()}
    changed["rewards"][5:] += 3
    before, after = (vtrace(**tensors(one)) for one in (given, changed))
    for one, other in zip(before, after, strict=True):
        torch.testing.assert_close(one[:5], other[:5], rtol=0, atol=0)
        assert (one[5] != other[5]).all()


def test_losses_by_hand():
    given = chance(seed=4)
    draw = np.random.default_rng(5)
    logits, actions = draw.normal(size=(T, B, A)), draw.integers(A, size=(T, B))
    policy = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    pi = np.take_along_axis(policy, actions[..., None], -1)[..., 0]
    log_mu = np.log(pi) - given["log_ratios"]
    values = np.concatenate([given["values"], given["bootstrap"][None]])

    parts = torch.from_numpy(logits).requires_grad_(), torch.from_numpy(values).requires_grad_()
    found = actor_critic(
        parts[0],
        torch.from_numpy(actions),
        torch.from_numpy(log_mu),
        torch.from_numpy(given["discounts"]),
        torch.from_numpy(given["rewards"]),
        parts[1],
        rho_bar=1.5,
        c_bar=0.9,
    )
    v, advantages = slow_vtrace(**given, rho_bar=1.5, c_bar=0.9)
    np.testing.assert_allclose(found.policy_gradient.item(), -np.mean(advantages * np.log(pi)), rtol=1e-10)
    np.testing.assert_allclose(found.baseline.item(), np.mean((v - given["values"]) ** 2) / 2, rtol=1e-10)
    np.testing.assert_allclose(found.entropy.item(), -np.mean(np.sum(policy * np.log(policy), -1)), rtol=1e-10)
    np.testing.assert_allclose(found.log_ratios, given["log_ratios"], rtol=1e-10, atol=1e-12)

    # gradients by hand: targets and advantages are constants
    (found.policy_gradient + found.baseline).backward()
    one_hot = np.eye(A)[actions]
    np.testing.assert_allclose(parts[0].grad, -advantages[..., None] * (one_hot - policy) / (T * B), atol=1e-12)
    of_values = np.concatenate([(given["values"] - v) / (T * B), np.zeros((1, B))])
    np.testing.assert_allclose(parts[1].grad, of_values, atol=1e-12)
