"""Loops over a batch in one call, for CPUs: what would be a dozen small operations of PyTorch in every step.

Each has its twin in PyTorch's own operations, which any other device and dtype uses, and a test that compares the two.
"""

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from memorylab.machine import compile_and_keep

# Sums in any order, so that they are vectorised; infinities keep their meaning.
compiled: Any = partial(compile_and_keep, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})


def suits(*tensors: Tensor) -> bool:
    """Whether the kernels can take these."""
    return all(part.device.type == "cpu" and part.dtype in (torch.float32, torch.float64) for part in tensors)


def array(tensor: Tensor) -> np.ndarray:
    """The same memory."""
    return tensor.detach().numpy()


@compiled
def centre(pictures, floats):
    """Bytes to [-1/2, 1/2]; both flat."""
    scale, half = floats.dtype.type(1 / 255), floats.dtype.type(0.5)
    for i in range(len(pictures)):
        floats[i] = pictures[i] * scale - half


@compiled
def fill_previous(rewards, actions, resets, found):
    """Clipped reward and one-hot action before each of S steps into zeros (S, 1 + A); none where an episode begins."""
    for s in range(len(found)):
        if not resets[s]:
            found[s, 0] = min(max(rewards[s], -1), 1)
            found[s, 1 + actions[s]] = 1


@compiled
def begin_step(pictures, rewards, actions, resets, h, c, contrast, floats, rows, c_before, M, X):
    """What a step of B games begins with: floats of its pictures, both flat; of its row [m, h, x, reward, action] all
    but m and x; and c. Nothing of before where an episode begins."""
    scale, half = floats.dtype.type(contrast / 255), floats.dtype.type(contrast / 2)
    for i in range(len(pictures)):
        floats[i] = pictures[i] * scale - half
    B, H = h.shape
    before = M + H + X
    for b in range(B):
        rows[b, before:] = 0
        if resets[b]:
            rows[b, M : M + H] = 0
            c_before[b] = 0
        else:
            rows[b, M : M + H] = h[b]
            c_before[b] = c[b]
            rows[b, before] = min(max(rewards[b], -1), 1)
            rows[b, before + 1 + actions[b]] = 1


@compiled
def embed(raw, is_normalised, x, rows, first):
    """x (B, X) from what the encoder's layer made, by ReLU or to mean 0 and variance 1; also into rows[:, first:]."""
    B, X = raw.shape
    for b in range(B):
        mean, variance = raw.dtype.type(0), raw.dtype.type(0)
        if is_normalised:
            for i in range(X):
                mean += raw[b, i]
            mean /= X
            for i in range(X):
                variance += (raw[b, i] - mean) ** 2
            scale = 1 / np.sqrt(variance / X + 1e-5)
            for i in range(X):
                x[b, i] = (raw[b, i] - mean) * scale
        else:
            for i in range(X):
                x[b, i] = max(raw[b, i], 0)
        rows[b, first : first + X] = x[b]


@compiled
def draw(logits, uniform, actions, log_mu):
    """From each row of logits (B, A) the action at which the sum of probabilities passes uniform, and its log."""
    B, A = logits.shape
    for b in range(B):
        highest = logits[b].max()
        total = 0.0
        for a in range(A):
            total += np.exp(logits[b, a] - highest)
        passed = 0.0
        for a in range(A):
            actions[b] = a
            passed += np.exp(logits[b, a] - highest)
            if passed > uniform[b] * total:
                break
        log_mu[b] = logits[b, actions[b]] - highest - np.log(total)


@compiled
def write_slot(slot, p, v, k, pv_ring, k_ring, squared_norm):
    """p, v (B, ...) and k (B, D) into that slot of each ring."""
    B, P = p.shape
    for b in range(B):
        pv_ring[b, slot, :P] = p[b]
        pv_ring[b, slot, P:] = v[b]
        total = k.dtype.type(0)
        for d in range(k.shape[1]):
            k_ring[b, slot, d] = k[b, d]
            total += k[b, d] * k[b, d]
        squared_norm[b, 0, slot] = total


