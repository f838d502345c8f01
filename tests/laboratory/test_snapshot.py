"""Contact sheets, animations and maps: what is drawn where."""

import numpy as np
import pytest
from PIL import Image, ImageSequence

import memorylab
from memorylab.envs.plan import PAPER, average_colour, with_map
from memorylab.laboratory.snapshot import (
    CAPTION,
    MARGIN,
    contact_sheet,
    enlarge,
    save_animation,
    save_sheet,
    watch,
)
from memorylab.world.materials import MATERIALS, TEXTURES

RED_DOT, ROUTE, WALL = (220, 30, 30), (40, 90, 220), (110, 110, 120)


def plain(value: int, height: int = 3, width: int = 5) -> np.ndarray:
    return np.full((height, width, 3), value, np.uint8)


def near(picture: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    return (abs(picture.astype(int) - colour) < 25).all(-1)


def test_a_pixel_becomes_a_square():
    picture = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)
    large = np.asarray(enlarge(picture, 4))
    assert large.shape == (8, 12, 3)
    for row in range(8):
        for column in range(12):
            assert large[row, column].tolist() == picture[row // 4, column // 4].tolist()


def test_pictures_stand_in_rows_below_their_captions():
    """Two strips: five pictures in rows of two, then one alone."""
    strips = [("first", [plain(10 * i) for i in range(1, 6)]), ("second", [plain(200)])]
    sheet = np.asarray(contact_sheet(strips, columns=2, zoom=2))
    height, width = 2 * 3 + MARGIN, 2 * 5 + MARGIN
    assert sheet.shape == (4 * height + 2 * CAPTION + MARGIN, 2 * width + MARGIN, 3)
    for i in range(5):
        top, left = MARGIN + CAPTION + i // 2 * height, MARGIN + i % 2 * width
        assert (sheet[top : top + 6, left : left + 10] == 10 * (i + 1)).all()
        assert (sheet[top + 6 : top + height, left : left + 10] == PAPER[0]).all() or i // 2 == 2
    top = MARGIN + 2 * CAPTION + 3 * height
    assert (sheet[top : top + 6, MARGIN : MARGIN + 10] == 200).all()


def test_strips_of_other_sizes_share_a_sheet():
    sheet = contact_sheet([("wide", [plain(1, 4, 20)]), ("high", [plain(2, 9, 4)])], columns=1, zoom=1)
    assert sheet.size == (20 + 2 * MARGIN, 2 * (9 + MARGIN) + 2 * CAPTION + MARGIN)


@pytest.mark.parametrize(("every", "milliseconds"), [(1, 67), (3, 200)])
def test_an_animation_runs_at_the_speed_of_the_game(tmp_path, every, milliseconds):
    path = tmp_path / "deep" / "game.gif"
    save_animation([plain(0), plain(100), plain(200)], 2, path, every)
    with Image.open(path) as image:
        frames = [(frame.size, frame.info["duration"]) for frame in ImageSequence.Iterator(image)]
    assert [size for size, _ in frames] == [(10, 6)] * 3
    assert all(abs(duration - milliseconds) <= 10 for _, duration in frames), "GIF knows hundredths of a second"
    assert list(path.parent.iterdir()) == [path]


def test_a_sheet_is_saved_as_it_is(tmp_path):
    sheet = contact_sheet([("one", [plain(7)])], 1, 1)
    save_sheet(sheet, tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as image:
        np.testing.assert_array_equal(np.asarray(image), np.asarray(sheet))


# --- maps


@pytest.fixture
def walker():
    env = memorylab.make("iga", "train_small", size=(96, 96), seed=3)
    env.reset()
    return env


def map_of(env, route: list) -> np.ndarray:
    """Without the picture at its left."""
    drawn = with_map(env.batch, env.batch.pictures[0], route)
    assert drawn.shape == (96, 192, 3)
    np.testing.assert_array_equal(drawn[:, :96], env.batch.pictures[0])
    return drawn[:, 96:]


def middle(found: np.ndarray, env) -> tuple[float, float]:
    """Of some pixels of a map, in metres: x to the east, z to the north."""
    rows, columns = np.nonzero(found)
    metres = float(env.batch.records["rows"][0] * env.batch.records["cell"][0]) / 96
    return (columns.mean() + 0.5) * metres, (96 - rows.mean() - 0.5) * metres


@pytest.mark.parametrize(("x", "z"), [(4.0, 5.0), (11.0, 5.0), (4.0, 11.5)])
def test_the_walker_is_a_red_dot_where_it_stands(walker, x, z):
    walker.batch.records["x"], walker.batch.records["z"] = x, z
    assert middle(near(map_of(walker, []), RED_DOT), walker) == pytest.approx((x, z), abs=0.15)


def test_the_goal_is_a_ring_around_its_middle(walker):
    drawn = map_of(walker, [])
    game = walker.batch.records[0]
    assert middle(near(drawn, (210, 150, 0)), walker) == pytest.approx((game["goal_x"], game["goal_z"]), abs=0.3)


def test_walls_are_around_and_not_within(walker):
    wall = near(map_of(walker, []), WALL)
    cell = 96 // int(walker.batch.records["rows"][0])
    assert wall[: cell - 1].all()
    assert wall[:, : cell - 1].all()
    assert not wall[cell + 1 : -cell - 1, cell + 1 : -cell - 1].any()


def test_a_route_is_a_line_and_a_respawn_is_none(walker):
    walker.batch.records["x"], walker.batch.records["z"] = 4.0, 4.0
    steps = [(4.0, 4.0 + 0.5 * i) for i in range(9)]
    assert near(map_of(walker, steps.copy()), ROUTE).sum() > 20
    assert near(map_of(walker, [(4.0, 12.0)]), ROUTE).sum() == 0, "eight metres in one step"


def test_the_route_grows_by_where_the_walker_is(walker):
    route: list = []
    map_of(walker, route)
    map_of(walker, route)
    game = walker.batch.records[0]
    assert route == [(float(game["x"]), float(game["z"]))] * 2


def test_before_a_panel_there_is_no_map():
    env = memorylab.make("avm", seed=0)
    picture, _ = env.reset()
    assert with_map(env.batch, picture, []) is picture


def test_the_colour_on_a_map_is_the_mean_of_the_material(walker):
    for name in ("Red", "goal", "wall 1", "building 2"):
        mean = TEXTURES[name].clip(0, 255).mean((0, 1))
        np.testing.assert_allclose(average_colour(walker.batch, MATERIALS[name]), mean, atol=2)


def test_one_picture_in_so_many_steps_is_shown():
    told: list[None] = []
    every_step = watch("avm", "train", "remembering", 7, 1, 0, lambda: told.append(None), size=(24, 32))
    every_third = watch("avm", "train", "remembering", 3, 3, 0, size=(24, 32))
    assert len(told) == len(every_step) == 7
    for one, other in zip(every_step[::3], every_third, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_new_episode_begins_where_one_ends():
    """An episode of one step, four times: every picture is the first of its episode."""
    pictures = watch("avm", "train", "random", 4, 1, 5, size=(24, 32), seconds=0.05)
    env = memorylab.make("avm", seed=5, size=(24, 32), seconds=0.05)
    for picture in pictures:
        first, _ = env.reset()
        np.testing.assert_array_equal(picture, first)
