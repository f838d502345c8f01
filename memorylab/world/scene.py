"""A scene one walks through: walls on a grid, boxes, ovals, floor and sky, seen in true perspective.

x is east, y is up, z is north; yaw 0 looks north and grows to the right. A picture is drawn row by row. Along a row all
rays rise equally, so walls are found once per picture, by their bearing alone. In a level view a column of the picture
shows one wall, one side of a box and one part of the sky; what its rows have in common is prepared once. A tilted view
prepares it for each row. A row then takes the walls, the floor or the sky where these are nearer, and boxes and ovals
where they are nearer still. Everything per pixel runs in vectors.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import float32, int32, uint64

from memorylab.world import sky as sky_module
from memorylab.world.jit import jit
from memorylab.world.materials import SIZE, SIZE_BITS, STRIDE
from memorylab.world.pixels import LANES, whole_vectors, write_row
from memorylab.world.raycast import cast_bearings

MAX_BOXES = 34
MAX_OVALS = 2

SKY_SIZE = sky_module.SIZE
FAR = 1e6
FULL_LIGHT = 256
NUMBER, TOP, FOOT, LEFT, RIGHT = range(5)  # what is noted of a thing that may be seen
LIGHT_ON_TOP, LIGHT_ON_X, LIGHT_ON_Z = 256.0, 200.0, 232.0  # sides that face east or west are darker
HAZE = 0.02  # how fast light fades with distance, per unit
LOWEST_AHEAD = 0.05
NEAREST = 1e-3
POSITIVE = SIZE << 10  # makes any place in texels positive, so that it is rounded down


def scene_fields(side: int) -> list[tuple]:
    """What a game's record needs to be drawn; `side` is the most cells across."""
    return [
        ("x", "f8"), ("z", "f8"), ("yaw", "f8"), ("pitch", "f8"), ("eye", "f8"),
        ("cell", "f8"), ("rows", "i4"), ("columns", "i4"), ("solid", "u1", (side, side)),
        ("wall_height", "f8"), ("wall_material", "i4"), ("floor_material", "i4"),
        ("pictures", "i4"), ("first_picture", "i4"), ("hanging", "u8"),  # pictures on walls; a key for where they hang
        ("num_boxes", "i4"), ("boxes", "f4", (MAX_BOXES, 6)), ("box_material", "i4", (MAX_BOXES,)),
        ("num_ovals", "i4"), ("ovals", "f4", (MAX_OVALS, 5)), ("oval_material", "i4", (MAX_OVALS,)),
    ]  # fmt: skip


# A box is (west, east, bottom, top, south, north); an oval (x, y, z, radius, half its height).


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


class Sides(NamedTuple):
    """What is upright, by column: how deep it is, from which texel down it shows its texture, how bright it is."""

    depths: Any
    enters: Any  # where rays pass between the sides of a box, though it may be above or below them
    leaves: Any
    firsts: Any
    levels: Any  # how coarse a copy of the texture it shows
    lights: Any


class Sky(NamedTuple):
    """By column: the texel at the top of the picture, texels per rise, and the rise above which one looks up."""

    firsts: Any
    scales: Any
    steepest: Any


class Row(NamedTuple):
    """What each pixel of a row shows."""

    depths: Any
    texels: Any
    lights: Any


# --- textures


@jit(fastmath=True, inline=True)
def level_of(coarseness):
    """Coarse copies of a texture are for where its texels are smaller than pixels."""
    level = int32(coarseness > float32(1.4)) + int32(coarseness > float32(2.8))
    return int32(level + int32(coarseness > float32(5.6)) + int32(coarseness > float32(11.2)))


@jit(fastmath=True, inline=True)
def start_of(material, level):
    return int32(int32(material * int32(STRIDE)) + int32(int32(STRIDE) - int32(int32(STRIDE) >> int32(2 * level))))


@jit(fastmath=True, inline=True)
def texels_across(u, level):
    whole = int32(u * float32(SIZE) + float32(POSITIVE))
    return int32(int32(whole & int32(SIZE - 1)) >> level)


@jit(fastmath=True, inline=True)
def texels_down(v, level):
    """The texels in the rows above v, which goes upwards."""
    whole = int32(float32(POSITIVE) - v * float32(SIZE))
    return int32(int32(int32(whole & int32(SIZE - 1)) >> level) << int32(int32(SIZE_BITS) - level))


@jit(fastmath=True, inline=True)
def dimmed(light, depth):
    return int32(light / (float32(1) + float32(HAZE) * depth))


# --- what the rows of a column have in common


