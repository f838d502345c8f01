"""Run by `make wheel` and `make lowest` with the interpreter of another environment: what is installed there plays."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import memorylab


def play(task: str) -> None:
    """One game and several, on a training and a holdout level; compiled code draws something."""
    env = memorylab.make(task, "holdout_extrapolate", seed=0, size=(36, 48))
    env.reset()
    for action in range(4):
        picture, *_ = env.step(action)
    assert picture.shape == (36, 48, 3)
    assert picture.std() > 1
    envs = memorylab.make_vec(task, num_envs=3, seed=0, size=(36, 48))
    envs.reset()
    pictures, rewards, *_ = envs.step(np.array([0, 1, 2]))
    assert pictures.shape == (3, 36, 48, 3)
    assert np.isfinite(rewards).all()


def command(*arguments: str) -> str:
    """What `memorylab ...` prints, in this environment."""
    return subprocess.run(
        [Path(sys.executable).parent / "memorylab", *arguments], check=True, text=True, stdout=subprocess.PIPE
    ).stdout


def main() -> None:
    """Everything, in a folder of its own, so that it is not the checkout that plays."""
    package = Path(memorylab.__file__).parent
    assert package.parent.name == "site-packages", f"this is the checkout, not what was installed: {package}"
    for task in memorylab.TASKS:
        play(task)
        print("played", task, flush=True)
    assert all(task in command("list", "--json") for task in memorylab.TASKS)
    with tempfile.TemporaryDirectory() as folder:
        command("snapshot", "cr", "--frames", "3", "--out", f"{folder}/cr.gif")
    assert (package / "py.typed").exists()
    assert len(list((package / "web" / "static" / "cards").iterdir())) >= len(memorylab.TASKS)


if __name__ == "__main__":
    main()
