"""The rules of the nine games that are walked through, with the walker placed by hand."""

import itertools

import numpy as np
import pytest

import memorylab
from memorylab.tasks.navigation import arena
from memorylab.tasks.navigation.maze_layout import GOAL, SPAWN
from memorylab.tasks.rooms import spot_difference, transitive_inference
from memorylab.tasks.rooms.spot_diff_motion import figure
from memorylab.world.materials import MATERIALS
from memorylab.world.walking import FORWARD, FORWARD_LEFT, LOOK_LEFT, LOOK_RIGHT, STRAFE_LEFT

SPOT = ["spot_diff_basic", "spot_diff_passive", "spot_diff_multi_object", "spot_diff_motion"]
PAINTED = SPOT[:3]
DELAYED = ["spot_diff_basic", "spot_diff_passive", "spot_diff_motion"]
VISIBLE = "visible_goal_with_buildings"
INVISIBLE = ["invisible_goal_with_buildings", "invisible_goal_empty_arena"]
ARENAS = [VISIBLE, *INVISIBLE]
MAZE = "visible_goal_procedural_maze"
CHAIN = "transitive_inference"
ALL = [*SPOT, CHAIN, *ARENAS, MAZE]
TRAIN_LEVELS = ["train", "train_small", "train_large", "interpolate", "extrapolate"]
HOLDOUT_LEVELS = ["holdout_small", "holdout_large", "holdout_interpolate", "holdout_extrapolate"]
SEEDS = range(40)


def begin(task, level="train", seed=0, **scale):
    env = memorylab.make(task, level, **scale)
    env.reset(seed=seed)
    return env, env.batch.records[0]


def episodes(task, level="train", seeds=SEEDS, **scale):
    env = memorylab.make(task, level, **scale)
    for seed in seeds:
        env.reset(seed=seed)
        yield env, env.batch.records[0]


def go(env, x, z):
    """Stand still at (x, z), facing north."""
    for name, value in (("x", x), ("z", z), ("yaw", 0.0), ("v_x", 0.0), ("v_z", 0.0)):
        env.batch.records[name][0] = value


def touch(env, box):
    """A step just west of a box."""
    west, _, _, _, south, north = env.batch.records["boxes"][0, box]
    go(env, west - 0.27, (south + north) / 2)
    return env.step(LOOK_LEFT)


def names(colours):
    return {MATERIALS[name] for name in colours}


# --- what all share


@pytest.mark.parametrize("task", ALL)
def test_the_clock_truncates(task):
    env, _ = begin(task, seconds=2)
    for _ in range(29):
        assert env.step(LOOK_LEFT)[2:4] == (False, False)
    _, _, terminated, truncated, info = env.step(LOOK_LEFT)
    assert (terminated, truncated, info["length"]) == (False, True, 30)


# --- Spot the Difference


@pytest.mark.parametrize("task", SPOT)
@pytest.mark.parametrize("level", ["train", "holdout_extrapolate"])
def test_one_block_differs_between_the_rooms(task, level):
    altered = set()
    for _, game in episodes(task, level):
        blocks = game["blocks"]
        room_1, room_2 = game["stimulus"][:, :blocks]
        assert np.flatnonzero(room_1 != room_2).tolist() == [game["altered"]]
        altered.add(int(game["altered"]))
        if task != "spot_diff_multi_object":
            assert len({*room_1, *room_2}) == 3
        if task in PAINTED:
            assert game["box_material"][: 2 * blocks].tolist() == [*room_1, *room_2]
    assert len(altered) >= 2


@pytest.mark.parametrize("task", SPOT)
def test_both_rooms_have_the_same_layout(task):
    for _, game in episodes(task):
        blocks = game["blocks"]
        room_1, room_2 = game["boxes"][:blocks], game["boxes"][blocks : 2 * blocks]
        north = game["room"] + game["corridor"]
        assert np.allclose(room_2 - room_1, [0, 0, 0, 0, north, north], atol=1e-4)
        assert (room_1[:, 5] < 1 + game["room"]).all()
        assert (room_2[:, 4] > 1 + north).all()


