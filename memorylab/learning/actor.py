"""An actor: one policy in N games, T steps at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from memorylab.agent.controllers import State
from memorylab.agent.kernels import array, draw, suits
from memorylab.agent.network import Inputs, MemoryRecallAgent, Output
from memorylab.learning.trajectory import Episode, Trajectory, check_fit, empty_trajectory, part_of
from memorylab.runs.config import NO_TEACHER


class BatchedEnv(Protocol):
    """What an actor needs of a vector environment; autoreset is SAME_STEP."""

    num_envs: int

    def reset(self) -> tuple[np.ndarray, dict[str, Any]]:
        """First pictures of new episodes in all games."""
        ...

    def step(self, actions: np.ndarray, *, out: np.ndarray | None = None) -> tuple:
        """Pictures, rewards, terminated, truncated, info; the pictures are drawn into `out` if it is given."""
        ...

    def act(self, player: str, actions: np.ndarray) -> None:
        """What a scripted player would do in the games as they stand, written to `actions`."""
        ...


class Choice(NamedTuple):
    """Of B games."""

    actions: Tensor  # int64
    log_mu: Tensor  # their log-probability


def drawn(logits: Tensor, generator: torch.Generator) -> Choice:
    """Actions by the policy's probabilities."""
    uniform = torch.rand(len(logits), generator=generator, device=logits.device)
    if suits(logits):
        choice = Choice(torch.empty(len(logits), dtype=torch.int64), torch.empty_like(uniform, dtype=logits.dtype))
        draw(*map(array, (logits, uniform, *choice)))
        return choice
    log_pi = logits.log_softmax(-1)
    passed = log_pi.double().exp().cumsum(-1)
    actions = (passed <= uniform[:, None]).sum(-1).clamp_max(logits.shape[-1] - 1)
    return Choice(actions, log_pi.gather(-1, actions[:, None])[:, 0])


class Player:
    """An agent in the middle of its games: its working memory, its store, what it met last."""

    def __init__(self, env: BatchedEnv, agent: MemoryRecallAgent, seed: int):
        self.env, self.agent = env, agent
        num_envs = env.num_envs
        self.generator = torch.Generator(agent.device).manual_seed(seed)
        self.state = agent.initial_state(num_envs)
        self.store = agent.new_store(num_envs)
        pictures, _ = env.reset()
        self.inputs = Inputs(
            self.tensor(pictures),
            torch.zeros(num_envs, dtype=agent.dtype, device=agent.device),
            torch.zeros(num_envs, dtype=torch.int64, device=agent.device),
            torch.ones(num_envs, dtype=torch.bool, device=agent.device),
        )

    def tensor(self, array: np.ndarray) -> Tensor:
        """A copy on the agent's device: the environment will rewrite its own."""
        return torch.from_numpy(array).to(self.agent.device, copy=True)

    def play(self, out: Tensor | None = None) -> tuple[Inputs, Output, Choice, list[Episode]]:
        """One step: what was met, what the agent made of it, what it chose, and which episodes ended by that. The
        pictures that come of it are `out`, if it is given, and are met in the next step."""
        inputs = self.inputs
        output, self.state = self.agent.step(inputs, self.state, self.store)
        actions, log_mu = drawn(output.logits, self.generator)
        target = out.numpy() if out is not None and out.device.type == "cpu" else None
        pictures, rewards, terminated, truncated, info = self.env.step(actions.cpu().numpy(), out=target)
        if out is None:
            out = self.tensor(pictures)
        elif target is None:
            out.copy_(torch.from_numpy(pictures))
        rewards = self.tensor(rewards).to(self.agent.dtype)
        self.inputs = Inputs(out, rewards, actions, self.tensor(terminated | truncated))
        return inputs, output, Choice(actions, log_mu), finished(info)

    def state_dict(self) -> dict[str, Tensor]:
        """Everything but the games themselves, for a checkpoint."""
        named = {f"inputs.{name}": part for name, part in self.inputs._asdict().items()}
        named |= {f"state.{i}": part for i, part in enumerate(self.state)}
        named["generator"] = self.generator.get_state()
        if self.store is not None:
            named |= {f"store.{name}": part for name, part in self.store.state_dict().items()}
        return named

    def load_state_dict(self, named: Mapping[str, Tensor]) -> None:
        """Go on as the player that had these."""
        device = self.agent.device
        self.inputs = Inputs(*(named[f"inputs.{name}"].to(device) for name in Inputs._fields))
        self.state = tuple(named[f"state.{i}"].to(device) for i in range(len(self.state)))
        self.generator.set_state(named["generator"])
        if self.store is not None:
            self.store.load_state_dict({name: named[f"store.{name}"] for name in self.store.state_dict()})


