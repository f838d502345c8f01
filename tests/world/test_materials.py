"""Textures and the sky: what one must be able to tell apart, and where it lies in memory."""

from itertools import combinations

import numpy as np
import pytest

from memorylab.world import materials, sky
from memorylab.world.canvas import packed, rgb
from memorylab.world.materials import COLOURS, MATERIALS, SIZE, STRIDE, TEXTURES, build_materials
from memorylab.world.texels import FULL_LIGHT, dimmed, level_of, start_of, texels_across, texels_down


def split(texels: np.ndarray) -> np.ndarray:
    return np.stack([texels & 255, texels >> 8 & 255, texels >> 16], -1).astype(int)


def test_a_texel_is_its_three_bytes():
    assert rgb(1, 2, 3) == 1 + 2 * 256 + 3 * 65536
    picture = np.random.default_rng(0).integers(0, 256, (5, 4, 3))
    np.testing.assert_array_equal(split(packed(picture)), picture)
    assert packed(picture)[2, 1] == rgb(*picture[2, 1].tolist())


def test_blocks_of_any_two_colours_can_be_told_apart():
    """What a memory task asks about must not be a matter of good eyes: means differ by 30 of 255 somewhere."""
    means = {name: TEXTURES[name].mean((0, 1)) for name in COLOURS}
    for one, other in combinations(COLOURS, 2):
        assert abs(means[one] - means[other]).max() >= 30, (one, other)


def test_styles_of_a_kind_differ():
    kinds = {"wall": materials.WALL_STYLES, "floor": materials.FLOOR_STYLES, "building": materials.BUILDING_STYLES}
    for kind, number in kinds.items():
        styles = [TEXTURES[f"{kind} {i}"] for i in range(number)]
        assert [MATERIALS[f"{kind} {i}"] - MATERIALS[f"{kind} 0"] for i in range(number)] == list(range(number))
        for one, other in combinations(styles, 2):
            assert abs(one - other).mean() > 5
        assert f"{kind} {number}" not in MATERIALS


def test_textures_are_pictures_that_are_not_flat():
    for name, texture in TEXTURES.items():
        assert texture.shape == (SIZE, SIZE, 3), name
        assert texture.min() >= 0, name
        assert texture.std((0, 1)).max() > 1, name


def test_a_painted_block_has_a_darker_rim():
    texture = materials.painted((200, 100, 50))
    assert texture[SIZE // 2, SIZE // 2].tolist() == [200, 100, 50]
    assert texture[0, SIZE // 2].tolist() == texture[SIZE // 2, -1].tolist() == pytest.approx([144, 72, 36])


def test_grain_is_noise_around_one_and_the_same_for_its_seed():
    one, other = materials.grain(1, 0.2), materials.grain(2, 0.2)
    np.testing.assert_array_equal(one, materials.grain(1, 0.2))
    assert (one != other).any()
    assert abs(one.mean() - 1) < 0.01
    assert abs(one - 1).max() <= 0.1


def test_a_users_textures_are_numbered_on():
    own = np.full((SIZE, SIZE, 3), (10.0, 300.0, -5.0))  # too bright and too dark is cut off
    flat = build_materials([own, own * 0])
    assert len(flat) == (len(MATERIALS) + 2) * STRIDE
    np.testing.assert_array_equal(flat[: -2 * STRIDE], build_materials([]))
    first = flat[len(MATERIALS) * STRIDE :][: SIZE * SIZE]
    assert set(first.tolist()) == {int(rgb(10, 255, 0))}


# --- where a point of a surface finds its texel, against plain arithmetic


@pytest.mark.parametrize("level", range(5))
def test_texels_repeat_and_are_read_top_down(level):
    side = SIZE >> level
    for place in (-2.3, -1.0, -0.001, 0.0, 0.26, 0.999, 1.0, 7.4):
        across = int(np.floor(place * SIZE)) % SIZE >> level
        assert texels_across.py_func(np.float32(place), level) == across
        down = int(np.floor(-place * SIZE)) % SIZE >> level
        assert texels_down.py_func(np.float32(place), level) == down * side


def test_copies_of_a_material_lie_behind_each_other():
    sizes = [(SIZE >> level) ** 2 for level in range(5)]
    for material in (0, 3):
        starts = [start_of.py_func(material, level) for level in range(5)]
        assert starts == [material * STRIDE + sum(sizes[:level]) for level in range(5)]
    assert sum(sizes) <= STRIDE


def test_coarser_copies_come_with_the_distance():
    levels = [level_of.py_func(np.float32(coarseness)) for coarseness in (0.1, 1.3, 1.5, 2.9, 5.7, 11.3, 1000)]
    assert levels == [0, 0, 1, 2, 3, 4, 4]


def test_light_fades_with_depth():
    lights = [dimmed.py_func(np.float32(FULL_LIGHT), np.float32(depth)) for depth in (0, 1, 10, 50, 1000)]
    assert lights[0] == FULL_LIGHT
    assert lights[3] == FULL_LIGHT // 2
    assert sorted(lights, reverse=True) == lights


# --- the sky


def test_the_four_directions_look_different():
    sides = [sky.side(direction) for direction in (sky.NORTH, sky.EAST, sky.SOUTH, sky.WEST)]
    for one, other in combinations(sides, 2):
        assert (abs(one - other).max(-1) > 20).mean() > 0.05


def test_where_two_directions_meet_the_horizon_goes_on():
    """The ridge of each direction is as high at both of its edges as that of its neighbours."""
    heights = set()
    for direction in (sky.NORTH, sky.EAST, sky.SOUTH, sky.WEST):
        picture = sky.side(direction)
        _, colour = sky.RIDGES[direction]
        for edge in (0, -1):
            heights.add(int((picture[:, edge] == colour).all(-1).sum()))
    assert max(heights) - min(heights) <= 3
    assert min(heights) > 0


def test_a_saw_has_its_teeth():
    x = np.linspace(0, 1, 1000, endpoint=False)
    values = sky.saw(x, 4)
    assert (values.min(), values.max()) == (pytest.approx(0, abs=0.01), pytest.approx(1, abs=0.01))
    np.testing.assert_allclose(values[:250], values[250:500], atol=1e-9)
    assert np.count_nonzero(np.diff(np.sign(np.diff(values)))) >= 7  # up and down four times


def test_the_sky_is_five_pictures_with_a_sun_above():
    texels = sky.build_sky()
    assert texels.shape == (5, sky.SIZE, sky.SIZE)
    above = split(texels[sky.ABOVE])
    sun = (above == (255, 246, 214)).all(-1)
    rows, columns = np.nonzero(sun)
    assert 0.005 < sun.mean() < 0.05
    assert rows.mean() < sky.SIZE / 2 < columns.mean(), "north-east of straight up"
