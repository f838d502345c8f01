"""The room against a slow ray tracer that knows only geometry."""

import math
import tracemalloc

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


def traced(direction: np.ndarray, panel: np.ndarray, walls: np.ndarray) -> tuple[int, float]:
    """Texel, and how far the hit is from the nearest seam between surfaces or texels."""
    x, y, z = direction
    faces = {
        room.FRONT: (z, x, -y), room.BACK: (-z, -x, -y), room.RIGHT: (x, -z, -y),
        room.LEFT: (-x, z, -y), room.FLOOR: (-y, x, -z), room.CEILING: (y, x, z),
    }  # fmt: skip
    face = max(faces, key=lambda name: faces[name][0])
    depth, s, t = faces[face]
    s, t = s / depth, t / depth
    seam, texture = 1 - max(abs(s), abs(t)), walls[face]
    if face == room.FRONT:
        seam = min(seam, abs(max(abs(s), abs(t)) - HALF))
        if max(abs(s), abs(t)) <= HALF:
            s, t = s / HALF, t / HALF
            texture = panel
    i, j = (s + 1) / 2 * len(texture), (t + 1) / 2 * len(texture)
    seam = min(seam, abs(i - round(i)) / len(texture), abs(j - round(j)) / len(texture))
    return texture[int(j), int(i)], seam


@pytest.mark.parametrize("size", [(36, 48), (30, 30)])
def test_every_pixel_is_what_its_ray_meets(size):
    height, width = size
    rng = np.random.default_rng(0)
    texels = room.surface_size(width)
    walls, panel = rng.integers(0, 2**24, (6, texels, texels)), rng.integers(0, 2**24, (texels, texels))
    surfaces = np.concatenate([walls.ravel(), panel.ravel()]).astype(np.uint32)
    poses = [(0, 0), (180, 0), (90, 88), (-45, 0), (45, -45), (0, -88)]
    poses += [(rng.uniform(-180, 180), rng.uniform(-88, 88)) for _ in range(12)]
    compared = 0
    for yaw, pitch in poses:
        picture = np.full((height, width * 3), 77, np.uint8)
        room.draw_room(float(yaw), float(pitch), surfaces, texels, walls.size, picture)
        pixels = picture.reshape(height, width, 3).astype(int) @ (1, 1 << 8, 1 << 16)
        for line in range(height):
            for column in range(width):
                direction = ray(math.radians(yaw), math.radians(pitch), column, line, width, height)
                texel, seam = traced(direction, panel, walls)
                if seam > 2e-5:  # at a seam rounding decides
                    assert pixels[line, column] == texel, (yaw, pitch, line, column)
                    compared += 1
    assert compared > 0.9 * len(poses) * height * width


def draw_panel(yaw: float, pitch: float, paint, height: int, width: int) -> np.ndarray:
    """A furnished room whose white panel was painted on."""
    size = room.surface_size(width)
    panel = np.full((size, size), canvas.WHITE)
    paint(panel)
    walls = room.furnish(width)
    picture = np.zeros((height, width * 3), np.uint8)
    room.draw_room(yaw, pitch, np.concatenate([walls.ravel(), panel.ravel()]), size, walls.size, picture)
    return picture.reshape(height, width, 3)


def test_centred_panel_is_60_pixels_wide_and_in_the_middle():
    picture = draw_panel(0.0, 0.0, lambda panel: None, 72, 96)
    white = (picture == 255).all(-1)
    assert white.sum(1).max() == white.sum(0).max() == 60  # 59.7, in whole pixels
    assert white[36, 18:78].all()
    assert white[6:66, 48].all()


def test_gaze_is_what_the_middle_of_the_picture_shows():
    """Paint a dot where the gaze formula says, and see it in the middle pixel of an odd-sized picture."""
    for yaw, pitch in ((12.0, 7.0), (-20.0, -15.0), (5.0, 24.0)):
        u, v = gaze.gaze_on_panel(yaw, pitch)
        picture = draw_panel(yaw, pitch, lambda panel: canvas.fill_disc(panel, u, v, 0.06, canvas.BLACK), 73, 97)  # noqa: B023
        assert picture[36, 48].max() < 60


def test_the_room_of_a_wide_picture_takes_little_more_memory_than_itself():
    room.furnish.cache_clear()
    tracemalloc.start()
    surfaces = room.furnish(384)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert surfaces.shape == (6, 480, 480)
    assert most < surfaces.nbytes + 20e6
