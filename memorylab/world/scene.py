"""A scene one walks through: walls on a grid, boxes, ovals, floor and sky, seen in true perspective.

x is east, y is up, z is north; yaw 0 looks north and grows to the right. A picture is drawn row by row. Along a row all
rays rise equally, so walls are found once per picture, by their bearing alone; floor or sky follow from the height at
which a ray meets its wall. Boxes and ovals are then tested within their outlines against what is already there, and the
nearest wins. Everything per pixel runs in vectors: a row keeps its distances, texels and lights, and becomes bytes at
the end.
"""

import math

import numpy as np
from numba import float32, int32, uint32, uint64

from memorylab.world import sky as sky_module
from memorylab.world.chance import hashed
from memorylab.world.compiled import compiled
from memorylab.world.materials import SIZE, SIZE_BITS, STRIDE

MAX_BOXES = 34
MAX_OVALS = 2

SKY_SIZE = sky_module.SIZE
FAR = 1e6
FULL_LIGHT = 256.0
LIGHT_ON_TOP, LIGHT_ON_X, LIGHT_ON_Z = 256.0, 200.0, 232.0  # sides that face east or west are darker
HAZE = 0.02  # how fast light fades with distance, per unit
LOWEST_AHEAD = 0.05
NEAREST = 1e-3
PICTURE_EVERY = 10  # one wall in so many has a picture, where there are any


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


@compiled
def cast(game, toward_x, toward_z):
    """Walk the grid to the first solid cell: (distance in lengths of the direction, look of its face)."""
    cell, solid = game.cell, game.solid
    column, row = math.floor(game.x / cell), math.floor(game.z / cell)
    step_x, step_z = (1 if toward_x > 0 else -1), (1 if toward_z > 0 else -1)
    slope_x = toward_x if abs(toward_x) > 1e-12 else 1e-12 * step_x
    slope_z = toward_z if abs(toward_z) > 1e-12 else 1e-12 * step_z
    next_x = ((column + (step_x > 0)) * cell - game.x) / slope_x
    next_z = ((row + (step_z > 0)) * cell - game.z) / slope_z
    while True:
        if next_x < next_z:
            distance, faces_x = next_x, 1
            column += step_x
            next_x += cell / abs(slope_x)
        else:
            distance, faces_x = next_z, 0
            row += step_z
            next_z += cell / abs(slope_z)
        if row < 0 or row >= game.rows or column < 0 or column >= game.columns or solid[row, column]:
            return distance, look_of_wall(game, row, column, faces_x, step_x if faces_x else step_z)


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


@compiled
def cast_bearings(game, first, step, sin_yaw, cos_yaw, walls, looks):
    """The wall in each of many directions, by their slope to straight ahead: first, first + step, ..."""
    for i in range(len(walls)):
        aside = first + step * i
        walls[i], looks[i] = cast(game, aside * cos_yaw + sin_yaw, cos_yaw - aside * sin_yaw)


@compiled(fastmath=True)
def texel_at(material, u, v, coarseness):
    """The texel at (u, v), in repeats of the texture, v upwards; coarse copies where texels are smaller than pixels."""
    level = int32(coarseness > float32(1.4)) + int32(coarseness > float32(2.8))
    level = int32(level + int32(coarseness > float32(5.6)) + int32(coarseness > float32(11.2)))
    across = int32(int32((u - np.floor(u)) * float32(SIZE)) & int32(SIZE - 1))
    down = int32(int32((np.floor(v) + float32(1) - v) * float32(SIZE)) & int32(SIZE - 1))
    first = int32(STRIDE) - int32(int32(STRIDE) >> int32(2 * level))
    place = int32(int32(int32(down >> level) << int32(int32(SIZE_BITS) - level)) + int32(across >> level))
    return int32(int32(material * int32(STRIDE)) + int32(first + place))