@compiled
def read(t, q, keys, pv, valid, epsilon, w, m, M):
    """Eq. 3 at step t of (T, B, ...): w_t, and m_t into the first M of m; the values are the last M of pv."""
    _, B, K, D = keys.shape
    v = pv.shape[3] - M
    for b in range(B):
        total = w.dtype.type(0)
        for j in range(K):
            distance = w.dtype.type(0)
            for d in range(D):
                distance += (q[t, b, d] - keys[t, b, j, d]) ** 2
            w[t, b, j] = valid[t, b, j] / (epsilon + distance)
            total += w[t, b, j]
        if total > 0:
            w[t, b] /= total
        for i in range(M):
            mean = w.dtype.type(0)
            for j in range(K):
                mean += w[t, b, j] * pv[t, b, j, v + i]
            m[t, b, i] = mean


@compiled
def read_backward(t, q, keys, pv, w, epsilon, of_w, of_m, of_q, of_keys, M):
    """From the gradients of w and of m_t, the first M of of_m (B, ...), to those of q and keys."""
    _, B, K, D = keys.shape
    v = pv.shape[3] - M
    of_share = np.empty(K, w.dtype)
    distance = np.empty(K, w.dtype)
    for b in range(B):
        mean = w.dtype.type(0)
        for j in range(K):
            found = of_w[t, b, j]
            for i in range(M):
                found += of_m[b, i] * pv[t, b, j, v + i]
            of_share[j] = found
            mean += w[t, b, j] * found
            apart = w.dtype.type(0)
            for d in range(D):
                apart += (q[t, b, d] - keys[t, b, j, d]) ** 2
            distance[j] = epsilon + apart
        of_q[t, b] = 0
        for j in range(K):
            # w_j = u_j / sum of u, u_j = 1 / distance_j: d w_i / d distance_j = w_j (w_i - [i = j]) / distance_j
            scale = 2 * w[t, b, j] * (mean - of_share[j]) / distance[j]
            for d in range(D):
                step = scale * (q[t, b, d] - keys[t, b, j, d])
                of_q[t, b, d] += step
                of_keys[t, b, j, d] = -step


@compiled
def lstm_backward(t, gates, c_before, tanh_c, of_h, of_next_h, of_c, of_gates):
    """From the gradients of h_t and c_t to those of the gates' products and, in place, of c_(t-1)."""
    B, H = of_c.shape
    for b in range(B):
        for n in range(H):
            i, f = gates[t, b, n], gates[t, b, H + n]
            g, o = gates[t, b, 2 * H + n], gates[t, b, 3 * H + n]
            of_h_t = of_h[t, b, n] + of_next_h[b, n]
            of_c_t = of_c[b, n] + of_h_t * o * (1 - tanh_c[t, b, n] ** 2)
            of_gates[t, b, n] = of_c_t * g * i * (1 - i)
            of_gates[t, b, H + n] = of_c_t * c_before[t, b, n] * f * (1 - f)
            of_gates[t, b, 2 * H + n] = of_c_t * i * (1 - g * g)
            of_gates[t, b, 3 * H + n] = of_h_t * tanh_c[t, b, n] * o * (1 - o)
            of_c[b, n] = of_c_t * f


@compiled
def recall(q, k, squared_norm, pv, next_slot, rest, found, valid, age):
    """The slots of the keys nearest to q (B, D), nearest first, the lower slot of two that are as near; none that is
    younger than `rest` steps.

    Their pv, and how old they are, into found (B, K, P + H), valid and age (B, K); zeros where none is filled.
    """
    B, K = age.shape
    capacity, D = k.shape[1:]
    slots = np.empty(K, np.int64)
    near = np.empty(K, k.dtype)
    for b in range(B):
        near[:] = np.inf
        for i in range(capacity):
            distance = squared_norm[b, 0, i]
            if distance < np.inf and (next_slot - 1 - i) % capacity + 1 >= rest:
                product = k.dtype.type(0)
                for d in range(D):
                    product += q[b, d] * k[b, i, d]
                distance -= 2 * product
                if distance < near[K - 1]:
                    insert(near, slots, distance, i)
        for j in range(K):
            valid[b, j] = near[j] < np.inf
            if valid[b, j]:
                found[b, j] = pv[b, slots[j]]
                age[b, j] = (next_slot - 1 - slots[j]) % capacity + 1
            else:
                found[b, j] = 0
                age[b, j] = 0


@compiled
def insert(near, slots, distance, slot):
    """Into its place, the farthest out."""
    j = len(near) - 1
    while j > 0 and near[j - 1] > distance:
        near[j], slots[j] = near[j - 1], slots[j - 1]
        j -= 1
    near[j], slots[j] = distance, slot
