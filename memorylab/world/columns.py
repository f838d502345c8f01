"""What the rows of a column have in common: walls, sides of boxes, the sky."""

from typing import Any, NamedTuple

from numba import float32, int32, uint64

from memorylab.world import sky as sky_module
from memorylab.world.jit import jit
from memorylab.world.materials import SIZE
from memorylab.world.rays import FAR, NEAREST
from memorylab.world.sight import LEFT, NUMBER, RIGHT, box_of
from memorylab.world.texels import LIGHT_ON_X, LIGHT_ON_Z, dimmed, level_of, start_of, texels_across

SKY_SIZE = sky_module.SIZE


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


@jit(fastmath=True, inline=True)
def least(values, columns):
    """Among the first `columns` values."""
    found = values[0]
    for i in range(columns):
        if values[i] < found:
            found = values[i]
    return found


@jit(fastmath=True, inline=True)
def greatest(values, columns):
    """The same from above."""
    found = values[0]
    for i in range(columns):
        if values[i] > found:
            found = values[i]
    return found


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
