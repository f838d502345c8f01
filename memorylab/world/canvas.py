"""Painting on a flat square canvas: the screen that a game shows on its panel.

A canvas is (size, size) uint32, red | green << 8 | blue << 16, with two texels per pixel of the picture it will be
seen in. What is painted is soft over one such pixel, so that taking the nearest texel draws it without jagged edges.
Places are fractions of the canvas, origin top left.
"""

import numpy as np
from numba import uint32
from PIL import Image

from memorylab.world.jit import jit

TEXELS_PER_PIXEL = 2
ONE = 256  # a full weight


def rgb(red: int, green: int, blue: int) -> np.uint32:
    """One colour as a texel."""
    return np.uint32(red | green << 8 | blue << 16)


def packed(picture: np.ndarray) -> np.ndarray:
    """(..., 3) numbers from 0 to 255 -> texels."""
    red, green, blue = np.moveaxis(picture.astype(np.uint32), -1, 0)
    return red | green << 8 | blue << 16


WHITE, BLACK = rgb(255, 255, 255), rgb(0, 0, 0)


def softened(picture: Image.Image, side: int) -> np.ndarray:
    """A picture as (side, side, ...) texels with no more detail than pixels can show."""
    pixels = side // TEXELS_PER_PIXEL
    if picture.size != (pixels, pixels):
        picture = picture.resize((pixels, pixels), Image.Resampling.LANCZOS)
    return np.asarray(picture.resize((side, side), Image.Resampling.BILINEAR))


@jit
def blended(under, over, weight):
    """`over` on `under`, weight in 0 .. ONE."""
    red_blue, green = uint32(0xFF00FF), uint32(0x00FF00)
    weight, rest = uint32(weight), uint32(ONE - weight)
    mixed_red_blue = ((under & red_blue) * rest + (over & red_blue) * weight) >> uint32(8)
    mixed_green = ((under & green) * rest + (over & green) * weight) >> uint32(8)
    return uint32((mixed_red_blue & red_blue) | (mixed_green & green))


@jit
def clear(canvas, colour):
    """One colour everywhere."""
    for row in range(canvas.shape[0]):
        for column in range(canvas.shape[1]):
            canvas[row, column] = colour


@jit
def covered(cell, low, high):
    """How much of the pixel around this cell the interval low .. high covers."""
    middle, half = cell + 0.5, TEXELS_PER_PIXEL / 2
    return max(0.0, min(high, middle + half) - max(low, middle - half)) / TEXELS_PER_PIXEL


@jit
def fill_box(canvas, left, top, width, height, colour):
    """An upright rectangle, by its top left corner and its sides."""
    size = canvas.shape[0]
    x_0, x_1, y_0, y_1 = left * size, (left + width) * size, top * size, (top + height) * size
    edge = TEXELS_PER_PIXEL  # what touches the canvas's edge goes on behind it
    x_0, y_0 = (x_0 - edge if x_0 <= 0.0 else x_0), (y_0 - edge if y_0 <= 0.0 else y_0)
    x_1, y_1 = (x_1 + edge if x_1 >= size else x_1), (y_1 + edge if y_1 >= size else y_1)
    for row in range(max(0, int(y_0) - 1), min(size, int(y_1) + 2)):
        for column in range(max(0, int(x_0) - 1), min(size, int(x_1) + 2)):
            weight = int(ONE * covered(column, x_0, x_1) * covered(row, y_0, y_1) + 0.5)
            canvas[row, column] = blended(canvas[row, column], colour, weight)


@jit
def fill_square(canvas, x, y, side, colour):
    """A square with its centre at (x, y)."""
    fill_box(canvas, x - side / 2, y - side / 2, side, side, colour)


@jit
def fill_disc(canvas, x, y, diameter, colour):
    """A disc with its centre at (x, y)."""
    size = canvas.shape[0]
    radius = diameter * size / 2
    for row in range(int(y * size - radius) - 1, int(y * size + radius) + 2):
        for column in range(int(x * size - radius) - 1, int(x * size + radius) + 2):
            distance = np.hypot(column + 0.5 - x * size, row + 0.5 - y * size)
            weight = int(ONE * min(1.0, max(0.0, (radius - distance) / TEXELS_PER_PIXEL + 0.5)))
            canvas[row, column] = blended(canvas[row, column], colour, weight)


@jit
def stamp(canvas, picture, x, y, zoom=1):
    """A (side, side) picture of texels with its centre at (x, y), each texel as a square of `zoom` x `zoom`."""
    side = picture.shape[0] * zoom
    top = int(np.round(y * canvas.shape[0] - side / 2))
    left = int(np.round(x * canvas.shape[0] - side / 2))
    if zoom == 1:
        for row in range(side):
            for column in range(side):
                canvas[top + row, left + column] = picture[row, column]
    else:
        for row in range(side):
            for column in range(side):
                canvas[top + row, left + column] = picture[row // zoom, column // zoom]
