"""One row of a picture: what each of its pixels shows."""

from typing import Any, NamedTuple

import numpy as np
from numba import float32, int32, uint64

from memorylab.world import sky as sky_module
from memorylab.world.jit import jit
from memorylab.world.materials import SIZE, STRIDE
from memorylab.world.rays import FAR, NEAREST
from memorylab.world.texels import (
    FULL_LIGHT,
    LIGHT_ON_TOP,
    dimmed,
    level_of,
    start_of,
    texels_across,
    texels_down,
)

SKY_SIZE = sky_module.SIZE


class Row(NamedTuple):
    """What each pixel of a row shows."""

    depths: Any
    texels: Any
    lights: Any


@jit(fastmath=True, inline=True)
def draw_wall_row(row, sides, columns, rays):
    """Walls in every column, for whatever is nearer to be drawn over them."""
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


@jit(inline=True)
def draw_boxed_row(row, sides, slot, start, stop, rays, box, material):
    """A box: its sides, and its top or bottom where a row looks onto it."""
    draw_box_row(row, sides, slot, start, stop, rays, box)
    if rise_through(rays, box)[0] > float32(NEAREST):
        draw_lid_row(row, sides, slot, start, stop, rays, box, material)


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
