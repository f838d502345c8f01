"""Loops over the pixels and patches of a batch's pictures, for memories that look at these themselves.

As with the other kernels each has its twin in PyTorch's own operations and a test that compares the two; but for what
judges worth, which is done on the CPU always, and has its twin in the test alone.
"""

import numpy as np

from memorylab.agent.kernels import compiled


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
