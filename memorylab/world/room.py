"""A square room with a panel on its front wall, seen in true perspective by a head that turns.

The head is in the middle of a cube whose front wall carries the panel, so what a pixel shows depends on its direction
alone: the steepest axis names the wall, and the two other components over it are the place on that wall.
"""

import math
from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numba import float32, int32

from memorylab.world.canvas import TEXELS_PER_PIXEL, packed
from memorylab.world.gaze import PANEL_DISTANCE, PANEL_SIDE
from memorylab.world.jit import jit
from memorylab.world.pixels import whole_vectors, write_row

PANEL_HALF = PANEL_SIDE / 2 / PANEL_DISTANCE  # half a panel, for a wall at distance one
FRONT, RIGHT, BACK, LEFT, FLOOR, CEILING = range(6)
NUM_SURFACES = 6
BAND = 32  # rows
Paint = Callable[[np.ndarray, np.ndarray], np.ndarray]  # y and x from 0 to 1 -> colours
WALL_COLOURS = {FRONT: (104, 112, 126), RIGHT: (140, 118, 92), BACK: (120, 98, 124), LEFT: (98, 124, 102)}


def surface_size(width: int) -> int:
    """Texels across a surface in pictures of that width: twice the pixels that the panel covers, a multiple of 32."""
    return TEXELS_PER_PIXEL * 16 * math.ceil(PANEL_HALF * width / 16)


def wall(y: np.ndarray, x: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    """Planks of uneven shade, darker below the rail, with a skirting board: where one looks can be read."""
    plank = np.floor(x * 10)
    shade = 0.88 + 0.10 * np.sin(plank * 2.4) + 0.12 * (0.5 - y)
    shade = np.where(x * 10 - plank < 0.08, 0.7, shade)
    shade = np.where(y > 0.68, shade * 0.72, shade)
    shade = np.where((y > 0.66) & (y < 0.69), 1.15, shade)
    shade = np.where(y > 0.95, 0.45, shade)
    return shade[..., None] * np.array(colour)


def floor(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Chequered: squares tell depth."""
    tile = (np.floor(x * 8) + np.floor(y * 8)) % 2
    return (0.75 + 0.2 * tile + 0.15 * (0.5 - y))[..., None] * np.array((118, 100, 84))


def ceiling(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Pale, with a row of lamps that points to the front."""
    lamp = (abs(x - 0.5) < 0.08) & (abs((y * 4) % 1 - 0.5) < 0.3)
    shade = np.where(lamp, 1.35, 0.8 + 0.2 * y)
    return shade[..., None] * np.array((172, 176, 184))


@lru_cache(maxsize=4)
def furnish(width: int) -> np.ndarray:
    """The six surfaces of the room as texels, fine enough for pictures of that width."""
    size = surface_size(width)
    paints: list[Paint] = [*(partial(wall, colour=colour) for colour in WALL_COLOURS.values()), floor, ceiling]
    surfaces = np.empty((NUM_SURFACES, size, size), np.uint32)
    for surface, paint in zip(surfaces, paints, strict=True):
        for top in range(0, size, BAND):
            surface[top : top + BAND] = smoothed(paint, size, top)
    return surfaces


def smoothed(paint: Paint, size: int, top: int) -> np.ndarray:
    """BAND rows of a surface from row `top` on, each texel the mean of nine: a whole one as fine would take gigabytes
    for wide pictures."""
    x = (np.arange(3 * size) + 0.5) / (3 * size)
    fine = paint(x[3 * top : 3 * (top + BAND), None], x)
    return packed(fine.reshape(BAND, 3, size, 3, 3).mean(axis=(1, 3)).clip(0, 255))


@jit(fastmath=True)
def locate(texels, columns, x_0, x_1, y, z_0, z_1, size, panel_first):
    """Which texel each column of a row shows. Along a row x (right) and z (ahead) are linear, y (up) is constant.

    Everything is computed for every column and chosen without branches, so that it runs in vectors.
    """
    area = int32(size * size)
    half = float32(size) * float32(0.5)
    reach = half - float32(0.001)  # a hair less, so that the far edge of a surface is still its last texel
    up, panel_half = abs(y), float32(PANEL_HALF)
    level = int32(FLOOR) * area if y < float32(0) else int32(CEILING) * area
    downwards = float32(1) if y > float32(0) else float32(-1)
    for column in range(columns):
        x, z = x_0 + x_1 * float32(int32(column)), z_0 + z_1 * float32(int32(column))
        is_right, is_ahead = x > float32(0), z > float32(0)
        across, along = abs(x), abs(z)
        # One of the four walls ...
        is_side = across > along
        depth = max(across, along)
        side_s, end_s = -z if is_right else z, x if is_ahead else -x
        s = side_s if is_side else end_s
        side, end = (
            int32(RIGHT) * area if is_right else int32(LEFT) * area,
            int32(0) if is_ahead else int32(BACK) * area,
        )
        first = side if is_side else end
        # ... or floor or ceiling, where up or down is the steepest ...
        is_level = up > depth
        s, t = x if is_level else s, downwards * z if is_level else -y
        first = level if is_level else first
        # ... or the panel on the front wall.
        panel_depth = panel_half * z
        is_panel = max(across, up) <= panel_depth
        depth = panel_depth if is_panel else max(depth, up)
        first = panel_first if is_panel else first
        scale = reach / depth
        texels[column] = int32(first + int32(int32(t * scale + half) * size)) + int32(s * scale + half)


@jit
def draw_room(yaw, pitch, surfaces, size, panel_first, picture):
    """Draw into `picture`, (height, 3 * width) bytes: 90 degrees wide, square pixels.

    `surfaces` holds squares of size x size texels: the six of the room, and the panel from `panel_first` on.
    """
    height, width = picture.shape[0], picture.shape[1] // 3
    columns = whole_vectors(width)
    texels = np.empty(columns, np.int32)
    pixels = picture.ravel()
    sin_yaw, cos_yaw = math.sin(math.radians(yaw)), math.cos(math.radians(yaw))
    sin_pitch, cos_pitch = math.sin(math.radians(pitch)), math.cos(math.radians(pitch))
    pixel = 2.0 / width
    aside, top = 0.5 * pixel - 1.0, 0.5 * pixel * (height - 1)  # the middle of the first column and of the first line
    x_1, z_1 = float32(pixel * cos_yaw), float32(-pixel * sin_yaw)
    for line in range(height):
        up = top - pixel * line
        y, ahead = up * cos_pitch + sin_pitch, cos_pitch - up * sin_pitch
        x_0, z_0 = float32(aside * cos_yaw + ahead * sin_yaw), float32(ahead * cos_yaw - aside * sin_yaw)
        locate(texels, columns, x_0, x_1, float32(y), z_0, z_1, int32(size), int32(panel_first))
        write_row(surfaces, texels, None, pixels, width, 3 * width * line)
