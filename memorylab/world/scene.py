"""A scene one walks through: walls on a grid, boxes, ovals, floor and sky, seen in true perspective.

x is east, y is up, z is north; yaw 0 looks north and grows to the right. A picture is drawn row by row. Along a row all
rays rise equally, so walls are found once per picture, by their bearing alone. In a level view a column of the picture
shows one wall, one side of a box and one part of the sky; what its rows have in common is prepared once. A tilted view
prepares it for each row. A row then takes the walls, the floor or the sky where these are nearer, and boxes and ovals
where they are nearer still. Everything per pixel runs in vectors.
"""

import numpy as np
from numba import float32, int32

from memorylab.world.columns import Sides, Sky, prepare_columns
from memorylab.world.jit import jit
from memorylab.world.pixels import whole_vectors, write_row
from memorylab.world.raycast import cast_bearings
from memorylab.world.rays import FAR, pick_bearings, rays_of, view_of
from memorylab.world.rows import (
    Row,
    draw_boxed_row,
    draw_floor_row,
    draw_oval_row,
    draw_sky_row,
    draw_wall_row,
    draw_zenith_row,
)
from memorylab.world.sight import FOOT, LEFT, NUMBER, RIGHT, TOP, box_of, find_things, oval_of

MAX_BOXES = 34
MAX_OVALS = 2


def scene_fields(side: int) -> list[tuple]:
    """What a game's record needs to be drawn; `side` is the most cells across.

    A box is (west, east, bottom, top, south, north); an oval (x, y, z, radius, half its height).
    """
    return [
        ("x", "f8"), ("z", "f8"), ("yaw", "f8"), ("pitch", "f8"), ("eye", "f8"),
        ("cell", "f8"), ("rows", "i4"), ("columns", "i4"), ("solid", "u1", (side, side)),
        ("wall_height", "f8"), ("wall_material", "i4"), ("floor_material", "i4"),
        ("pictures", "i4"), ("first_picture", "i4"), ("hanging", "u8"),  # pictures on walls; a key for where they hang
        ("num_boxes", "i4"), ("boxes", "f4", (MAX_BOXES, 6)), ("box_material", "i4", (MAX_BOXES,)),
        ("num_ovals", "i4"), ("ovals", "f4", (MAX_OVALS, 5)), ("oval_material", "i4", (MAX_OVALS,)),
    ]  # fmt: skip


@jit(inline=True)
def scratch(slots, columns):
    """Room for what is prepared by column and for one row: two pieces, since taking memory costs time."""
    reals, wholes = np.empty((3 * slots + 3, columns), np.float32), np.empty((3 * slots + 3, columns), np.int32)
    sides = Sides(
        reals[:slots], reals[slots : 2 * slots], reals[2 * slots : -3],
        wholes[:slots], wholes[slots : 2 * slots], wholes[2 * slots : -3],
    )  # fmt: skip
    return sides, Sky(wholes[-3], reals[-3], reals[-2]), Row(reals[-1], wholes[-2], wholes[-1])


@jit(inline=True)
def passing_depth(rays, wall_height):
    """Walls that are deeper than this are not seen: the rays of a row meet the floor before them or pass above them."""
    if rays.y < float32(0):
        return min(-rays.eye_y / rays.y, float32(FAR))
    return min((wall_height - rays.eye_y) / max(rays.y, float32(1e-9)), float32(FAR))


@jit(inline=True)
def draw_things_row(game, row, sides, line, rays, seen, num_boxes, num_things):
    """Boxes and ovals, where they are nearer than what the row holds."""
    for thing in range(num_things):
        if seen[thing, TOP] <= line < seen[thing, FOOT]:
            number, start, stop = seen[thing, NUMBER], seen[thing, LEFT], seen[thing, RIGHT]
            if thing < num_boxes:
                box, material = box_of(game, number), int32(game.box_material[number])
                draw_boxed_row(row, sides, thing + 1, start, stop, rays, box, material)
            else:
                oval, material = oval_of(game, number), int32(game.oval_material[number])
                draw_oval_row(row, start, stop, rays, oval, material)


@jit
def draw_scene(game, surfaces, sky_start, picture):
    """Draw into `picture`, (height, 3 * width) bytes: 90 degrees wide, square pixels.

    `surfaces` holds the materials and, from `sky_start` on, the five pictures of the sky.
    """
    height, width = picture.shape[0], picture.shape[1] // 3
    columns, pixels = whole_vectors(width), picture.ravel()
    view = view_of(game, height, width)
    is_level = game.pitch == 0.0
    walls, looks = np.empty(view.bearings, np.float32), np.empty(view.bearings, np.int32)
    cast_bearings(game, view.first, view.step, view.sin_yaw, view.cos_yaw, walls, looks)
    row_walls, row_looks = (walls, looks) if is_level else (np.empty(columns, np.float32), np.empty(columns, np.int32))

    seen = np.empty((MAX_BOXES + MAX_OVALS, 5), np.int64)
    num_boxes, num_things = find_things(game, view, walls, seen)
    sides, sky, row = scratch(num_boxes + 1, columns)
    limits = float32(0), float32(0), float32(0)
    wall_height, floor_material = float32(game.wall_height), int32(game.floor_material)
    for line in range(height):
        rays, ahead = rays_of(view, view.pixel * (0.5 * (height - 1) - line))
        if line == 0 or not is_level:
            if not is_level:
                pick_bearings(view, ahead, walls, looks, row_walls, row_looks)
            limits = prepare_columns(
                game, sides, sky, columns, row_walls, row_looks, rays, ahead, int32(sky_start), seen, num_boxes
            )
        nearest, farthest, lowest_zenith = limits
        passing = passing_depth(rays, wall_height)
        if nearest <= passing:
            draw_wall_row(row, sides, columns, rays)
        if farthest > passing and rays.y < float32(0):
            draw_floor_row(row, sides, columns, rays, passing, floor_material)
        elif farthest > passing:
            draw_sky_row(row, sides, columns, rays, passing, sky)
            if rays.y > lowest_zenith:
                draw_zenith_row(row, columns, rays, sky, int32(sky_start))
        draw_things_row(game, row, sides, line, rays, seen, num_boxes, num_things)
        write_row(surfaces, row.texels, row.lights, pixels, width, 3 * width * line)