@pytest.mark.parametrize("task", SPOT)
def test_a_block_of_room_1_does_nothing(task):
    for env, game in episodes(task, seeds=range(10)):
        for block in range(game["blocks"]):
            _, reward, terminated, truncated, info = touch(env, block)
            assert (reward, terminated, truncated, info["choice"]) == (0, False, False, -1)


@pytest.mark.parametrize("task", SPOT)
def test_only_the_altered_block_of_room_2_pays_and_each_ends_the_episode(task):
    for seed in range(5):
        env, game = begin(task, seed=seed)
        for block in range(game["blocks"]):
            env.reset(seed=seed)
            _, reward, terminated, truncated, info = touch(env, game["blocks"] + block)
            assert reward == (block == game["altered"])
            assert (terminated, truncated, info["choice"]) == (True, False, block)
            assert info["right_choice"] == game["altered"]


def gates_shut(game):
    return game["box_solid"][2 * game["blocks"] : 2 * game["blocks"] + 2].tolist()


def enter_corridor(env, game):
    """Walk in from just before the place between the gates."""
    go(env, 1 + game["room"] / 2, 1 + game["room"] + 1.3)
    while game["gates"] == spot_difference.BEFORE:
        assert gates_shut(game) == [0, 1]
        env.step(FORWARD)


@pytest.mark.parametrize("task", DELAYED)
def test_the_gates_are_shut_for_the_delay(task):
    env, game = begin(task, delay=3)
    enter_corridor(env, game)
    for _ in range(44):
        assert gates_shut(game) == [1, 1]
        env.step(LOOK_LEFT)
    assert gates_shut(game) == [1, 1]
    env.step(LOOK_LEFT)
    assert gates_shut(game) == [1, 0]


@pytest.mark.parametrize("task", SPOT)
def test_without_delay_the_far_gate_opens_at_once(task):
    env, game = begin(task, **({"delay": 0} if task in DELAYED else {}))
    enter_corridor(env, game)
    assert gates_shut(game) == [1, 0]


@pytest.mark.parametrize("task", DELAYED)
def test_shut_gates_let_nobody_through(task):
    env, game = begin(task, delay=10)
    enter_corridor(env, game)
    for yaw in (0.0, 180.0):
        env.batch.records["yaw"][0] = yaw
        for _ in range(60):
            env.step(FORWARD)
        assert 2 + game["room"] < game["z"] < game["room"] + game["corridor"]


@pytest.mark.parametrize("task", PAINTED)
def test_colours_for_training_and_for_holdout(task):
    for levels, colours in (
        (TRAIN_LEVELS, spot_difference.TRAIN_COLOURS),
        (HOLDOUT_LEVELS, spot_difference.HOLDOUT_COLOURS),
    ):
        for level in levels:
            seen = {int(c) for _, game in episodes(task, level) for c in game["stimulus"][:, : game["blocks"]].flat}
            assert seen == names(colours)
    assert not set(spot_difference.TRAIN_COLOURS) & set(spot_difference.HOLDOUT_COLOURS)


def test_figures_for_training_and_for_holdout():
    for levels, figures in ((TRAIN_LEVELS, range(6)), (HOLDOUT_LEVELS, range(6, 12))):
        for level in levels:
            seen = {int(f) for _, game in episodes("spot_diff_motion", level) for f in game["stimulus"][:, :2].flat}
            assert seen == set(figures)


def test_all_figures_are_different_curves():
    curves = [np.array([figure(kind, phase / 60) for phase in range(60)]) for kind in range(12)]
    for curve in curves:
        assert np.abs(curve).max() <= 1 + 1e-9
    for one, other in itertools.combinations(curves, 2):
        gaps = np.linalg.norm(one[:, None] - other[None], axis=2)
        assert max(gaps.min(0).max(), gaps.min(1).max()) > 0.1


