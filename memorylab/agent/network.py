"""The agent: one network with `step` for acting and `unroll` for learning, both made of the same time step."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from memorylab.agent.config import AgentConfig
from memorylab.agent.contrastive import Contrastive, ContrastiveLoss
from memorylab.agent.controllers import CONTROLLERS, State
from memorylab.agent.draws import own_draws
from memorylab.agent.encoders import ENCODERS, as_floats
from memorylab.agent.memory import EpisodicRead, EpisodicStore, Past, Recalled, ReplayedPast, SearchedPast
from memorylab.agent.reconstruction import Reconstruction, ReconstructionLoss


class Inputs(NamedTuple):
    """What the agent meets at a step. All have leading axes (B,) in `step` and (T, B) in `unroll`."""

    pictures: Tensor  # (..., height, width, 3) uint8
    rewards: Tensor  # (...) float: for the action before this picture
    actions: Tensor  # (...) int64: the action before this picture
    resets: Tensor  # (...) bool: this picture begins an episode; reward and action before it do not count


class Output(NamedTuple):
    """What the agent makes of it, with the same leading axes."""

    logits: Tensor  # (..., A) of the policy pi
    baseline: Tensor  # (...) V
    x: Tensor  # (..., X)
    h: Tensor  # (..., H)
    recalled: Recalled | None  # what the memory read found
    weights: Tensor | None  # (..., K): w_j of the read

    def at(self, t: int) -> "Output":
        recalled = None if self.recalled is None else self.recalled.at(t)
        weights = None if self.weights is None else self.weights[t]
        return Output(self.logits[t], self.baseline[t], self.x[t], self.h[t], recalled, weights)


class MemoryRecallAgent(nn.Module):
    """Encoder, working memory, episodic memory and heads as `config` says. Any device, any floating dtype."""

    def __init__(self, config: AgentConfig):
        super().__init__()
        self.config = c = config
        seed = int(torch.randint(2**62, ()))

        def drawn(name: str, make: Callable[..., Any], *sizes: Any) -> Any:
            with own_draws(seed, name):
                return make(*sizes)

        X, H = c.embedding_size, c.hidden_size
        inputs, memory = X + 1 + c.actions, H if c.memory else 0
        has_cpc, has_rec = c.auxiliary == "cpc", c.auxiliary == "rec"
        self.encoder = drawn("encoder", ENCODERS[c.encoder], c.height, c.width, X)
        self.controller = drawn("controller", CONTROLLERS[c.controller], inputs, memory, H)
        self.read = drawn("read", EpisodicRead, X, H, c.key_size, c.epsilon, c.jumpy) if c.memory else None
        self.policy = drawn("policy", nn.Linear, H, c.actions)
        self.baseline = drawn("baseline", nn.Linear, H, 1)
        self.contrastive = drawn("contrastive", Contrastive, X, H, c.cpc_steps) if has_cpc else None
        self.reconstruction = (
            drawn("reconstruction", Reconstruction, c.height, c.width, H, X, c.actions) if has_rec else None
        )
        # Pictures arrive channels-last, and convolutions are faster on them.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @property
    def device(self) -> torch.device:
        return self.policy.weight.device

    @property
    def dtype(self) -> torch.dtype:
        return self.policy.weight.dtype

    def initial_state(self, games: int) -> State:
        return self.controller.initial_state(games, device=self.device, dtype=self.dtype)

    def new_store(self, games: int) -> EpisodicStore | None:
        """An empty memory for so many games; None for an agent without one."""
        c = self.config
        if not c.memory:
            return None
        sizes = (c.embedding_size, c.hidden_size, c.key_size)
        return EpisodicStore(games, c.capacity, *sizes, device=self.device, dtype=self.dtype)

    @torch.no_grad()
    def step(self, inputs: Inputs, state: State, store: EpisodicStore | None = None) -> tuple[Output, State]:
        """One step of B games. Reads and writes `store`."""
        self.check(inputs, 1, state)
        output, state = self.run(Inputs(*(part[None] for part in inputs)), state, store=store)
        return output.at(0), state

    def unroll(
        self, inputs: Inputs, state: State, recalled: Recalled | None = None, store: EpisodicStore | None = None
    ) -> tuple[Output, State]:
        """T steps of B games, with gradient.

        A learner gives the `recalled` of the actor's steps: no search, no store, nothing that grows with capacity.
        Without them the agent searches and writes `store` by itself.
        """
        self.check(inputs, 2, state)
        return self.run(inputs, state, recalled, store)

    def run(
        self, inputs: Inputs, state: State, recalled: Recalled | None = None, store: EpisodicStore | None = None
    ) -> tuple[Output, State]:
        """Everything but the recurrence for the whole trajectory at once; the recurrence step by step."""
        x = self.encode(inputs.pictures)
        embedded = self.controller.embed(torch.cat([x, self.previous(inputs)], -1))
        past = self.past(x, inputs.resets, recalled, store)
        keep = (~inputs.resets)[:, :, None].to(x.dtype)
        hs, weights = [], []
        for t, (x_t, embedded_t) in enumerate(zip(x.unbind(), embedded.unbind(), strict=True)):
            state = tuple(part * keep[t] for part in state)
            m_t = None
            if past is not None:
                m_t, w_t = past.recall(t, state[0])
                weights.append(w_t)
            state = self.controller.advance(embedded_t, m_t, state)
            if past is not None:
                past.write(x_t, state[0])
            hs.append(state[0])
        h = torch.stack(hs)
        recalled = None if past is None else past.recalled()
        read_weights = torch.stack(weights) if weights else None
        return Output(self.policy(h), self.baseline(h)[..., 0], x, h, recalled, read_weights), state

    def past(self, x: Tensor, resets: Tensor, recalled: Recalled | None, store: EpisodicStore | None) -> Past | None:
        if self.read is None:
            return None
        if store is not None and recalled is None:
            if len(store.k) != x.shape[1]:
                raise ValueError(f"the store is for {len(store.k)} games, not {x.shape[1]}")
            return SearchedPast(self.read, x, store, resets, self.config.neighbours)
        if recalled is not None and store is None:
            if recalled.valid.shape[:2] != x.shape[:2]:
                raise ValueError(
                    f"recalled is for {tuple(recalled.valid.shape[:2])} steps and games, not {tuple(x.shape[:2])}"
                )
            return ReplayedPast(self.read, x, recalled)
        raise ValueError("an agent with episodic memory needs either a `store` or, in `unroll`, what was `recalled`")

    def encode(self, pictures: Tensor) -> Tensor:
        """(T, B, height, width, 3) bytes to x (T, B, X)."""
        floats = as_floats(pictures.flatten(0, 1), self.dtype).sub_(0.5)  # centred: they are learned from faster
        is_half = self.config.encoder_bfloat16
        with torch.autocast(self.device.type, torch.bfloat16) if is_half else nullcontext():  # not on every device
            x = self.encoder(floats)
        return x.to(self.dtype).view(*pictures.shape[:2], -1)

    def previous(self, inputs: Inputs) -> Tensor:
        """Reward, clipped as in IMPALA, and one-hot action before each picture; zeros where an episode begins."""
        reward = inputs.rewards.to(self.dtype).clamp(-1, 1)[..., None]
        action = F.one_hot(inputs.actions.masked_fill(inputs.resets, 0), self.config.actions).to(self.dtype)
        return torch.cat([reward, action], -1) * (~inputs.resets)[..., None]

    def contrastive_loss(self, output: Output, resets: Tensor) -> ContrastiveLoss:
        assert self.contrastive is not None, "this model has no CPC"
        return self.contrastive(output.x, output.h, resets)

    def reconstruction_loss(self, output: Output, inputs: Inputs) -> ReconstructionLoss:
        assert self.reconstruction is not None, "this model has no REC"
        pictures = as_floats(inputs.pictures.flatten(0, 1), self.dtype)
        previous = self.previous(inputs).flatten(0, 1)
        return self.reconstruction(output.h.flatten(0, 1), pictures, previous[:, 0], previous[:, 1:])

    def check(self, inputs: Inputs, axes: int, state: State) -> None:
        """Shapes, dtypes and devices of what comes in: an error here, not a puzzle later."""
        lead = tuple(inputs.resets.shape)
        if len(lead) != axes:
            raise ValueError(f"resets must have {axes} axes ({'(T, B)' if axes == 2 else '(B,)'}), not {len(lead)}")
        c = self.config
        expected = {
            "pictures": ((*lead, c.height, c.width, 3), (torch.uint8,)),
            "rewards": (lead, (torch.float32, torch.float64)),
            "actions": (lead, (torch.int64,)),
            "resets": (lead, (torch.bool,)),
        }
        for name, (shape, dtypes) in expected.items():
            part = getattr(inputs, name)
            if tuple(part.shape) != shape or part.dtype not in dtypes:
                given = f"{named(part.dtype)} of shape {tuple(part.shape)}"
                raise ValueError(f"{name} must be {named(dtypes[0])} of shape {shape}, not {given}")
            if part.device != self.device:
                raise ValueError(f"{name} are on {part.device}, the agent is on {self.device}")
        games = lead[-1]
        parts, shape = self.controller.state_parts, (games, c.hidden_size)
        if len(state) != parts or any(tuple(part.shape) != shape or part.device != self.device for part in state):
            raise ValueError(f"the state must be {parts} tensors of shape {shape} on {self.device}")


def named(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
