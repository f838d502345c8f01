"""The forward pass of acting, kept for learning.

Where acting and learning take turns, the learner's first half is what the actor has just done: the same network with
the same weights over the same steps. A tape has room for everything that the way back needs of a trajectory. Acting
fills it row by row, in few calls, and learning begins with the backward pass. It knows the agents that train on CPUs:
the small encoders and the LSTM, with the paper's memory, one whose queries have nothing of h, or none; any other is
unrolled anew.
"""

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from memorylab.agent.controllers import LSTM, State
from memorylab.agent.data import Inputs, Output, at_step
from memorylab.agent.encoders import NormalisedEncoder, SmallEncoder
from memorylab.agent.episodic import EpisodicMemory, EpisodicStore, Neighbours
from memorylab.agent.kernels import array, begin_step, embed, read, suits
from memorylab.agent.memory import ReplayedPast, SearchedPast, Store
from memorylab.agent.network import MemoryRecallAgent
from memorylab.agent.recurrence import Steps, unroll_lstm


def fits(agent: MemoryRecallAgent) -> bool:
    """Whether a tape knows all parts of this agent, where it is."""
    encoder, controller, read = agent.encoder, agent.controller, agent.read
    return (
        type(encoder) in (SmallEncoder, NormalisedEncoder)
        and type(controller) is LSTM
        and (read is None or type(read) is EpisodicMemory or not read.query_has_h)
        and suits(agent.policy.weight)
        and not agent.config.encoder_bfloat16
    )


