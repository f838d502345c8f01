import numpy as np
import pytest
from PIL import Image

from memorylab.world import canvas

FINE = 16  # subsamples per texel and axis of the slow twin
UNDER = (200, 100, 50)


def unpacked(texels: np.ndarray) -> np.ndarray:
    colours = texels.astype(np.int64)
    return np.stack([colours & 255, colours >> 8 & 255, colours >> 16], -1).astype(float)


def blank(size: int) -> np.ndarray:
    texels = np.zeros((size, size), np.uint32)
    canvas.clear(texels, canvas.rgb(*UNDER))
    return texels


def twin(size: int, covers, colour) -> np.ndarray:
    """For each texel the share of the 2 x 2 texels around its middle that a shape covers, by counting subsamples."""
    y, x = (np.mgrid[-FINE : (size + 1) * FINE, -FINE : (size + 1) * FINE] + 0.5) / (size * FINE)
    halves = covers(x, y).reshape(2 * size + 4, FINE // 2, 2 * size + 4, FINE // 2).mean(axis=(1, 3))
    share = np.array(
        [[halves[2 * r + 1 : 2 * r + 5, 2 * c + 1 : 2 * c + 5].mean() for c in range(size)] for r in range(size)]
    )
    return share[..., None] * np.array(colour) + (1 - share[..., None]) * np.array(UNDER)


@pytest.mark.parametrize(
    "box", [(0.1, 0.2, 0.33, 0.5), (0.0, 0.45, 0.1, 0.1), (0.9, 0.9, 0.3, 0.3), (0.51, 0.52, 0.01, 0.01)]
)
def test_boxes_against_counting_subsamples(box):
    left, top, width, height = box
    texels = blank(32)
    canvas.fill_box(texels, *box, canvas.rgb(10, 20, 250))

    def covers(x, y):  # what touches the edge goes on behind it
        x, y = x.clip(1e-9, 1 - 1e-9), y.clip(1e-9, 1 - 1e-9)
        return (x > left) & (x < left + width) & (y > top) & (y < top + height)

    np.testing.assert_allclose(unpacked(texels), twin(32, covers, (10, 20, 250)), atol=14)


def test_discs_against_counting_subsamples():
    texels = blank(48)
    canvas.fill_disc(texels, 0.5, 0.4, 0.3, canvas.BLACK)
    slow = twin(48, lambda x, y: np.hypot(x - 0.5, y - 0.4) < 0.15, (0, 0, 0))
    assert np.abs(unpacked(texels) - slow).max() < 40  # a straight-edge estimate of a round edge
    assert np.abs(unpacked(texels) - slow).mean() < 0.5


def test_stamp_copies_texels_to_the_middle():
    picture = np.random.default_rng(0).integers(0, 2**24, (12, 12)).astype(np.uint32)
    texels = blank(16)
    canvas.stamp(texels, picture, 0.5, 0.5)
    np.testing.assert_array_equal(texels[2:14, 2:14], picture)
    assert (unpacked(texels)[:2] == UNDER).all()


def test_softened_pictures_have_no_more_detail_than_pixels():
    stripes = np.zeros((48, 48, 3), np.uint8)
    stripes[:, ::2] = 255
    fine = canvas.softened(Image.fromarray(stripes), 96)  # 48 pixels: stripes of one pixel survive
    coarse = canvas.softened(Image.fromarray(stripes), 48)  # 24 pixels: they melt to grey
    assert fine.shape == (96, 96, 3)
    assert fine[:, 10:-10].std() > 60
    assert coarse[:, 10:-10].std() < 20


def test_stamp_enlarges_texels():
    picture = np.random.default_rng(0).integers(0, 2**24, (4, 4)).astype(np.uint32)
    texels = blank(16)
    canvas.stamp(texels, picture, 0.5, 0.5, 3)
    np.testing.assert_array_equal(texels[2:14, 2:14], picture.repeat(3, 0).repeat(3, 1))
    assert (unpacked(texels)[:2] == UNDER).all()