@jit(fastmath=True, inline=True)
def prepare_walls(sides, columns, walls, looks, rays, ahead):
    """Walls are slot 0 of the sides."""
    depths, firsts, levels, lights = sides.depths[0], sides.firsts[0], sides.levels[0], sides.lights[0]
    for i in range(columns):
        column = float32(int32(i))
        depth = walls[i] / ahead
        faces_x = int32(looks[i] & 1) > int32(0)
        x = rays.eye_x + (rays.x_0 + rays.x_1 * column) * depth
        z = rays.eye_z + (rays.z_0 + rays.z_1 * column) * depth
        level = level_of(depth * rays.pixel * float32(SIZE))
        depths[i] = depth
        firsts[i] = start_of(int32(looks[i] >> 1), level) + texels_across(z if faces_x else x, level)
        levels[i] = level
        lights[i] = dimmed(float32(LIGHT_ON_X) if faces_x else float32(LIGHT_ON_Z), depth)


@jit(fastmath=True, inline=True)
def prepare_box(sides, slot, start, stop, rays, box, material):
    """Where rays pass between a box's sides, whatever its height."""
    west, east, _, _, south, north = box
    depths, enters, leaves = sides.depths[slot], sides.enters[slot], sides.leaves[slot]
    firsts, levels, lights = sides.firsts[slot], sides.levels[slot], sides.lights[slot]
    for j in range(stop - start):
        i = uint64(start + j)
        column = float32(int32(i))
        toward_x, toward_z = rays.x_0 + rays.x_1 * column, rays.z_0 + rays.z_1 * column
        inverse_x = float32(1) / (toward_x if abs(toward_x) > float32(1e-6) else float32(1e-6))
        inverse_z = float32(1) / (toward_z if abs(toward_z) > float32(1e-6) else float32(1e-6))
        x_a, x_b = (west - rays.eye_x) * inverse_x, (east - rays.eye_x) * inverse_x
        z_a, z_b = (south - rays.eye_z) * inverse_z, (north - rays.eye_z) * inverse_z
        x_in, z_in = min(x_a, x_b), min(z_a, z_b)
        depth, faces_x = max(x_in, z_in), x_in >= z_in
        x, z = rays.eye_x + toward_x * depth - west, rays.eye_z + toward_z * depth - south
        level = level_of(depth * rays.pixel * float32(SIZE))
        leave = min(max(x_a, x_b), max(z_a, z_b))
        depths[i] = depth if (depth > float32(NEAREST)) & (depth < leave) else float32(FAR)
        enters[i] = depth
        leaves[i] = leave
        firsts[i] = start_of(material, level) + texels_across(z if faces_x else x, level)
        levels[i] = level
        lights[i] = dimmed(float32(LIGHT_ON_X) if faces_x else float32(LIGHT_ON_Z), depth)


@jit(fastmath=True, inline=True)
def prepare_sky(sky, columns, rays, sky_start):
    """The steepest level axis names the picture, the other one over it is the column of it."""
    firsts, scales, steepests = sky.firsts, sky.scales, sky.steepest
    sky_size, area = float32(SKY_SIZE), int32(SKY_SIZE * SKY_SIZE)
    for i in range(columns):
        column = float32(int32(i))
        toward_x, toward_z = rays.x_0 + rays.x_1 * column, rays.z_0 + rays.z_1 * column
        is_east, is_north = toward_x > float32(0), toward_z > float32(0)
        is_side = abs(toward_x) > abs(toward_z)
        steepest = max(abs(toward_x), abs(toward_z))
        s_side, s_front = -toward_z if is_east else toward_z, toward_x if is_north else -toward_x
        side = int32(sky_module.EAST) if is_east else int32(sky_module.WEST)
        front = int32(sky_module.NORTH) if is_north else int32(sky_module.SOUTH)
        s = ((s_side if is_side else s_front) / steepest + float32(1)) * float32(0.5)
        across = int32(min(max(s * sky_size, float32(0)), sky_size - float32(1)))
        firsts[i] = int32(sky_start + int32((side if is_side else front) * area)) + across
        scales[i] = sky_size / steepest
        steepests[i] = steepest


# --- rows


@jit(fastmath=True, inline=True)
def draw_wall_row(row, sides, columns, rays):
    depths, texels, lights = row.depths, row.texels, row.lights
    wall_depths, firsts, levels, wall_lights = sides.depths[0], sides.firsts[0], sides.levels[0], sides.lights[0]
    for i in range(columns):
        depth = wall_depths[i]
        depths[i] = depth
        texels[i] = firsts[i] + texels_down(rays.eye_y + rays.y * depth, levels[i])
        lights[i] = wall_lights[i]


