"""Working memory: from what is seen and recalled now, and what was thought before, to h_t."""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from memorylab.agent.draws import own_draws
from memorylab.agent.kernels import suits
from memorylab.agent.recurrence import unroll_lstm

State = tuple[Tensor, ...]


class Controller(nn.Module):
    """Made from the sizes of its input (x_t, reward and action), of m_t (0 without memory) and of h_t, and settings.

    It keeps a state, a tuple of tensors (B, ...) whose first is h_t, (B, H); the others have any shape. Its input comes
    in two parts: what is known for a whole trajectory goes through `embed` in one product, what follows step by step,
    m_t and the state, through `advance`. That is all a controller must have. One whose state is not `state_parts`
    tensors (B, H) has its own `initial_state`; one whose state does not begin with zeros, its own `reset`; one that
    takes many steps at once, its own `unroll`, which is used wherever no read waits for h_(t-1).
    """

    state_parts = 1
    gates = 1  # how many (B, H) maps of its inputs it needs

    def __init__(self, input_size: int, memory_size: int, hidden_size: int):
        super().__init__()
        self.memory_size, self.hidden_size = memory_size, hidden_size
        self.of_input = nn.Linear(input_size, self.gates * hidden_size)
        self.of_past = self.draw_past()

    def draw_past(self) -> nn.Module:
        """Weights of what comes step by step: m_t."""
        return self.of_memory() if self.memory_size else nn.Identity()

    def of_memory(self) -> nn.Linear:
        """Drawn apart: the other weights begin as they would without m_t."""
        with own_draws(torch.initial_seed(), "m"):
            return self.linear(self.memory_size)

    def linear(self, size: int) -> nn.Linear:
        """One map for each gate."""
        return nn.Linear(size, self.gates * self.hidden_size, bias=False)

    def initial_state(self, num_envs: int, **options) -> State:
        """Before an episode; `options` are device and dtype."""
        return tuple(torch.zeros(num_envs, self.hidden_size, **options) for _ in range(self.state_parts))

    def reset(self, state: State, keep_t: Tensor) -> State:
        """The state with that of the games in which an episode begins, where keep_t (B, 1) is 0, as at the start."""
        return tuple(
            part * (keep_t if part.dim() == 2 else keep_t.view(-1, *(1,) * (part.dim() - 1))) for part in state
        )

    def embed(self, inputs: Tensor) -> Tensor:
        """What of h_t comes from x_t, reward and action, (..., input_size), for any number of steps at once."""
        return self.of_input(inputs)

    def with_memory(self, embedded_t: Tensor, m_t: Tensor | None) -> Tensor:
        """W [x_t, m_t] + b."""
        return embedded_t if m_t is None else embedded_t + self.of_past(m_t)

    def advance(self, embedded_t: Tensor, m_t: Tensor | None, state: State) -> State:
        """The state after a step of B games."""
        raise NotImplementedError

    def unroll(self, embedded: Tensor, m: Tensor | None, keep: Tensor, state: State) -> tuple[Tensor, State]:
        """h (T, B, H) and the state after T steps, of which m (T, B, M) is known; keep (T, B, 1) is 0 at resets."""
        hs = []
        ms = [None] * len(embedded) if m is None else m.unbind()
        for embedded_t, m_t, keep_t in zip(embedded.unbind(), ms, keep.unbind(), strict=True):
            state = self.advance(embedded_t, m_t, self.reset(state, keep_t))
            hs.append(state[0])
        return torch.stack(hs), state


class FeedForward(Controller):
    """h_t = ReLU(W [x_t, m_t] + b); the state only serves the next query."""

    def advance(self, embedded_t: Tensor, m_t: Tensor | None, state: State) -> State:
        """Without regard to the state."""
        return (F.relu(self.with_memory(embedded_t, m_t)),)


