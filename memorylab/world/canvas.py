"""Painting on a flat square canvas: the screen that a game shows on its panel.

A canvas is (size, size) uint64; a texel holds red, blue and green in three 16-bit lanes, so that one
multiplication weighs all three; in this order they fold into a 24-bit colour with two masks.
Places are fractions of the canvas, origin top left; edges are antialiased.
"""

import numpy as np
from numba import uint64

from memorylab.world.compiled import compiled

LANES = np.uint64(0x00FF00FF00FF)
ONE = 256  # a full weight


def rgb(red: int, green: int, blue: int) -> np.uint64:
    return np.uint64(red | blue << 16 | green << 32)


WHITE, BLACK = rgb(255, 255, 255), rgb(0, 0, 0)


@compiled
def blended(under, over, weight):
    """`over` on `under`, weight in 0 .. ONE."""
    weight = uint64(weight)
    return ((under * (uint64(ONE) - weight) + over * weight) >> uint64(8)) & LANES


@compiled
def colour_of(texel):
    """red | green << 8 | blue << 16"""
    return (texel & uint64(0xFF00FF)) | ((texel >> uint64(24)) & uint64(0xFF00))


@compiled
def clear(canvas, colour):
    for row in range(canvas.shape[0]):
        for column in range(canvas.shape[1]):
            canvas[row, column] = colour


@compiled
def covered(cell, low, high):
    """How much of the unit cell the interval low .. high covers."""
    return max(0.0, min(high, cell + 1.0) - max(low, float(cell)))


@compiled
def fill_box(canvas, left, top, width, height, colour):
    size = canvas.shape[0]
    x0, x1 = max(left, 0.0) * size, min(left + width, 1.0) * size
    y0, y1 = max(top, 0.0) * size, min(top + height, 1.0) * size
    for row in range(int(y0), int(np.ceil(y1))):
        for column in range(int(x0), int(np.ceil(x1))):
            weight = int(ONE * covered(column, x0, x1) * covered(row, y0, y1) + 0.5)
            canvas[row, column] = blended(canvas[row, column], colour, weight)


@compiled
def fill_square(canvas, x, y, side, colour):
    """A square with its centre at (x, y)."""
    fill_box(canvas, x - side / 2, y - side / 2, side, side, colour)


@compiled
def fill_disc(canvas, x, y, diameter, colour):
    """A disc with its centre at (x, y)."""
    size = canvas.shape[0]
    radius = diameter * size / 2
    for row in range(int((y * size) - radius), int(y * size + radius) + 1):
        for column in range(int(x * size - radius), int(x * size + radius) + 1):
            distance = np.hypot(column + 0.5 - x * size, row + 0.5 - y * size)
            weight = int(ONE * min(1.0, max(0.0, radius - distance + 0.5)))
            canvas[row, column] = blended(canvas[row, column], colour, weight)


@compiled
def stamp(canvas, picture, x, y):
    """A (side, side, 3) picture, one texel a pixel, with its centre at (x, y)."""
    side = picture.shape[0]
    top = int(np.round(y * canvas.shape[0] - side / 2))
    left = int(np.round(x * canvas.shape[0] - side / 2))
    for row in range(side):
        for column in range(side):
            red, green, blue = picture[row, column]
            canvas[top + row, left + column] = uint64(red) | uint64(blue) << uint64(16) | uint64(green) << uint64(32)


@compiled
def stamp_grey(canvas, picture, x, y):
    """The same for a (side, side) picture in shades of grey."""
    side = picture.shape[0]
    top = int(np.round(y * canvas.shape[0] - side / 2))
    left = int(np.round(x * canvas.shape[0] - side / 2))
    for row in range(side):
        for column in range(side):
            canvas[top + row, left + column] = uint64(picture[row, column]) * uint64(0x000100010001)
