"""Ways over a grid of open and solid cells: how far by steps, and whether the straight line is free."""

import math

import numpy as np

from memorylab.world.jit import jit

NEIGHBOURS = ((1, 0), (-1, 0), (0, 1), (0, -1))
FLUSH = 1e-9  # of a cell: standing against a wall is not yet inside it


@jit
def distances_to(solid, rows, columns, row, column, distances):
    """Write each open cell's number of orthogonal steps to (row, column), -1 where there is no way."""
    distances[:rows, :columns] = -1
    if solid[row, column]:
        return
    queue = np.empty(rows * columns, np.int32)
    queue[0] = row * columns + column
    distances[row, column] = 0
    taken, known = 0, 1
    while taken < known:
        row, column = queue[taken] // columns, queue[taken] % columns
        taken += 1
        for north, east in NEIGHBOURS:
            next_row, next_column = row + north, column + east
            inside = 0 <= next_row < rows and 0 <= next_column < columns
            if inside and not solid[next_row, next_column] and distances[next_row, next_column] < 0:
                distances[next_row, next_column] = distances[row, column] + 1
                queue[known] = next_row * columns + next_column
                known += 1


@jit
def line_is_clear(solid, cell, x_0, z_0, x_1, z_1, radius):
    """Can a square of half-width `radius` go straight from (x_0, z_0) to (x_1, z_1)? Outside the grid is solid.

    Exact: for each row the square crosses, the part of the line spent in that row tells the columns it touches.
    """
    reach = max(radius - FLUSH * cell, 0.0)
    south, north = math.floor((min(z_0, z_1) - reach) / cell), math.floor((max(z_0, z_1) + reach) / cell)
    for row in range(south, north + 1):
        start, end = part_between(z_0, z_1, row * cell - reach, (row + 1) * cell + reach)
        x_start, x_end = x_0 + start * (x_1 - x_0), x_0 + end * (x_1 - x_0)
        west, east = math.floor((min(x_start, x_end) - reach) / cell), math.floor((max(x_start, x_end) + reach) / cell)
        for column in range(west, east + 1):
            inside = 0 <= row < solid.shape[0] and 0 <= column < solid.shape[1]
            if not inside or solid[row, column]:
                return False
    return True


@jit
def part_between(start, end, low, high):
    """Where, as fractions of the way from start to end, the way enters and leaves [low, high]."""
    if start == end:
        return 0.0, 1.0
    one, other = (low - start) / (end - start), (high - start) / (end - start)
    return min(max(min(one, other), 0.0), 1.0), min(max(max(one, other), 0.0), 1.0)
