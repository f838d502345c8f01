"""Agents and trajectories small enough for slow twins."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent

SMALL = AgentConfig(
    encoder="small",
    height=20,
    width=24,
    actions=4,
    embedding_size=7,
    hidden_size=6,
    capacity=5,
    neighbours=3,
    key_size=4,
    cpc_steps=3,
)


def small_agent(base: AgentConfig = SMALL, seed: int = 0, **changes) -> MemoryRecallAgent:
    torch.manual_seed(seed)
    return MemoryRecallAgent(replace(base, **changes))


def random_inputs(agent: MemoryRecallAgent, T: int, B: int, seed: int = 0, reset_share: float = 0.2) -> Inputs:
    """A trajectory in which an episode begins now and then, in each game at its own time; rewards beyond the clip."""
    c, draw = agent.config, torch.Generator().manual_seed(seed)
    pictures = torch.randint(256, (T, B, c.height, c.width, 3), generator=draw, dtype=torch.uint8)
    rewards = 2 * torch.randn(T, B, generator=draw)
    actions = torch.randint(c.actions, (T, B), generator=draw)
    resets = torch.rand(T, B, generator=draw) < reset_share
    return Inputs(pictures, rewards, actions, resets)


def at(inputs: Inputs, t: int) -> Inputs:
    return Inputs(*(part[t] for part in inputs))


def doubles(tensor: Tensor) -> np.ndarray:
    return tensor.detach().double().numpy()
