"""The optimiser's settings, seen in one update."""

import math

import pytest
import torch

from memorylab.agent import AgentConfig, MemoryRecallAgent, model_config
from memorylab.envs.diagnostic_games import SIDE, RecallByKey
from memorylab.learning.actor import Actor
from memorylab.learning.config import LearnerConfig
from memorylab.learning.learner import Learner
from memorylab.learning.losses import clipped

RATE = 1e-3
SIZES = {"height": SIDE, "width": SIDE, "actions": 3, "embedding_size": 8, "hidden_size": 8, "cpc_steps": 3}


def largest_moves(progress: float = 0.0, **settings) -> dict[str, float]:
    """How far the weights of each part go in Adam's first step, which is the learning rate for each of them."""
    torch.manual_seed(0)
    agent = MemoryRecallAgent(model_config("mra", AgentConfig(encoder="small", **SIZES)))
    learner = Learner(agent, LearnerConfig(learning_rate=RATE, adam_epsilon=1e-12, **settings))
    before = {name: part.clone() for name, part in agent.named_parameters()}
    learner.update(
        Actor(RecallByKey(pairs=3, delay=2, num_envs=5, seed=1), agent, unroll=20).collect().trajectory, progress
    )
    moves: dict[str, float] = {}
    for name, part in agent.named_parameters():
        child = name.split(".")[0]
        moves[child] = max(moves.get(child, 0.0), (part - before[name]).abs().max().item())
    return moves


@pytest.mark.parametrize("share", [1.0, 0.1, 0.0])
def test_the_memory_read_learns_at_its_share_of_the_rate(share):
    moves = largest_moves(read_share=share)
    assert moves.pop("read") == pytest.approx(share * RATE, rel=0.01)
    assert moves == pytest.approx(dict.fromkeys(moves, RATE), rel=0.01)


@pytest.mark.parametrize(("schedule", "left"), [("constant", 1.0), ("linear", 0.25)])
def test_the_rate_falls_in_a_line_if_so_told(schedule, left):
    moves = largest_moves(0.75, schedule=schedule, read_share=0.1)
    assert moves.pop("read") == pytest.approx(0.1 * left * RATE, rel=0.01)
    assert moves == pytest.approx(dict.fromkeys(moves, left * RATE), rel=0.01)


# --- rewards and reductions


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("none", [-10.0, -0.5, 0.0, 0.5, 10.0]),
        ("abs_one", [-1.0, -0.5, 0.0, 0.5, 1.0]),
        ("soft_asymmetric", [-1.5 * math.tanh(2), -1.5 * math.tanh(0.1), 0.0, 5 * math.tanh(0.1), 5 * math.tanh(2)]),
    ],
)
def test_rewards_are_clipped_in_impalas_ways(how, expected):
    assert clipped(torch.tensor([-10.0, -0.5, 0.0, 0.5, 10.0]), how).tolist() == pytest.approx(expected)


def encoder_gradient(rewards=lambda plain: plain, num_envs: int = 5, **settings) -> torch.Tensor:
    torch.manual_seed(0)
    agent = MemoryRecallAgent(model_config("mra", AgentConfig(encoder="small", **SIZES)))
    trajectory = Actor(RecallByKey(pairs=3, delay=2, num_envs=num_envs, seed=1), agent, unroll=20).collect().trajectory
    trajectory.inputs.rewards.copy_(rewards(trajectory.inputs.rewards))
    Learner(agent, LearnerConfig(**settings)).loss(trajectory)[0].backward()
    return torch.cat([part.grad.flatten() for part in agent.encoder.parameters()])


def test_a_learner_learns_from_clipped_rewards():
    signs = encoder_gradient(torch.sign, cpc_weight=0)
    assert not torch.allclose(encoder_gradient(lambda plain: 100 * plain, cpc_weight=0), signs, rtol=0.1)
    large = encoder_gradient(lambda plain: 100 * plain, cpc_weight=0, reward_clipping="abs_one")
    torch.testing.assert_close(large, signs)  # to the network all rewards are clipped, whatever is learned from


def test_cpc_may_be_a_mean_beside_losses_that_are_sums():
    games, steps = 5, 5 * 20
    rl = encoder_gradient(num_envs=games, cpc_weight=0)
    summed = encoder_gradient(num_envs=games, cpc_weight=10) - rl
    averaged = encoder_gradient(num_envs=games, cpc_weight=10, cpc_reduction="mean") - rl
    torch.testing.assert_close(averaged * steps, summed, rtol=1e-2, atol=1e-3 * summed.abs().max().item())
    means = {"reduction": "mean", "cpc_weight": 10}
    assert torch.equal(encoder_gradient(**means), encoder_gradient(cpc_reduction="mean", **means))
