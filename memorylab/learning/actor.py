"""An actor: one policy in N games, T steps at a time."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from memorylab.agent.controllers import State
from memorylab.agent.kernels import array, draw, suits
from memorylab.agent.network import Inputs, MemoryRecallAgent, Output
from memorylab.agent.tape import Tape, fits
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

    def advise(self, teacher: str, advice: np.ndarray) -> None:
        """What a teacher finds good in the games as they stand, written to `advice`: action a is bit a."""
        ...


class Choice(NamedTuple):
    """Of B games."""

    actions: Tensor  # int64
    log_mu: Tensor  # their log-probability


class Share(NamedTuple):
    """The games of one actor among several that play one batch."""

    first: int
    total: int  # of the batch

    def of(self, uniform: Tensor, num_envs: int) -> Tensor:
        """Its part of what is drawn for all: so nobody's choices depend on who plays which games."""
        return uniform[self.first : self.first + num_envs]


def drawn(logits: Tensor, generator: torch.Generator, share: Share | None = None, into: Choice | None = None) -> Choice:
    """Actions by the policy's probabilities."""
    total = share.total if share else len(logits)
    uniform = torch.rand(total, generator=generator, device=logits.device)
    uniform = share.of(uniform, len(logits)) if share else uniform
    if into is None:
        into = Choice(torch.empty_like(uniform, dtype=torch.int64), torch.empty_like(uniform, dtype=logits.dtype))
    if suits(logits):
        draw(*map(array, (logits, uniform, *into)))
        return into
    log_pi = logits.log_softmax(-1)
    passed = log_pi.double().exp().cumsum(-1)
    into.actions.copy_((passed <= uniform[:, None]).sum(-1).clamp_max(logits.shape[-1] - 1))
    into.log_mu.copy_(log_pi.gather(-1, into.actions[:, None])[:, 0])
    return into


class Place(NamedTuple):
    """Where step t of a trajectory is recorded."""

    t: int
    choice: Choice
    coming: Inputs  # what is met in the next step
    tape: Tape | None