@compiled(fastmath=True)
def draw_ground_row(depths, texels, lights, columns, walls, looks, x_0, x_1, z_0, z_1, y, ahead, place, floor, pixel):
    """Floor or wall, for rays that fall."""
    eye_x, eye_y, eye_z = place
    floor_depth = -eye_y / y
    floor_coarseness = floor_depth * np.sqrt(floor_depth / eye_y) * pixel * float32(SIZE)
    for i in range(columns):
        column = float32(int32(i))
        toward_x, toward_z = x_0 + x_1 * column, z_0 + z_1 * column
        wall_depth = walls[i] / ahead
        is_floor = floor_depth < wall_depth
        depth = floor_depth if is_floor else wall_depth
        x, z = eye_x + toward_x * depth, eye_z + toward_z * depth
        faces_x = int32(looks[i] & 1) > int32(0)
        along = z if faces_x else x
        u = x if is_floor else along
        v = z if is_floor else eye_y + y * depth
        material = floor if is_floor else int32(looks[i] >> 1)
        coarseness = floor_coarseness if is_floor else depth * pixel * float32(SIZE)
        side_light = float32(LIGHT_ON_X) if faces_x else float32(LIGHT_ON_Z)
        light = float32(LIGHT_ON_TOP) if is_floor else side_light
        depths[i] = depth
        texels[i] = texel_at(material, u, v, coarseness)
        lights[i] = light / (float32(1) + float32(HAZE) * depth)


@compiled(fastmath=True)
def draw_sky_row(
    depths, texels, lights, columns, walls, looks, x_0, x_1, z_0, z_1, y, ahead, place, height, pixel, sky
):
    """Wall of that height or sky, for rays that rise."""
    eye_x, eye_y, eye_z = place
    sky_size = float32(SKY_SIZE)
    area = int32(SKY_SIZE * SKY_SIZE)
    for i in range(columns):
        column = float32(int32(i))
        toward_x, toward_z = x_0 + x_1 * column, z_0 + z_1 * column
        depth = walls[i] / ahead
        x, z = eye_x + toward_x * depth, eye_z + toward_z * depth
        met_at = eye_y + y * depth
        is_sky = met_at > height
        faces_x = int32(looks[i] & 1) > int32(0)
        wall_texel = texel_at(int32(looks[i] >> 1), z if faces_x else x, met_at, depth * pixel * float32(SIZE))
        side_light = float32(LIGHT_ON_X) if faces_x else float32(LIGHT_ON_Z)
        # The sky: the steepest axis names the picture, the others over it are the place on it.
        east, north = toward_x > float32(0), toward_z > float32(0)
        across, along = abs(toward_x), abs(toward_z)
        is_side = across > along
        steepest = max(across, along)
        s_side, s_front = -toward_z if east else toward_z, toward_x if north else -toward_x
        side = int32(sky_module.EAST) if east else int32(sky_module.WEST)
        front = int32(sky_module.NORTH) if north else int32(sky_module.SOUTH)
        s = s_side if is_side else s_front
        face = side if is_side else front
        is_above = y > steepest
        s = toward_x if is_above else s
        t = (float32(1) - toward_z / y) * float32(0.5) if is_above else float32(1) - y / steepest
        face = int32(sky_module.ABOVE) if is_above else face
        s = (s / max(steepest, y) + float32(1)) * float32(0.5)
        sky_column = int32(min(max(s * sky_size, float32(0)), sky_size - float32(1)))
        sky_row = int32(min(max(t * sky_size, float32(0)), sky_size - float32(1)))
        sky_texel = int32(int32(sky + int32(face * area)) + int32(int32(sky_row * int32(SKY_SIZE)) + sky_column))
        depths[i] = float32(FAR) if is_sky else depth
        texels[i] = sky_texel if is_sky else wall_texel
        lights[i] = float32(FULL_LIGHT) if is_sky else side_light / (float32(1) + float32(HAZE) * depth)


