"""Threads that share a batch: every game once, whatever happens on the way."""

import contextlib
import os
import pickle
import signal
import threading
import time
from copy import deepcopy

import numpy as np
import pytest

import memorylab
from memorylab.envs.thread_pool import ThreadPool


def helpers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "memorylab"]


@pytest.fixture
def pool():
    """Makes pools, and sends their helpers home."""
    made = []

    def new(size: int, threads: int) -> ThreadPool:
        made.append(ThreadPool(size, threads))
        return made[-1]

    yield new
    for each in made:
        each.dismiss()


def counted(pool: ThreadPool, size: int) -> list[int]:
    """How often each game was worked on."""
    times, lock = [0] * size, threading.Lock()

    def work(start: int, stop: int) -> None:
        with lock:
            for game in range(start, stop):
                times[game] += 1

    pool.run(work)
    return times


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100])
def test_every_game_has_its_turn_once(pool, size, threads):
    made = pool(size, threads)
    for _ in range(3):
        assert counted(made, size) == [1] * size
    assert made.threads == min(size, threads)


def test_one_thread_is_this_thread():
    before = set(helpers())
    seen = []
    ThreadPool(50, 1).run(lambda start, stop: seen.append((threading.current_thread(), start, stop)))
    assert seen == [(threading.current_thread(), 0, 50)]
    assert set(helpers()) <= before


def test_helpers_take_part(pool):
    """Each of two threads waits for the other, which only works at the same time."""
    meeting = threading.Barrier(2, timeout=20)
    pool(2, 2).run(lambda start, stop: meeting.wait())


def test_helpers_are_hired_once_and_go_home(pool):
    before = set(helpers())
    made = pool(8, 3)
    assert set(helpers()) <= before, "not before they are needed"
    for _ in range(5):
        made.run(lambda start, stop: None)
    hired = set(helpers()) - before
    assert len(hired) == 2
    made.dismiss()
    for helper in hired:
        helper.join(timeout=20)
    assert not hired & set(helpers())
    assert counted(made, 8) == [1] * 8, "and others come when they are needed"


def test_a_problem_anywhere_is_raised_here_and_the_pool_goes_on(pool):
    made = pool(16, 4)
    for bad in (0, 7, 15):

        def work(start: int, stop: int, bad: int = bad) -> None:
            if start <= bad < stop:
                raise ArithmeticError(f"game {bad}")

        with pytest.raises(ArithmeticError, match=f"game {bad}"):
            made.run(work)
        assert counted(made, 16) == [1] * 16


@pytest.fixture
def interrupt_after():
    """Ctrl-C in so many seconds."""

    def interrupt(*_) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_an_interrupt_waits_for_helpers(pool, interrupt_after):
    """Here the helper has the last piece, and this thread waits for it when the interrupt comes."""
    made, both = pool(2, 2), threading.Barrier(2, timeout=20)
    done = []

    def work(start: int, stop: int) -> None:
        both.wait()
        if threading.current_thread() is not threading.main_thread():
            time.sleep(0.3)
            done.append(start)

    interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        made.run(work)
    assert len(done) == 1
    for _ in range(5):
        assert counted(made, 2) == [1, 1]
    slow = pool(2, 2)
    slow.run(work)
    assert len(done) == 2


def test_an_interrupt_in_ones_own_piece_leaves_the_pool_in_order(pool):
    made = pool(16, 4)
    for _ in range(10):
        interrupts = [KeyboardInterrupt()]

        def work(start: int, stop: int, interrupts: list = interrupts) -> None:
            if threading.current_thread() is threading.main_thread() and interrupts:
                raise interrupts.pop()

        with contextlib.suppress(KeyboardInterrupt):  # none comes if helpers take all pieces
            made.run(work)
        assert counted(made, 16) == [1] * 16


def test_interrupted_steps_are_whole_steps(interrupt_after):
    """After each interrupt all games have made the step or none has, and what follows is what it would have been."""
    settings = {"num_envs": 96, "seed": 0, "size": (24, 32), "seconds": 900}
    envs = memorylab.make_vec("iga", threads=3, copy=False, **settings)
    twin = memorylab.make_vec("iga", threads=1, copy=False, **settings)
    envs.reset(), twin.reset()
    chance, interrupted = np.random.default_rng(0), 0
    for actions in chance.integers(0, 8, (300, 96)):
        before = envs.info["length"][0]
        try:
            interrupt_after(float(chance.uniform(1e-5, 1e-3)))
            envs.step(actions)
            interrupt_after(0)
        except KeyboardInterrupt:
            interrupted += 1
        if envs.info["length"][0] > before:
            twin.step(actions)
        np.testing.assert_array_equal(envs.get_state(), twin.get_state())
    assert interrupted > 20


@pytest.mark.parametrize("copied", [deepcopy, lambda pool: pickle.loads(pickle.dumps(pool))])
def test_a_copy_has_helpers_of_its_own(pool, copied):
    made = pool(10, 2)
    made.run(lambda start, stop: None)
    other = copied(made)
    assert (other.threads, other.bounds) == (made.threads, made.bounds)
    assert counted(other, 10) == [1] * 10
    made.dismiss()
    assert counted(other, 10) == [1] * 10
    other.dismiss()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forking with threads, which is the point
def test_a_forked_child_hires_anew(pool):
    made = pool(10, 2)
    made.run(lambda start, stop: None)
    child = os.fork()
    if child == 0:
        os._exit(0 if counted(made, 10) == [1] * 10 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert counted(made, 10) == [1] * 10
