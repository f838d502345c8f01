"""Walkers: speed, direction, walls, and ways around boxes."""

import math

import numpy as np
import pytest

from memorylab.world import walking
from memorylab.world.paths import way_around
from memorylab.world.scene import scene_fields
from memorylab.world.walking import WALKER, slide, step_towards, walk

SIDE = 12
GAME = np.dtype([*scene_fields(SIDE), *WALKER], align=True)
SPEED, RADIUS = 3.0, 0.3
ROUNDING = 2 * walking.SKIN


def yard(cell: float = 2.0):
    """A walled square, the walker in its middle."""
    game = np.zeros(1, GAME)[0]
    game["rows"] = game["columns"] = SIDE
    game["cell"] = cell
    game["solid"][:] = 1
    game["solid"][1:-1, 1:-1] = 0
    game["x"] = game["z"] = SIDE * cell / 2
    return game


def add_box(game, west: float, east: float, south: float, north: float, solid: int = 1) -> None:
    number = game["num_boxes"]
    game["boxes"][number] = west, east, 0, 1, south, north
    game["box_solid"][number] = solid
    game["num_boxes"] += 1


def speed_of(game) -> float:
    return math.hypot(game["v_x"], game["v_z"])


def frames(game, action: int, count: int) -> list[float]:
    """The distance walked in each frame."""
    ways = []
    for _ in range(count):
        x, z = game["x"], game["z"]
        walk(game, action, SPEED, RADIUS)
        ways.append(math.hypot(game["x"] - x, game["z"] - z))
    return ways


def test_speed_builds_up_and_dies_away():
    """A push of up to a sixth of the speed replaces the tenth that friction takes, so the full speed is reached."""
    game = yard(10.0)
    ways = frames(game, walking.FORWARD, 120)
    assert speed_of(game) == pytest.approx(SPEED, rel=0.01)
    assert ways[-1] * 60 == pytest.approx(SPEED, rel=0.01)
    assert ways[0] * 60 < 0.3 * SPEED
    assert ways[20] * 60 > 0.9 * SPEED
    assert max(ways) * 60 <= SPEED * (1 + 1e-9)
    ways = frames(game, walking.LOOK_LEFT, 60)
    assert ways[0] * 60 > 0.5 * SPEED  # not at once
    assert ways[-1] * 60 < 0.01 * SPEED


@pytest.mark.parametrize(("action", "sign"), [(walking.LOOK_LEFT, -1), (walking.LOOK_RIGHT, 1)])
def test_looking_turns_on_the_spot(action, sign):
    game = yard()
    for frame in range(1, 400):
        assert frames(game, action, 1) == [0]
        assert -180 <= game["yaw"] <= 180
        assert math.cos(math.radians(game["yaw"] - sign * 2.112 * frame)) == pytest.approx(1)


# For each action: where it goes, in degrees to the right of the gaze, and how far it turns.
DIRECTIONS = {
    walking.FORWARD: (0, 0), walking.BACKWARD: (180, 0), walking.STRAFE_LEFT: (-90, 0), walking.STRAFE_RIGHT: (90, 0),
    walking.LOOK_LEFT: (None, -2.112), walking.LOOK_RIGHT: (None, 2.112),
    walking.FORWARD_LEFT: (0, -2.112), walking.FORWARD_RIGHT: (0, 2.112),
}  # fmt: skip


@pytest.mark.parametrize("yaw", [0, 90, -90, 37, -141, 180])
@pytest.mark.parametrize("action", range(len(walking.WALK_ACTIONS)))
def test_actions_go_the_right_way(action, yaw):
    game = yard()
    game["yaw"] = yaw
    x, z = game["x"], game["z"]
    walk(game, action, SPEED, RADIUS)
    relative, turn = DIRECTIONS[action]
    assert math.cos(math.radians(game["yaw"] - yaw - turn)) == pytest.approx(1, abs=1e-12)
    way = np.array([game["x"] - x, game["z"] - z])  # east, north
    if relative is None:
        assert (way == 0).all()
    else:
        bearing = math.radians(yaw + turn + relative)  # clockwise from north
        assert way / np.linalg.norm(way) == pytest.approx([math.sin(bearing), math.cos(bearing)], abs=1e-9)