def test_the_blocks_of_motion_trace_their_figures():
    env, game = begin("spot_diff_motion")
    go(env, 3.0, 3.0)
    for _ in range(30):
        env.step(LOOK_LEFT)
        for room, block in itertools.product(range(2), range(2)):
            stand, box = game["boxes"][2 * room + block], game["boxes"][6 + 2 * room + block]
            right, up = figure(game["stimulus"][room, block], game["frame"] % 240 / 240)
            assert box[:2].mean() - stand[:2].mean() == pytest.approx(1.3 * right, abs=1e-4)
            assert box[2:4].mean() == pytest.approx(2.2 + 1.3 * up, abs=1e-4)


@pytest.mark.parametrize(
    ("level", "numbers"),
    [
        ("train", {2, 3, 5, 6}),
        ("train_small", {2, 3}),
        ("train_large", {5, 6}),
        ("interpolate", {4}),
        ("extrapolate", {7}),
        ("holdout_interpolate", {4}),
        ("holdout_extrapolate", {7}),
    ],
)
def test_how_many_blocks_multi_object_has(level, numbers):
    assert {int(game["blocks"]) for _, game in episodes("spot_diff_multi_object", level)} == numbers


def test_colours_of_multi_object_may_repeat():
    distinct = {len({*game["stimulus"][0, :4]}) for _, game in episodes("spot_diff_multi_object", objects=4)}
    assert min(distinct) < 4
    assert max(distinct) == 4


@pytest.mark.parametrize("task", SPOT)
def test_a_block_of_room_1_is_seen_once_it_is_before_the_eyes(task):
    env, game = begin(task)
    south = game["home_z"][0] - 2.0
    for x, z, yaw, sees in [
        (game["home_x"][0], south, 180.0, False),
        (game["home_x"][0], south, 60.0, False),
        (game["home_x"][0], south, 30.0, True),
        (game["home_x"][0], south, 180.0, True),  # what was seen stays seen
    ]:
        go(env, x, z)
        env.batch.records["yaw"][0] = yaw
        env.step(STRAFE_LEFT)
        assert bool(game["seen"] & 1) == sees
    env.reset(seed=1)
    assert game["seen"] == 0


def test_a_block_behind_another_is_not_seen():
    env, game = begin("spot_diff_passive")
    west, east = (float(x) for x in game["home_x"][:2])
    go(env, west - 1.5, game["home_z"][0])
    env.batch.records["yaw"][0] = 90.0
    env.step(STRAFE_LEFT)
    assert west < east
    assert game["seen"] == 0b01


# --- Transitive Inference


def choose(env, game, right=True):
    """Touch one stand; returns the pair on show before, then what the step gave."""
    pair = int(game["low"]), int(game["high"])
    _, reward, terminated, truncated, _ = touch(env, int(game["correct"]) if right else 1 - int(game["correct"]))
    return pair, reward, terminated, truncated


@pytest.mark.parametrize("objects", [4, 5, 8, 10])
def test_each_pair_of_neighbours_comes_once_and_then_the_challenge(objects):
    orders, sides = set(), set()
    for env, game in episodes(CHAIN, objects=objects):
        pairs, total, terminated = [], 0.0, False
        while not terminated:
            sides.add((int(game["low"]), int(game["correct"])))
            pair, reward, terminated, truncated = choose(env, game)
            pairs.append(pair)
            total += reward
            assert not truncated
            assert reward == (5 if terminated else 1)
        assert sorted(pairs[:-1]) == [(low, low + 1) for low in range(objects - 1)]
        assert pairs[-1] == (1, objects - 2)
        assert total == objects + 4
        orders.add(tuple(pairs))
    assert len(orders) >= 5
    assert sides == set(itertools.product(range(objects - 1), range(2)))


