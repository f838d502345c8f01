import math

import numpy as np
import pytest
import torch
from small_agents import doubles

from memorylab.agent import AgentConfig
from memorylab.agent.contrastive import Contrastive

X, H = 4, 3


def made(embedding_size: int, hidden_size: int, steps: int) -> Contrastive:
    return Contrastive(AgentConfig(embedding_size=embedding_size, hidden_size=hidden_size, cpc_steps=steps))


def slow_cpc(x, h, resets, W):
    """Appendix A.3, counted from t = 0: one k, one t, one game and one sample at a time."""
    T, B, N = len(x), x.shape[1], len(W)
    total, hits, pairs = 0.0, 0, 0
    for k in range(1, N + 1):
        losses = []
        for b in range(B):
            for t in range(T - k):
                if any(resets[later, b] for later in range(t + 1, t + k + 1)):
                    continue  # x_(t+k) is of another episode
                samples = range(k, T)
                f = {j: math.exp(x[j, b] @ W[k - 1] @ h[t, b]) for j in samples}
                p = {j: f[j] / sum(f.values()) for j in samples}
                negatives = [math.log(1 - p[j]) for j in samples if j != t + k]
                losses.append(-math.log(p[t + k]) - (sum(negatives) / len(negatives) if negatives else 0))
                hits += max(p, key=p.get) == t + k
                pairs += 1
        total += sum(losses) / len(losses) if losses else 0
    return total, hits / pairs if pairs else 0


def trajectory(T, B, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(T, B, X, generator=draw), torch.randn(T, B, H, generator=draw)


def some_resets(T, B, share, seed=0):
    return torch.rand(T, B, generator=torch.Generator().manual_seed(seed + 100)) < share


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("T", "N"), [(8, 3), (8, 7), (2, 1), (12, 5)])
@pytest.mark.parametrize("share", [0, 0.2, 0.6])
def test_loss_and_accuracy_against_loops(T, N, share, seed):
    torch.manual_seed(seed)
    contrastive = made(X, H, N)
    x, h = trajectory(T, 3, seed)
    resets = some_resets(T, 3, share, seed)
    W = doubles(contrastive.predict.weight).reshape(N, X, H)
    loss, accuracy = slow_cpc(doubles(x), doubles(h), resets.numpy(), W)
    found = contrastive(x, h, resets)
    assert found.loss.item() == pytest.approx(loss, abs=1e-5)
    assert found.accuracy.item() == pytest.approx(accuracy, abs=1e-6)


@pytest.mark.parametrize("every", [2, 3, 4])
def test_the_mean_over_turns_is_the_loss_of_all_steps(every):
    """Loss and gradient; also where the turns do not have the same number of steps."""
    torch.manual_seed(0)
    contrastive, resets = made(X, H, 3), some_resets(10, 3, 0.2)
    x, h = (part.requires_grad_() for part in trajectory(10, 3))
    leaves = [x, h, contrastive.predict.weight]
    loss = contrastive(x, h, resets).loss
    contrastive.every, losses = every, []
    for contrastive.turn in range(5 * every, 6 * every):
        losses.append(contrastive(x, h, resets).loss)
    mean = torch.stack(losses).mean()
    torch.testing.assert_close(mean, loss)
    torch.testing.assert_close(torch.autograd.grad(mean, leaves), torch.autograd.grad(loss, leaves))
    assert max(losses) - min(losses) > 1e-3  # each takes other steps


def test_an_episode_that_begins_with_the_trajectory_is_no_boundary():
    contrastive, (x, h) = made(X, H, 3), trajectory(6, 2)
    resets = torch.zeros(6, 2, dtype=torch.bool)
    first = resets.clone()
    first[0] = True
    torch.testing.assert_close(contrastive(x, h, first), contrastive(x, h, resets))


def test_no_pair_in_any_episode_gives_zero_and_no_nan():
    contrastive, (x, h) = made(X, H, 3), trajectory(6, 2)
    found = contrastive(x, h, torch.ones(6, 2, dtype=torch.bool))
    assert found == (0, 0)
    found.loss.backward()
    assert not contrastive.predict.weight.grad.any()


def test_certain_predictions_stay_finite():
    """p = 1 for a wrong sample: log(1 - p) is cut off, not minus infinity."""
    contrastive, (x, h) = made(X, H, 3), trajectory(6, 2)
    x, h = (1000 * x).requires_grad_(), (1000 * h).requires_grad_()
    found = contrastive(x, h, torch.zeros(6, 2, dtype=torch.bool))
    found.loss.backward()
    assert torch.isfinite(found.loss)
    assert torch.isfinite(x.grad).all()
    assert torch.isfinite(h.grad).all()


def test_a_model_that_knows_the_future_is_right_every_time():
    T, N = 10, 4
    contrastive = made(T, T, N)
    ahead = torch.stack([torch.diag(torch.ones(T - k), -k) for k in range(1, N + 1)])  # from t to t + k
    with torch.no_grad():
        contrastive.predict.weight.copy_(20 * ahead.view(N * T, T))
    one_hot = torch.eye(T)[:, None]
    found = contrastive(one_hot, one_hot, torch.zeros(T, 1, dtype=torch.bool))
    assert found.accuracy == 1
    assert found.loss < 1e-5


def test_gradient_reaches_x_h_and_weights():
    contrastive, (x, h) = made(X, H, 3), trajectory(6, 2)
    x.requires_grad_()
    h.requires_grad_()
    found = contrastive(x, h, torch.zeros(6, 2, dtype=torch.bool))
    found.loss.backward()
    assert not found.accuracy.requires_grad
    for gradient in (x.grad, h.grad, contrastive.predict.weight.grad):
        assert np.abs(doubles(gradient)).max() > 1e-3


def test_more_steps_than_the_trajectory_has_is_an_error():
    contrastive, (x, h) = made(X, H, 6), trajectory(6, 2)
    with pytest.raises(ValueError, match="cpc_steps must be at most 5 with an unroll of 6, not 6"):
        contrastive(x, h, torch.zeros(6, 2, dtype=torch.bool))