@pytest.mark.parametrize("obstacle", ["wall", "box"])
@pytest.mark.parametrize(("yaw", "axis", "sign"), [(30, "z", 1), (60, "x", 1), (150, "z", -1), (-60, "x", -1)])
def test_walls_are_slid_along(yaw, axis, sign, obstacle):
    game = yard(4.0)
    edge = 44 if sign > 0 else 4
    if obstacle == "box":
        edge = 24 + sign * 2
        across = sorted((edge, edge + sign * 0.125))
        add_box(game, *(across if axis == "x" else (4, 44)), *(across if axis == "z" else (4, 44)))
    game[axis] = edge - sign
    game["yaw"] = yaw
    other = "x" if axis == "z" else "z"
    start, stop = game[other], edge - sign * RADIUS
    for _ in range(120):
        walk(game, walking.FORWARD, SPEED, RADIUS)
        assert sign * (stop - game[axis]) >= 0
    assert abs(stop - game[axis]) < ROUNDING
    assert game["v_" + axis] == 0
    along = math.cos(math.radians(yaw)) if other == "z" else math.sin(math.radians(yaw))
    assert abs(game["v_" + other]) > 0.9 * SPEED * abs(along)
    assert (game[other] - start) * np.sign(along) > 1.7 * SPEED * abs(along)


def test_corners_stop():
    for yaw, x, z in ((45, 22, 22), (135, 22, 2), (-135, 2, 2), (-45, 2, 22)):
        game = yard()
        game["yaw"] = yaw
        frames(game, walking.FORWARD, 600)
        assert abs(abs(game["x"] - x) - RADIUS) < ROUNDING
        assert abs(abs(game["z"] - z) - RADIUS) < ROUNDING
        assert speed_of(game) == 0


def test_what_is_not_solid_is_walked_through():
    game = yard()
    add_box(game, 10, 14, 14, 15, solid=0)
    frames(game, walking.FORWARD, 120)
    assert game["z"] > 16


def obstacles(game) -> np.ndarray:
    """(west, east, south, north) of every solid cell and box."""
    found = [(column, column + 1, row, row + 1) for row, column in np.argwhere(game["solid"])]
    boxes = game["boxes"][: game["num_boxes"]].astype(float)[game["box_solid"][: game["num_boxes"]] > 0]
    return np.concatenate([np.array(found) * game["cell"], boxes[:, [0, 1, 4, 5]]])


def is_hit(solids: np.ndarray, west: float, east: float, south: float, north: float) -> bool:
    """Does a rectangle overlap anything solid?"""
    inside = (solids[:, 0] < east - ROUNDING) & (solids[:, 1] > west + ROUNDING)
    return bool((inside & (solids[:, 2] < north - ROUNDING) & (solids[:, 3] > south + ROUNDING)).any())


def stands(solids: np.ndarray, x: float, z: float, radius: float) -> bool:
    return not is_hit(solids, x - radius, x + radius, z - radius, z + radius)


def crowded_yard(rng):
    game = yard(rng.uniform(0.5, 3))
    for _ in range(10):
        game["solid"][tuple(rng.integers(1, SIDE - 1, 2))] = 1
    for _ in range(rng.integers(0, 12)):
        x, z = rng.uniform(1, SIDE - 2, 2) * game["cell"]
        wide, deep = np.where(rng.random(2) < 0.4, 0.01, rng.uniform(0.05, 2, 2))
        add_box(game, x, x + wide, z, z + deep, solid=rng.random() < 0.8)
    return game


