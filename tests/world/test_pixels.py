"""Rows of bytes against NumPy."""

import numpy as np
import pytest

from memorylab.world.jit import jit
from memorylab.world.pixels import whole_vectors, write_row


@jit
def write(surfaces, texels, lights, pixels, width, first):
    write_row(surfaces, texels, lights, pixels, width, first)


@pytest.mark.parametrize("is_dimmed", [False, True])
@pytest.mark.parametrize("width", [8, 9, 15, 16, 23, 31, 96, 101])
def test_rows_are_what_their_texels_and_lights_say(width, is_dimmed):
    rng = np.random.default_rng(width)
    surfaces = rng.integers(0, 1 << 24, 1000).astype(np.uint32)
    texels = rng.integers(0, 1000, whole_vectors(width)).astype(np.int32)
    lights = rng.integers(0, 257, whole_vectors(width)).astype(np.int32)
    pixels = np.full(3 * width + 2, 77, np.uint8)
    write(surfaces, texels, lights if is_dimmed else None, pixels, width, 1)
    colours = np.stack([surfaces[texels[:width]] >> shift & 255 for shift in (0, 8, 16)], -1)
    if is_dimmed:
        colours = colours * lights[:width, None] >> 8
    assert (pixels[1:-1] == colours.ravel()).all()
    assert (pixels[[0, -1]] == 77).all()  # nothing beside the row is touched