def test_a_wrong_choice_pays_nothing_and_repeats_the_pair():
    for env, game in episodes(CHAIN, "train_small"):
        for _ in range(4):
            pair, reward, terminated, _ = choose(env, game, right=False)
            assert (reward, terminated) == (0, False)
            assert (game["low"], game["high"]) == pair
            assert choose(env, game) == (pair, 1, False, False)
        assert game["challenge"] == 1
        assert choose(env, game, right=False) == ((1, 3), 0, True, False)


def test_a_choice_leads_back_to_the_start():
    for env, game in episodes(CHAIN, seeds=range(10)):
        for right in (True, False):
            choose(env, game, right)
            assert (game["x"], game["z"]) == (transitive_inference.START_X, transitive_inference.START_Z)


@pytest.mark.parametrize("level", [*TRAIN_LEVELS, *HOLDOUT_LEVELS])
def test_the_colours_of_a_chain_are_distinct_and_from_one_half(level):
    is_holdout = level in HOLDOUT_LEVELS
    half = names(transitive_inference.HOLDOUT_COLOURS if is_holdout else transitive_inference.TRAIN_COLOURS)
    assert len(half) == 10
    seen, chains = set(), set()
    for env, game in episodes(CHAIN, level, seeds=range(25)):
        colours, terminated = {}, False
        while not terminated:
            for side in range(2):
                rank, colour = game["high" if side == game["correct"] else "low"], int(game["oval_material"][side])
                assert colours.setdefault(int(rank), colour) == colour
            terminated = choose(env, game)[2]
        assert sorted(colours) == list(range(game["objects"]))
        assert len(set(colours.values())) == game["objects"]
        seen |= set(colours.values())
        chains.add(tuple(colours[rank] for rank in sorted(colours)))
    assert seen == half
    assert len(chains) == 25


@pytest.mark.parametrize("level", ["train_small", "holdout_extrapolate"])
def test_the_remembering_player_gets_all_of_a_chain(level):
    env, game = begin(CHAIN, level)
    action, terminated = np.zeros(1, np.int64), False
    while not terminated:
        env.batch.act("remembering", action)
        _, _, terminated, truncated, info = env.step(action[0])
        assert not truncated
    assert info["score"] == game["objects"] + 4


# --- arenas


def to_goal(env, game):
    go(env, game["goal_x"], game["goal_z"])
    return env.step(LOOK_LEFT)


@pytest.mark.parametrize("task", ARENAS)
@pytest.mark.parametrize("level", [*TRAIN_LEVELS, *HOLDOUT_LEVELS])
def test_the_goal_is_in_two_opposite_quadrants(task, level):
    seen = set()
    for _, game in episodes(task, level):
        cell, side = game["cell"], game["scale"]
        assert cell < game["goal_x"] < cell + side
        assert cell < game["goal_z"] < cell + side
        middle = cell + side / 2
        seen.add(("N" if game["goal_z"] > middle else "S") + ("E" if game["goal_x"] > middle else "W"))
    assert seen == ({"NE", "SW"} if level in HOLDOUT_LEVELS else {"NW", "SE"})


@pytest.mark.parametrize("task", ARENAS)
@pytest.mark.parametrize("level", ["train_small", "holdout_extrapolate"])
def test_the_goal_pays_1_stays_and_one_respawns_away_from_it(task, level):
    places = set()
    for env, game in episodes(task, level, seeds=range(10)):
        goal = game["goal_x"], game["goal_z"]
        for number in range(1, 21):
            _, reward, terminated, truncated, info = to_goal(env, game)
            assert (reward, terminated, truncated) == (1, False, False)
            assert (info["goals"], info["respawns"], info["goal_step"]) == (number, number, info["length"] - 1)
            assert (game["goal_x"], game["goal_z"]) == goal == (info["goal_x"], info["goal_z"])
            gap = np.hypot(game["x"] - goal[0], game["z"] - goal[1])
            assert gap >= arena.CLEARANCE * game["scale"]
            places.add((game["x"], game["z"]))
    assert len(places) == 200


