"""A square room with a panel on its front wall, seen in true perspective by a head that turns.

The head is in the middle of a cube whose front wall carries the panel, so each surface is a square seen from
its axis, and along a picture row its texture coordinates are quotients of linear functions of the column.
A row is cut wherever the surface changes; between two cuts it shows one surface.
"""

import math

import numpy as np
from numba import float32, int32, uint64

from memorylab.world.canvas import colour_of
from memorylab.world.compiled import compiled
from memorylab.world.gaze import PANEL_DISTANCE, PANEL_SIDE

PANEL_HALF = PANEL_SIDE / 2 / PANEL_DISTANCE  # half a panel, for a wall at distance one
FRONT, RIGHT, BACK, LEFT, FLOOR, CEILING, PANEL = range(7)
WALL_COLOURS = {FRONT: (104, 112, 126), RIGHT: (140, 118, 92), BACK: (120, 98, 124), LEFT: (98, 124, 102)}


def wall(size: int, colour: tuple[int, int, int]) -> np.ndarray:
    """Planks of uneven shade, darker below the rail, with a skirting board: where one looks can be read."""
    y, x = (np.mgrid[:size, :size] + 0.5) / size
    plank = np.floor(x * 10)
    shade = 0.88 + 0.10 * np.sin(plank * 2.4) + 0.12 * (0.5 - y)
    shade = np.where(x * 10 - plank < 0.08, 0.7, shade)
    shade = np.where(y > 0.68, shade * 0.72, shade)
    shade = np.where((y > 0.66) & (y < 0.69), 1.15, shade)
    shade = np.where(y > 0.95, 0.45, shade)
    return shade[..., None] * np.array(colour)


def floor(size: int) -> np.ndarray:
    y, x = (np.mgrid[:size, :size] + 0.5) / size
    tile = (np.floor(x * 8) + np.floor(y * 8)) % 2
    return (0.75 + 0.2 * tile + 0.15 * (0.5 - y))[..., None] * np.array((118, 100, 84))


def ceiling(size: int) -> np.ndarray:
    """Pale, with a row of lamps that points to the front."""
    y, x = (np.mgrid[:size, :size] + 0.5) / size
    lamp = (abs(x - 0.5) < 0.08) & (abs((y * 4) % 1 - 0.5) < 0.3)
    shade = np.where(lamp, 1.35, 0.8 + 0.2 * y)
    return shade[..., None] * np.array((172, 176, 184))


