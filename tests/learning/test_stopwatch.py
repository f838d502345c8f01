"""Where the seconds went."""

import threading
import time

import pytest

from memorylab.learning.stopwatch import Stopwatch


def test_names_nest_within_a_thread_and_not_across():
    watch = Stopwatch()
    inside = threading.Event()

    def other() -> None:
        with watch("acting"):
            inside.wait()

    thread = threading.Thread(target=other)
    thread.start()
    for _ in range(3):
        with watch("learning"):
            with watch("forward"):
                time.sleep(0.004)
            with watch("backward"):
                time.sleep(0.008)
    inside.set()
    thread.join()
    assert set(watch.seconds) == {("acting",), ("learning",), ("learning", "forward"), ("learning", "backward")}
    seconds = watch.seconds
    parts = seconds["learning", "forward"] + seconds["learning", "backward"]
    assert 0.036 <= parts <= seconds["learning",]
    assert seconds["acting",] >= seconds["learning",]
    names = [line.split()[0] for line in watch.tree().splitlines()]
    assert names == ["whole", "acting", "learning", "backward", "forward"]


def test_a_problem_ends_the_name_too():
    watch = Stopwatch()
    with pytest.raises(RuntimeError), watch("outer"), watch("inner"):
        raise RuntimeError
    with watch("after"):
        pass
    assert set(watch.seconds) == {("outer",), ("outer", "inner"), ("after",)}


def test_the_tree_can_be_drawn_while_a_name_is_open():
    watch = Stopwatch()
    with watch("outer"):
        with watch("inner"):
            pass
        assert "inner" in watch.tree()
