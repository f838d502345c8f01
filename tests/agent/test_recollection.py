import math

import pytest
import torch
from small_agents import doubles

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.recollection import Recollection

X, H = 4, 3


def made(lags: int) -> Recollection:
    return Recollection(AgentConfig(embedding_size=X, hidden_size=H), lags=lags)


def slow_recollection(x, h, resets, W):
    """One lag, one step and one game at a time."""
    T, B = resets.shape
    losses, hits = [], 0
    for i, of_lag in enumerate(W):
        for b in range(B):
            for t in range(2**i, T):
                then = t - 2**i
                if any(resets[later, b] for later in range(then + 1, t + 1)):
                    continue  # that was another episode
                f = [math.exp(x[j, b] @ of_lag @ h[t, b]) for j in range(T)]
                losses.append(-math.log(f[then] / sum(f)))
                hits += f.index(max(f)) == then
    return (sum(losses) / len(losses), hits / len(losses)) if losses else (0, 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("T", "lags"), [(8, 3), (8, 1), (2, 1), (12, 4)])
@pytest.mark.parametrize("share", [0, 0.2, 0.6])
def test_loss_and_accuracy_against_loops(T, lags, share, seed):
    torch.manual_seed(seed)
    recollection = made(lags)
    x, h, resets = torch.randn(T, 3, X), torch.randn(T, 3, H), torch.rand(T, 3) < share
    W = doubles(recollection.recall.weight).reshape(lags, X, H)
    loss, accuracy = slow_recollection(doubles(x), doubles(h), resets.numpy(), W)
    found = recollection(x, h, resets)
    assert found.loss.item() == pytest.approx(loss, abs=1e-5)
    assert found.accuracy.item() == pytest.approx(accuracy, abs=1e-6)


def test_lags_beyond_the_trajectory_are_refused():
    with pytest.raises(ValueError, match=r"an unroll of at least 32 steps with 6 lags, not 31"):
        made(6)(torch.zeros(32, 1, X), torch.zeros(32, 1, H), torch.zeros(32, 1, dtype=torch.bool))


def test_no_lags_are_refused():
    with pytest.raises(ValueError, match=r"recollection\.lags must be at least 1, not 0"):
        made(0)


def test_an_lstm_learns_by_it_to_hold_what_it_saw():
    """One of four pictures at each step: which was it four steps ago? A linear reader of h knows when h was taught."""
    torch.manual_seed(0)
    sizes = {"encoder": "small", "height": 20, "width": 20, "embedding_size": 16, "hidden_size": 32, "actions": 2}
    lags = {"recollection.lags": 3}
    agent = MemoryRecallAgent(AgentConfig(memory="none", auxiliary=("recollection",), settings=lags, **sizes))
    optimiser = torch.optim.Adam(agent.parameters(), 3e-3)
    before = recognised(agent)
    for _ in range(300):
        inputs, _ = stream(32)
        output, _ = agent.unroll(inputs, agent.initial_state(32))
        optimiser.zero_grad()
        agent.auxiliary["recollection"].loss(output, inputs)[0].backward()
        optimiser.step()
    after = recognised(agent)
    assert before < 0.7, before
    assert after > 0.9, after


PICTURES = torch.randint(256, (4, 20, 20, 3), generator=torch.Generator().manual_seed(1), dtype=torch.uint8)


def stream(games):
    """Twelve pictures, and which was shown four before the last."""
    which = torch.randint(4, (12, games))
    nothing, resets = torch.zeros(12, games), torch.zeros(12, games, dtype=torch.bool)
    resets[0] = True
    return Inputs(PICTURES[which], nothing, nothing.long(), resets), which[7]


def recognised(agent):
    """How often, by a reader fitted to one half of the games, in the other half."""
    inputs, which = stream(1024)
    with torch.no_grad():
        h = agent.unroll(inputs, agent.initial_state(1024))[0].h[11]
    h = torch.cat([h, torch.ones(1024, 1)], -1)
    fitted = torch.linalg.lstsq(h[:512], torch.nn.functional.one_hot(which[:512], 4).float()).solution
    return ((h[512:] @ fitted).argmax(-1) == which[512:]).float().mean().item()
