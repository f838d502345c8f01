"""What acting kept for learning: the same outputs and gradients as the trajectory unrolled anew."""

import pytest
import torch
from torch import Tensor

from memorylab.agent import AgentConfig, MemoryRecallAgent, model_config
from memorylab.agent.tape import fits
from memorylab.envs.diagnostic_games import RecallByKey
from memorylab.learning.actor import Actor, taped_trajectory
from memorylab.learning.trajectory import Trajectory

GAMES, UNROLL, SIDE = 5, 9, 20
AGENTS = {
    "lstm": {},
    "lstm+cpc": {},
    "lstm+mem": {},
    "mra": {},
    "mra-njb": {},
    "mra, normalised": {"encoder": "normalised", "epsilon": 1e-2},
    "mra, familiarity": {"memory": "familiarity", "settings": {"familiarity.rest": 2}},
    "mra, comparison": {"memory": "comparison", "settings": {"comparison.rest": 2}},
    "mra, palette": {"memory": "palette", "settings": {"palette.rest": 2}},
}


def made(name: str, **changes) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"embedding_size": 12, "hidden_size": 10, "capacity": 12, "neighbours": 4, "key_size": 6, "cpc_steps": 2}
    base = AgentConfig(encoder="small", height=SIDE, width=SIDE, actions=3, **sizes)
    config = model_config(name.split(",")[0], base)
    agent = MemoryRecallAgent(type(config)(**{**vars(config), **AGENTS.get(name, {}), **changes}))
    with torch.no_grad():
        agent.policy.weight.mul_(5)  # far from uniform: an error would show
        if agent.read is not None and hasattr(agent.read, "query_of_h"):
            torch.nn.init.normal_(agent.read.query_of_h.weight, std=0.3)
    return agent.double()


def change_weights(agent: MemoryRecallAgent) -> None:
    """As a learner does between two trajectories."""
    with torch.no_grad():
        for weight in agent.parameters():
            weight.add_(0.02 * torch.randn_like(weight))


def outputs_and_gradients(agent: MemoryRecallAgent, trajectory: Trajectory) -> tuple[list[Tensor], list[Tensor]]:
    if trajectory.tape is not None:
        output = trajectory.tape.unroll(trajectory.inputs, trajectory.state)
    else:
        output, _ = agent.unroll(trajectory.inputs, trajectory.state, trajectory.recalled)
    parts = [part for part in (output.logits, output.baseline, output.x, output.h, output.weights) if part is not None]
    draw = torch.Generator().manual_seed(1)
    loss = sum((part * torch.randn(part.shape, generator=draw, dtype=part.dtype)).sum() for part in parts)
    found = torch.autograd.grad(loss, list(agent.parameters()), allow_unused=True)
    return [part.detach().clone() for part in parts], [part for part in found if part is not None]


@pytest.mark.parametrize("name", AGENTS)
def test_the_tape_is_the_trajectory_unrolled(name):
    agent = made(name)
    assert fits(agent)
    env = RecallByKey(pairs=3, delay=2, num_envs=GAMES, seed=1)
    room = taped_trajectory(agent, UNROLL, GAMES, "none")
    actor = Actor(env, agent, UNROLL, seed=3, trajectories=room)
    inside = edges = 0
    for _ in range(8):
        trajectory = actor.collect().trajectory
        kept = outputs_and_gradients(agent, trajectory)
        anew = outputs_and_gradients(agent, trajectory._replace(tape=None))
        torch.testing.assert_close(kept, anew, atol=1e-9, rtol=1e-7)
        log_pi = kept[0][0].log_softmax(-1).gather(-1, trajectory.actions[..., None])[..., 0]
        torch.testing.assert_close(log_pi[1:], trajectory.log_mu[1:])  # the first was chosen with the weights of before
        inside += int(trajectory.inputs.resets[1:-1].sum())
        edges += int(trajectory.inputs.resets[[0, -1]].sum())
        change_weights(agent)
    assert inside
    assert edges


@pytest.mark.parametrize("name", ["lstm", "mra", "mra, familiarity"])
def test_it_plays_as_without_a_tape(name):
    agent = made(name)
    trajectories = []
    for room in ((), taped_trajectory(agent, UNROLL, GAMES, "none")):
        env = RecallByKey(pairs=3, delay=2, num_envs=GAMES, seed=1)
        actor = Actor(env, agent, UNROLL, seed=3, trajectories=room)
        for _ in range(6):
            played = actor.collect().trajectory
        trajectories.append({name: part.clone() for name, part in played.state_dict().items()})
    torch.testing.assert_close(*trajectories)


@pytest.mark.parametrize(
    ("name", "changes"), [("ff", {}), ("lstm", {"encoder": "residual"}), ("mra", {"encoder_bfloat16": True})]
)
def test_what_it_does_not_know_is_unrolled_anew(name, changes):
    agent = made(name, **changes)
    assert not fits(agent)
    assert taped_trajectory(agent, UNROLL, GAMES, "none")[0].tape is None