def test_nothing_is_walked_through_at_any_speed():
    """Neither the square of a walker nor what it sweeps, along x and then along z, meets anything solid."""
    rng = np.random.default_rng(0)
    stopped = moved = 0
    for _ in range(60):
        game = crowded_yard(rng)
        solids, radius = obstacles(game), rng.uniform(0.05, 0.45)
        while not stands(solids, game["x"], game["z"], radius):
            game["x"], game["z"] = rng.uniform(1, SIDE - 1, 2) * game["cell"]
        for _ in range(100):
            angle, speed = rng.uniform(-math.pi, math.pi), 10 ** rng.uniform(-2, 3)
            v_x, v_z = speed * math.sin(angle), speed * math.cos(angle)
            game["v_x"], game["v_z"] = v_x, v_z
            x, z = game["x"], game["z"]
            slide(game, v_x / 60, v_z / 60, radius)
            west, east = sorted((x, game["x"]))
            south, north = sorted((z, game["z"]))
            assert not is_hit(solids, west - radius, east + radius, z - radius, z + radius)
            assert not is_hit(solids, game["x"] - radius, game["x"] + radius, south - radius, north + radius)
            assert (game["v_x"] == v_x) == (game["x"] == x + v_x / 60)
            assert (game["v_z"] == v_z) == (game["z"] == z + v_z / 60)
            stopped += game["v_x"] == 0
            moved += game["v_x"] != 0
            check_stop(solids, radius, x, z, v_x, v_z, game)
    assert min(stopped, moved) > 1000


def check_stop(solids, radius, x, z, v_x, v_z, game) -> None:
    """Who was stopped stands right before something solid."""
    nudge = 4 * ROUNDING
    if game["v_x"] == 0:
        assert not stands(solids, game["x"] + math.copysign(nudge, v_x), z, radius)
    if game["v_z"] == 0:
        assert not stands(solids, game["x"], game["z"] + math.copysign(nudge, v_z), radius)


def test_is_free_is_where_nothing_solid_is():
    rng = np.random.default_rng(1)
    free = 0
    for _ in range(40):
        game = crowded_yard(rng)
        solids = obstacles(game)
        for _ in range(50):
            x, z = rng.uniform(0, SIDE, 2) * game["cell"]
            assert walking.is_free(game, x, z, RADIUS) == stands(solids, x, z, RADIUS)
            free += stands(solids, x, z, RADIUS)
    assert 100 < free < 1900


def yard_with_boxes(rng):
    """Up to nine boxes, each in its own part of the yard, with room to pass."""
    game = yard()
    for i in range(3):
        for j in range(3):
            if rng.random() < 0.8:
                (west, south), (wide, deep) = rng.uniform(0, 1.2, 2), rng.uniform(0.3, 3.4, 2)
                west, south = 3.5 + 6 * i + west, 3.5 + 6 * j + south
                add_box(game, west, west + wide, south, south + deep)
    return game


def random_place(rng, solids: np.ndarray) -> tuple[float, float]:
    while True:
        x, z = rng.uniform(2.5, 21.5, 2)
        if stands(solids, x, z, RADIUS + 0.1):
            return x, z


def test_ways_lead_around_boxes():
    rng = np.random.default_rng(0)
    around = 0
    for number in range(100):
        game = yard_with_boxes(rng)
        solids = obstacles(game)
        (game["x"], game["z"]), goal = random_place(rng, solids), random_place(rng, solids)
        game["yaw"] = rng.uniform(-180, 180)
        distance = math.dist((game["x"], game["z"]), goal)
        around += way_around(game, *goal, RADIUS) != goal
        limit = 60 * (2 + 1.6 * distance / SPEED) + 60  # turning, walking with detours, stopping in time
        frame = 0
        while math.dist((game["x"], game["z"]), goal) > 0.5:
            walk(game, step_towards(game, *way_around(game, *goal, RADIUS)), SPEED, RADIUS)
            frame += 1
            assert frame < limit, (number, distance)
    assert around > 30


def test_the_target_itself_is_no_obstacle():
    game = yard()
    add_box(game, 11, 13, 14, 16)
    assert way_around(game, 12.0, 15.0, RADIUS, 0) == (12, 15)
    assert way_around(game, 12.0, 18.0, RADIUS, 0) == (12, 18)
    x, z = way_around(game, 12.0, 18.0, RADIUS)
    assert abs(x - 12) > 1 + RADIUS  # beside the box
    assert z < 14 - RADIUS
