import numpy as np
import pytest

from memorylab.world import canvas

FINE = 16  # subsamples per texel and axis of the slow twin


def unpacked(texels: np.ndarray) -> np.ndarray:
    colours = canvas_colours(texels)
    return np.stack([colours & 255, colours >> 8 & 255, colours >> 16], -1).astype(float)


def canvas_colours(texels: np.ndarray) -> np.ndarray:
    return np.vectorize(canvas.colour_of)(texels).astype(np.int64)


def blank(size: int) -> np.ndarray:
    texels = np.zeros((size, size), np.uint64)
    canvas.clear(texels, canvas.rgb(200, 100, 50))
    return texels


def twin(size: int, covers, colour) -> np.ndarray:
    """Paint by counting the subsamples that a shape covers."""
    y, x = (np.mgrid[: size * FINE, : size * FINE] + 0.5) / (size * FINE)
    share = covers(x, y).reshape(size, FINE, size, FINE).mean(axis=(1, 3))[..., None]
    return share * np.array(colour) + (1 - share) * np.array((200, 100, 50))


def test_colour_survives_packing():
    assert canvas.colour_of(canvas.rgb(1, 2, 3)) == 1 | 2 << 8 | 3 << 16


@pytest.mark.parametrize(
    "box", [(0.1, 0.2, 0.33, 0.5), (0.0, 0.45, 0.1, 0.1), (0.9, 0.9, 0.3, 0.3), (0.51, 0.52, 0.01, 0.01)]
)
def test_boxes_against_counting_subsamples(box):
    left, top, width, height = box
    texels = blank(32)
    canvas.fill_box(texels, *box, canvas.rgb(10, 20, 250))
    slow = twin(32, lambda x, y: (x > left) & (x < left + width) & (y > top) & (y < top + height), (10, 20, 250))
    np.testing.assert_allclose(unpacked(texels), slow, atol=14)


def test_discs_against_counting_subsamples():
    texels = blank(48)
    canvas.fill_disc(texels, 0.5, 0.4, 0.3, canvas.BLACK)
    slow = twin(48, lambda x, y: np.hypot(x - 0.5, y - 0.4) < 0.15, (0, 0, 0))
    assert np.abs(unpacked(texels) - slow).max() < 40  # a straight-edge estimate of a round edge
    assert np.abs(unpacked(texels) - slow).mean() < 0.5


def test_stamp_copies_pixels_to_the_middle():
    picture = np.random.default_rng(0).integers(0, 256, (12, 12, 3), np.uint8)
    texels = blank(16)
    canvas.stamp(texels, picture, 0.5, 0.5)
    np.testing.assert_array_equal(unpacked(texels)[2:14, 2:14], picture)
    assert (unpacked(texels)[:2] == (200, 100, 50)).all()
    canvas.stamp_grey(texels, picture[..., 0], 0.5, 0.5)
    np.testing.assert_array_equal(unpacked(texels)[2:14, 2:14, 1], picture[..., 0])