@jit(fastmath=True, inline=True)
def draw_floor_row(row, sides, columns, rays, depth, material):
    """Where the floor is nearer than the wall, for rays that fall."""
    depths, texels, lights, wall_depths = row.depths, row.texels, row.lights, sides.depths[0]
    # Seen at a slant, a pixel covers more of the floor the farther away it is.
    level = level_of(depth * np.sqrt(depth / rays.eye_y) * rays.pixel * float32(SIZE))
    start, light = start_of(material, level), dimmed(float32(LIGHT_ON_TOP), depth)
    for i in range(columns):
        column = float32(int32(i))
        x = rays.eye_x + (rays.x_0 + rays.x_1 * column) * depth
        z = rays.eye_z + (rays.z_0 + rays.z_1 * column) * depth
        is_floor = depth < wall_depths[i]
        texel = start + texels_down(z, level) + texels_across(x, level)
        depth_before, texel_before, light_before = depths[i], texels[i], lights[i]
        depths[i] = depth if is_floor else depth_before
        texels[i] = texel if is_floor else texel_before
        lights[i] = light if is_floor else light_before


@jit(fastmath=True, inline=True)
def draw_sky_row(row, sides, columns, rays, passing, sky):
    """Where rays pass above the wall."""
    depths, texels, lights, wall_depths = row.depths, row.texels, row.lights, sides.depths[0]
    firsts, scales = sky.firsts, sky.scales
    sky_size, y = float32(SKY_SIZE), rays.y
    for i in range(columns):
        is_sky = wall_depths[i] > passing
        down = int32(max(min(sky_size - y * scales[i], sky_size - float32(1)), float32(0)))
        texel = firsts[i] + int32(down * int32(SKY_SIZE))
        depth_before, texel_before, light_before = depths[i], texels[i], lights[i]
        depths[i] = float32(FAR) if is_sky else depth_before
        texels[i] = texel if is_sky else texel_before
        lights[i] = int32(FULL_LIGHT) if is_sky else light_before


@jit(fastmath=True, inline=True)
def draw_zenith_row(row, columns, rays, sky, sky_start):
    """Where a row that shows the sky looks up more than ahead, it shows the picture above."""
    depths, texels, steepest = row.depths, row.texels, sky.steepest
    start = int32(sky_start + int32(sky_module.ABOVE * SKY_SIZE * SKY_SIZE))
    half, last = float32(SKY_SIZE / 2), float32(SKY_SIZE - 1)
    scale = half / rays.y
    for i in range(columns):
        column = float32(int32(i))
        across = half + (rays.x_0 + rays.x_1 * column) * scale
        down = half - (rays.z_0 + rays.z_1 * column) * scale
        across, down = min(max(across, float32(0)), last), min(max(down, float32(0)), last)
        texel = start + int32(int32(down) * int32(SKY_SIZE)) + int32(across)
        texel_before = texels[i]
        is_above = (rays.y > steepest[i]) & (depths[i] >= float32(FAR))
        texels[i] = texel if is_above else texel_before


@jit(fastmath=True, inline=True)
def rise_through(rays, box):
    """The depths between which a row passes a box's height."""
    _, _, bottom, top, _, _ = box
    rise = rays.y if abs(rays.y) > float32(1e-6) else float32(1e-6)
    low, high = (bottom - rays.eye_y) / rise, (top - rays.eye_y) / rise
    return min(low, high), max(low, high)


@jit(fastmath=True, inline=True)
def draw_box_row(row, sides, slot, start, stop, rays, box):
    """Where a side of this box is nearer than what the row holds, put it there."""
    depths, texels, lights = row.depths, row.texels, row.lights
    side_depths, firsts, levels, side_lights = (
        sides.depths[slot], sides.firsts[slot], sides.levels[slot], sides.lights[slot]
    )  # fmt: skip
    enters, leaves = rise_through(rays, box)
    eye_y = rays.eye_y - box[2]  # a texture starts at the foot of a box
    for j in range(stop - start):
        i = uint64(start + j)
        depth, before, texel_before, light_before = side_depths[i], depths[i], texels[i], lights[i]
        is_seen = (depth < before) & (depth < leaves) & (depth >= enters)
        texel = firsts[i] + texels_down(eye_y + rays.y * depth, levels[i])
        depths[i] = depth if is_seen else before
        texels[i] = texel if is_seen else texel_before
        lights[i] = side_lights[i] if is_seen else light_before