@compiled(fastmath=True)
def draw_box_row(depths, texels, lights, start, stop, x_0, x_1, z_0, z_1, y, place, pixel, box, material):
    """Where this box is nearer than what the row holds, put it there."""
    eye_x, eye_y, eye_z = place
    west, east, bottom, top, south, north = box
    rise = y if abs(y) > float32(1e-6) else float32(1e-6)
    y_low, y_high = (bottom - eye_y) / rise, (top - eye_y) / rise
    y_in, y_out = min(y_low, y_high), max(y_low, y_high)
    for i in range(start, stop):
        column = float32(int32(i))
        toward_x, toward_z = x_0 + x_1 * column, z_0 + z_1 * column
        inverse_x = float32(1) / (toward_x if abs(toward_x) > float32(1e-6) else float32(1e-6))
        inverse_z = float32(1) / (toward_z if abs(toward_z) > float32(1e-6) else float32(1e-6))
        x_a, x_b = (west - eye_x) * inverse_x, (east - eye_x) * inverse_x
        z_a, z_b = (south - eye_z) * inverse_z, (north - eye_z) * inverse_z
        x_in, z_in = min(x_a, x_b), min(z_a, z_b)
        depth = max(x_in, max(z_in, y_in))
        leaves = min(max(x_a, x_b), min(max(z_a, z_b), y_out))
        before = depths[uint64(i)]
        is_seen = (depth < leaves) & (depth > float32(NEAREST)) & (depth < before)
        on_x, on_y = x_in >= depth, y_in >= depth
        x, z = eye_x + toward_x * depth - west, eye_z + toward_z * depth - south
        height = eye_y + y * depth - bottom
        u, v = z if on_x else x, z if on_y else height
        u = x if on_y else u
        side_light = float32(LIGHT_ON_X) if on_x else float32(LIGHT_ON_Z)
        light = float32(LIGHT_ON_TOP) if on_y else side_light
        # A texture fills a face of one unit; thin or small boxes show part of it.
        texel = texel_at(material, u, v, depth * pixel * float32(SIZE))
        texel_before, light_before = texels[uint64(i)], lights[uint64(i)]
        depths[uint64(i)] = depth if is_seen else before
        texels[uint64(i)] = texel if is_seen else texel_before
        lights[uint64(i)] = light / (float32(1) + float32(HAZE) * depth) if is_seen else light_before


