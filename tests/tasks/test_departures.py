"""What docs/departures.md says of the tasks and no test of a rule holds already."""

import numpy as np
import pytest

import memorylab
from memorylab.tasks.psychlab import arbitrary_visuomotor_mapping, change_detection, what_then_where
from memorylab.tasks.psychlab.trial import START_YAW, within_reach


@pytest.mark.parametrize(
    ("rules", "share"), [(arbitrary_visuomotor_mapping, 0.196), (what_then_where, 0.196), (change_detection, 0.385)]
)
def test_starts_that_leave_a_button_out_of_reach_are_drawn_again(rules, share):
    yaws = np.linspace(-START_YAW, START_YAW, 10_001)
    assert np.mean([not within_reach(yaw, rules.BUTTONS) for yaw in yaws]) == pytest.approx(share, abs=0.005)
    envs = memorylab.make_vec(rules.TASK.name, num_envs=500, seed=0, size=(18, 24))
    envs.reset()
    assert all(within_reach(yaw, rules.BUTTONS) for yaw in envs.batch.records["yaw"])


def test_the_cross_of_cells_is_centred():
    np.testing.assert_allclose(change_detection.CELLS.mean(0), 0.5)
    assert {tuple(cell) for cell in change_detection.CELLS} == {tuple(cell) for cell in 1 - change_detection.CELLS}


def test_the_two_gaps_of_what_then_where_are_drawn_apart(sit_at):
    table = sit_at("wtw", trials=500, seconds=100_000, delays=(1, 2))
    pairs = []
    for _ in range(400):
        table.begin_trial()
        pairs.append((int(table.game["first_delay"]), int(table.game["second_delay"])))
        table.env.batch.records["phase"] = table.rules_phase("CHOOSE")
        table.press(0)
    shares = [pairs.count(pair) / 400 for pair in ((1, 1), (1, 2), (2, 1), (2, 2))]
    np.testing.assert_allclose(shares, 0.25, atol=0.09)


@pytest.mark.parametrize(("task", "same"), [("avm", ["yaw", "correct"]), ("iga", ["yaw"])])
def test_the_same_seed_begins_alike_on_levels_of_other_scale(task, same):
    begun = [memorylab.make_vec(task, level, num_envs=20, seed=3) for level in ("train", "train_small", "extrapolate")]
    for envs in begun:
        envs.reset()
    for name in same:
        first, *others = (envs.batch.records[name] for envs in begun)
        assert all((first == other).all() for other in others)
