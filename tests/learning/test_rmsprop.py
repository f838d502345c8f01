"""IMPALA's RMSProp against a slow twin, and through a checkpoint."""

import numpy as np
import pytest
import torch
from torch import nn

from memorylab.agent import AgentConfig, MemoryRecallAgent, model_config
from memorylab.envs.diagnostic_games import SIDE, RecallByKey
from memorylab.learning.actor import Actor
from memorylab.learning.config import LearnerConfig
from memorylab.learning.learner import Learner
from memorylab.learning.rmsprop import ImpalaRMSProp

DECAY, EPSILON, RATE = 0.99, 0.1, 0.05


def slow_steps(weights: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """As TensorFlow's documentation has it: mean squares from 1, epsilon inside the root, weight by weight."""
    square = np.ones_like(weights)
    for gradient in gradients:
        for i in range(len(weights)):
            square[i] = DECAY * square[i] + (1 - DECAY) * gradient[i] ** 2
            weights[i] -= RATE * gradient[i] / np.sqrt(square[i] + EPSILON)
    return weights


def test_steps_are_those_of_a_slow_twin():
    chance = np.random.default_rng(0)
    begin, gradients = chance.normal(size=7), chance.normal(scale=3.0, size=(20, 7))
    weight = nn.Parameter(torch.from_numpy(begin.copy()))
    optimiser = ImpalaRMSProp([{"params": [weight], "lr": RATE}], DECAY, EPSILON)
    for gradient in gradients:
        weight.grad = torch.from_numpy(gradient.copy())
        optimiser.step()
    np.testing.assert_allclose(weight.detach().numpy(), slow_steps(begin.copy(), gradients), rtol=1e-12)


@pytest.mark.parametrize("gradient", [0.01, 0.1, 1.0])
def test_the_first_step_is_smaller_than_torchs(gradient):
    """Torch begins at 0 with epsilon outside: its first step is g / (0.1 |g| + 0.1)."""
    ours, torchs = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
    for weight in (ours, torchs):
        weight.grad = torch.full((1,), gradient)
    ImpalaRMSProp([{"params": [ours], "lr": RATE}], DECAY, EPSILON).step()
    torch.optim.RMSprop([torchs], RATE, DECAY, EPSILON).step()
    assert ours.item() == pytest.approx(-RATE * gradient / (0.99 + 0.01 * gradient**2 + 0.1) ** 0.5)
    assert torchs.item() == pytest.approx(-RATE * gradient / (0.1 * gradient + 0.1))
    assert 5 < torchs.item() / ours.item() < 11


def new_learner(**settings) -> Learner:
    torch.manual_seed(0)
    sizes = {"height": SIDE, "width": SIDE, "actions": 3, "embedding_size": 8, "hidden_size": 8, "cpc_steps": 3}
    agent = MemoryRecallAgent(model_config("mra-njb", AgentConfig(encoder="small", **sizes)))
    return Learner(agent, LearnerConfig(optimiser="rmsprop", learning_rate=1e-2, **settings))


def test_a_learner_goes_on_bit_by_bit():
    """W_k of mra-njb has no gradient, hence no mean square: that must come back, too."""
    whole = new_learner()
    actor = Actor(RecallByKey(pairs=3, delay=2, num_envs=5, seed=1), whole.agent, unroll=20)
    trajectories = [actor.collect().trajectory for _ in range(2)]
    for trajectory in trajectories:
        whole.update(trajectory)
    kept = {name: part.clone() for name, part in whole.state_dict().items()}
    restored = new_learner()
    restored.load_state_dict(kept, whole.version)
    for learner in (whole, restored):
        learner.update(trajectories[0])
    left, right = whole.state_dict(), restored.state_dict()
    assert left.keys() == right.keys()
    assert any(name.startswith("optimiser.") for name in left)
    assert all(torch.equal(left[name], right[name]) for name in left)
    assert any(not torch.equal(left[name], kept[name]) for name in left)
