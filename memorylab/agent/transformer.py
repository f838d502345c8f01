"""A transformer's window as working memory: attention over the last W steps of the episode."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from memorylab.agent.controllers import Controller, State


class TransformerWindow(Controller):
    """One block of Vaswani et al. (2017), normalised before each part: e_t asks the last W steps of its episode.

    e_t = W [x_t, m_t] + b; u_t = e_t + attention of e_t over e_(t-W+1) ... e_t; h_t = u_t + MLP(u_t). Each head has a
    learned preference for every age. The state is h, the last W of e, and which of them belong to this episode.
    """

    def __init__(self, input_size: int, memory_size: int, hidden_size: int, *, window: int = 32, heads: int = 2):
        super().__init__(input_size, memory_size, hidden_size)
        if window < 1 or heads < 1 or hidden_size % heads:
            raise ValueError(
                f"a transformer needs a window of at least 1 and a hidden_size that its heads divide, "
                f"not {window}, {hidden_size} and {heads}"
            )
        H = hidden_size
        self.window, self.heads = window, heads
        self.before_attention, self.before_mlp = nn.LayerNorm(H), nn.LayerNorm(H)
        self.query, self.key_value, self.out = nn.Linear(H, H), nn.Linear(H, 2 * H), nn.Linear(H, H)
        self.of_age = nn.Parameter(torch.zeros(heads, window))  # the newest last
        self.mlp = nn.Sequential(nn.Linear(H, 2 * H), nn.GELU(), nn.Linear(2 * H, H))

    def initial_state(self, num_envs: int, **options) -> State:
        """h, the window and, as 0 or 1, which of its steps count."""
        window = torch.zeros(num_envs, self.window, self.hidden_size, **options)
        return torch.zeros(num_envs, self.hidden_size, **options), window, torch.zeros(num_envs, self.window, **options)

    def advance(self, embedded_t: Tensor, m_t: Tensor | None, state: State) -> State:
        """The window moves on by a step."""
        e_t = self.with_memory(embedded_t, m_t)
        _, window, valid = state
        window = torch.cat([window[:, 1:], e_t[:, None]], 1)
        valid = torch.cat([valid[:, 1:], torch.ones_like(valid[:, :1])], 1)
        bias = self.of_age[:, None].masked_fill(valid[:, None, None] == 0, -torch.inf)
        return self.attend(e_t[:, None], window, bias)[:, 0], window, valid

    def unroll(self, embedded: Tensor, m: Tensor | None, keep: Tensor, state: State) -> tuple[Tensor, State]:
        """All steps at once: each has its band of W in what was before and the trajectory, one after the other."""
        e = self.with_memory(embedded, m).transpose(0, 1)
        _, window, valid = state
        T, W = e.shape[1], self.window
        steps = torch.cat([window, e], 1)  # (B, W + T, H): step t is at W + t
        episode = (keep[..., 0] == 0).cumsum(0).T  # (B, T): 0 is the one of before
        before = torch.where(valid == 0, -1, 0)
        is_same = episode[:, :, None] == torch.cat([before, episode], 1)[:, None]  # (B, T, W + T)
        age = W + torch.arange(T, device=e.device)[:, None] - torch.arange(W + T, device=e.device)
        is_near = (age >= 0) & (age < W)
        bias = self.of_age[:, (W - 1 - age).clamp(0, W - 1)].masked_fill(~(is_same & is_near)[:, None], -torch.inf)
        h = self.attend(e, steps, bias).transpose(0, 1)
        counts = is_same[:, -1, T:].to(valid.dtype)
        return h, (h[-1], steps[:, T:] * counts[..., None], counts)

    def attend(self, e: Tensor, steps: Tensor, bias: Tensor) -> Tensor:
        """h for e (B, T, H), which look at steps (B, S, H); bias (B, heads, T, S) is minus infinity where not."""
        q = self.query(self.before_attention(e)).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        kv = self.key_value(self.before_attention(steps)).unflatten(-1, (2 * self.heads, -1)).transpose(1, 2)
        k, v = kv.chunk(2, 1)
        found = F.scaled_dot_product_attention(q, k, v, bias).transpose(1, 2).flatten(2)
        u = e + self.out(found)
        return u + self.mlp(self.before_mlp(u))
