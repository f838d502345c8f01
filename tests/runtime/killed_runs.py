"""Ends a run at random moments and lets it go on, again and again: python killed_runs.py FOLDER KILLS SEED. By turns it
is killed, asked to end, and out of room on its disk.

Each run is a fork of this process, so that a kill costs a second and not the time to import. A checkpoint is written
after every update, hence a kill may lose one update at most. Prints what it found as JSON.
"""

import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from pathlib import Path

import numpy as np
from safetensors.torch import load_file
from tiny_runs import UPDATE, make_hasty, tiny_config, trained

from memorylab.agent import MemoryRecallAgent
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.learner import Learner
from memorylab.runs.checkpoints import checkpoints
from memorylab.runs.tables import read_rows
from memorylab.runtime import training
from memorylab.runtime.interrupt import AskedToEnd


def warm_up() -> None:
    """What a run loads when it begins, so that the forks have it."""
    config = tiny_config()
    Learner(MemoryRecallAgent(config.agent), config.learner)
    size = config.agent.height, config.agent.width
    for level in config.evaluation_levels:
        env = MemoryVectorEnv(config.task, level, num_envs=1, seed=0, size=size, threads=1)
        env.reset()
        env.step(np.zeros(1, np.int64))


def linger() -> None:
    """Checkpoints take their time between one file and the next, so that many kills come just then."""
    rename = Path.rename

    def slow(self: Path, target: Path) -> Path:
        time.sleep(0.02)
        return rename(self, target)

    Path.rename = slow  # type: ignore[method-assign]


def begin(folder: Path, steps: int) -> int:
    """The process that trains in `folder`."""
    child = os.fork()
    if child:
        return child
    try:
        trained(tiny_config(steps=steps), folder)
        os._exit(0)
    except AskedToEnd as asked:
        os._exit(asked.exit_code)
    except OSError:  # no room: what a command tells and ends with
        os._exit(2)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def finish(folder: Path, steps: int) -> None:
    _, status = os.waitpid(begin(folder, steps), 0)
    assert status == 0, f"the run in {folder} ended with {status}"


def newest_step(folder: Path) -> int:
    """Reads every checkpoint that counts; an unreadable one is an error."""
    paths = checkpoints(folder / "checkpoints")
    for path in paths:
        assert json.loads(path.read_text())["step"] == int(path.stem.removeprefix("step-"))
        assert load_file(path.with_suffix(".safetensors"))
    return int(paths[-1].stem.removeprefix("step-")) if paths else 0


def kill(child: int) -> None:
    os.kill(child, signal.SIGKILL)


def ask_to_end(child: int) -> None:
    os.kill(child, signal.SIGTERM)


def fill_disk(child: int) -> None:
    """From now on no file grows beyond a few bytes."""
    resource.prlimit(child, resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))


SAVED = 128 + signal.SIGTERM
CODES = {kill: [-signal.SIGKILL], ask_to_end: [SAVED, -signal.SIGTERM], fill_disk: [2]}  # before it trains it just ends


def main(folder: Path, kills: int, seed: int) -> None:
    make_hasty(setattr)
    warm_up()
    linger()
    training.CHECKPOINT_SECONDS = -1.0
    chance, told = random.Random(seed), []
    for number in range(kills):
        before = checkpoints(folder / "killed" / "checkpoints")[-1:]
        child = begin(folder / "killed", steps=10**9)
        if chance.random() < 0.8:  # the others are killed while they begin
            until = time.monotonic() + 60
            while checkpoints(folder / "killed" / "checkpoints")[-1:] == before and time.monotonic() < until:
                time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.4))
        end = list(CODES)[number % 3]
        end(child)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in CODES[end], (end, code)
        reached = max((int(row["step"]) for row in read_rows(folder / "killed" / "metrics.csv")), default=0)
        kept = newest_step(folder / "killed")
        told.append({"by": end.__name__, "kept": kept, "lost": reached - kept, "saved": code == SAVED})
    steps = told[-1]["kept"] + 5 * UPDATE
    finish(folder / "killed", steps)
    finish(folder / "whole", steps)
    print(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
