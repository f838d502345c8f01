import math

import numpy as np
import pytest
import torch
from small_agents import doubles, random_inputs, small_agent
from torch import nn

from memorylab.agent import AgentConfig
from memorylab.agent.reconstruction import Reconstruction
from memorylab.learning.config import LearnerConfig

H, X, A = 6, 7, 4


def made(height: int, width: int) -> Reconstruction:
    torch.manual_seed(0)
    return Reconstruction(AgentConfig(height=height, width=width, hidden_size=H, embedding_size=X, actions=A))


@pytest.mark.parametrize("size", [(72, 96), (17, 23), (36, 48), (1, 1), (2, 3), (21, 40), (9, 8)])
def test_the_decoded_picture_has_the_size_of_the_picture(size):
    assert made(*size).picture(torch.randn(2, H)).shape == (2, 3, *size)


def test_losses_against_loops_over_pixels():
    S, size = 5, (9, 7)
    reconstruction = made(*size)
    draw = torch.Generator().manual_seed(1)
    h, pictures = torch.randn(S, H, generator=draw), torch.rand(S, 3, *size, generator=draw)
    rewards = torch.randn(S, generator=draw)
    actions = nn.functional.one_hot(torch.randint(A, (S,), generator=draw), A).float()
    logits = doubles(reconstruction.picture(h))
    image = action = reward = 0.0
    for s in range(S):
        for pixel in np.ndindex(3, *size):
            sigma, i = 1 / (1 + math.exp(-logits[s][pixel])), pictures[s][pixel].item()
            image += (-i * math.log(sigma) - (1 - i) * math.log(1 - sigma)) / (3 * size[0] * size[1])
        f_a = doubles(reconstruction.action.weight) @ doubles(h[s]) + doubles(reconstruction.action.bias)
        f_r = doubles(reconstruction.reward.weight) @ doubles(h[s]) + doubles(reconstruction.reward.bias)
        action += sum((doubles(actions[s]) - f_a) ** 2) / 2
        reward += (rewards[s].item() - f_r[0]) ** 2 / 2
    found = reconstruction(h, pictures, rewards, actions)
    assert [part.item() for part in found] == pytest.approx([image / S, action / S, reward / S], abs=1e-5)


def test_the_decoder_has_the_encoder_s_layers_in_reverse():
    picture = made(72, 96).picture
    assert [layer.weight.shape for layer in picture.layers if isinstance(layer, nn.Linear)] == [
        (X, H),
        (32 * 9 * 12, X),
    ]
    unpooled = [
        (m.in_channels, m.out_channels, m.stride) for m in picture.modules() if isinstance(m, nn.ConvTranspose2d)
    ]
    assert unpooled == [(32, 32, (2, 2)), (32, 32, (2, 2)), (32, 16, (2, 2))]
    assert sum(isinstance(m, nn.Conv2d) for m in picture.modules()) == 12 + 1


def test_an_agent_reconstructs_what_it_was_given():
    """The targets are the picture itself and what came before it: the clipped reward, the action, zeros at a reset."""
    agent = small_agent(auxiliary="rec", memory=False)
    inputs = random_inputs(agent, 6, 3)
    output, _ = agent.unroll(inputs, agent.initial_state(3))
    part = agent.auxiliary["rec"]
    part.configure(LearnerConfig(rec_image_cost=2.0, rec_action_cost=3.0, rec_reward_cost=5.0))
    whole, found = part.loss(output, inputs)
    image = action = reward = 0.0
    for t, b in np.ndindex(6, 3):
        h, is_new = output.h[t, b], bool(inputs.resets[t, b])
        true = inputs.pictures[t, b].permute(2, 0, 1) / 255
        image += nn.functional.binary_cross_entropy_with_logits(part.picture(h)[0], true).item()
        one_hot = torch.zeros(A)
        if not is_new:
            one_hot[inputs.actions[t, b]] = 1
        before = 0 if is_new else min(max(inputs.rewards[t, b].item(), -1), 1)
        action += ((part.action(h) - one_hot) ** 2).sum().item() / 2
        reward += (part.reward(h).item() - before) ** 2 / 2
    assert inputs.resets.any()
    losses = [found[name].item() for name in ("rec_image", "rec_action", "rec_reward")]
    assert whole.item() == pytest.approx(2 * losses[0] + 3 * losses[1] + 5 * losses[2])
    assert losses == pytest.approx([image / 18, action / 18, reward / 18], abs=1e-5)


def test_gradient_reaches_encoder_and_controller():
    agent = small_agent(auxiliary="rec")
    inputs = random_inputs(agent, 6, 3)
    output, _ = agent.unroll(inputs, agent.initial_state(3), store=agent.new_store(3))
    agent.auxiliary["rec"].loss(output, inputs)[0].backward()
    for module in (agent.encoder, agent.controller, agent.reconstruction):
        assert all(parameter.grad.abs().max() > 0 for parameter in module.parameters())