def furnish(width: int) -> np.ndarray:
    """The six surfaces as (6, size, size) texels, fine enough for pictures of that width."""
    size = max(32, width * 4 // 3)
    fine = size * 3
    surfaces = [wall(fine, colour) for colour in WALL_COLOURS.values()] + [floor(fine), ceiling(fine)]
    smooth = np.stack(surfaces).reshape(6, size, 3, size, 3, 3).mean(axis=(2, 4))
    red, green, blue = np.moveaxis(smooth.clip(0, 255).astype(np.uint32), -1, 0)
    return red | green << 8 | blue << 16


def panel_texels(width: int) -> int:
    """Side of a canvas that has about one texel per pixel of a picture of that width; a multiple of 16."""
    return 16 * math.ceil(PANEL_HALF * width / 16)


@compiled
def surface_at(x, y, z):
    """Which surface the ray (x right, y up, z ahead) meets."""
    if abs(y) > abs(x) and abs(y) > abs(z):
        return FLOOR if y < 0 else CEILING
    if abs(x) > abs(z):
        return LEFT if x < 0 else RIGHT
    if z < 0:
        return BACK
    return PANEL if abs(x) <= PANEL_HALF * z and abs(y) <= PANEL_HALF * z else FRONT


@compiled
def add_cut(cuts, count, at_0, slope, width):
    """Note the first column past the root of at_0 + slope * column, sorted; returns the new count."""
    if slope == 0.0:
        return count
    root = math.ceil(-at_0 / slope) if abs(at_0) < 1e6 * abs(slope) else -1
    if root <= 0 or root >= width:
        return count
    place = count
    while place > 0 and cuts[place - 1] > root:
        cuts[place] = cuts[place - 1]
        place -= 1
    cuts[place] = root
    return count + 1


@compiled
def cut_row(cuts, ends, surfaces, ahead, x_0, x_1, y, z_0, z_1, width):
    """Where each stretch of one surface ends, and which it is; x and z are linear, y is constant along a row."""
    z_end = z_0 + z_1 * (width - 1)
    count = add_cut(cuts, 0, z_0 - x_0, z_1 - x_1, width)
    count = add_cut(cuts, count, z_0 + x_0, z_1 + x_1, width)
    if 2.0 * y * y > ahead * ahead:  # else the larger of |x| and |z| exceeds |y| along the whole row
        count = add_cut(cuts, count, x_0 - y, x_1, width)
        count = add_cut(cuts, count, x_0 + y, x_1, width)
        count = add_cut(cuts, count, z_0 - y, z_1, width)
        count = add_cut(cuts, count, z_0 + y, z_1, width)
    if abs(y) <= PANEL_HALF * max(z_0, z_end):
        count = add_cut(cuts, count, PANEL_HALF * z_0 - abs(y), PANEL_HALF * z_1, width)
        count = add_cut(cuts, count, PANEL_HALF * z_0 - x_0, PANEL_HALF * z_1 - x_1, width)
        count = add_cut(cuts, count, PANEL_HALF * z_0 + x_0, PANEL_HALF * z_1 + x_1, width)
    cuts[count] = width
    stretches, start = 0, 0
    for cut in range(count + 1):
        stop = cuts[cut]
        middle = 0.5 * (start + stop - 1)
        surface = surface_at(x_0 + x_1 * middle, y, z_0 + z_1 * middle)
        if start == stop:
            continue
        if stretches == 0 or surface != surfaces[stretches - 1]:
            stretches += 1
        ends[stretches - 1], surfaces[stretches - 1] = stop, surface
        start = stop
    return stretches


@compiled(fastmath=True)
def locate(nearest, weights, size, middle, start, stop, s_0, s_1, t_0, t_1, d_0, d_1):
    """For each column the texel at (s / d, t / d), which run from -1 to 1, and how much its neighbours weigh.

    `middle` is 128 where a texel's colour is that of its middle (bilinear), 0 where it is that of its area (nearest).
    The weights of right, lower and lower right neighbour share an integer, 8 bits each.
    """
    half = float32(size * 128)
    offset, top = half - float32(middle), float32((size - 1) * 256 - 1 + 255 * (middle == 0))
    stop = start + ((stop - start + 7) & ~7)  # whole vectors: the leftover columns of a loop are the slow ones
    for column in range(start, stop):
        x = float32(int32(column))
        scale = half / (d_0 + d_1 * x)
        s = int32(min(max((s_0 + s_1 * x) * scale + offset, float32(0)), top))
        t = int32(min(max((t_0 + t_1 * x) * scale + offset, float32(0)), top))
        nearest[uint64(column)] = int32(t >> 8) * int32(size) + int32(s >> 8)
        right, lower = int32(s & 255), int32(t & 255)
        both = int32(right * lower) >> 8
        weights[uint64(column)] = int32(right - both) | int32(int32(lower - both) << 8) | int32(int32(both) << 16)


@compiled
def sample_nearest(texels, first, nearest, row, start, stop):
    """For the room, whose surfaces are smooth."""
    for column in range(start, stop):
        row[uint64(column)] = texels[uint64(first) + uint64(nearest[uint64(column)])]


@compiled
def sample_bilinear(texels, size, nearest, weights, row, start, stop):
    """For the panel, whose pictures must be told apart."""
    lower, right = uint64(size), uint64(1)
    for column in range(start, stop):
        at, weight = uint64(nearest[uint64(column)]), uint64(weights[uint64(column)])
        w_right, w_lower, w_both = weight & uint64(255), (weight >> uint64(8)) & uint64(255), weight >> uint64(16)
        texel = texels[at]
        lanes = (
            (texel << uint64(8))
            + (texels[at + right] - texel) * w_right
            + (texels[at + lower] - texel) * w_lower
            + (texels[at + lower + right] - texel) * w_both
        )
        row[uint64(column)] = colour_of(lanes >> uint64(8))


@compiled
def write_row(row, width, line):
    """Colours as whole words -> three bytes a pixel, in one vectorised pass."""
    for column in range(width):
        colour = row[column]
        line[3 * column] = colour
        line[3 * column + 1] = colour >> 8
        line[3 * column + 2] = colour >> 16


@compiled
def draw_room(yaw, pitch, canvas, room, picture):
    """Draw into `picture`, (height, 3 * width) bytes: 90 degrees wide, square pixels."""
    height, width = picture.shape[0], picture.shape[1] // 3
    cuts, ends, surfaces = np.empty(12, np.int64), np.empty(12, np.int64), np.empty(12, np.int64)
    row = np.empty(width, np.uint32)
    nearest, weights = np.empty(width + 8, np.int32), np.empty(width + 8, np.int32)
    room_size, panel_size = room.shape[1], canvas.shape[0]
    panel, walls = canvas.ravel(), room.ravel()
    sin_yaw, cos_yaw = math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
    sin_pitch, cos_pitch = math.sin(math.radians(pitch)), math.cos(math.radians(pitch))
    for line in range(height):
        up = (height - 1 - 2 * line) / width
        y, ahead = up * cos_pitch + sin_pitch, cos_pitch - up * sin_pitch
        aside = 1.0 / width - 1.0  # of the first column's middle; each column adds 2 / width
        x_0, x_1 = aside * cos_yaw + ahead * sin_yaw, 2.0 / width * cos_yaw
        z_0, z_1 = ahead * cos_yaw - aside * sin_yaw, -2.0 / width * sin_yaw
        start = 0
        for stretch in range(cut_row(cuts, ends, surfaces, ahead, x_0, x_1, y, z_0, z_1, width)):
            stop, surface = ends[stretch], surfaces[stretch]
            if surface == PANEL:
                a_0, a_1, b_0, b_1, d_0, d_1 = x_0, x_1, -y, 0.0, PANEL_HALF * z_0, PANEL_HALF * z_1
            elif surface == FRONT:
                a_0, a_1, b_0, b_1, d_0, d_1 = x_0, x_1, -y, 0.0, z_0, z_1
            elif surface == RIGHT:
                a_0, a_1, b_0, b_1, d_0, d_1 = -z_0, -z_1, -y, 0.0, x_0, x_1
            elif surface == BACK:
                a_0, a_1, b_0, b_1, d_0, d_1 = -x_0, -x_1, -y, 0.0, -z_0, -z_1
            elif surface == LEFT:
                a_0, a_1, b_0, b_1, d_0, d_1 = z_0, z_1, -y, 0.0, -x_0, -x_1
            elif surface == FLOOR:
                a_0, a_1, b_0, b_1, d_0, d_1 = x_0, x_1, -z_0, -z_1, -y, 0.0
            else:
                a_0, a_1, b_0, b_1, d_0, d_1 = x_0, x_1, z_0, z_1, y, 0.0
            size = panel_size if surface == PANEL else room_size
            locate(
                nearest, weights, size, 128 * (surface == PANEL), start, stop,
                float32(a_0), float32(a_1), float32(b_0), float32(b_1), float32(d_0), float32(d_1),
            )  # fmt: skip
            if surface == PANEL:
                sample_bilinear(panel, size, nearest, weights, row, start, stop)
            else:
                sample_nearest(walls, surface * size * size, nearest, row, start, stop)
            start = stop
        write_row(row, width, picture[line])
