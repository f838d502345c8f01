"""A trajectory of the LSTM, with or without the read of the episodic memory, as one operation for learning.

The same numbers as the step-by-step loop, with fewer and larger operations: forward each step has only the products
that wait for h_(t-1), backward only those that wait for the step after it; the gradients of all weights come last, as
one product over all steps.
"""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from memorylab.agent.kernels import array, lstm_backward, read, read_backward


class Reads(NamedTuple):
    """What the reads of T steps of B games need."""

    q_of_x: Tensor  # (T, B, D): W_qx x + b_q
    weight: Tensor  # (D, H): W_qh
    keys: Tensor  # (T, B, K, D)
    pv: Tensor  # (T, B, K, P + M): the values are the last M, and have no gradient
    valid: Tensor  # (T, B, K)
    epsilon: float


class Steps(NamedTuple):
    """What T steps of B games leave for the way back."""

    past: Tensor  # (T, B, M + H): [m_t, h_(t-1)]
    gates: Tensor  # (T, B, 4 H)
    c_before: Tensor  # (T, B, H)
    tanh_c: Tensor  # (T, B, H)
    h: Tensor  # (T, B, H)
    q: Tensor | None = None  # (T, B, D)
    w: Tensor | None = None  # (T, B, K)


class Recurrence(torch.autograd.Function):
    """h, c and w of T steps; see `unroll_lstm`. `reads` are the six parts of Reads, or none."""

    @staticmethod
    def forward(
        ctx: Any, made: Steps | None, embedded: Tensor, keep: Tensor, h: Tensor, c: Tensor, weight: Tensor, *reads: Any
    ):
        """One step after the other, everything that the way back needs in tensors of all steps."""
        ctx.set_materialize_grads(False)
        if made is not None:
            return Recurrence.go_on_from(ctx, made, keep, weight, *reads)
        T, B, H = *keep.shape[:2], h.shape[1]
        M = weight.shape[1] - H
        past = embedded.new_empty(T, B, M + H)  # [m_t, h_(t-1)]
        gates, tanh_c, c_before = torch.empty_like(embedded), *embedded.new_empty(2, T, B, H)
        hs = embedded.new_empty(T, B, H)
        recall = Recall(Reads(*reads), past, M) if reads else None
        for t in range(T):
            h_tm1 = torch.mul(h, keep[t], out=past[t, :, M:])
            c_tm1 = torch.mul(c, keep[t], out=c_before[t])
            if recall:
                recall.step(t, h_tm1)
            i, f, g, o = torch.addmm(embedded[t], past[t], weight.T, out=gates[t]).chunk(4, -1)
            i.sigmoid_(), f.sigmoid_(), g.tanh_(), o.sigmoid_()
            c = torch.addcmul(i * g, f, c_tm1)
            h = torch.mul(o, torch.tanh(c, out=tanh_c[t]), out=hs[t])
        ctx.save_for_backward(keep, weight, past, gates, c_before, tanh_c)
        ctx.recall = recall
        return hs, c, recall.w if recall else None

    @staticmethod
    def go_on_from(ctx: Any, made: Steps, keep: Tensor, weight: Tensor, *reads: Any):
        """From steps that were made before, with these weights."""
        ctx.save_for_backward(keep, weight, made.past, made.gates, made.c_before, made.tanh_c)
        ctx.recall = Recall(Reads(*reads), made.past, weight.shape[1] - made.h.shape[-1], made) if reads else None
        return made.h.detach(), None, None if made.w is None else made.w.detach()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_h: Tensor | None, of_c: Tensor | None, of_w: Tensor | None):
        """One step before the other, then the weights."""
        keep, weight, past, gates, c_before, tanh_c = ctx.saved_tensors
        T, B, H = c_before.shape
        M = weight.shape[1] - H
        of_h = torch.zeros_like(c_before) if of_h is None else of_h.contiguous()
        of_c = c_before.new_zeros(B, H) if of_c is None else of_c.clone()
        of_gates, of_past = torch.empty_like(gates), past.new_empty(B, M + H)
        of_next_h = past.new_zeros(B, H)
        if ctx.recall:
            ctx.recall.begin_backward(of_w, of_past)
        arrays = [array(part) for part in (gates, c_before, tanh_c, of_h, of_next_h, of_c, of_gates)]
        for t in reversed(range(T)):
            lstm_backward(t, *arrays)
            torch.mm(of_gates[t], weight, out=of_past)
            if ctx.recall:
                ctx.recall.step_back(t, of_past[:, M:])
            torch.mul(of_past[:, M:], keep[t], out=of_next_h)
            of_c *= keep[t]
        of_weight = of_gates.flatten(0, 1).T @ past.flatten(0, 1)
        of_reads = ctx.recall.gradients(past[..., M:]) if ctx.recall else ()
        return None, of_gates, None, of_next_h, of_c, of_weight, *of_reads


class Recall:
    """The reads within a Recurrence."""

    def __init__(self, reads: Reads, past: Tensor, size: int, made: Steps | None = None):
        self.reads, self.size = reads, size
        self.q: Tensor = torch.empty_like(reads.q_of_x) if made is None else made.q  # type: ignore[assignment]
        self.w: Tensor = reads.q_of_x.new_empty(reads.valid.shape) if made is None else made.w  # type: ignore[assignment]
        self.given = [array(part) for part in (self.q, reads.keys, reads.pv)]
        self.made = [array(part) for part in (self.w, past)]
        self.valid = array(reads.valid)

    def step(self, t: int, h_tm1: Tensor) -> None:
        """m_t into the past."""
        torch.addmm(self.reads.q_of_x[t], h_tm1, self.reads.weight.T, out=self.q[t])
        read(t, *self.given, self.valid, self.reads.epsilon, *self.made, self.size)

    def begin_backward(self, of_w: Tensor | None, of_past: Tensor) -> None:
        """With the gradient of all w and room for that of a step's past."""
        of_w = torch.zeros_like(self.w) if of_w is None else of_w.contiguous()
        self.of_q, self.of_keys = torch.empty_like(self.q), torch.empty_like(self.reads.keys)
        self.gradient_arrays = [array(part) for part in (of_w, of_past, self.of_q, self.of_keys)]

    def step_back(self, t: int, of_h_tm1: Tensor) -> None:
        """Adds what h_(t-1) gets through the query."""
        read_backward(t, *self.given, self.made[0], self.reads.epsilon, *self.gradient_arrays, self.size)
        of_h_tm1.addmm_(self.of_q[t], self.reads.weight)

    def gradients(self, h_before: Tensor) -> tuple[Tensor | None, ...]:
        """Of the parts of Reads."""
        of_weight = self.of_q.flatten(0, 1).T @ h_before.flatten(0, 1)
        return self.of_q, of_weight, self.of_keys, None, None, None


def unroll_lstm(
    embedded: Tensor,
    keep: Tensor,
    state: tuple[Tensor, ...],
    weight: Tensor,
    reads: Reads | None = None,
    made: Steps | None = None,
) -> tuple[Tensor, tuple[Tensor, ...], Tensor | None]:
    """h (T, B, H), the state after T steps and the weights of the reads.

    `embedded` (T, B, 4 H) is what the gates have of the input, `weight` (4 H, M + H) that of [m_t, h_(t-1)], of
    h_(t-1) alone without reads; `keep` (T, B, 1) is 0 where an episode begins. Of steps that were `made` already, with
    these weights, only the gradient is left to find.
    """
    h, c, w = Recurrence.apply(made, embedded, keep, *state, weight, *(reads or ()))
    return h, (h[-1], c), w