@jit(fastmath=True, inline=True)
def draw_lid_row(row, sides, slot, start, stop, rays, box, material):
    """The same for its top or its bottom, which is equally deep all along a row."""
    west, _, _, _, south, _ = box
    depths, texels, lights = row.depths, row.texels, row.lights
    enters, leaves = sides.enters[slot], sides.leaves[slot]
    depth, _ = rise_through(rays, box)
    level = level_of(depth * rays.pixel * float32(SIZE))
    start_texel, light = start_of(material, level), dimmed(float32(LIGHT_ON_TOP), depth)
    eye_x, eye_z = rays.eye_x - west, rays.eye_z - south
    for j in range(stop - start):
        i = uint64(start + j)
        column = float32(int32(i))
        x, z = eye_x + (rays.x_0 + rays.x_1 * column) * depth, eye_z + (rays.z_0 + rays.z_1 * column) * depth
        before, texel_before, light_before = depths[i], texels[i], lights[i]
        is_seen = (depth > enters[i]) & (depth < leaves[i]) & (depth < before)
        texel = start_texel + texels_down(z, level) + texels_across(x, level)
        depths[i] = depth if is_seen else before
        texels[i] = texel if is_seen else texel_before
        lights[i] = light if is_seen else light_before


@jit(fastmath=True, inline=True)
def draw_oval_row(row, start, stop, rays, oval, material):
    """The same for an oval, lit from above."""
    middle_x, middle_y, middle_z, radius, half_height = oval
    depths, texels, lights = row.depths, row.texels, row.lights
    p_x, p_z = (rays.eye_x - middle_x) / radius, (rays.eye_z - middle_z) / radius
    p_y, d_y = (rays.eye_y - middle_y) / half_height, rays.y / half_height
    c = p_x * p_x + p_y * p_y + p_z * p_z - float32(1)
    texel = int32(int32(material * int32(STRIDE)) + int32(SIZE * SIZE // 2 + SIZE // 2))
    for j in range(stop - start):
        i = uint64(start + j)
        column = float32(int32(i))
        d_x, d_z = (rays.x_0 + rays.x_1 * column) / radius, (rays.z_0 + rays.z_1 * column) / radius
        a = d_x * d_x + d_y * d_y + d_z * d_z
        b = p_x * d_x + p_y * d_y + p_z * d_z
        square = b * b - a * c
        depth = (-b - np.sqrt(max(square, float32(0)))) / a
        before, texel_before, light_before = depths[i], texels[i], lights[i]
        is_seen = (square > float32(0)) & (depth > float32(NEAREST)) & (depth < before)
        light = int32(float32(196) + float32(60) * (p_y + d_y * depth))
        depths[i] = depth if is_seen else before
        texels[i] = texel if is_seen else texel_before
        lights[i] = light if is_seen else light_before


# --- where boxes are


@jit
def is_in_view(view, walls, box, wall_height):
    """Is any part of a box within the outermost bearings, and not behind walls that are higher?"""
    west, east, bottom, top, south, north = box
    is_ahead = is_left = is_right = False
    nearest, lowest, highest = FAR, FAR, -FAR
    for corner in range(4):
        x, z = (east if corner & 1 else west) - view.x, (north if corner & 2 else south) - view.z
        aside, ahead = x * view.cos_yaw - z * view.sin_yaw, x * view.sin_yaw + z * view.cos_yaw
        is_ahead |= ahead > NEAREST
        is_left |= aside < view.reach * ahead
        is_right |= -aside < view.reach * ahead
        nearest = min(nearest, ahead)
        bearing = aside / max(ahead, NEAREST)
        lowest, highest = min(lowest, bearing), max(highest, bearing)
    if top <= bottom or not (is_ahead and is_left and is_right):
        return False
    return nearest < NEAREST or top > wall_height or reaches(view, walls, nearest, lowest, highest)


@jit
def reaches(view, walls, distance, lowest, highest):
    """Does any ray between two bearings go that far?"""
    bearing = min(max(int((lowest - view.first) / view.step) - 1, 0), len(walls))
    stop = min(max(int((highest - view.first) / view.step) + 3, 0), len(walls))
    while bearing < stop and walls[bearing] <= distance:
        bearing += 1
    return bearing < stop


@jit
def outline(view, box, number, seen, place):
    """Note a thing and the rows and columns between which its box is seen, a little too wide rather than too narrow."""
    west, east, bottom, top, south, north = box
    low_x, high_x, low_y, high_y = 1e9, -1e9, 1e9, -1e9
    for corner in range(8):
        x = (east if corner & 1 else west) - view.x
        y = (top if corner & 2 else bottom) - view.y
        z = (north if corner & 4 else south) - view.z
        right, level = x * view.cos_yaw - z * view.sin_yaw, x * view.sin_yaw + z * view.cos_yaw
        ahead, up = level * view.cos_pitch + y * view.sin_pitch, y * view.cos_pitch - level * view.sin_pitch
        if ahead < NEAREST:  # it reaches past the eye: anywhere
            low_x, high_x, low_y, high_y = -1e6, 1e6, -1e6, 1e6
            break
        inverse = 1.0 / ahead
        low_x, high_x = min(low_x, right * inverse), max(high_x, right * inverse)
        low_y, high_y = min(low_y, up * inverse), max(high_y, up * inverse)
    half = view.width / 2
    seen[place, NUMBER] = number
    seen[place, TOP] = min(max(int(view.height / 2 - high_y * half - 1), 0), view.height)
    seen[place, FOOT] = min(max(int(view.height / 2 - low_y * half + 2), 0), view.height)
    seen[place, LEFT] = min(max(int(half + low_x * half - 1), 0), view.width) & -LANES
    seen[place, RIGHT] = whole_vectors(min(max(int(half + high_x * half + 2), 0), view.width))


@jit
def oval_of(game, number):
    x, y, z, radius, half_height = game.ovals[number]
    return x, y, z, radius, half_height


@jit
def box_around(oval):
    x, y, z, radius, half_height = oval
    return x - radius, x + radius, y - half_height, y + half_height, z - radius, z + radius


@jit
def box_of(game, number):
    west, east, bottom, top, south, north = game.boxes[number]
    return west, east, bottom, top, south, north


@jit(inline=True)
def find_things(game, view, walls, seen):
    """Note the boxes, then the ovals, that may be seen; returns how many boxes, and how many in all."""
    count = 0
    for number in range(game.num_boxes):
        box = box_of(game, number)
        if is_in_view(view, walls, box, game.wall_height):
            outline(view, box, number, seen, count)
            count += 1
    num_boxes = count
    for number in range(game.num_ovals):
        box = box_around(oval_of(game, number))
        if is_in_view(view, walls, box, game.wall_height):
            outline(view, box, number, seen, count)
            count += 1
    return num_boxes, count


# --- the whole picture


@jit
def view_of(game, height, width):
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


@jit(fastmath=True, inline=True)
def least(values, columns):
    found = values[0]
    for i in range(columns):
        if values[i] < found:
            found = values[i]
    return found


@jit(fastmath=True, inline=True)
def greatest(values, columns):
    found = values[0]
    for i in range(columns):
        if values[i] > found:
            found = values[i]
    return found


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
def prepare_columns(game, sides, sky, columns, walls, looks, rays, ahead, sky_start, seen, num_boxes):
    """Returns how near and how far walls are, and how steeply a ray has to rise at least to go up more than ahead."""
    prepare_walls(sides, columns, walls, looks, rays, float32(ahead))
    prepare_sky(sky, columns, rays, sky_start)
    for slot in range(num_boxes):
        number = seen[slot, NUMBER]
        box, material = box_of(game, number), int32(game.box_material[number])
        prepare_box(sides, slot + 1, seen[slot, LEFT], seen[slot, RIGHT], rays, box, material)
    return least(sides.depths[0], columns), greatest(sides.depths[0], columns), least(sky.steepest, columns)


@jit(inline=True)
def passing_depth(rays, wall_height):
    """Walls that are deeper than this are not seen: the rays of a row meet the floor before them or pass above them."""
    if rays.y < float32(0):
        return min(-rays.eye_y / rays.y, float32(FAR))
    return min((wall_height - rays.eye_y) / max(rays.y, float32(1e-9)), float32(FAR))


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
        for thing in range(num_things):
            if seen[thing, TOP] <= line < seen[thing, FOOT]:
                number, start, stop = seen[thing, NUMBER], seen[thing, LEFT], seen[thing, RIGHT]
                if thing < num_boxes:
                    box, material = box_of(game, number), int32(game.box_material[number])
                    draw_box_row(row, sides, thing + 1, start, stop, rays, box)
                    if rise_through(rays, box)[0] > float32(NEAREST):
                        draw_lid_row(row, sides, thing + 1, start, stop, rays, box, material)
                else:
                    oval, material = oval_of(game, number), int32(game.oval_material[number])
                    draw_oval_row(row, start, stop, rays, oval, material)
        write_row(surfaces, row.texels, row.lights, pixels, width, 3 * width * line)