class LSTM(Controller):
    """Hochreiter and Schmidhuber (1997), with a forget gate; the state is (h, c)."""

    state_parts = 2
    gates = 4

    def __init__(self, input_size: int, memory_size: int, hidden_size: int):
        super().__init__(input_size, memory_size, hidden_size)
        with torch.no_grad():  # remember at first: a forget gate that starts open
            self.of_input.bias[hidden_size : 2 * hidden_size] += 1.0

    def draw_past(self) -> nn.Module:
        """m_t and h_(t-1): all of the LSTM is one product. Without m_t it begins as the h part of one with m_t."""
        of_past = self.linear((self.memory_size or self.hidden_size) + self.hidden_size)
        if not self.memory_size:
            of_past.weight.data = of_past.weight.data[:, self.hidden_size :].clone()
            of_past.in_features = self.hidden_size
        return of_past

    def advance(self, embedded_t: Tensor, m_t: Tensor | None, state: State) -> State:
        """c_t and h_t through the four gates."""
        h_tm1, c_tm1 = state
        past = h_tm1 if m_t is None else torch.cat([m_t, h_tm1], -1)
        i, f, g, o = (embedded_t + self.of_past(past)).chunk(4, -1)
        c_t = torch.sigmoid(f) * c_tm1 + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c_t), c_t

    def unroll(self, embedded: Tensor, m: Tensor | None, keep: Tensor, state: State) -> tuple[Tensor, State]:
        """For learning as one operation, where the kernels run."""
        if type(self) is not LSTM or not torch.is_grad_enabled() or not suits(embedded):
            return super().unroll(embedded, m, keep, state)
        weight = cast(nn.Linear, self.of_past).weight
        if m is not None:
            embedded, weight = embedded + m @ weight[:, : self.memory_size].T, weight[:, self.memory_size :]
        h, state, _ = unroll_lstm(embedded, keep, state, weight)
        return h, state


class GRU(Controller):
    """Cho et al. (2014), with the reset gate after the product, as in cuDNN."""

    gates = 3

    def __init__(self, input_size: int, memory_size: int, hidden_size: int):
        super().__init__(input_size, memory_size, hidden_size)
        self.of_h = nn.Linear(hidden_size, 3 * hidden_size)

    def advance(self, embedded_t: Tensor, m_t: Tensor | None, state: State) -> State:
        """From h_(t-1) towards n, by z."""
        (h_tm1,) = state
        r, z, n = self.with_memory(embedded_t, m_t).chunk(3, -1)
        r_of_h, z_of_h, n_of_h = self.of_h(h_tm1).chunk(3, -1)
        n = torch.tanh(n + torch.sigmoid(r + r_of_h) * n_of_h)  # all that n has of h_(t-1) is gated by r
        z = torch.sigmoid(z + z_of_h)
        return ((1 - z) * n + z * h_tm1,)


class GatedLinearRecurrence(Controller):
    """RG-LRU of Griffin (De et al. 2024): each unit forgets at its own gated pace, nothing else is recurrent.

    r_t, i_t = sigmoid(W [x_t, m_t] + b); a_t = exp(-8 softplus(Lambda) r_t);
    s_t = a_t s_(t-1) + sqrt(1 - a_t^2) i_t u_t; h_t = GELU(g_t) s_t.
    """

    state_parts = 2  # (h, s)
    gates = 4

    def __init__(self, input_size: int, memory_size: int, hidden_size: int):
        super().__init__(input_size, memory_size, hidden_size)
        paces = torch.linspace(0.9, 0.999, hidden_size)  # the slowest keep a thing for about a thousand steps
        self.decay = nn.Parameter(torch.log(torch.expm1(-torch.log(paces) / 4)))  # a_t = pace where r_t = 1/2

    def advance(self, embedded_t: Tensor, m_t: Tensor | None, state: State) -> State:
        """s_t and h_t; h_(t-1) takes no part."""
        _, s_tm1 = state
        r, i, u, g = self.with_memory(embedded_t, m_t).chunk(4, -1)
        log_a = -8 * F.softplus(self.decay) * torch.sigmoid(r)
        s_t = log_a.exp() * s_tm1 + (-torch.expm1(2 * log_a)).sqrt() * torch.sigmoid(i) * u
        return F.gelu(g) * s_t, s_t