@pytest.mark.parametrize("task", ARENAS)
def test_away_from_the_goal_nothing_pays(task):
    env, _ = begin(task, "train_large")
    _, reward, _, _, info = env.step(LOOK_LEFT)
    assert (reward, info["goals"], info["goal_step"]) == (0, 0, -1)


def test_only_the_visible_goal_is_shown():
    for _, game in episodes(VISIBLE):
        assert game["num_ovals"] == 1
        assert game["ovals"][0, [0, 2]] == pytest.approx([game["goal_x"], game["goal_z"]], abs=1e-4)
        assert game["oval_material"][0] == MATERIALS["goal"]
    for task in INVISIBLE:
        assert {int(game["num_ovals"]) for _, game in episodes(task)} == {0}


def test_the_forgetting_player_sees_what_is_before_it_and_nothing_else():
    env, game = begin(VISIBLE, side=20)
    game["goal_x"], game["goal_z"] = 12.0, 20.0
    action = np.zeros(1, np.int64)
    for yaw, expected in ((0.0, FORWARD), (30.0, FORWARD_LEFT), (90.0, LOOK_RIGHT), (180.0, LOOK_RIGHT)):
        go(env, 12.0, 12.0)
        env.batch.records["yaw"][0] = yaw
        env.batch.act("forgetting", action)
        assert action[0] == expected, yaw


@pytest.mark.parametrize("side", [6, 10, 25, 200])
def test_the_buildings_grow_with_the_arena(side):
    for task in ARENAS[:2]:
        _, game = begin(task, side=side)
        assert game["num_boxes"] == len(arena.BUILDINGS)
        boxes = game["boxes"][: game["num_boxes"]]
        assert np.allclose((boxes[:, [0, 1, 4, 5]] - game["cell"]) / side, arena.BUILDINGS[:, :4], atol=1e-4)
        assert np.allclose(boxes[:, 2:4] / side, np.c_[0 * arena.BUILDINGS[:, 4], arena.BUILDINGS[:, 4]], atol=1e-4)
    assert begin("invisible_goal_empty_arena", side=side)[1]["num_boxes"] == 0


# --- the maze


@pytest.mark.parametrize("level", [*TRAIN_LEVELS, *HOLDOUT_LEVELS])
def test_the_goal_is_in_the_north_for_training_and_in_the_south_for_holdout(level):
    for _, game in episodes(MAZE, level):
        size, row, column = int(game["rows"]), int(game["goal_row"]), int(game["goal_column"])
        low, high = (1, size // 2 - 1) if level in HOLDOUT_LEVELS else (size - size // 2, size - 2)
        rows = np.nonzero(game["marks"][:size, :size] == GOAL)[0]
        assert low <= rows.min() <= row <= rows.max() <= high
        assert game["marks"][row, column] == GOAL
        assert game["solid"][row, column] == 0


@pytest.mark.parametrize("level", ["train_small", "holdout_extrapolate"])
def test_the_goal_of_the_maze_pays_10_and_one_respawns_in_the_same_maze(level):
    mazes, spawns = set(), set()
    for env, game in episodes(MAZE, level, seeds=range(10)):
        before = [np.copy(game[name]) for name in ("solid", "marks", "goal_row", "goal_column", "ovals")]
        mazes.add(before[0].tobytes())
        for number in range(1, 11):
            go(env, game["goal_column"] + 0.5, game["goal_row"] + 0.5)
            _, reward, terminated, truncated, info = env.step(LOOK_LEFT)
            assert (reward, terminated, truncated) == (10, False, False)
            assert (info["goals"], info["goal_step"]) == (number, number - 1)
            after = [game[name] for name in ("solid", "marks", "goal_row", "goal_column", "ovals")]
            assert all(map(np.array_equal, before, after))
            assert game["marks"][int(game["z"]), int(game["x"])] == SPAWN
            spawns.add((info["seed"], game["x"], game["z"]))
    assert len(mazes) == 10
    assert len(spawns) > 20
