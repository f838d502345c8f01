"""The optimiser's settings, seen in one update."""

import pytest
import torch

from memorylab.agent import AgentConfig, MemoryRecallAgent, model_config
from memorylab.learning.actor import Actor
from memorylab.learning.config import LearnerConfig
from memorylab.learning.learner import Learner
from memorylab.learning.tiny_games import SIDE, RecallByKey

RATE = 1e-3


def largest_moves(progress: float = 0.0, **settings) -> dict[str, float]:
    """How far the weights of each part go in Adam's first step, which is the learning rate for each of them."""
    torch.manual_seed(0)
    sizes = {"height": SIDE, "width": SIDE, "actions": 3, "embedding_size": 8, "hidden_size": 8, "cpc_steps": 3}
    agent = MemoryRecallAgent(model_config("mra", AgentConfig(encoder="small", **sizes)))
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
