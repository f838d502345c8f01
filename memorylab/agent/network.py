"""The agent: one network with `step` for acting and `unroll` for learning, both made of the same time step."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, cast

import torch
from torch import Tensor, nn

from memorylab.agent.auxiliary import AuxiliaryLoss
from memorylab.agent.config import AgentConfig
from memorylab.agent.controllers import LSTM, State
from memorylab.agent.data import Inputs, Output, previous
from memorylab.agent.draws import own_draws
from memorylab.agent.encoders import centred
from memorylab.agent.episodic import EpisodicMemory
from memorylab.agent.kernels import suits
from memorylab.agent.memory import Memory, Past, ReplayedPast, SearchedPast, Store
from memorylab.agent.recurrence import unroll_lstm
from memorylab.agent.registries import AUXILIARY_LOSSES, CONTROLLERS, ENCODERS, MEMORIES


class MemoryRecallAgent(nn.Module):
    """Encoder, working memory, episodic memory and heads as `config` says. Any device, any floating dtype."""

    last_checked: tuple = ()

    def __init__(self, config: AgentConfig):
        super().__init__()
        self.config = c = config
        seed = int(torch.randint(2**62, ()))

        def drawn(name: str, make: Callable[..., Any], *sizes: Any) -> Any:
            with own_draws(seed, name):
                return make(*sizes)

        X, H = c.embedding_size, c.hidden_size
        read: Memory | None = None
        if c.memory != "none":
            read = drawn("read", MEMORIES.maker(c.memory, c.settings), c)
        sizes = X + 1 + c.actions, read.size if read else 0, H
        self.encoder = drawn("encoder", ENCODERS.maker(c.encoder, c.settings), c.height, c.width, X)
        self.controller = drawn("controller", CONTROLLERS.maker(c.controller, c.settings), *sizes)
        self.state_shapes = [part.shape[1:] for part in self.controller.initial_state(1)]
        self.read = read
        self.policy = drawn("policy", nn.Linear, H, c.actions)
        self.baseline = drawn("baseline", nn.Linear, H, 1)
        for name in c.auxiliary:
            part = AUXILIARY_LOSSES.find(name).part or name
            self.add_module(part, drawn(part, AUXILIARY_LOSSES.maker(name, c.settings), c))
        # Pictures arrive channels-last, and convolutions are faster on them.
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    @property
    def auxiliary(self) -> dict[str, AuxiliaryLoss]:
        """Its auxiliary losses by name, a memory's own among them."""
        parts = {name: AUXILIARY_LOSSES.find(name).part or name for name in self.config.auxiliary}
        found = {name: cast(AuxiliaryLoss, self.get_submodule(part)) for name, part in parts.items()}
        own = self.read.own_loss if self.read else None
        return found | ({self.config.memory: own} if own else {})

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        return self.policy.weight.device

    @property
    def dtype(self) -> torch.dtype:
        """Of its weights and outputs."""
        return self.policy.weight.dtype

    def initial_state(self, num_envs: int) -> State:
        """Working memory before an episode."""
        return self.controller.initial_state(num_envs, device=self.device, dtype=self.dtype)

    def new_store(self, num_envs: int) -> Store | None:
        """An empty memory for so many games; None for an agent without one."""
        return self.read.new_store(num_envs, device=self.device, dtype=self.dtype) if self.read else None

    def new_recalled(self, *lead: int) -> Any:
        """Room for what the memory reads of so many steps and games will find; None without memory."""
        return self.read.new_recalled(lead, device=self.device, dtype=self.dtype) if self.read else None

    @torch.no_grad()
    def step(self, inputs: Inputs, state: State, store: Store | None = None) -> tuple[Output, State]:
        """One step of B games. Reads and writes `store`."""
        self.check(inputs, 1, state)
        output, state = self.run(Inputs(*(part[None] for part in inputs)), state, store=store)
        return output.at(0), state

    def unroll(
        self, inputs: Inputs, state: State, recalled: Any = None, store: Store | None = None
    ) -> tuple[Output, State]:
        """T steps of B games, with gradient.

        A learner gives the `recalled` of the actor's steps: no search, no store, nothing that grows with capacity.
        Without them the agent searches and writes `store` by itself.
        """
        self.check(inputs, 2, state)
        return self.run(inputs, state, recalled, store)

    def run(
        self, inputs: Inputs, state: State, recalled: Any = None, store: Store | None = None
    ) -> tuple[Output, State]:
        """Everything but the recurrence for the whole trajectory at once; the recurrence step by step, or as the
        controller likes it where no read waits for h_(t-1)."""
        x = self.encode(inputs.pictures)
        embedded = self.controller.embed(torch.cat([x, self.previous(inputs)], -1))
        keep = (~inputs.resets)[:, :, None].to(x.dtype)
        past = self.past(x, inputs, recalled, store)
        weights: Tensor | None = None
        if past is None:
            h, state = self.controller.unroll(embedded, None, keep, state)
        elif isinstance(past, ReplayedPast) and not past.memory.query_has_h:
            m, weights = past.recall_all()
            h, state = self.controller.unroll(embedded, m, keep, state)
        elif isinstance(past, ReplayedPast) and self.is_one_operation(embedded):
            reads = cast(EpisodicMemory, self.read).reads(past.embedded, past.projected)
            h, state, weights = unroll_lstm(embedded, keep, state, self.controller.of_past.weight, reads)
        else:
            h, weights, state = self.read_by_step(x, embedded, keep, past, state)
        found = None if past is None else past.recalled()
        return Output(self.policy(h), self.baseline(h)[..., 0], x, h, found, weights), state

    def is_one_operation(self, embedded: Tensor) -> bool:
        """Whether a trajectory of working memory and reads is: the paper's own parts, where the kernels run."""
        return type(self.controller) is LSTM and type(self.read) is EpisodicMemory and suits(embedded)

    def read_by_step(
        self, x: Tensor, embedded: Tensor, keep: Tensor, past: Past, state: State
    ) -> tuple[Tensor, Tensor | None, State]:
        """h, w and the state after: each read waits for the h before it, each write for the h after it."""
        hs, weights = [], list[Tensor]()
        for t, (x_t, embedded_t, keep_t) in enumerate(zip(x.unbind(), embedded.unbind(), keep.unbind(), strict=True)):
            state = self.controller.reset(state, keep_t)
            m_t, w_t = past.recall(t, state[0])
            state = self.controller.advance(embedded_t, m_t, state)
            past.write(x_t, state[0])
            hs.append(state[0])
            if w_t is not None:
                weights.append(w_t)
        return torch.stack(hs), torch.stack(weights) if weights else None, state

    def past(self, x: Tensor, inputs: Inputs, recalled: Any, store: Store | None) -> Past | None:
        """What the memory reads: a store, or what was recalled; None without memory."""
        if self.read is None:
            return None
        if store is not None and recalled is None:
            if store.num_envs != x.shape[1]:
                raise ValueError(f"the store is for {store.num_envs} games, not {x.shape[1]}")
            return SearchedPast(self.read, x, store, inputs.resets, self.read.look(inputs, self.dtype))
        if recalled is not None and store is None:
            lead = tuple(recalled[0].shape[:2])
            if lead != x.shape[:2]:
                raise ValueError(f"recalled is for {lead} steps and games, not {tuple(x.shape[:2])}")
            return ReplayedPast(self.read, x, recalled)
        raise ValueError("an agent with episodic memory needs either a `store` or, in `unroll`, what was `recalled`")

    def encode(self, pictures: Tensor) -> Tensor:
        """(T, B, height, width, 3) bytes to x (T, B, X)."""
        floats = centred(pictures.flatten(0, 1), self.dtype)
        is_half = self.config.encoder_bfloat16
        with torch.autocast(self.device.type, torch.bfloat16) if is_half else nullcontext():  # not on every device
            x = self.encoder(floats).to(self.dtype)
        return x.view(*pictures.shape[:2], -1)

    def previous(self, inputs: Inputs) -> Tensor:
        """Reward, clipped as in IMPALA, and one-hot action before each picture; zeros where an episode begins."""
        return previous(inputs, self.config.actions, self.dtype)

    def check(self, inputs: Inputs, axes: int, state: State) -> None:
        """Shapes, dtypes and devices of what comes in: an error here, not a puzzle later."""
        kinds = axes, *((part.shape, part.dtype, part.device) for part in (*inputs, *state))
        if kinds == self.last_checked:  # as in the step before
            return
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
        self.check_state(state, lead[-1])
        self.last_checked = kinds

    def check_state(self, state: State, num_envs: int) -> None:
        """As many parts as the controller has, each for these games, and here."""
        shapes = [(num_envs, *shape) for shape in self.state_shapes]
        if [tuple(part.shape) for part in state] != shapes or any(part.device != self.device for part in state):
            raise ValueError(f"the state must be tensors of shapes {', '.join(map(str, shapes))} on {self.device}")


def named(dtype: torch.dtype) -> str:
    """As users write it."""
    return str(dtype).removeprefix("torch.")