@compiled(fastmath=True)
def draw_oval_row(depths, texels, lights, start, stop, x_0, x_1, z_0, z_1, y, place, oval, material):
    """The same for an oval, lit from above."""
    eye_x, eye_y, eye_z = place
    middle_x, middle_y, middle_z, radius, half_height = oval
    p_x, p_y, p_z = (eye_x - middle_x) / radius, (eye_y - middle_y) / half_height, (eye_z - middle_z) / radius
    d_y = y / half_height
    c = p_x * p_x + p_y * p_y + p_z * p_z - float32(1)
    texel = int32(int32(material * int32(STRIDE)) + int32(SIZE * SIZE // 2 + SIZE // 2))
    for i in range(start, stop):
        column = float32(int32(i))
        d_x, d_z = (x_0 + x_1 * column) / radius, (z_0 + z_1 * column) / radius
        a = d_x * d_x + d_y * d_y + d_z * d_z
        b = p_x * d_x + p_y * d_y + p_z * d_z
        square = b * b - a * c
        depth = (-b - np.sqrt(max(square, float32(0)))) / a
        before = depths[uint64(i)]
        is_seen = (square > float32(0)) & (depth > float32(NEAREST)) & (depth < before)
        light = float32(196) + float32(60) * (p_y + d_y * depth)
        texel_before, light_before = texels[uint64(i)], lights[uint64(i)]
        depths[uint64(i)] = depth if is_seen else before
        texels[uint64(i)] = texel if is_seen else texel_before
        lights[uint64(i)] = light if is_seen else light_before


@compiled
def shade_row(surfaces, texels, lights, columns, colours):
    for i in range(columns):
        colours[i] = surfaces[uint64(texels[i])]
    for i in range(columns):
        light = uint32(int32(lights[i]))
        red_blue = uint32(uint32(colours[i] & uint32(0xFF00FF)) * light) >> uint32(8)
        green = uint32(uint32(colours[i] & uint32(0x00FF00)) * light) >> uint32(8)
        colours[i] = uint32(red_blue & uint32(0xFF00FF)) | uint32(green & uint32(0x00FF00))


@compiled
def write_row(colours, width, pixels, words, line):
    """Three bytes a pixel; four pixels as three words where rows allow it."""
    if width % 4 == 0:
        for four in range(width // 4):
            at, word = uint64(4 * four), uint64(3 * width // 4 * line + 3 * four)
            c_0, c_1 = colours[at], colours[at + uint64(1)]
            c_2, c_3 = colours[at + uint64(2)], colours[at + uint64(3)]
            words[word] = c_0 | c_1 << uint64(24)
            words[word + uint64(1)] = c_1 >> uint64(8) | c_2 << uint64(16)
            words[word + uint64(2)] = c_2 >> uint64(16) | c_3 << uint64(8)
    else:
        for column in range(width):
            pixel = uint64(3 * (width * line + column))
            pixels[pixel] = colours[column]
            pixels[pixel + uint64(1)] = colours[column] >> uint64(8)
            pixels[pixel + uint64(2)] = colours[column] >> uint64(16)


@compiled
def outline(game, west, east, bottom, top, south, north, sin_yaw, cos_yaw, sin_pitch, cos_pitch, height, width, bounds):
    """The rows and columns between which a box is seen, a little too wide rather than too narrow."""
    low_x, high_x, low_y, high_y = 1e9, -1e9, 1e9, -1e9
    behind = 0
    for corner in range(8):
        x = (east if corner & 1 else west) - game.x
        y = (top if corner & 2 else bottom) - game.eye
        z = (north if corner & 4 else south) - game.z
        right, level = x * cos_yaw - z * sin_yaw, x * sin_yaw + z * cos_yaw
        ahead, up = level * cos_pitch + y * sin_pitch, y * cos_pitch - level * sin_pitch
        if ahead < NEAREST:
            behind += 1
            continue
        low_x, high_x = min(low_x, right / ahead), max(high_x, right / ahead)
        low_y, high_y = min(low_y, up / ahead), max(high_y, up / ahead)
    if behind == 8:
        bounds[0] = bounds[1] = bounds[2] = bounds[3] = 0
        return
    if behind > 0:  # it reaches past the eye: anywhere
        bounds[0], bounds[1], bounds[2], bounds[3] = 0, height, 0, width
        return
    half = width / 2
    bounds[0] = min(max(int(height / 2 - high_y * half - 1), 0), height)
    bounds[1] = min(max(int(height / 2 - low_y * half + 2), 0), height)
    bounds[2] = min(max(int(half + low_x * half - 1), 0), width)
    bounds[3] = min(max(int(half + high_x * half + 2), 0), width)


@compiled
def draw_scene(game, surfaces, sky, picture):
    """Draw into `picture`, (height, 3 * width) bytes: 90 degrees wide, square pixels.

    `surfaces` holds the materials and, from `sky` on, the five pictures of the sky.
    """
    height, width = picture.shape[0], picture.shape[1] // 3
    padded = (width + 7) & ~7  # whole vectors: the leftover columns of a loop are the slow ones
    depths, lights = np.empty(padded + 8, np.float32), np.empty(padded + 8, np.float32)
    texels, colours = np.empty(padded + 8, np.int32), np.empty(padded + 8, np.uint32)
    pixels = picture.ravel()
    words = pixels[: len(pixels) // 4 * 4].view(np.uint32)

    sin_yaw, cos_yaw = math.sin(math.radians(game.yaw)), math.cos(math.radians(game.yaw))
    sin_pitch, cos_pitch = math.sin(math.radians(game.pitch)), math.cos(math.radians(game.pitch))
    pixel = 2.0 / width
    aside, top = 0.5 * pixel - 1.0, 0.5 * pixel * (height - 1)

    # Level rays all go equally far ahead, so that bearings are columns; tilted ones need more bearings, finely spaced.
    is_level = game.pitch == 0.0
    if is_level:
        bearings, first, step = padded, aside, pixel
    else:
        reach = 1.0 / max(LOWEST_AHEAD, cos_pitch - top * abs(sin_pitch))
        bearings = min(int(4 * width * reach), 16 * width)
        step = 2.0 * reach / bearings
        first = 0.5 * step - reach
    walls, looks = np.empty(bearings, np.float32), np.empty(bearings, np.int32)
    cast_bearings(game, first, step, sin_yaw, cos_yaw, walls, looks)
    row_walls, row_looks = np.empty(padded, np.float32), np.empty(padded, np.int32)

    box_bounds, oval_bounds = np.empty((MAX_BOXES, 4), np.int64), np.empty((MAX_OVALS, 4), np.int64)
    for number in range(game.num_boxes):
        west, east, bottom, ceiling, south, north = game.boxes[number]
        outline(
            game,
            west,
            east,
            bottom,
            ceiling,
            south,
            north,
            sin_yaw,
            cos_yaw,
            sin_pitch,
            cos_pitch,
            height,
            width,
            box_bounds[number],
        )
    for number in range(game.num_ovals):
        x, y, z, radius, half_height = game.ovals[number]
        outline(
            game, x - radius, x + radius, y - half_height, y + half_height, z - radius, z + radius,
            sin_yaw, cos_yaw, sin_pitch, cos_pitch, height, width, oval_bounds[number],
        )  # fmt: skip

    place = float32(game.x), float32(game.eye), float32(game.z)
    x_1, z_1 = float32(pixel * cos_yaw), float32(-pixel * sin_yaw)
    for line in range(height):
        up = top - pixel * line
        y, ahead = float32(up * cos_pitch + sin_pitch), cos_pitch - up * sin_pitch
        x_0, z_0 = float32(aside * cos_yaw + ahead * sin_yaw), float32(ahead * cos_yaw - aside * sin_yaw)
        if is_level:
            wall_row, look_row = walls, looks
        else:
            for i in range(padded):
                bearing = int(((aside + pixel * i) / ahead - first) / step + 0.5)
                bearing = min(max(bearing, 0), bearings - 1)
                row_walls[i], row_looks[i] = walls[bearing], looks[bearing]
            wall_row, look_row = row_walls, row_looks
        if y < float32(0):
            draw_ground_row(
                depths, texels, lights, padded, wall_row, look_row, x_0, x_1, z_0, z_1, y, float32(ahead), place,
                int32(game.floor_material), float32(pixel),
            )  # fmt: skip
        else:
            draw_sky_row(
                depths, texels, lights, padded, wall_row, look_row, x_0, x_1, z_0, z_1, y, float32(ahead), place,
                float32(game.wall_height), float32(pixel), int32(sky),
            )  # fmt: skip
        for number in range(game.num_boxes):
            if box_bounds[number, 0] <= line < box_bounds[number, 1]:
                west, east, bottom, ceiling, south, north = game.boxes[number]
                start = box_bounds[number, 2]
                stop = start + ((box_bounds[number, 3] - start + 7) & ~7)
                draw_box_row(
                    depths, texels, lights, start, stop, x_0, x_1, z_0, z_1, y, place, float32(pixel),
                    (west, east, bottom, ceiling, south, north), int32(game.box_material[number]),
                )  # fmt: skip
        for number in range(game.num_ovals):
            if oval_bounds[number, 0] <= line < oval_bounds[number, 1]:
                middle_x, middle_y, middle_z, radius, half_height = game.ovals[number]
                start = oval_bounds[number, 2]
                stop = start + ((oval_bounds[number, 3] - start + 7) & ~7)
                draw_oval_row(
                    depths, texels, lights, start, stop, x_0, x_1, z_0, z_1, y, place,
                    (middle_x, middle_y, middle_z, radius, half_height), int32(game.oval_material[number]),
                )  # fmt: skip
        shade_row(surfaces, texels, lights, padded, colours)
        write_row(colours, width, pixels, words, line)
