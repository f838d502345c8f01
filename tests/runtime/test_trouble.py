"""Whether a process hangs and whether there is room, by what Ray would tell; no cluster is begun."""

import time
from types import SimpleNamespace

import pytest
import ray

from memorylab.runtime.on_ray import trouble
from memorylab.runtime.on_ray.trouble import Pulse, Room, wait_for_one
from memorylab.runtime.protocol import LearnerLost, Stuck


class Worker:
    """Answers with the next of its clocks; None is no answer."""

    def __init__(self, *clocks: float | None):
        self.clocks = list(clocks)
        self.pulse = SimpleNamespace(remote=lambda: self.clocks.pop(0))


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time, which a test moves on; futures are what they come to, or None."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(ray, "wait", lambda futures, timeout: ([f for f in futures if f is not None], []))
    monkeypatch.setattr(ray, "get", lambda future: future)
    return now


def felt(clock: list[float], *workers: Worker) -> float:
    """Seconds until one of them is given up; at most 200."""
    pulse, start = Pulse(list(workers)), clock[0]
    try:
        while clock[0] - start < 200:
            pulse.feel()
            clock[0] += 1.0
    except LearnerLost:
        return clock[0] - start
    return 200.0


def test_a_process_that_does_not_answer_has_hung(clock):
    assert felt(clock, Worker(None)) == 41
    assert felt(clock, Worker(1.0, 2.0, 3.0, None)) == 43, "counted from its last sign of life"


def test_a_process_that_answers_but_computes_nothing_has_hung(clock):
    assert felt(clock, Worker(*[7.5] * 300)) == 41


def test_a_slow_process_computes_and_is_waited_for(clock):
    assert felt(clock, Worker(*[step // 30 for step in range(300)])) == 200


def test_one_of_several_is_enough(clock):
    assert felt(clock, Worker(*map(float, range(300))), Worker(None)) == 41


def test_room_that_is_lost_may_come_back(clock, monkeypatch, capsys):
    there = {"CPU": 1.0}
    monkeypatch.setattr(ray, "cluster_resources", lambda: there)
    room = Room(cpus=2)
    for _ in range(30):
        room.look("any actor")
        clock[0] += 1.0
    there["CPU"] = 2.0
    room.look("any actor")
    clock[0] += 100.0
    there["CPU"] = 1.0
    room.look("any actor")
    assert capsys.readouterr().err.splitlines() == [
        "memorylab: no room for any actor: the cluster has 1 of 2 CPUs",
        "memorylab: no room for any actor: the cluster has 1 of 2 CPUs",
    ]
    clock[0] += 41.0
    with pytest.raises(Stuck, match="no room for any actor for 40 s: nodes were lost, the cluster has 1 of 2 CPUs"):
        room.look("any actor")


def test_a_minute_is_enough_for_each():
    assert trouble.HUNG_SECONDS + trouble.LOOK_SECONDS < 60
    assert trouble.ROOM_SECONDS + trouble.LOOK_SECONDS < 60


def test_whoever_waits_looks_around_meanwhile(monkeypatch):
    answers = [([], ["slow"]), ([], ["slow"]), (["slow"], [])]
    monkeypatch.setattr(ray, "wait", lambda futures, timeout: answers.pop(0))
    looks: list[None] = []
    assert wait_for_one(["slow"], lambda: looks.append(None)) == (["slow"], [])
    assert len(looks) == 2