def finished(info: dict[str, Any]) -> list[Episode]:
    """The episodes that ended, as Gymnasium tells them."""
    if "final_info" not in info:
        return []
    ended, final = np.flatnonzero(info["_final_info"]), info["final_info"]
    columns = (final[name][ended].tolist() for name in Episode._fields[1:])
    return [Episode(*row) for row in zip(ended.tolist(), *columns, strict=True)]


class Rollout(NamedTuple):
    """What an actor hands over."""

    trajectory: Trajectory
    episodes: list[Episode]  # those that ended in it
    version: int  # of the weights that played it


class Actor:
    """Plays on and on, and hands over T steps at a time.

    Two trajectories take turns, its own or those that are given: a learner may read one while the other fills. A
    teacher, if there is one, is a scripted player that says at each step what it would do there; the agent plays on as
    it likes.
    """

    def __init__(
        self,
        env: BatchedEnv,
        agent: MemoryRecallAgent,
        unroll: int,
        seed: int = 0,
        teacher: str = NO_TEACHER,
        trajectories: Sequence[Trajectory] = (),
    ):
        self.agent, self.unroll, self.teacher = agent, unroll, teacher
        self.version = 0
        self.player = Player(env, agent, seed)
        self.now, self.last = trajectories or two_trajectories(agent, unroll, env.num_envs, teacher)
        self.advised = np.zeros(env.num_envs, np.int64)
        self.coming = torch.empty_like(self.now.inputs.pictures[0])  # after the last step, for the next trajectory
        self.state_before_last_step: State | None = None

    @torch.no_grad()
    def take_weights(self, weights: Sequence[Tensor], version: int) -> None:
        """Play with these from now on."""
        for mine, theirs in zip(self.agent.parameters(), weights, strict=True):
            mine.copy_(theirs)
        self.version = version

    @torch.no_grad()
    def collect(self) -> Rollout:
        """The next T steps."""
        self.now, self.last = self.last, self.now
        episodes = []
        if self.state_before_last_step is None:
            self.begin_with(self.player.state)
            episodes += self.record(0)
        else:
            self.begin_with(self.state_before_last_step)
            self.carry_over()
        for t in range(1, self.unroll + 1):
            self.state_before_last_step = self.player.state
            episodes += self.record(t)
        return Rollout(self.now, episodes, self.version)

    def record(self, t: int) -> list[Episode]:
        """Step t. The pictures that follow are drawn into their own row; only those after the last step, which belong
        to a trajectory that a learner may still read, are copied there later."""
        rows = self.now.inputs.pictures
        if self.now.advice is not None:  # before the games move on
            self.player.env.act(self.teacher, self.advised)
            self.now.advice[t] = torch.from_numpy(self.advised)
        inputs, output, choice, episodes = self.player.play(rows[t + 1] if t < self.unroll else self.coming)
        parts = per_step(inputs, *choice, output.recalled)
        targets = [all_steps[t] for all_steps in per_step(*self.now[:4])]
        drawn_in_place = int(inputs.pictures.data_ptr() == rows[t].data_ptr())  # pictures are the first
        torch._foreach_copy_(targets[drawn_in_place:], parts[drawn_in_place:])
        return episodes

    def begin_with(self, state: State) -> None:
        """Working memory before the first step."""
        for part, mine in zip(state, self.now.state, strict=True):
            mine.copy_(part)

    def carry_over(self) -> None:
        """The last step of one trajectory is the first of the next."""
        for before, after in zip(per_step(*self.last[:5]), per_step(*self.now[:5]), strict=True):
            after[0] = before[-1]

    def state_dict(self) -> dict[str, Tensor]:
        """Everything but the games themselves, for a checkpoint between two trajectories."""
        named = {f"player.{name}": part for name, part in self.player.state_dict().items()}
        named |= {f"now.{name}": part for name, part in self.now.state_dict().items()}
        if self.state_before_last_step is not None:
            named |= {f"before_last.{i}": part for i, part in enumerate(self.state_before_last_step)}
        return named

    def load_state_dict(self, named: Mapping[str, Tensor]) -> None:
        """Go on as the actor that had these, if they fit."""
        check_fit(named, self.state_dict())
        self.player.load_state_dict(part_of(named, "player."))
        for name, part in self.now.state_dict().items():
            part.copy_(named[f"now.{name}"])
        before = part_of(named, "before_last.")
        self.state_before_last_step = tuple(before[str(i)].to(self.agent.device) for i in range(len(before))) or None


def two_trajectories(agent: MemoryRecallAgent, unroll: int, num_envs: int, teacher: str) -> list[Trajectory]:
    """Room for an actor's turns."""
    return [empty_trajectory(agent, unroll, num_envs, teacher != NO_TEACHER) for _ in range(2)]


def per_step(
    inputs: Inputs,
    actions: Tensor,
    log_mu: Tensor,
    recalled: tuple[Tensor, ...] | None,
    advice: Tensor | None = None,
) -> list[Tensor]:
    """Everything that has one entry a step."""
    return [*inputs, actions, log_mu, *(recalled or ()), *([] if advice is None else [advice])]
