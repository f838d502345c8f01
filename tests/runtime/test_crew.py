"""Several processes that share a run's games: as one process plays and learns, and nobody is left behind."""

import os
import signal
import subprocess
import sys
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tiny_runs import UPDATE, assert_same_run, tiny_config, trained

from memorylab.learning.learner import Diverged
from memorylab.runtime.crew import Crew, CrewSize, crew_size
from memorylab.runtime.in_process import training_here
from memorylab.runtime.protocol import Stage
from memorylab.runtime.training import Training

pytestmark = pytest.mark.usefixtures("hasty")

TWO = CrewSize(hands=2, threads=1)
ONE = CrewSize(hands=1, threads=1)
STAGE = Stage({"seconds": 1}, 7)


def by_two(config, folder: Path) -> Training:
    training = training_here(config, folder, threads=2)
    try:
        assert len(training.runtime.others) == 1
        training.run()
    finally:
        training.close()
    return training


def pids(training: Training) -> list[int]:
    return [pid for other in training.runtime.others for pid in other._processes]


def test_how_many_share_the_games():
    assert crew_size(32, 2) == (2, 1)
    assert crew_size(32, 12) == (8, 1)
    assert crew_size(16, 64) == (16, 4)
    assert crew_size(5, 4) == (1, 4)


@pytest.mark.parametrize("model", ["mra", "ff+mem+rec"])
def test_two_hands_do_as_one(model):
    """The same games, choices, losses and steps; sums are made in another order."""
    config = replace(tiny_config(model), seed=3)
    found = []
    for size in (ONE, TWO):
        crew = Crew(config, size)
        crew.begin(STAGE)
        progress = [crew.advance(0.0) for _ in range(8)]
        found.append((progress, crew.state_dict()))
        crew.close()
    (alone, one), (together, two) = found
    for mine, theirs in zip(alone, together, strict=True):
        assert theirs.steps == mine.steps == UPDATE
        assert sorted(theirs.episodes) == sorted(mine.episodes)
        assert theirs.metrics["loss"] == pytest.approx(mine.metrics["loss"], rel=1e-3, abs=1e-4)
        assert theirs.metrics["gradient"] == pytest.approx(mine.metrics["gradient"], rel=1e-3)
    assert any(part.episodes for part in alone)
    assert one.keys() == two.keys()
    for name, part in one.items():
        assert two[name].shape == part.shape, name
        torch.testing.assert_close(two[name].double(), part.double(), atol=2e-3, rtol=2e-3, msg=name)


def test_a_run_that_is_stopped_goes_on_as_if_it_were_not_and_moves(tmp_path):
    config = tiny_config()  # its curriculum moves on twice
    by_two(config, tmp_path / "whole")
    by_two(tiny_config(steps=20 * UPDATE), tmp_path / "stopped")
    by_two(config, tmp_path / "stopped")
    assert_same_run(tmp_path / "whole", tmp_path / "stopped")
    assert trained(tiny_config(steps=45 * UPDATE), tmp_path / "stopped").step == 45 * UPDATE  # and on with one hand


def test_what_goes_wrong_in_another_process_is_told_here_and_all_stop_where_one_diverges():
    config = tiny_config()
    crew = Crew(replace(config, learner=replace(config.learner, learning_rate=1e30)), TWO)
    crew.begin(STAGE)
    with pytest.raises(Diverged):
        deque((crew.advance(0.0) for _ in range(20)), maxlen=0)
    crew.ask_others("nonsense")
    with pytest.raises(AttributeError, match="nonsense"):
        crew.answers()
    crew.close()


def test_a_run_goes_on_when_a_process_is_killed_and_signals_are_left_to_the_first(tmp_path, capsys):
    """A terminal's Ctrl-C reaches all of them."""
    training = training_here(tiny_config(), tmp_path, threads=2)
    advance, updates = training.runtime.advance, []

    def watched(*arguments):
        updates.append(None)
        if len(updates) == 5:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(pids(training)[0], number)
            assert training.runtime.is_whole
        if len(updates) == 15:
            assert "killed" not in capsys.readouterr().err
            os.kill(pids(training)[0], signal.SIGKILL)
        return advance(*arguments)

    training.runtime.advance = watched
    training.checkpoint_seconds = 0.0
    training.run()
    assert training.step == 40 * UPDATE
    assert "a process of this run was killed" in capsys.readouterr().err
    training.close()


FOREVER = """
import sys
sys.path[:0] = sys.argv[2:]
from pathlib import Path
from tiny_runs import tiny_config
from memorylab.runtime.in_process import training_here
if __name__ == "__main__":
    training = training_here(tiny_config(steps=10**9, evaluate_every=0), Path(sys.argv[1]), threads=2)
    print(*training.runtime.others[0]._processes, flush=True)
    training.run()
"""


def test_nobody_outlives_a_run_that_is_killed(tmp_path):
    script = tmp_path / "forever.py"
    script.write_text(FOREVER)
    command = [sys.executable, script, tmp_path / "run", Path(__file__).parent]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pid = int(run.stdout.readline())
    run.kill()
    run.wait()
    run.stdout.close()
    for _ in range(100):
        if not is_running(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("a hand outlived its run")


def is_running(pid: int) -> bool:
    """A zombie is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