class Tape:
    """Room for T steps of B games; `recalled` is the trajectory's, for what the reads find."""

    def __init__(self, agent: MemoryRecallAgent, steps: int, num_envs: int, recalled: Any):
        self.agent, self.recalled = agent, recalled
        c, self.lead = agent.config, (steps, num_envs)
        self.X, self.H, self.M = c.embedding_size, c.hidden_size, agent.read.size if agent.read else 0
        self.convolutions = [part for part in agent.encoder.convolutions if isinstance(part, nn.Conv2d)]
        with torch.no_grad():
            self.floats = self.maps(torch.zeros(1, 3, c.height, c.width))
            first = self.convolutions[0](torch.zeros(1, 3, c.height, c.width, dtype=agent.dtype))
            self.first, self.second = self.maps(first), self.maps(self.convolutions[1](first))
        self.features = self.second.permute(0, 1, 3, 4, 2).flatten(2)  # as they lie in memory
        # A step's whole input to the LSTM in one row: m_t, h_(t-1), x_t, reward and action before.
        self.rows = self.zeros(self.M + self.H + self.X + 1 + c.actions)
        self.raw, self.x = self.zeros(self.X), self.zeros(self.X)
        self.gates, self.tanh_c = self.zeros(4 * self.H), self.zeros(self.H)
        self.c_before, self.h = self.zeros(self.H), self.zeros(self.H)
        self.heads = self.zeros(c.actions + 1)
        self.contrast, self.is_normalised = agent.encoder.CONTRAST, type(agent.encoder) is NormalisedEncoder
        self.reads_by_step = type(agent.read) is EpisodicMemory
        if self.reads_by_step:
            neighbours = cast(EpisodicMemory, agent.read).neighbours
            self.q, self.w, self.keys = (
                self.zeros(*size) for size in ((c.key_size,), (neighbours,), (neighbours, c.key_size))
            )
        self.views = [self.views_of(t) for t in range(steps)]

    def zeros(self, *size: int) -> Tensor:
        """One entry a step and game."""
        return torch.zeros(*self.lead, *size, dtype=self.agent.dtype)

    def maps(self, like: Tensor) -> Tensor:
        """Such maps, channels-last."""
        _, channels, rows, columns = like.shape
        return self.zeros(rows, columns, channels).permute(0, 1, 4, 2, 3)

    def views_of(self, t: int) -> dict[str, Any]:
        """Step t of everything: made once, for a view costs as much as a small product."""
        H, past = self.H, self.M + self.H
        row, gates = self.rows[t], self.gates[t]
        i, f, g, o = gates.chunk(4, -1)
        tensors: dict[str, Any] = {
            "floats": self.floats[t], "first": self.first[t], "second": self.second[t], "features": self.features[t],
            "raw": self.raw[t], "row": row, "gates": gates, "if": gates[:, : 2 * H], "i": i, "f": f, "g": g, "o": o,
            "c_before": self.c_before[t], "tanh_c": self.tanh_c[t], "h": self.h[t], "heads": self.heads[t],
            "logits": self.heads[t, :, :-1], "baseline": self.heads[t, :, -1], "x": self.x[t],
            "hx": row[:, self.M : past + self.X], "m": row[:, : self.M],
        }  # fmt: skip
        arrays = {f"{name}_array": array(tensors[name]) for name in ("raw", "x", "row", "c_before")}
        pixels = {"pixels_array": array(tensors["floats"].permute(0, 2, 3, 1)).reshape(-1)}
        reads = {"q": self.q[t], "keys": self.keys[t].flatten(0, 1)} if self.reads_by_step else {}
        return {**tensors, **arrays, **pixels, **reads}

    @torch.no_grad()
    def take_weights(self) -> None:
        """As the steps need them; anew for every trajectory."""
        agent = self.agent
        layer, lstm = agent.encoder.layer, cast(LSTM, agent.controller)
        self.kernels = [(part.weight, part.bias) for part in self.convolutions]
        self.layer, self.layer_bias = self.by_place(layer.weight).T.contiguous(), layer.bias
        self.of_row_bias = lstm.of_input.bias
        self.of_row = torch.cat([cast(nn.Linear, lstm.of_past).weight, lstm.of_input.weight], 1).T.contiguous()
        self.of_h = torch.cat([agent.policy.weight, agent.baseline.weight]).T.contiguous()
        self.of_h_bias = torch.cat([agent.policy.bias, agent.baseline.bias])
        if self.reads_by_step:
            read = cast(EpisodicMemory, agent.read)
            self.of_hx = torch.cat([read.query_of_h.weight, read.query_of_x.weight], 1).T.contiguous()
            self.of_pv = read.key.weight.T.contiguous()

    def by_place(self, weight: Tensor) -> Tensor:
        """The layer's weights in the order in which features lie in memory."""
        channels, rows, columns = self.second.shape[2:]
        return weight.view(self.X, channels, rows, columns).permute(0, 2, 3, 1).flatten(1)

    # --- acting

    def step(self, t: int, inputs: Inputs, state: State, store: Store | None) -> tuple[Output, State]:
        """Step t of B games, without gradient. Reads and writes `store`, or reads what was recalled before."""
        see = self.views[t]
        self.encode(see, inputs, state)
        found = self.recall(t, see, inputs, store)
        c_t = self.think(see)
        if store is not None:
            cast(Any, self.agent.read).write(store, see["x"], see["h"])
        torch.addmm(self.of_h_bias, see["h"], self.of_h, out=see["heads"])
        return Output(see["logits"], see["baseline"], see["x"], see["h"], found, None), (see["h"], c_t)

    def encode(self, see: dict[str, Any], inputs: Inputs, state: State) -> None:
        """x_t; reward and action before it, h and c before it, where no episode begins."""
        given = [array(part) for part in (*inputs, *state)]
        given[0] = given[0].reshape(-1)
        begin_step(*given, self.contrast, see["pixels_array"], see["row_array"], see["c_before_array"], self.M, self.X)
        (first, a), (second, b) = self.kernels
        torch.clamp_min(torch.conv2d(see["floats"], first, a, 4), 0, out=see["first"])
        torch.clamp_min(torch.conv2d(see["first"], second, b, 2), 0, out=see["second"])
        torch.addmm(self.layer_bias, see["features"], self.layer, out=see["raw"])
        embed(see["raw_array"], self.is_normalised, see["x_array"], see["row_array"], self.M + self.H)

    def recall(self, t: int, see: dict[str, Any], inputs: Inputs, store: Store | None) -> Any:
        """m_t into its place, and what was found."""
        if self.agent.read is None:
            return None
        found = at_step(self.recalled, t)
        if self.reads_by_step:
            self.recall_by_h(t, see, inputs, cast(EpisodicStore | None, store), found)
            return found
        x = see["x"][None]
        if store is None:
            past: Any = ReplayedPast(self.agent.read, x, type(found)(*(part[None] for part in found)))
            m, _ = past.recall_all()
            see["m"].copy_(m[0])
            return found
        looked = self.agent.read.look(Inputs(*(part[None] for part in inputs)), self.agent.dtype)
        past = SearchedPast(self.agent.read, x, store, inputs.resets[None], looked)
        m_t, _ = past.recall(0, see["h"])
        see["m"].copy_(m_t)
        return at_step(past.recalled(), 0)

    def recall_by_h(self, t: int, see: dict[str, Any], inputs: Inputs, store: EpisodicStore | None, found: Any) -> None:
        """The paper's read, whose query has h_(t-1), into the trajectory itself."""
        memory = cast(EpisodicMemory, self.agent.read)
        torch.addmm(memory.query_of_x.bias, see["hx"], self.of_hx, out=see["q"])
        if store is not None:
            store.wipe(inputs.resets)
            store.recall_into(see["q"], found)
        torch.addmm(memory.key.bias, found.pv.flatten(0, 1), self.of_pv, out=see["keys"])
        given = (array(part) for part in (self.q, self.keys, self.recalled.pv, self.recalled.valid))
        read(t, *given, memory.epsilon, array(self.w), array(self.rows), self.M)

    def think(self, see: dict[str, Any]) -> Tensor:
        """h_t; c_t is returned."""
        torch.addmm(self.of_row_bias, see["row"], self.of_row, out=see["gates"])
        see["if"].sigmoid_(), see["g"].tanh_(), see["o"].sigmoid_()
        c_t = torch.addcmul(see["i"] * see["g"], see["f"], see["c_before"])
        torch.mul(see["o"], torch.tanh(c_t, out=see["tanh_c"]), out=see["h"])
        return c_t

    # --- learning

    def unroll(self, inputs: Inputs, state: State) -> Output:
        """What `agent.unroll` gives, with its gradient, from the steps that were made."""
        agent, past = self.agent, self.M + self.H
        x = self.encoded()
        prior = torch.cat([x, self.rows[..., past + self.X :]], -1)
        lstm = cast(LSTM, agent.controller)
        embedded = KnownLinear.apply(self.gates, prior, lstm.of_input.weight, lstm.of_input.bias)
        keep = (~inputs.resets)[:, :, None].to(x.dtype)
        made = Steps(self.rows[..., :past], self.gates, self.c_before, self.tanh_c, self.h)
        weight, reads, weights = cast(nn.Linear, lstm.of_past).weight, None, None
        if self.reads_by_step:
            memory = cast(EpisodicMemory, agent.read)
            made = made._replace(q=self.q, w=self.w)
            reads = memory.reads(memory.embed(x), self.neighbours(memory))
        elif agent.read is not None:
            m, weights = ReplayedPast(agent.read, x, self.recalled).recall_all()
            embedded = KnownLinear.apply(self.gates, m, weight[:, : self.M], None) + embedded
            made, weight = made._replace(past=self.rows[..., self.M : past]), weight[:, self.M :]
        h, _, read_weights = unroll_lstm(embedded, keep, state, weight, reads, made)
        weights = read_weights if self.reads_by_step else weights
        return Output(agent.policy(h), agent.baseline(h)[..., 0], x, h, self.recalled, weights)

    def encoded(self) -> Tensor:
        """x of all steps."""
        encoder = self.agent.encoder
        first, second = self.convolutions
        y = KnownConvolution.apply(self.first.flatten(0, 1), self.floats.flatten(0, 1), first.weight, first.bias, 4)
        y = KnownConvolution.apply(self.second.flatten(0, 1), y, second.weight, second.bias, 2)
        features = y.permute(0, 2, 3, 1).flatten(1).view(*self.lead, -1)
        raw = KnownLinear.apply(self.raw, features, self.by_place(encoder.layer.weight), encoder.layer.bias)
        return encoder.finish(raw)

    def neighbours(self, memory: EpisodicMemory) -> Neighbours:
        """As `memory.project` has them."""
        if not memory.jumpy:
            return Neighbours(self.keys, self.recalled.pv, self.recalled.valid)
        keys = KnownLinear.apply(self.keys, self.recalled.pv, memory.key.weight, memory.key.bias)
        return Neighbours(keys, self.recalled.pv, self.recalled.valid)


