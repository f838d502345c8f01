"""What an actor hands to a learner."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from memorylab.agent.controllers import State
from memorylab.agent.network import Inputs, MemoryRecallAgent
from memorylab.agent.tape import Tape


class Episode(NamedTuple):
    """A finished episode."""

    game: int  # which of the batch
    score: float
    length: int
    scale: float
    seed: int


class Trajectory(NamedTuple):
    """T steps of B games, and the step that follows, whose value ends the sums; it also begins the next trajectory.

    The reward for the action at t is `inputs.rewards[t + 1]`, and it ends an episode where `inputs.resets[t + 1]`.
    """

    inputs: Inputs  # (T + 1, B)
    actions: Tensor  # (T + 1, B) int64: chosen at t
    log_mu: Tensor  # (T + 1, B): log-probability of that choice when it was made
    recalled: Any  # (T + 1, B, ...): what the memory reads found, a NamedTuple of the memory's own, or None
    advice: Tensor | None  # (T + 1, B) int64: what a teacher says at t, good actions as bits, above them what else
    state: State  # working memory before the first step
    tape: Tape | None = None  # the forward pass of these steps, if it was kept and its weights are still the agent's

    def state_dict(self) -> dict[str, Tensor]:
        """By name, for a checkpoint or a message; nothing here grows with the memory's capacity."""
        named = {"actions": self.actions, "log_mu": self.log_mu}
        named |= {f"inputs_{name}": part for name, part in self.inputs._asdict().items()}
        named |= {f"state{i}": part for i, part in enumerate(self.state)}
        if self.recalled is not None:
            named |= {f"recalled_{name}": p for name, p in self.recalled._asdict().items()}
        if self.advice is not None:
            named["advice"] = self.advice
        return named


def empty_trajectory(agent: MemoryRecallAgent, unroll: int, num_envs: int, is_taught: bool = False) -> Trajectory:
    """Room for so many steps of so many games, with a teacher's advice or without."""
    c = agent.config
    lead = (unroll + 1, num_envs)

    def zeros(*size: int, dtype: torch.dtype = agent.dtype) -> Tensor:
        return torch.zeros(*lead, *size, dtype=dtype, device=agent.device)

    inputs = Inputs(
        pictures=zeros(c.height, c.width, 3, dtype=torch.uint8),
        rewards=zeros(),
        actions=zeros(dtype=torch.int64),
        resets=zeros(dtype=torch.bool),
    )
    recalled = agent.new_recalled(*lead)
    advice = zeros(dtype=torch.int64) if is_taught else None
    return Trajectory(inputs, zeros(dtype=torch.int64), zeros(), recalled, advice, agent.initial_state(num_envs))


def named_trajectory(agent: MemoryRecallAgent, named: Mapping[str, Tensor]) -> Trajectory:
    """A trajectory of that agent from its `state_dict`."""
    room = empty_trajectory(agent, 0, 0)
    recalled = None if room.recalled is None else type(room.recalled)(**part_of(named, "recalled_"))
    state = tuple(named[f"state{i}"] for i in range(len(room.state)))
    inputs = Inputs(**part_of(named, "inputs_"))
    return Trajectory(inputs, named["actions"], named["log_mu"], recalled, named.get("advice"), state)


def check_fit(named: Mapping[str, Tensor], expected: Mapping[str, Tensor]) -> None:
    """Or one sentence: what was read must have the names and shapes of what it takes the place of."""
    for name, part in expected.items():
        if name not in named:
            raise ValueError(f"it lacks {name!r}: another version wrote it")
        if (given := named[name]).shape != part.shape or given.dtype != part.dtype:
            raise ValueError(
                f"{name!r} is {given.dtype} of {tuple(given.shape)}, not {part.dtype} of {tuple(part.shape)}"
            )


def part_of(named: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """What stands under a prefix, without it."""
    return {name.removeprefix(prefix): part for name, part in named.items() if name.startswith(prefix)}
