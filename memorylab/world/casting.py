"""Which wall of the grid each bearing meets first."""

import math

from numba import int32, uint64

from memorylab.world.chance import hashed
from memorylab.world.compiled import compiled

PICTURE_EVERY = 10  # one wall in so many has a picture, where there are any


@compiled
def cast_bearings(game, first, step, sin_yaw, cos_yaw, walls, looks):
    """The wall in each of many directions, by their slope to straight ahead: first, first + step, ...

    Fills in how far away it is, in lengths of the direction, and the look of its face.
    """
    room = open_rectangle(game)
    for i in range(len(walls)):
        aside = first + step * i
        walls[i], looks[i] = cast(game, room, aside * cos_yaw + sin_yaw, cos_yaw - aside * sin_yaw)


@compiled
def is_wall(game, row, column):
    """Beyond the grid all is wall."""
    return row < 0 or row >= game.rows or column < 0 or column >= game.columns or game.solid[row, column] != 0


@compiled
def has_wall(game, south, north, west, east):
    for row in range(south, north + 1):
        for column in range(west, east + 1):
            if is_wall(game, row, column):
                return True
    return False


@compiled
def open_rectangle(game):
    """A rectangle of open cells around the eye, grown until walls stop each side: (south, north, west, east).

    No ray can meet a wall in it, so that all of them start at its edge: most rooms are crossed in one step.
    """
    south = north = math.floor(game.z / game.cell)
    west = east = math.floor(game.x / game.cell)
    grows_south = grows_north = grows_west = grows_east = True
    while grows_south or grows_north or grows_west or grows_east:
        grows_south = grows_south and not has_wall(game, south - 1, south - 1, west, east)
        south -= grows_south
        grows_north = grows_north and not has_wall(game, north + 1, north + 1, west, east)
        north += grows_north
        grows_west = grows_west and not has_wall(game, south, north, west - 1, west - 1)
        west -= grows_west
        grows_east = grows_east and not has_wall(game, south, north, east + 1, east + 1)
        east += grows_east
    return south, north, west, east


@compiled
def cast(game, room, toward_x, toward_z):
    """From the edge of the open rectangle walk the grid to the first solid cell: (distance, look of its face)."""
    south, north, west, east = room
    cell = game.cell
    to_east, to_north = toward_x > 0, toward_z > 0
    step_x, step_z = (1 if to_east else -1), (1 if to_north else -1)
    per_x = 1.0 / (toward_x if abs(toward_x) > 1e-12 else 1e-12 * step_x)
    per_z = 1.0 / (toward_z if abs(toward_z) > 1e-12 else 1e-12 * step_z)
    next_x = ((east + 1 if to_east else west) * cell - game.x) * per_x
    next_z = ((north + 1 if to_north else south) * cell - game.z) * per_z
    faces_x = next_x < next_z
    if faces_x:
        distance, column = next_x, (east + 1 if to_east else west - 1)
        row = min(max(math.floor((game.z + toward_z * distance) / cell), south), north)
    else:
        distance, row = next_z, (north + 1 if to_north else south - 1)
        column = min(max(math.floor((game.x + toward_x * distance) / cell), west), east)
    if not is_wall(game, row, column):
        next_x = ((column + to_east) * cell - game.x) * per_x
        next_z = ((row + to_north) * cell - game.z) * per_z
        cell_x, cell_z = cell * abs(per_x), cell * abs(per_z)
        while not is_wall(game, row, column):
            faces_x = next_x < next_z
            if faces_x:
                distance = next_x
                column += step_x
                next_x += cell_x
            else:
                distance = next_z
                row += step_z
                next_z += cell_z
    return distance, look_of_wall(game, row, column, int(faces_x), step_x if faces_x else step_z)


@compiled
def look_of_wall(game, row, column, faces_x, step):
    """Twice the material, plus 1 if it faces east or west; some walls have a picture on them."""
    material = game.wall_material
    if game.pictures > 0:
        slot = ((row * 1024 + column) * 2 + faces_x) * 2 + (step > 0)
        bits = hashed(game.hanging, slot)
        if bits % uint64(PICTURE_EVERY) == uint64(0):
            material = game.first_picture + int32((bits >> uint64(32)) % uint64(game.pictures))
    return 2 * material + faces_x
