"""Actions are drawn by the policy's probabilities, with kernels or without."""

import pytest
import torch

from memorylab.learning import actor
from memorylab.learning.actor import drawn

LOGITS = torch.tensor([[0.0, 1.0, -2.0, 3.0], [100.0, 0.0, 0.0, -100.0], [-5.0, -5.0, -5.0, -5.0]])


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_kernel_draws_what_its_twin_draws(monkeypatch, dtype):
    logits = LOGITS.to(dtype).repeat(500, 1) * torch.linspace(0, 1, 1500)[:, None]
    mine = drawn(logits, generator(3))
    monkeypatch.setattr(actor, "suits", lambda *_: False)
    twin = drawn(logits, generator(3))
    assert torch.equal(mine.actions, twin.actions)
    torch.testing.assert_close(mine.log_mu, twin.log_mu.to(dtype))
    assert len(mine.actions.unique()) == 4


@pytest.mark.parametrize("has_kernels", [True, False])
def test_actions_come_as_often_as_they_are_likely(monkeypatch, has_kernels):
    monkeypatch.setattr(actor, "suits", lambda *_: has_kernels)
    number = 20_000
    choice = drawn(LOGITS.repeat(number, 1), generator(0))
    for row, logits in enumerate(LOGITS):
        shares = choice.actions[row::3].bincount(minlength=4) / number
        torch.testing.assert_close(shares, logits.softmax(-1), atol=4 * 0.5 / number**0.5, rtol=0)
    likely = LOGITS.repeat(number, 1).log_softmax(-1).gather(-1, choice.actions[:, None])[:, 0]
    torch.testing.assert_close(choice.log_mu, likely)
