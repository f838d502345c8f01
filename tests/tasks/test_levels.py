"""The level tables, written out from the paper and the original scripts: nothing here is read from the code."""

import pytest

from memorylab.tasks.task import find_task

LEVELS = [
    "train", "train_small", "train_large", "interpolate", "extrapolate",
    "holdout_small", "holdout_large", "holdout_interpolate", "holdout_extrapolate",
]  # fmt: skip
SPLITS = ["train"] * 5 + ["holdout"] * 4

# Trials, seconds and delays in frames, in the order of LEVELS.
SMALL_LARGE_50 = [(50, 300, ())] * 3
AVM_AND_CR = [*SMALL_LARGE_50, (40, 300, ()), (75, 450, ()), (50, 300, ()), (50, 300, ()), (40, 300, ()), (75, 450, ())]
CD_SMALL, CD_LARGE = (50, 300, (2, 4, 8)), (50, 300, (64, 128))
CD_BETWEEN, CD_BEYOND = (50, 300, (16, 32)), (50, 300, (130, 150, 200, 250))
WTW_SMALL, WTW_LARGE = (50, 600, (4, 8)), (50, 600, (32, 128))
WTW_BETWEEN, WTW_BEYOND = (50, 600, (16, 64)), (50, 600, (132, 156, 200, 256))
# Delay in seconds and the clock; numbers of objects; metres across; maze size, rooms, room side, goals; chain.
DELAYS = [0, 10, 5, 15]
WALKED = {
    "spot_diff_basic": [{"delay": d, "seconds": 120, "room": 14, "corridor": 4} for d in DELAYS],
    "spot_diff_passive": [{"delay": d, "seconds": 120, "room": 14, "corridor": 4} for d in DELAYS],
    "spot_diff_motion": [{"delay": d, "seconds": 240, "room": 20, "corridor": 8} for d in DELAYS],
    "spot_diff_multi_object": [
        {"objects": n, "seconds": 120, "room": 16, "corridor": 6} for n in ((2, 3), (5, 6), (4,), (7,))
    ],
    "visible_goal_with_buildings": [{"side": m, "seconds": 200, "reach": 1.35} for m in (10, 20, 15, 25)],
    "invisible_goal_with_buildings": [{"side": m, "seconds": 200, "reach": 1.35} for m in (10, 20, 15, 25)],
    "invisible_goal_empty_arena": [{"side": m, "seconds": 200, "reach": 0.22} for m in (10, 20, 15, 25)],
    "visible_goal_procedural_maze": [
        {"cells": cells, "rooms": rooms, "room_side": side, "goals_per_room": goals, "seconds": 120}
        for cells, rooms, side, goals in ((11, 9, 3, 5), (21, 13, 7, 15), (15, 11, 5, 10), (27, 15, 9, 20))
    ],
    "transitive_inference": [{"objects": n, "seconds": 200} for n in (5, 7, 6, 8)],
}
TABLE = {
    "arbitrary_visuomotor_mapping": AVM_AND_CR,
    "continuous_recognition": AVM_AND_CR,
    "change_detection": [
        (50, 300, (2, 4, 8, 64, 128)), CD_SMALL, CD_LARGE, CD_BETWEEN, CD_BEYOND,
        CD_SMALL, CD_LARGE, CD_BETWEEN, CD_BEYOND,
    ],
    "what_then_where": [
        (50, 600, (4, 8, 32, 128)), WTW_SMALL, WTW_LARGE, WTW_BETWEEN, WTW_BEYOND,
        WTW_SMALL, WTW_LARGE, WTW_BETWEEN, WTW_BEYOND,
    ],
}  # fmt: skip


def test_every_task_has_these_nine_levels():
    import memorylab
    from memorylab.tasks.levels import LEVELS as levels

    assert list(memorylab.LEVELS) == LEVELS
    assert [level.stimuli for level in levels.values()] == SPLITS
    assert set(memorylab.TASKS) == set(TABLE) | set(WALKED)
    assert len(memorylab.TASKS) == 13


@pytest.mark.parametrize("task", TABLE)
def test_scales(task):
    for level, expected in zip(LEVELS, TABLE[task], strict=True):
        scales = find_task(task).scales_of(level)
        assert [(s.trials, s.seconds, s.delays) for s in scales] == [expected], level


@pytest.mark.parametrize("task", WALKED)
def test_scales_of_tasks_that_are_walked_through(task):
    small, large, between, beyond = WALKED[task]
    expected = [[small, large], [small], [large], [between], [beyond], [small], [large], [between], [beyond]]
    for level, scales in zip(LEVELS, expected, strict=True):
        assert [vars(scale) for scale in find_task(task).scales_of(level)] == scales, level


def test_any_other_scale_by_keyword():
    (scale,) = find_task("cd").scales_of("train", delays=600, trials=3)
    assert (scale.trials, scale.seconds, scale.delays) == (3, 300, (600,))


def test_short_names():
    shorts = {"avm": "arbitrary_visuomotor_mapping", "cr": "continuous_recognition"}
    shorts |= {"cd": "change_detection", "wtw": "what_then_where"}
    for short, name in shorts.items():
        assert find_task(short).name == name
        assert find_task(short).short == short
