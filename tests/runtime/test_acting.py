"""An actor in a process of its own plays as one in a thread does, and leaves nobody behind."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
import torch
from tiny_runs import UPDATE, assert_same_run, make_hasty, tiny_config, trained

from memorylab.runtime import in_process
from memorylab.runtime.acting import ActingProcess, ActingThread
from memorylab.runtime.in_process import Shares, training_here


@pytest.fixture(autouse=True)
def one_thread_each(monkeypatch):
    """As many for each side as a run on one core has: then nothing differs but where the actor plays."""
    make_hasty(monkeypatch.setattr)
    monkeypatch.setattr(in_process, "shares", lambda *_: Shares(1, 1))
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def with_process(config, folder: Path):
    training = training_here(config, folder, threads=2)
    assert isinstance(training.runtime.actor, ActingProcess)
    try:
        training.run()
    finally:
        training.close()


def test_the_same_run_in_a_process_in_a_thread_and_when_it_moves(tmp_path):
    config = tiny_config()  # its curriculum moves on twice
    trained(config, tmp_path / "thread")
    with_process(config, tmp_path / "process")
    assert_same_run(tmp_path / "thread", tmp_path / "process")
    with_process(tiny_config(steps=20 * UPDATE), tmp_path / "moved")
    trained(config, tmp_path / "moved")
    assert_same_run(tmp_path / "thread", tmp_path / "moved")


def test_who_takes_turns_or_has_one_core_needs_no_process(tmp_path):
    for name, config, threads in (("turns", tiny_config(in_turns=True), 2), ("one", tiny_config(), 1)):
        training = training_here(config, tmp_path / name, threads=threads)
        assert isinstance(training.runtime.actor, ActingThread)
        training.close()


def test_what_goes_wrong_there_is_told_here(tmp_path):
    training = training_here(tiny_config(), tmp_path, threads=2)
    with pytest.raises(AttributeError, match="nonsense"):
        training.runtime.actor.submit("nonsense").result()
    [process] = training.runtime.actor.pool._processes.values()
    os.kill(process.pid, signal.SIGKILL)
    with pytest.raises(BrokenProcessPool):
        training.run()
    training.close()


def test_a_signal_to_all_of_a_terminal_is_left_to_the_learner(tmp_path):
    training = training_here(tiny_config(steps=2 * UPDATE, evaluate_every=0), tmp_path, threads=2)
    [process] = training.runtime.actor.pool._processes.values()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(process.pid, number)
    training.run()
    assert training.step == 2 * UPDATE
    training.close()


FOREVER = """
import sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from tiny_runs import tiny_config
from memorylab.runtime.in_process import training_here
if __name__ == "__main__":
    training = training_here(tiny_config(steps=10**9, evaluate_every=0), Path(sys.argv[1]), threads=2)
    [process] = training.runtime.actor.pool._processes.values()
    print(process.pid, flush=True)
    training.run()
"""


def test_it_ends_with_a_learner_that_is_killed(tmp_path):
    script = tmp_path / "forever.py"
    script.write_text(FOREVER)
    command = [sys.executable, script, tmp_path / "run", Path(__file__).parent]
    learner = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pid = int(learner.stdout.readline())
    learner.kill()
    learner.wait()
    learner.stdout.close()
    for _ in range(100):
        if not is_running(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the actor's process outlived its learner")


def is_running(pid: int) -> bool:
    """A zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
