"""Loops over a batch in one call, for CPUs: what would be a dozen small operations of PyTorch in every step.

Each has its twin in PyTorch's own operations, which any other device and dtype uses, and a test that compares the two;
but for what judges worth, which is done on the CPU always, and compared with a twin in a test.
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


@compiled
def note_colours(patches, colours, born, kept, clock, rest, apart, novelty):
    """See FamiliarityStore.meet: patches (B, C, 3), colours (B, 3, N) in the order of their birth."""
    B, C, _ = patches.shape
    N = colours.shape[2]
    for b in range(B):
        clock[b] += 1
        rested = 0
        while rested < kept[b] and born[b, rested] + rest <= clock[b]:
            rested += 1
        for c in range(C):
            before = nearest_colour(patches[b, c], colours[b], 0, rested)
            since = nearest_colour(patches[b, c], colours[b], rested, kept[b])
            novelty[b, c] = min(10 * np.sqrt(before), 1) if rested else 0
            if min(before, since) > apart * apart and kept[b] < N:
                for i in range(3):
                    colours[b, i, kept[b]] = patches[b, c, i]
                born[b, kept[b]] = clock[b]
                kept[b] += 1


@compiled
def nearest_colour(colour, colours, first, last):
    """The squared distance to the nearest of those, infinity if there are none."""
    found = colours.dtype.type(np.inf)
    for n in range(first, last):
        distance = (
            (colour[0] - colours[0, n]) ** 2 + (colour[1] - colours[1, n]) ** 2 + (colour[2] - colours[2, n]) ** 2
        )
        found = min(found, distance)
    return found


@compiled
def compare_patches(patches, seen, slots, valid, found, rows, columns, shift):
    """See ComparisonStore.differences: patches (B, C, 3), seen (B, capacity, C, 3)."""
    for b in range(len(patches)):
        if not valid[b]:
            continue
        now, then = patches[b], seen[b, slots[b]]
        for row in range(rows):
            for column in range(columns):
                c = row * columns + column
                nearest = found.dtype.type(np.inf)
                for y in range(max(row - shift, 0), min(row + shift + 1, rows)):
                    for x in range(max(column - shift, 0), min(column + shift + 1, columns)):
                        i = y * columns + x
                        distance = (
                            (now[c, 0] - then[i, 0]) ** 2
                            + (now[c, 1] - then[i, 1]) ** 2
                            + (now[c, 2] - then[i, 2]) ** 2
                        )
                        nearest = min(nearest, distance)
                found[b, c] = min(10 * np.sqrt(nearest), 1)


@compiled
def note_pixels(pictures, first, met, clock, grain, hues, shades, patch_of, novelty):
    """See PaletteStore.meet: pictures (B, pixels, 3), first and met (B, bins), the patch of each pixel."""
    red_green, against_blue = np.arange(511) // grain + 1, np.arange(1021) // (2 * grain) + 1
    brightness = np.arange(766) // (3 * grain) + 1
    pixels = np.zeros(novelty.shape[1], novelty.dtype)
    for p in range(len(patch_of)):
        pixels[patch_of[p]] += 1
    for b in range(len(pictures)):
        clock[b] += 1
        now = clock[b]
        share = novelty.dtype.type(1) / now
        for p in range(len(patch_of)):
            red, green, blue = np.int64(pictures[b, p, 0]), np.int64(pictures[b, p, 1]), np.int64(pictures[b, p, 2])
            i, j = red_green[red - green + 255], against_blue[red + green - 2 * blue + 510]
            k = brightness[red + green + blue]
            place = (i * hues + j) * shades + k
            novelty[b, patch_of[p]] += min(first[b, place], now) * share
            if not met[b, place]:
                met[b, place] = True
                meet_beside(first[b], i, j, k, hues, shades, now)
        novelty[b] /= pixels


@compiled
def meet_beside(first, i, j, k, hues, shades, now):
    """A bin and the 26 around it are known from now on, unless they were before."""
    for a in range(i - 1, i + 2):
        for b in range(j - 1, j + 2):
            for c in range(k - 1, k + 2):
                place = (a * hues + b) * shades + c
                first[place] = min(first[place], now)


@compiled
def sum_over_hues(pixels, hues, sums, width, dark, pure):
    """See MotionStore.sort: pixels (B, P, 3), hues (B, P), sums (B, HUES, 3) zeros."""
    B, P = hues.shape
    pale = sums.shape[1]
    for b in range(B):
        for p in range(P):
            red, green, blue = np.int64(pixels[b, p, 0]), np.int64(pixels[b, p, 1]), np.int64(pixels[b, p, 2])
            most, least = max(red, green, blue), min(red, green, blue)
            d = most - least
            if most < dark or 100 * d < pure * most:
                hues[b, p] = pale
                continue
            if most == red:
                hue = 2 * (green - blue) // d
            elif most == green:
                hue = 2 * (blue - red) // d + 4
            else:
                hue = 2 * (red - green) // d + 8
            hue %= pale
            hues[b, p] = hue
            sums[b, hue, 0] += p % width
            sums[b, hue, 1] += p // width
            sums[b, hue, 2] += 1


@compiled
def mean_over_patches(hues, changes, patch_of, found):
    """See MotionStore.paint: hues (B, P), changes (B, HUES), found (B, patches) zeros."""
    pale = changes.shape[1]
    number = np.zeros(found.shape[1], np.int64)
    for b in range(len(hues)):
        number[:] = 0
        for p in range(len(patch_of)):
            if hues[b, p] != pale:
                found[b, patch_of[p]] += changes[b, hues[b, p]]
                number[patch_of[p]] += 1
        for patch in range(len(number)):
            found[b, patch] /= max(number[patch], 1)


@compiled
def judge_pixels(
    pixels, paid, most, step, clock, middle, rewards, won, lost, worth, patch_of, found, grain, hues, shades, width
):
    """See WorthStore.meet: pixels (B, P, 3), found (B, 2, patches) zeros."""
    B, P, _ = pixels.shape
    height = P // width
    places, counts = np.empty(P, np.int64), np.zeros(most.shape[1], np.int64)
    number = np.zeros(found.shape[2], np.int64)
    for b in range(B):
        if paid[b] and clock[b] > 0:
            keep_reward(most[b], step[b], clock[b], middle[b], rewards[b] % len(won[b]), won[b], lost[b], hues, shades)
            rewards[b] += 1
            judge(won[b], lost[b], min(rewards[b], len(won[b])), worth[b], hues, shades)
        clock[b] += 1
        number[:] = 0
        for p in range(P):
            red, green, blue = np.int64(pixels[b, p, 0]), np.int64(pixels[b, p, 1]), np.int64(pixels[b, p, 2])
            i, j = (red - green + 255) // grain + 1, (red + green - 2 * blue + 510) // (2 * grain) + 1
            place = (i * hues + j) * shades + (red + green + blue) // (3 * grain) + 1
            places[p] = place
            counts[place] += 1
            if worth[b, place, 0] != 0 or worth[b, place, 1] != 0:
                for i in range(2):
                    found[b, i, patch_of[p]] += worth[b, place, i]
                number[patch_of[p]] += 1
        for p in range(P):
            place = places[p]
            most[b, place] = max(most[b, place], counts[place])
            if counts[place] > 1:
                step[b, place] = clock[b]
        middle[b] = most_frequent(places, counts, height, width)
        for p in range(P):
            counts[places[p]] = 0
        for patch in range(len(number)):
            for i in range(2):
                found[b, i, patch] /= max(number[patch], 1)


@compiled
def most_frequent(places, counts, height, width):
    """The bin that has most pixels in the middle of the view, a fifth of its height and width."""
    for p in range(len(places)):
        counts[places[p]] = 0
    best = np.int64(0)
    for y in range(height * 13 // 36, height * 21 // 36):
        for x in range(width * 19 // 48, width * 29 // 48):
            place = places[y * width + x]
            counts[place] += 1
            if counts[place] > counts[best]:
                best = place
    return best


@compiled
def keep_reward(most, step, clock, middle, event, won, lost, hues, shades):
    """What is in the middle has won; bins that had twelve pixels and more and are out of view, with all beside them,
    have lost: the largest of these. Then all begins anew."""
    won[event] = middle
    lost[event] = 0
    for slot in range(lost.shape[1]):
        best = 0
        for place in range(len(most)):
            if (
                most[place] >= 12
                and most[place] > most[best]
                and not is_beside_a_step(step, clock, place, hues, shades)
            ):
                best = place
        lost[event, slot] = best
        if best == 0:
            break
        most[best] = 0
    most[:] = 0


@compiled
def is_beside_a_step(step, clock, place, hues, shades):
    """Was this bin, or one beside it, in view at that step?"""
    for i in range(-1, 2):
        for j in range(-1, 2):
            for k in range(-1, 2):
                if step[place + (i * hues + j) * shades + k] == clock:
                    return True
    return False


@compiled
def are_beside(one, other, hues, shades):
    """Are these the same bin, or two that touch?"""
    i, j, k = one // (hues * shades), one // shades % hues, one % shades
    a, b, c = other // (hues * shades), other // shades % hues, other % shades
    return abs(i - a) <= 1 and abs(j - b) <= 1 and abs(k - c) <= 1


@compiled
def takes_part(place, won, lost, event, hues, shades):
    """1 if it won, -1 if it lost, 0 if it was not there."""
    if are_beside(place, won[event], hues, shades):
        return 1
    for slot in range(lost.shape[1]):
        if lost[event, slot] > 0 and are_beside(place, lost[event, slot], hues, shades):
            return -1
    return 0


@compiled
def record_of(place, won, lost, number, hues, shades):
    """v: (wins - losses) / (wins + losses)."""
    sum_of, parts = 0, 0
    for event in range(number):
        part = takes_part(place, won, lost, event, hues, shades)
        sum_of += part
        parts += part != 0
    return sum_of / max(parts, 1)


@compiled
def judge(won, lost, number, worth, hues, shades):
    """The worth of all that took part, and of what is beside it."""
    worth[:] = 0
    for event in range(number):
        put_worth(won[event], won, lost, number, worth, hues, shades)
        for slot in range(lost.shape[1]):
            if lost[event, slot] > 0:
                put_worth(lost[event, slot], won, lost, number, worth, hues, shades)


@compiled
def put_worth(place, won, lost, number, worth, hues, shades):
    """v and u of one bin, for it and those beside it."""
    partners, rewards = 0.0, 0
    for event in range(number):
        part = takes_part(place, won, lost, event, hues, shades)
        if part == 1:
            total, losers = 0.0, 0
            for slot in range(lost.shape[1]):
                if lost[event, slot] > 0:
                    total += record_of(lost[event, slot], won, lost, number, hues, shades)
                    losers += 1
            if losers:
                partners += total / losers
                rewards += 1
        elif part == -1:
            partners += record_of(won[event], won, lost, number, hues, shades)
            rewards += 1
    v, u = record_of(place, won, lost, number, hues, shades), partners / max(rewards, 1)
    for i in range(-1, 2):
        for j in range(-1, 2):
            for k in range(-1, 2):
                beside = place + (i * hues + j) * shades + k
                worth[beside, 0], worth[beside, 1] = v, u
