"""Which wall of the grid each bearing meets first."""

import math

from numba import float32, int32, int64, uint64

from memorylab.world.jit import jit
from memorylab.world.rng import hashed

MOST_CELLS = 1024  # across a grid, in the numbers of faces
EVERY = 8  # of so many rays one is cast first
PICTURE_EVERY = 10  # one wall in so many has a picture, where there are any


@jit
def cast_bearings(game, first, step, sin_yaw, cos_yaw, walls, looks):
    """The wall in each of many directions, by their slope to straight ahead: first, first + step, ...

    Fills in how far away it is, in lengths of the direction, and the look of its face.
    """
    room = open_rectangle(game)
    cast_faces(game, room, first, step, sin_yaw, cos_yaw, walls, looks)
    measure_faces(first, step, sin_yaw, cos_yaw, walls, looks)
    look_at_faces(game, looks)


@jit
def cast_faces(game, room, first, step, sin_yaw, cos_yaw, gaps, faces):
    """Cast one ray in eight, then those between them where needed.

    Between two rays that meet the same face there is no room for another wall: it would be as wide as that face.
    """
    last = len(gaps) - 1
    gaps[last], faces[last] = cast_bearing(game, room, first + step * last, sin_yaw, cos_yaw)
    for i in range(0, last, EVERY):
        gaps[i], faces[i] = cast_bearing(game, room, first + step * i, sin_yaw, cos_yaw)
    apart = EVERY // 2
    while apart > 0:
        for i in range(apart, last, 2 * apart):
            left, right = i - apart, min(i + apart, last)
            if faces[left] == faces[right]:
                gaps[i], faces[i] = gaps[left], faces[left]
            else:
                gaps[i], faces[i] = cast_bearing(game, room, first + step * i, sin_yaw, cos_yaw)
        apart //= 2


@jit
def cast_bearing(game, room, aside, sin_yaw, cos_yaw):
    """From a slope to straight ahead to a direction on the map."""
    return cast(game, room, aside * cos_yaw + sin_yaw, cos_yaw - aside * sin_yaw)


@jit(fastmath=True)
def measure_faces(first, step, sin_yaw, cos_yaw, walls, faces):
    """From the gap between the eye and the plane of a face to the distance at which rays meet it."""
    first, step, sin_yaw, cos_yaw = float32(first), float32(step), float32(sin_yaw), float32(cos_yaw)
    for i in range(len(walls)):
        aside = first + step * float32(int32(i))
        toward_x, toward_z = aside * cos_yaw + sin_yaw, cos_yaw - aside * sin_yaw
        toward = toward_x if int32(faces[i] & 2) > int32(0) else toward_z
        # An eye on the very plane of a face may look along it.
        walls[i] = max(walls[i] / (toward if abs(toward) > float32(1e-9) else float32(1e-9)), float32(0))


@jit
def look_at_faces(game, looks):
    """Replaces faces by their looks; neighbours mostly meet the same face, which is looked up once."""
    face, look = looks[0], look_of_face(game, looks[0])
    for i in range(len(looks)):
        if looks[i] != face:
            face = looks[i]
            look = look_of_face(game, face)
        looks[i] = look


@jit
def look_of_face(game, face):
    """Twice the material, plus 1 if it faces east or west; some walls have a picture on them."""
    material = game.wall_material
    if game.pictures > 0:
        bits = hashed(game.hanging, int64(face))
        if bits % uint64(PICTURE_EVERY) == uint64(0):
            material = game.first_picture + int32((bits >> uint64(32)) % uint64(game.pictures))
    return 2 * material + ((face >> 1) & 1)


@jit
def is_wall(game, row, column):
    """Beyond the grid all is wall."""
    return row < 0 or row >= game.rows or column < 0 or column >= game.columns or game.solid[row, column] != 0


@jit
def has_wall(game, south, north, west, east):
    """Is any cell of this rectangle, edges included, a wall?"""
    for row in range(south, north + 1):
        for column in range(west, east + 1):
            if is_wall(game, row, column):
                return True
    return False


@jit
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


@jit
def cast(game, room, toward_x, toward_z):
    """From the edge of the open rectangle walk the grid to the first solid cell.

    Returns how far its face is from the eye, straight east or north, and the number of that face; bit 1 of it says
    that it faces east or west.
    """
    south, north, west, east = room
    cell, x, z = game.cell, game.x, game.z
    to_east, to_north = toward_x > 0, toward_z > 0
    step_x, step_z = (1 if to_east else -1), (1 if to_north else -1)
    per_x = 1.0 / (toward_x if abs(toward_x) > 1e-12 else 1e-12 * step_x)
    per_z = 1.0 / (toward_z if abs(toward_z) > 1e-12 else 1e-12 * step_z)
    next_x = ((east + 1 if to_east else west) * cell - x) * per_x
    next_z = ((north + 1 if to_north else south) * cell - z) * per_z
    faces_x = next_x < next_z
    if faces_x:
        column = east + 1 if to_east else west - 1
        row = min(max(math.floor((z + toward_z * next_x) / cell), south), north)
    else:
        row = north + 1 if to_north else south - 1
        column = min(max(math.floor((x + toward_x * next_z) / cell), west), east)
    if not is_wall(game, row, column):
        next_x = ((column + to_east) * cell - x) * per_x
        next_z = ((row + to_north) * cell - z) * per_z
        cell_x, cell_z = cell * abs(per_x), cell * abs(per_z)
        while not is_wall(game, row, column):
            faces_x = next_x < next_z
            if faces_x:
                column += step_x
                next_x += cell_x
            else:
                row += step_z
                next_z += cell_z
    cell_number = row * MOST_CELLS + column
    if faces_x:
        return (column + (not to_east)) * cell - x, cell_number * 4 + 2 + to_east
    return (row + (not to_north)) * cell - z, cell_number * 4 + to_north
