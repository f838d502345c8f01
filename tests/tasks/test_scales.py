"""Scales: what compiled code gets of them, what people read, and what cannot be played."""

import numpy as np
import pytest

from memorylab import make_vec
from memorylab.tasks.navigation.arena import Arena
from memorylab.tasks.navigation.visible_goal_procedural_maze import Maze
from memorylab.tasks.psychlab.session import MAX_DELAYS, Session
from memorylab.tasks.psychlab.what_then_where import EMPTY
from memorylab.tasks.rooms.spot_diff_multi_object import Crowd
from memorylab.tasks.rooms.spot_difference import MAX_BLOCKS, Waiting
from memorylab.tasks.rooms.transitive_inference import Chain
from memorylab.tasks.scales import check_seconds, frames, whole
from memorylab.tasks.task import TASKS, find_task


@pytest.mark.parametrize(
    ("scale", "numbers"),
    [
        (Arena(12.5, 10, 0.9), (12.5, 600, 0.9)),
        (Maze(11, 9, 3, 5, 2), (11, 9, 3, 5, 120)),
        (Chain(5, 0.1), (5, 6)),
    ],
)
def test_a_record_has_the_clock_in_frames(scale, numbers):
    assert scale.record() == numbers


def test_lists_fill_a_row_and_say_how_much_of_it_counts():
    trials, clock, count, delays = Session(3, 2, (4, 8)).record()
    assert (trials, clock, count) == (3, 120, 2)
    assert delays.tolist() == [4, 8] + [0] * (MAX_DELAYS - 2)
    delay, clock, count, choices, *_ = Crowd((5, 6), 1).record()
    assert (delay, clock, count) == (0, 60, 2)
    assert choices.tolist() == [5, 6] + [0] * (MAX_BLOCKS - 2)
    delay, clock, count, choices, *_ = Waiting(2.5, 1).record()
    assert (delay, clock, count, choices[0]) == (150, 60, 1, 2)


@pytest.mark.parametrize("task", TASKS)
def test_every_scale_of_a_task_fits_its_record_and_has_a_text_of_its_own(task):
    found = find_task(task)
    records = np.array([scale.record() for scale in found.scales.values()], found.scale_record)
    assert (records["frames"] > 0).all()
    assert records["frames"].tolist() == [frames(scale.seconds) for scale in found.scales.values()]
    texts = {scale.text() for scale in found.scales.values()}
    assert len(texts) == len(set(found.scales.values()))
    assert all(f"{scale.seconds:g} s" in scale.text() for scale in found.scales.values())


@pytest.mark.parametrize(
    ("scale", "text"),
    [
        (Session(50, 300), "50 trials, 300 s"),
        (Session(50, 300, (2, 4)), "50 trials, 300 s, delays 2 4"),
        (Arena(12.5), "12.5 x 12.5 m, 200 s"),
        (Maze(11, 9, 3, 5), "11 x 11, 9 rooms of 3 to 3, 120 s"),
        (Waiting(0.5), "delay 0.5 s, 120 s"),
        (Crowd((2, 3)), "2 or 3 objects, 120 s"),
        (Chain(7), "7 objects, 200 s"),
    ],
)
def test_what_people_read(scale, text):
    assert scale.text() == text


def test_one_number_will_do_for_a_list():
    assert Session(1, 1, 4) == Session(1, 1, (4,))
    assert Session(1, 1, np.array([4, 8])).delays == (4, 8)
    assert Crowd(3) == Crowd((3,)) == Crowd([3])
    assert hash(Crowd([3])) == hash(Crowd(3)), "scales are compared and kept in dictionaries"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Session(0, 1), "trials must be a whole number, 1 or more, not 0"),
        (lambda: Session(2.0, 1), "trials must be a whole number"),
        (lambda: Session(True, 1), "trials must be a whole number"),
        (lambda: Session(1, 1, (1,) * (MAX_DELAYS + 1)), "delays must be up to 32 whole numbers"),
        (lambda: Session(1, 1, (0,)), "delays must be up to 32 whole numbers"),
        (lambda: Session(1, 1, (1.5,)), "delays must be up to 32 whole numbers"),
        (lambda: Arena("wide"), "side must be a number of metres from 6 to 200, not 'wide'"),
        (lambda: Arena(5.9), "side must be a number of metres"),
        (lambda: Arena(float("nan")), "side must be a number of metres"),
        (lambda: Maze(12, 9, 3, 5), "cells must be an odd number from 7 to 63, not 12"),
        (lambda: Maze(65, 9, 3, 5), "cells must be an odd number from 7 to 63, not 65"),
        (lambda: Maze(11, 0, 3, 5), "rooms must be a whole number from 1 to 1000, not 0"),
        (lambda: Maze(11, 9, 4, 5), "room_side must be an odd number"),
        (lambda: Maze(11, 9, 11, 5), "room_side must fit into the maze: at most 9, not 11"),
        (lambda: Maze(11, 9, 3, 2.5), "goals_per_room must be a whole number"),
        (lambda: Waiting(-0.1), "delay must be a number of seconds, 0 or more, not -0.1"),
        (lambda: Waiting("long"), "delay must be a number of seconds"),
        (lambda: Crowd(()), "objects must be whole numbers from 2 to 12"),
        (lambda: Crowd((2, 13)), "objects must be whole numbers from 2 to 12"),
        (lambda: Chain(3), "objects must be a whole number from 4 to 10, not 3"),
        (lambda: Chain(5.0), "objects must be a whole number from 4 to 10"),
    ],
)
def test_what_cannot_be_played_is_one_sentence(made, said):
    with pytest.raises(ValueError, match=said):
        made()


@pytest.mark.parametrize("seconds", [0, -1, 1e6, float("nan"), float("inf"), "60"])
def test_a_clock_that_could_not_run(seconds):
    with pytest.raises(ValueError, match="seconds must be a number between 0 and a million"):
        check_seconds(seconds)
    for made in (lambda: Session(1, seconds), lambda: Arena(10, seconds), lambda: Chain(5, seconds)):
        with pytest.raises(ValueError, match="seconds must be a number"):
            made()


def test_whole_numbers():
    assert all(map(whole, (0, -3, np.int8(4), 10**30)))
    assert not any(map(whole, (True, 1.0, np.float64(1), "1", None, np.bool_(True))))


@pytest.mark.parametrize(("digits", "shown"), [(1, 1), (2, 2), (3, 2), (5, 3), (5, 4)])
def test_fewer_digits_in_what_then_where(digits, shown):
    env = make_vec("wtw", num_envs=32, seed=0, digits=digits, shown=shown)
    env.reset()
    for _ in range(12):
        actions = np.zeros(32, np.int64)
        env.act("remembering", actions)
        env.step(actions)
    games = env.batch.records
    placed = games["digits"] != EMPTY
    assert (placed.sum(1) == shown).all()
    assert games["digits"].max() == digits - 1
    assert (games["digits"][np.arange(32), games["correct"]] == games["target"]).all()
    assert all(len(set(row[row != EMPTY])) == shown for row in games["digits"])  # no digit twice
    assert (placed.any(0)).all()  # at every edge


def test_more_digits_than_there_are_are_refused():
    with pytest.raises(ValueError, match="shown must be a whole number from 1 to 2, the digits in play, not 3"):
        make_vec("wtw", num_envs=1, digits=2, shown=3)
    with pytest.raises(ValueError, match="digits must be a whole number from 1 to 5, not 6"):
        make_vec("wtw", num_envs=1, digits=6)
