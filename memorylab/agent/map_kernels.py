"""Loops over what stands where, for memories that know places. Each has its twin in PyTorch's own operations."""

import numpy as np

from memorylab.agent.kernels import compiled


@compiled
def note_things(rows, sightings, strip, sighted, born, kept, clock, found, near, apart):
    """See ChartStore.meet: rows (B, W), 0 where there is no thing; sightings (B, W, 6), sighted (B, N, 6), found
    (B, 2, strips) zeros."""
    B, W = rows.shape
    number = np.zeros(found.shape[2], np.int64)
    for b in range(B):
        number[:] = 0
        now = clock[b]
        for column in range(W):
            if rows[b, column] == 0:
                continue
            x, z, off, c0, c1, c2 = sightings[b, column]
            t_p, t_c, is_new = now, now, True
            for i in range(kept[b]):
                there = sighted[b, i]
                away = np.sqrt((there[0] - x) ** 2 + (there[1] - z) ** 2)
                if away < near:
                    t_p = min(t_p, born[b, i])
                if (there[3] - c0) ** 2 + (there[4] - c1) ** 2 + (there[5] - c2) ** 2 < 1:
                    if away < near + off + there[2]:
                        t_c = min(t_c, born[b, i])
                    if away < apart:
                        is_new = False
            if is_new and kept[b] < sighted.shape[1]:
                sighted[b, kept[b]] = sightings[b, column]
                born[b, kept[b]] = now
                kept[b] += 1
            found[b, 0, strip[column]] += (max(t_c, t_p) - t_p) / now
            found[b, 1, strip[column]] += t_p / now
            number[strip[column]] += 1
        for each in range(len(number)):
            for i in range(2):
                found[b, i, each] /= max(number[each], 1)


@compiled
def choose_ground(ground, place, angle, least, most, where, cost, cell, turning, wearier):
    """See SurveyStore.choose: ground (B, N, N), east and north; where (B, 2) and cost (B) are written."""
    N = ground.shape[1]
    for b in range(len(ground)):
        x, z = place[b]
        sin, cos = np.sin(angle[b]), np.cos(angle[b])
        best, best_i, best_j = np.inf, 0, 0
        for i in range(first_cell(least[b, 0], cell, N), last_cell(most[b, 0], cell, N) + 1):
            east = (i + 0.5 - N / 2) * cell - x
            for j in range(first_cell(least[b, 1], cell, N), last_cell(most[b, 1], cell, N) + 1):
                north = (j + 0.5 - N / 2) * cell - z
                d = np.sqrt(east * east + north * north)
                c = d + turning * (1 - (east * sin + north * cos) / max(d, 1e-3)) + ground[b, i, j]
                if c < best:
                    best, best_i, best_j = c, i, j
        where[b, 0], where[b, 1], cost[b] = (best_i + 0.5 - N / 2) * cell, (best_j + 0.5 - N / 2) * cell, best
        ground[b, best_i, best_j] += wearier


@compiled
def first_cell(least, cell, N):
    """Of N about the middle, the first whose middle is not below this."""
    return max(0, int(np.ceil(least / cell + N / 2 - 0.5)))


@compiled
def last_cell(most, cell, N):
    """The last whose middle is not above this."""
    return min(N - 1, int(np.floor(most / cell + N / 2 - 0.5)))


@compiled
def follow_trails(
    marks, facing, kept_marks, facings, ways, left, ready, place, votes, total, worth, told,
    scale, threshold, fades, cell, same_way, on_trail, later,
):  # fmt: skip
    """See TrailStore.follow: marks (B, D), kept_marks (B, N, D), votes (B, 3, C, C), told (B, 5)."""
    C = votes.shape[2]
    logits = np.empty(kept_marks.shape[1], votes.dtype)
    for b in range(len(marks)):
        x, z = place[b]
        worth[b] /= fades
        highest = 0.0
        for i in range(ready[b]):
            apart = (facings[b, i, 0] - facing[b, 0]) ** 2 + (facings[b, i, 1] - facing[b, 1]) ** 2
            logits[i] = -np.inf
            if apart < same_way * same_way:
                logits[i] = scale * np.dot(kept_marks[b, i], marks[b]) - threshold
                highest = max(highest, logits[i])
        summed = np.exp(-highest)
        for i in range(ready[b]):
            logits[i] = np.exp(logits[i] - highest)
            summed += logits[i]
        for i in range(ready[b]):
            if logits[i] > 0:
                cast_vote(votes[b], logits[i] / summed * worth[b], x + ways[b, i, 0], z + ways[b, i, 1], cell)
                total[b] += logits[i] / summed * worth[b]
        most, row, column = votes.dtype.type(-1), 0, 0
        for i in range(C):
            for j in range(C):
                if votes[b, 0, i, j] > most:
                    most, row, column = votes[b, 0, i, j], i, j
        east, north = votes[b, 1, row, column] / max(most, 1e-9), votes[b, 2, row, column] / max(most, 1e-9)
        told[b, 0], told[b, 1], told[b, 2], told[b, 3] = east, north, east, north
        told[b, 4] = most / (total[b] + worth[b])
        best, least = -1, np.inf
        for i in range(ready[b]):
            apart = (east - ways[b, i, 0] - x) ** 2 + (north - ways[b, i, 1] - z) ** 2
            if apart < on_trail * on_trail and left[b, i] < least:
                best, least = i, left[b, i]
        if best >= 0 and best + later < ready[b] and left[b, best + later] < least:
            told[b, 2], told[b, 3] = east - ways[b, best + later, 0], north - ways[b, best + later, 1]


@compiled
def cast_vote(votes, weight, x, z, cell):
    """In the nine cells around (x, z)."""
    C = votes.shape[1]
    row = min(max(int(np.floor(x / cell + C / 2)), 1), C - 2)
    column = min(max(int(np.floor(z / cell + C / 2)), 1), C - 2)
    for i in range(row - 1, row + 2):
        for j in range(column - 1, column + 2):
            votes[0, i, j] += weight
            votes[1, i, j] += weight * x
            votes[2, i, j] += weight * z
