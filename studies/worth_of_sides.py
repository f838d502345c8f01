"""In the challenge of Transitive Inference, is the higher one worth more, to a memory of what won over what?

    python studies/worth_of_sides.py [--levels train holdout_interpolate holdout_extrapolate] [--steps 1500]

The forgetting player guesses its way through the pairs. When the challenge is on show and one stands at the start, the
worth of the patches on the left is taken from that of those on the right.
"""

from dataclasses import dataclass

import numpy as np
import torch
import tyro

from memorylab.agent.familiarity import COLUMNS, ROWS
from memorylab.agent.worth import WorthStore
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.rooms.transitive_inference import START_Z

NUM_ENVS, SIZE = 64, (36, 48)


@dataclass
class Settings:
    levels: tuple[str, ...] = ("train", "holdout_interpolate", "holdout_extrapolate")
    steps: int = 1500


def sides(level: str, steps: int) -> np.ndarray:
    """Of each challenge: how much more the right side is worth, from the higher one's side."""
    env = MemoryVectorEnv("transitive_inference", level, NUM_ENVS, seed=1, size=SIZE, threads=1)
    store = WorthStore(SIZE, 1, NUM_ENVS, 4, 2, 2, 2)
    pictures, _ = env.reset()
    resets, rewards, actions = np.ones(NUM_ENVS, np.bool_), np.zeros(NUM_ENVS), np.zeros(NUM_ENVS, np.int64)
    found = []
    for _ in range(steps):
        store.wipe(torch.from_numpy(resets))
        paid = torch.from_numpy(np.where(resets, 0, rewards))
        worth = (
            store.meet(torch.from_numpy(pictures).flatten(1, 2), paid).view(NUM_ENVS, 2, ROWS, COLUMNS).sum(1).numpy()
        )
        games = env.batch.records
        is_asked = (games["challenge"] == 1) & (games["yaw"] == 0) & (games["z"] == START_Z)
        right = worth[:, :, COLUMNS // 2 :].sum((1, 2)) - worth[:, :, : COLUMNS // 2].sum((1, 2))
        found += (right * (2 * games["correct"] - 1))[is_asked].tolist()
        env.act("forgetting", actions)
        pictures, rewards, terminated, truncated, _ = env.step(actions)
        resets = terminated | truncated
    return np.array(found)


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    for level in settings.levels:
        more = sides(level, settings.steps)
        print(
            f"{level:22}the higher one is worth more in {(more > 0).mean():.3f}, as much in {(more == 0).mean():.3f} "
            f"of {len(more)} challenges"
        )


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
