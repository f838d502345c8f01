"""The sky: a picture for each of four directions and one above, at infinity, with landmarks that tell them apart."""

import numpy as np

from memorylab.world.canvas import packed

SIZE = 128  # texels across a side
NORTH, EAST, SOUTH, WEST, ABOVE = range(5)


def side(direction: int) -> np.ndarray:
    """What one sees within 45 degrees of a direction, from 45 degrees up (row 0) down to the horizon."""
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) / SIZE
    height = 1 - y
    blue, haze = np.array((86, 142, 214)), np.array((196, 214, 230))
    picture = haze + (blue - haze) * np.minimum(1, height * 1.3)[..., None]
    ridge, colour = RIDGES[direction]
    inner = np.minimum(1, 10 * np.minimum(x, 1 - x))  # all meet at the same height where two directions meet
    picture[height < inner * ridge(x) + (1 - inner) * 0.05] = colour
    return picture


def saw(x: np.ndarray, teeth: int) -> np.ndarray:
    """Rises from 0 to 1 and falls again, `teeth` times."""
    return 1 - abs((x * teeth) % 1 - 0.5) * 2


# A jagged range in the north, towers in the east, round hills in the south, one tall peak in the west.
RIDGES = {
    NORTH: (lambda x: 0.10 + 0.22 * saw(x, 4) * (0.6 + 0.4 * np.sin(9 * x)), (92, 92, 116)),
    EAST: (
        lambda x: np.where((x * 7) % 1 < 0.3, 0.16 + 0.24 * abs(np.sin(np.floor(x * 7) * 2.1)), 0.05),
        (128, 84, 84),
    ),
    SOUTH: (lambda x: 0.10 + 0.08 * np.sin(x * 12), (74, 116, 66)),
    WEST: (lambda x: np.maximum(0.06, 0.55 - abs(x - 0.5) * 2.2), (150, 140, 128)),
}


def build_sky() -> np.ndarray:
    """(5, SIZE, SIZE) texels."""
    above = np.broadcast_to(np.array((86, 142, 214)), (SIZE, SIZE, 3))
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) / SIZE * 2 - 1
    sun = np.hypot(x - 0.35, y + 0.3) < 0.12
    above = np.where(sun[..., None], np.array((255, 246, 214)), above)
    return packed(np.stack([*(side(direction) for direction in (NORTH, EAST, SOUTH, WEST)), above]).clip(0, 255))