class Player:
    """An agent in the middle of its games: its working memory, its store, what it met last."""

    def __init__(self, env: BatchedEnv, agent: MemoryRecallAgent, seed: int, share: Share | None = None):
        self.env, self.agent, self.share = env, agent, share
        num_envs = env.num_envs
        self.generator = torch.Generator(agent.device).manual_seed(seed)
        self.state = agent.initial_state(num_envs)
        self.store = agent.new_store(num_envs)
        pictures, _ = env.reset()
        self.inputs = self.new_inputs()
        self.inputs.pictures.copy_(torch.from_numpy(pictures))
        self.inputs.resets.fill_(True)

    def new_inputs(self) -> Inputs:
        """Room for what is met in a step."""
        c, num_envs, device = self.agent.config, self.env.num_envs, self.agent.device
        return Inputs(
            torch.zeros(num_envs, c.height, c.width, 3, dtype=torch.uint8, device=device),
            torch.zeros(num_envs, dtype=self.agent.dtype, device=device),
            torch.zeros(num_envs, dtype=torch.int64, device=device),
            torch.zeros(num_envs, dtype=torch.bool, device=device),
        )

    def play(self, place: Place | None = None) -> tuple[Inputs, Output, Choice, list[Episode]]:
        """One step: what was met, what the agent made of it, what it chose, and which episodes ended by that."""
        inputs = self.inputs
        if place is None or place.tape is None:
            output, self.state = self.agent.step(inputs, self.state, self.store)
        else:
            output, self.state = place.tape.step(place.t, inputs, self.state, self.store)
        choice = drawn(output.logits, self.generator, self.share, place.choice if place else None)
        self.inputs = place.coming if place else self.new_inputs()
        return inputs, output, choice, self.advance(choice.actions, self.inputs)

    def advance(self, actions: Tensor, coming: Inputs) -> list[Episode]:
        """What comes of the actions, and which episodes end by them."""
        out = coming.pictures.numpy() if self.agent.device.type == "cpu" else None
        pictures, rewards, terminated, truncated, info = self.env.step(actions.cpu().numpy(), out=out)
        if out is None:
            coming.pictures.copy_(torch.from_numpy(pictures))
        coming.rewards.copy_(torch.from_numpy(rewards))
        coming.actions.copy_(actions)
        coming.resets.copy_(torch.from_numpy(terminated | truncated))
        return finished(info)

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
        share: Share | None = None,
    ):
        self.agent, self.unroll, self.teacher = agent, unroll, teacher
        self.version = 0
        self.player = Player(env, agent, seed, share)
        self.now, self.last = trajectories or two_trajectories(agent, unroll, env.num_envs, teacher)
        self.advised = np.zeros(env.num_envs, np.int64)
        self.coming = self.player.new_inputs()  # after the last step, for the next trajectory
        self.places = {id(each): self.places_of(each) for each in (self.now, self.last)}
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
        if self.now.tape is not None:
            self.now.tape.take_weights()
        episodes = []
        if self.state_before_last_step is None:
            self.begin_with(self.player.state)
            episodes += self.record(0)
        else:
            self.begin_with(self.state_before_last_step)
            self.carry_over()
            self.repeat_last_step()
        for t in range(1, self.unroll + 1):
            self.state_before_last_step = self.player.state
            episodes += self.record(t)
        return Rollout(self.now, episodes, self.version)

    def places_of(self, trajectory: Trajectory) -> list[Place]:
        """Of its steps. What follows the last one belongs to a trajectory that a learner may still read: it is copied
        there later."""
        met = [Inputs(*(part[t] for part in trajectory.inputs)) for t in range(1, self.unroll + 1)]
        choices = zip(trajectory.actions.unbind(), trajectory.log_mu.unbind(), strict=True)
        return [
            Place(t, Choice(*choice), coming, trajectory.tape)
            for t, (choice, coming) in enumerate(zip(choices, [*met, self.coming], strict=True))
        ]

    def record(self, t: int) -> list[Episode]:
        """Step t."""
        now, place = self.now, self.places[id(self.now)][t]
        if now.advice is not None:  # before the games move on
            self.player.env.advise(self.teacher, self.advised)
            now.advice[t] = torch.from_numpy(self.advised)
        inputs, output, _, episodes = self.player.play(place)
        if t < 2:  # all others were met where they are recorded
            for part, rows in zip(inputs, now.inputs, strict=True):
                rows[t].copy_(part)
        if output.recalled is not None and not is_there(output.recalled, now.recalled):
            for part, rows in zip(output.recalled, now.recalled, strict=True):
                rows[t].copy_(part)
        return episodes

    def begin_with(self, state: State) -> None:
        """Working memory before the first step."""
        for part, mine in zip(state, self.now.state, strict=True):
            mine.copy_(part)

    def carry_over(self) -> None:
        """The last step of one trajectory is the first of the next."""
        for before, after in zip(per_step(*self.last[:5]), per_step(*self.now[:5]), strict=True):
            after[0] = before[-1]

    def repeat_last_step(self) -> None:
        """With the weights of now, if the tape is to keep it: what it recalled and chose then, it does not anew."""
        if self.now.tape is not None:
            inputs = Inputs(*(part[0] for part in self.now.inputs))
            _, self.player.state = self.now.tape.step(0, inputs, self.now.state, None)

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


def taped_trajectory(agent: MemoryRecallAgent, unroll: int, num_envs: int, teacher: str) -> list[Trajectory]:
    """One for both turns of an actor whose learner waits for it, with a tape if the agent's parts are such as fit."""
    room = empty_trajectory(agent, unroll, num_envs, teacher != NO_TEACHER)
    tape = Tape(agent, unroll + 1, num_envs, room.recalled) if fits(agent) else None
    return 2 * [room._replace(tape=tape)]


def per_step(
    inputs: Inputs,
    actions: Tensor,
    log_mu: Tensor,
    recalled: tuple[Tensor, ...] | None,
    advice: Tensor | None = None,
) -> list[Tensor]:
    """Everything that has one entry a step."""
    return [*inputs, actions, log_mu, *(recalled or ()), *([] if advice is None else [advice])]


def is_there(recalled: tuple[Tensor, ...], rows: tuple[Tensor, ...]) -> bool:
    """Whether it was recalled into its trajectory."""
    return recalled[0].untyped_storage().data_ptr() == rows[0].untyped_storage().data_ptr()
