import math

import numpy as np
import pytest
import torch
from small_agents import doubles
from torch import nn

from memorylab.agent import CONTROLLERS, Controller

INPUT, HIDDEN, GAMES, STEPS = 5, 6, 3, 8


def made(name: str, memory_size: int) -> Controller:
    torch.manual_seed(0)
    return CONTROLLERS[name](INPUT, memory_size, HIDDEN)


def inputs_and_reads(memory_size: int):
    draw = torch.Generator().manual_seed(1)
    reads = torch.randn(STEPS, GAMES, memory_size, generator=draw)
    return torch.randn(STEPS, GAMES, INPUT, generator=draw), reads if memory_size else [None] * STEPS


def states(controller: Controller, inputs, reads):
    """The state after each step, from the state of zeros."""
    state = controller.initial_state(GAMES)
    for embedded_t, m_t in zip(controller.embed(inputs), reads, strict=True):
        state = controller.advance(embedded_t, m_t, state)
        yield state


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


@pytest.mark.parametrize("memory_size", [0, 4])
def test_lstm_is_pytorch_s(memory_size):
    controller, (inputs, reads) = made("lstm", memory_size), inputs_and_reads(memory_size)
    cell = nn.LSTMCell(INPUT + memory_size, HIDDEN)
    past = controller.of_past.weight
    with torch.no_grad():
        cell.weight_ih.copy_(torch.cat([controller.of_input.weight, past[:, :memory_size]], -1))
        cell.weight_hh.copy_(past[:, memory_size:])
        cell.bias_ih.copy_(controller.of_input.bias)
        cell.bias_hh.zero_()
    state = None
    for t, (h_t, c_t) in enumerate(states(controller, inputs, reads)):
        state = cell(inputs[t] if reads[t] is None else torch.cat([inputs[t], reads[t]], -1), state)
        torch.testing.assert_close((h_t, c_t), state, atol=1e-5, rtol=0)


@pytest.mark.parametrize("memory_size", [0, 4])
def test_gru_is_pytorch_s(memory_size):
    controller, (inputs, reads) = made("gru", memory_size), inputs_and_reads(memory_size)
    cell = nn.GRUCell(INPUT + memory_size, HIDDEN)
    weights = [controller.of_input.weight] + ([controller.of_past.weight] if memory_size else [])
    with torch.no_grad():
        cell.weight_ih.copy_(torch.cat(weights, -1))
        cell.weight_hh.copy_(controller.of_h.weight)
        cell.bias_ih.copy_(controller.of_input.bias)
        cell.bias_hh.copy_(controller.of_h.bias)
    h = None
    for t, (h_t,) in enumerate(states(controller, inputs, reads)):
        h = cell(inputs[t] if reads[t] is None else torch.cat([inputs[t], reads[t]], -1), h)
        torch.testing.assert_close(h_t, h, atol=1e-5, rtol=0)


@pytest.mark.parametrize("memory_size", [0, 4])
def test_lru_unit_by_unit(memory_size):
    controller, (inputs, reads) = made("lru", memory_size), inputs_and_reads(memory_size)
    W, b, decay = doubles(controller.of_input.weight), doubles(controller.of_input.bias), doubles(controller.decay)
    s = np.zeros((GAMES, HIDDEN))
    for t, (h_t, s_t) in enumerate(states(controller, inputs, reads)):
        for game in range(GAMES):
            given = W @ doubles(inputs[t, game]) + b
            if memory_size:
                given = given + doubles(controller.of_past.weight) @ doubles(reads[t, game])
            for unit in range(HIDDEN):
                r, i, u, g = given.reshape(4, HIDDEN)[:, unit]
                a = np.exp(-8 * np.log(1 + np.exp(decay[unit])) * sigmoid(r))
                s[game, unit] = a * s[game, unit] + np.sqrt(1 - a**2) * sigmoid(i) * u
                gelu = g * (1 + math.erf(g / math.sqrt(2))) / 2
                assert h_t[game, unit].item() == pytest.approx(gelu * s[game, unit], abs=1e-5)
                assert s_t[game, unit].item() == pytest.approx(s[game, unit], abs=1e-5)


@pytest.mark.parametrize("memory_size", [0, 4])
def test_feedforward_keeps_nothing(memory_size):
    controller, (inputs, reads) = made("ff", memory_size), inputs_and_reads(memory_size)
    for t, (h_t,) in enumerate(states(controller, inputs, reads)):
        given = doubles(inputs[t]) @ doubles(controller.of_input.weight).T + doubles(controller.of_input.bias)
        if memory_size:
            given = given + doubles(reads[t]) @ doubles(controller.of_past.weight).T
        np.testing.assert_allclose(doubles(h_t), np.maximum(given, 0), atol=1e-5)


def test_lstm_starts_with_an_open_forget_gate():
    means = made("lstm", 4).of_input.bias.detach().view(4, HIDDEN).mean(-1)
    assert means[1] == pytest.approx(1, abs=0.5)
    assert means[[0, 2, 3]].abs().max() < 0.5


def test_lru_starts_with_paces_from_ten_to_a_thousand_steps():
    controller = made("lru", 0)
    with torch.no_grad():
        controller.of_input.weight.zero_()
        controller.of_input.bias.zero_()  # r = 1/2
    ones = (torch.zeros(1, HIDDEN), torch.ones(1, HIDDEN))
    _, s = controller.advance(controller.embed(torch.zeros(1, INPUT)), None, ones)
    torch.testing.assert_close(s[0], torch.linspace(0.9, 0.999, HIDDEN))


@pytest.mark.parametrize("name", ["ff", "lstm", "gru", "lru"])
def test_a_state_is_zeros_with_h_first(name):
    controller = made(name, 4)
    state = controller.initial_state(GAMES, dtype=torch.float64)
    assert all(part.shape == (GAMES, HIDDEN) and part.dtype == torch.float64 and not part.any() for part in state)
    inputs, reads = inputs_and_reads(4)
    last = list(states(controller, inputs, reads))[-1]
    assert len(last) == len(state) == controller.state_parts
    assert all(part.shape == (GAMES, HIDDEN) for part in last)
