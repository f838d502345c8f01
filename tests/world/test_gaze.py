"""A head that turns before a panel, against plain geometry; and what stands in a scene."""

import math

import numpy as np
import pytest

from memorylab.world.building import EYE, WALL_HEIGHT, build_hall, put_box, put_oval
from memorylab.world.gaze import (
    DEGREES_PER_FRAME,
    DOWN,
    LEFT,
    NOTHING,
    PANEL_DISTANCE,
    PANEL_SIDE,
    PITCH_LIMIT,
    RIGHT,
    UP,
    gaze_on_panel,
    inside,
    turn,
)
from memorylab.world.scene import scene_fields
from memorylab.world.sight import box_around
from memorylab.world.walking import WALKER

HEAD = np.dtype([("yaw", "f8"), ("pitch", "f8")])
SCENE = np.dtype([*scene_fields(12), *WALKER], align=True)


def record(fields: np.dtype):
    return np.zeros(1, fields).view(np.recarray)[0]


@pytest.mark.parametrize(
    ("action", "yaw", "pitch"), [(LEFT, -1, 0), (RIGHT, 1, 0), (UP, 0, 1), (DOWN, 0, -1), (NOTHING, 0, 0)]
)
def test_a_frame_turns_by_so_much(action, yaw, pitch):
    head = record(HEAD)
    turn.py_func(head, action)
    assert (head.yaw, head.pitch) == (yaw * DEGREES_PER_FRAME, pitch * DEGREES_PER_FRAME)


@pytest.mark.parametrize(("action", "sign"), [(RIGHT, 1), (LEFT, -1)])
def test_turning_on_comes_round(action, sign):
    head = record(HEAD)
    for frame in range(1, 400):
        turn.py_func(head, action)
        turned = sign * frame * DEGREES_PER_FRAME
        assert abs(head.yaw) <= 180
        assert math.cos(math.radians(head.yaw - turned)) == pytest.approx(1)


@pytest.mark.parametrize(("action", "most"), [(UP, PITCH_LIMIT), (DOWN, -PITCH_LIMIT)])
def test_nobody_looks_over_their_own_head(action, most):
    head = record(HEAD)
    for _ in range(100):
        turn.py_func(head, action)
    assert head.pitch == most


@pytest.mark.parametrize("yaw", [-60.0, -10.0, 0.0, 31.0, 80.0])
@pytest.mark.parametrize("pitch", [-45.0, 0.0, 20.0])
def test_gaze_is_where_a_ray_meets_the_panels_plane(yaw, pitch):
    x = math.sin(math.radians(yaw)) * math.cos(math.radians(pitch))
    y = math.sin(math.radians(pitch))
    z = math.cos(math.radians(yaw)) * math.cos(math.radians(pitch))
    scale = PANEL_DISTANCE / z
    u, v = gaze_on_panel.py_func(yaw, pitch)
    assert u == pytest.approx(0.5 + x * scale / PANEL_SIDE)
    assert v == pytest.approx(0.5 - y * scale / PANEL_SIDE)


@pytest.mark.parametrize("yaw", [90.0, -90.0, 135.0, 180.0, -180.0])
def test_who_faces_away_looks_at_nothing(yaw):
    u, v = gaze_on_panel.py_func(yaw, 0.0)
    assert not inside.py_func(u, v, 0.5, 0.5, 1.0)


def test_inside_has_its_edges():
    assert inside.py_func(0.45, 0.55, 0.5, 0.5, 0.1001)
    assert inside.py_func(0.5, 0.5, 0.5, 0.5, 0.0)
    assert not inside.py_func(0.44, 0.5, 0.5, 0.5, 0.1)
    assert not inside.py_func(0.5, 0.56, 0.5, 0.5, 0.1)


# --- what stands in a scene


def test_a_hall_is_an_open_square_in_walls():
    game = record(SCENE)
    build_hall.py_func(game, 6, 3, 4)
    assert (game.rows, game.columns, game.cell) == (8, 8, 1.0)
    assert game.solid[1:7, 1:7].sum() == 0
    assert game.solid.sum() == 12 * 12 - 36
    assert (game.wall_material, game.floor_material, game.eye, game.wall_height) == (3, 4, EYE, WALL_HEIGHT)


def test_boxes_are_solid_and_ovals_are_not():
    game = record(SCENE)
    put_box.py_func(game, 2, 5.0, 7.0, 0.5, 0.25, 1.25, 9)
    assert game.boxes[2].tolist() == [4.5, 5.5, 0.25, 1.25, 6.5, 7.5]
    assert (game.box_material[2], game.box_solid[2]) == (9, 1)
    put_oval.py_func(game, 1, 5.0, 1.0, 7.0, 0.5, 0.75, 8)
    assert game.ovals[1].tolist() == [5.0, 1.0, 7.0, 0.5, 0.75]
    assert game.oval_material[1] == 8
    assert (game.num_boxes, game.num_ovals) == (0, 0), "the caller counts"


def test_a_box_around_an_oval_touches_it():
    assert box_around.py_func((5.0, 1.0, 7.0, 0.5, 0.75)) == (4.5, 5.5, 0.25, 1.75, 6.5, 7.5)
