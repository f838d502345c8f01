"""The trajectory as one operation against its twin, the loop that autograd follows step by step."""

import pytest
import torch
from small_agents import SMALL, random_inputs, small_agent

from memorylab.agent import model_config
from memorylab.agent import network as networks
from memorylab.agent.controllers import LSTM, Controller

T, B = 9, 3


def gradients(loss, leaves) -> list:
    return [g for g in torch.autograd.grad(loss, leaves, allow_unused=True) if g is not None]


def weighted(*parts) -> torch.Tensor:
    """A scalar to which every number counts differently."""
    draw = torch.Generator().manual_seed(1)
    return sum((part * torch.randn(part.shape, generator=draw, dtype=part.dtype)).sum() for part in parts)


def of_a_trajectory(agent, monkeypatch, at_once: bool) -> tuple[list, list]:
    """Outputs and gradients over episode boundaries, from a state and a memory of before."""
    monkeypatch.setattr(networks.MemoryRecallAgent, "is_one_operation", lambda *_: at_once)
    inputs = random_inputs(agent, T, B, reset_share=0.15)
    draw = torch.Generator().manual_seed(2)
    recalled = agent.new_recalled(T, B)
    if recalled is not None:
        recalled.pv.normal_(generator=draw)
        recalled.valid.bernoulli_(0.7, generator=draw)
        recalled.valid[3, 1] = False  # nothing was filled
    state = [part.normal_(generator=draw).requires_grad_() for part in agent.initial_state(B)]
    output, after = agent.unroll(inputs, tuple(state), recalled)
    outputs = [output.h, *after, *([] if output.weights is None else [output.weights])]
    return outputs, gradients(weighted(*outputs), [*state, *agent.parameters()])


@pytest.mark.parametrize("name", ["mra", "mra-njb"])
@pytest.mark.parametrize(("dtype", "close"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
def test_lstm_and_reads(name, dtype, close, monkeypatch):
    agent = small_agent(model_config(name, SMALL)).to(dtype)
    torch.nn.init.normal_(agent.read.query_of_h.weight)
    one = of_a_trajectory(agent, monkeypatch, True)
    loop = of_a_trajectory(agent, monkeypatch, False)
    torch.testing.assert_close(one, loop, atol=close, rtol=close)


@pytest.mark.parametrize("memory_size", [0, 5])
def test_lstm_whose_reads_are_known(memory_size):
    torch.manual_seed(0)
    lstm = LSTM(4, memory_size, 6).double()
    embedded = torch.randn(T, B, 24, dtype=torch.float64, requires_grad=True)
    m = torch.randn(T, B, memory_size, dtype=torch.float64, requires_grad=True) if memory_size else None
    keep = (torch.rand(T, B, 1) > 0.2).double()
    leaves = [embedded, lstm.of_past.weight, *([m] if memory_size else [])]
    found = []
    for unroll in (LSTM.unroll, Controller.unroll):
        h, state = unroll(lstm, embedded, m, keep, tuple(torch.ones(2, B, 6, dtype=torch.float64)))
        found.append((h, state, gradients(weighted(h, *state), leaves)))
    torch.testing.assert_close(*found, atol=1e-10, rtol=1e-10)
