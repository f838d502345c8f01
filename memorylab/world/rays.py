"""Where the eye is, and the rays of each row of a picture."""

import math
from typing import Any, NamedTuple

from numba import float32

from memorylab.world.jit import jit
from memorylab.world.pixels import whole_vectors

FAR = 1e6
NEAREST = 1e-3
LOWEST_AHEAD = 0.05


class View(NamedTuple):
    """Where the eye is and how it looks; walls are found at bearings first, first + step ..."""

    x: float
    y: float
    z: float
    sin_yaw: float
    cos_yaw: float
    sin_pitch: float
    cos_pitch: float
    height: int
    width: int
    pixel: float  # its width on a plane at distance one
    reach: float  # the outermost bearing, as a slope to straight ahead
    bearings: int
    first: float
    step: float


class Rays(NamedTuple):
    """Those of a row: ray i goes (x_0 + x_1 i, y, z_0 + z_1 i); depths are in lengths of that."""

    eye_x: Any
    eye_y: Any
    eye_z: Any
    x_0: Any
    x_1: Any
    z_0: Any
    z_1: Any
    y: Any
    pixel: Any


@jit
def view_of(game, height, width):
    """What the walker's place and gaze say about every row of a picture of this size."""
    sin_yaw, cos_yaw = math.sin(math.radians(game.yaw)), math.cos(math.radians(game.yaw))
    sin_pitch, cos_pitch = math.sin(math.radians(game.pitch)), math.cos(math.radians(game.pitch))
    pixel = 2.0 / width
    # Level rays all go equally far ahead, so that bearings are columns; tilted ones need more bearings, finely spaced.
    reach, bearings, first, step = 1.0, whole_vectors(width), 0.5 * pixel - 1.0, pixel
    if game.pitch != 0.0:
        reach = 1.0 / max(LOWEST_AHEAD, cos_pitch - 0.5 * pixel * (height - 1) * abs(sin_pitch))
        bearings = min(int(4 * width * reach), 16 * width)
        step = 2.0 * reach / bearings
        first = 0.5 * step - reach
    return View(
        game.x, game.eye, game.z, sin_yaw, cos_yaw, sin_pitch, cos_pitch, height, width, pixel,
        reach, bearings, first, step,
    )  # fmt: skip


@jit(inline=True)
def rays_of(view, up):
    """The rays of the row that is so far up on a plane at distance one, and how far ahead they go."""
    aside = 0.5 * view.pixel - 1.0
    ahead = view.cos_pitch - up * view.sin_pitch
    rays = Rays(
        float32(view.x),
        float32(view.y),
        float32(view.z),
        float32(aside * view.cos_yaw + ahead * view.sin_yaw),
        float32(view.pixel * view.cos_yaw),
        float32(ahead * view.cos_yaw - aside * view.sin_yaw),
        float32(-view.pixel * view.sin_yaw),
        float32(up * view.cos_pitch + view.sin_pitch),
        float32(view.pixel),
    )
    return rays, ahead


@jit(inline=True)
def pick_bearings(view, ahead, walls, looks, row_walls, row_looks):
    """The walls at the bearings of a tilted row."""
    for i in range(len(row_walls)):
        bearing = int(((0.5 * view.pixel - 1.0 + view.pixel * i) / ahead - view.first) / view.step + 0.5)
        bearing = min(max(bearing, 0), len(walls) - 1)
        row_walls[i], row_looks[i] = walls[bearing], looks[bearing]