class KnownLinear(torch.autograd.Function):
    """W x + b where it is known already."""

    @staticmethod
    def forward(ctx: Any, known: Tensor, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """`known`."""
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return known.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_y: Tensor):
        """As that of a linear layer."""
        x, weight = ctx.saved_tensors
        of_y = of_y.reshape(-1, of_y.shape[-1])
        of_x = (of_y @ weight).view(x.shape) if ctx.needs_input_grad[1] else None
        of_weight = of_y.T @ x.reshape(-1, x.shape[-1]) if ctx.needs_input_grad[2] else None
        return None, of_x, of_weight, of_y.sum(0) if ctx.has_bias else None


class KnownConvolution(torch.autograd.Function):
    """ReLU(convolution of x) where it is known already."""

    @staticmethod
    def forward(ctx: Any, known: Tensor, x: Tensor, weight: Tensor, bias: Tensor, stride: int) -> Tensor:
        """`known`."""
        ctx.save_for_backward(known, x, weight)
        ctx.stride = stride
        return known.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_y: Tensor):
        """As that of a convolution and its ReLU."""
        y, x, weight = ctx.saved_tensors
        torch.ops.aten.threshold_backward.grad_input(of_y, y, 0, grad_input=of_y)  # nobody else has it
        needed = [ctx.needs_input_grad[1], True, True]
        stride = [ctx.stride] * 2
        found = torch.ops.aten.convolution_backward(
            of_y, x, weight, [len(weight)], stride, [0, 0], [1, 1], False, [0, 0], 1, needed
        )
        return None, *found, None
