"""Ways to get somewhere: over a grid of open and solid cells, and around solid boxes."""

import math

import numpy as np

from memorylab.world.jit import jit
from memorylab.world.walking import is_free

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


# --- around boxes


@jit
def is_open_ahead(game, distance, radius):
    """Could a walker go straight on for so many metres?"""
    x = game.x + distance * math.sin(math.radians(game.yaw))
    z = game.z + distance * math.cos(math.radians(game.yaw))
    is_clear_of_walls = line_is_clear(game.solid, game.cell, game.x, game.z, x, z, radius)
    return is_clear_of_walls and way_is_clear(game, game.x, game.z, x, z, radius)


@jit
def way_is_clear(game, x_0, z_0, x_1, z_1, radius, target=-1):
    """Can a walker go straight from one point to the other? Only boxes count, but for the target itself."""
    for number in range(game.num_boxes):
        if game.box_solid[number] and number != target:
            west, east, _, _, south, north = game.boxes[number]
            if crosses(x_0, z_0, x_1, z_1, west - radius, east + radius, south - radius, north + radius):
                return False
    return True


@jit
def crosses(x_0, z_0, x_1, z_1, west, east, south, north):
    """Does the straight way pass through the rectangle?"""
    enters, leaves = 0.0, 1.0
    for axis in range(2):
        start, way = (x_0, x_1 - x_0) if axis == 0 else (z_0, z_1 - z_0)
        low, high = (west, east) if axis == 0 else (south, north)
        if abs(way) < 1e-12:
            if start <= low or start >= high:
                return False
        else:
            a, b = (low - start) / way, (high - start) / way
            enters, leaves = max(enters, min(a, b)), min(leaves, max(a, b))
    return enters < leaves


@jit
def way_around(game, goal_x, goal_z, radius, target=-1):
    """The next point of the shortest way around solid boxes to the goal, which may be the box `target` itself."""
    if way_is_clear(game, game.x, game.z, goal_x, goal_z, radius, target):
        return goal_x, goal_z
    margin = radius * 1.25 + 0.05
    corners = np.empty((4 * game.num_boxes + 1, 2))
    corners[0] = goal_x, goal_z
    count = 1
    for number in range(game.num_boxes):
        if game.box_solid[number]:
            west, east, _, _, south, north = game.boxes[number]
            for corner in range(4):
                x = east + margin if corner & 1 else west - margin
                z = north + margin if corner & 2 else south - margin
                if is_free(game, x, z, radius):
                    corners[count] = x, z
                    count += 1
    return first_corner(game, corners, count, radius, target)


@jit
def first_corner(game, corners, count, radius, target):
    """Shortest ways from the goal (corner 0) to every corner; then the best corner in sight."""
    lengths = np.full(count, np.inf)
    settled = np.zeros(count, np.bool_)
    lengths[0] = 0.0
    for _ in range(count):
        nearest = -1
        for i in range(count):
            if not settled[i] and (nearest < 0 or lengths[i] < lengths[nearest]):
                nearest = i
        if lengths[nearest] == np.inf:
            break
        settled[nearest] = True
        x, z = corners[nearest]
        for i in range(count):
            way = lengths[nearest] + math.hypot(corners[i, 0] - x, corners[i, 1] - z)
            if (
                not settled[i]
                and way < lengths[i]
                and way_is_clear(game, x, z, corners[i, 0], corners[i, 1], radius, target)
            ):
                lengths[i] = way
    best, best_way = 0, np.inf
    for i in range(count):
        way = lengths[i] + math.hypot(corners[i, 0] - game.x, corners[i, 1] - game.z)
        if way < best_way and way_is_clear(game, game.x, game.z, corners[i, 0], corners[i, 1], radius, target):
            best, best_way = i, way
    return corners[best, 0], corners[best, 1]
