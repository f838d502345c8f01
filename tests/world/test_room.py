"""The room against a slow ray tracer that knows only geometry."""

import math

import numpy as np
import pytest

from memorylab.world import canvas, gaze, room

HALF = 112 / 2 / 90


def ray(yaw: float, pitch: float, column: int, line: int, width: int, height: int) -> np.ndarray:
    """Direction (right, up, ahead) through the middle of a pixel; 90 degrees across, square pixels."""
    right, up = (2 * column + 1) / width - 1, (height - 2 * line - 1) / width
    pitched = np.array([right, up * math.cos(pitch) + math.sin(pitch), math.cos(pitch) - up * math.sin(pitch)])
    sin, cos = math.sin(yaw), math.cos(yaw)
    return np.array([pitched[0] * cos + pitched[2] * sin, pitched[1], pitched[2] * cos - pitched[0] * sin])


def bilinear(texture: np.ndarray, s: float, t: float) -> np.ndarray:
    size = len(texture)
    x, y = min(max(s * size - 0.5, 0), size - 1.001), min(max(t * size - 0.5, 0), size - 1.001)
    i, j, fx, fy = int(x), int(y), x % 1, y % 1
    top = texture[j, i] * (1 - fx) + texture[j, i + 1] * fx
    bottom = texture[j + 1, i] * (1 - fx) + texture[j + 1, i + 1] * fx
    return top * (1 - fy) + bottom * fy


def traced(direction: np.ndarray, panel: np.ndarray, walls: np.ndarray) -> tuple[np.ndarray, float]:
    """Colour, and how far the hit is from the nearest seam between surfaces or texels of the room."""
    x, y, z = direction
    faces = {
        room.FRONT: (z, x, -y), room.BACK: (-z, -x, -y), room.RIGHT: (x, -z, -y),
        room.LEFT: (-x, z, -y), room.FLOOR: (-y, x, -z), room.CEILING: (y, x, z),
    }  # fmt: skip
    face = max(faces, key=lambda name: faces[name][0])
    depth, s, t = faces[face]
    s, t = s / depth, t / depth
    seam = 1 - max(abs(s), abs(t))
    if face == room.FRONT:
        seam = min(seam, abs(max(abs(s), abs(t)) - HALF))
        if max(abs(s), abs(t)) <= HALF:
            return bilinear(panel, (s / HALF + 1) / 2, (t / HALF + 1) / 2), seam
    size = walls.shape[1]
    i, j = (s + 1) / 2 * size, (t + 1) / 2 * size
    seam = min(seam, abs(i - round(i)) / size, abs(j - round(j)) / size)
    return walls[face, min(int(j), size - 1), min(int(i), size - 1)], seam


@pytest.mark.parametrize("size", [(36, 48), (30, 30)])
def test_every_pixel_is_what_its_ray_meets(size):
    height, width = size
    rng = np.random.default_rng(0)
    texels = panel_texture(rng, room.panel_texels(width))
    panel = rgb_of(texels)
    walls = room.furnish(width)
    wall_colours = np.stack([walls & 255, walls >> 8 & 255, walls >> 16], -1).astype(float)
    poses = [(0, 0), (180, 0), (90, 88), (-45, 0), (45, -45), (0, -88)]
    poses += [(rng.uniform(-180, 180), rng.uniform(-88, 88)) for _ in range(12)]
    compared = 0
    for yaw, pitch in poses:
        picture = np.full((height, width * 3), 77, np.uint8)
        room.draw_room(float(yaw), float(pitch), texels, walls, picture)
        pixels = picture.reshape(height, width, 3)
        for line in range(height):
            for column in range(width):
                direction = ray(math.radians(yaw), math.radians(pitch), column, line, width, height)
                colour, seam = traced(direction, panel, wall_colours)
                if seam > 1e-4:  # at a seam rounding decides
                    assert np.abs(pixels[line, column] - colour).max() <= 4, (yaw, pitch, line, column)
                    compared += 1
    assert compared > 0.9 * len(poses) * height * width


def panel_texture(rng: np.random.Generator, size: int) -> np.ndarray:
    smooth = rng.integers(0, 256, (size // 8 + 1, size // 8 + 1, 3)).repeat(8, 0).repeat(8, 1)[:size, :size]
    return np.array([[canvas.rgb(*map(int, colour)) for colour in row] for row in smooth])


def rgb_of(texels: np.ndarray) -> np.ndarray:
    colours = np.vectorize(canvas.colour_of)(texels).astype(np.int64)
    return np.stack([colours & 255, colours >> 8 & 255, colours >> 16], -1).astype(float)


def test_centred_panel_is_60_pixels_wide_and_in_the_middle():
    texels = np.full((64, 64), canvas.WHITE)
    picture = np.zeros((72, 96 * 3), np.uint8)
    room.draw_room(0.0, 0.0, texels, room.furnish(96), picture)
    white = (picture.reshape(72, 96, 3) == 255).all(-1)
    assert white.sum(1).max() == white.sum(0).max() == 60  # 59.7, in whole pixels
    assert white[36, 18:78].all()
    assert white[6:66, 48].all()


def test_gaze_is_what_the_middle_of_the_picture_shows():
    """Paint a dot where the gaze formula says, and see it in the middle pixel of an odd-sized picture."""
    for yaw, pitch in ((12.0, 7.0), (-20.0, -15.0), (5.0, 24.0)):
        u, v = gaze.gaze_on_panel(yaw, pitch)
        texels = np.full((112, 112), canvas.WHITE)
        canvas.fill_disc(texels, u, v, 0.06, canvas.BLACK)
        picture = np.zeros((73, 97 * 3), np.uint8)
        room.draw_room(yaw, pitch, texels, room.furnish(97), picture)
        assert picture.reshape(73, 97, 3)[36, 48].max() < 60
