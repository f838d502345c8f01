"""Has a block of Spot the Difference: Motion that traces another figure changed more, to a memory of motions?

    python studies/changed_motions.py [--level train] [--steps 2000]

The remembering player walks. At each step in Room 2 in which both blocks' motions are known from both rooms, how much
each has changed is noted; the share is that of steps in which the altered block has changed more.
"""

from dataclasses import dataclass

import numpy as np
import torch
import tyro

from memorylab.agent.motion import ENOUGH, MotionStore, hues_of
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.rooms.spot_diff_motion import BLOCK_COLOURS
from memorylab.world.materials import COLOURS, MATERIALS

NUM_ENVS, SIZE = 64, (36, 48)
METRES = (2, 5), (5, 8), (8, 12), (12, 16), (16, 21)  # to the north wall of Room 2
NAMES = {number: name for name, number in MATERIALS.items()}


@dataclass
class Settings:
    level: str = "train"
    steps: int = 2000


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    env = MemoryVectorEnv("spot_diff_motion", settings.level, NUM_ENVS, seed=1, size=SIZE, threads=1)
    store = MotionStore(SIZE, 1, NUM_ENVS, 4, 2, 2, 2)
    hues = hues_of(torch.tensor([COLOURS[NAMES[number]] for number in BLOCK_COLOURS], dtype=torch.uint8))
    pictures, _ = env.reset()
    resets, actions, noted = np.ones(NUM_ENVS, np.bool_), np.zeros(NUM_ENVS, np.int64), []
    for _ in range(settings.steps):
        store.wipe(torch.from_numpy(resets))
        store.meet(torch.from_numpy(pictures).flatten(1, 2), torch.from_numpy(actions))
        changes = store.changes()[:, hues].numpy()
        is_known = ((store.then.sum(-1) >= ENOUGH) & (store.now.sum(-1) >= ENOUGH))[:, hues].all(1).numpy()
        games = env.batch.records
        start = 1 + games["room"] + games["corridor"]
        for b in np.flatnonzero((games["z"] > start) & is_known):
            altered = games["altered"][b]
            to_wall = start[b] + games["room"][b] - games["z"][b]
            noted.append((to_wall, changes[b, altered], changes[b, 1 - altered]))
        env.act("remembering", actions)
        pictures, _, terminated, truncated, _ = env.step(actions)
        resets = terminated | truncated
    print(f"spot_diff_motion, {settings.level}: by metres to the north wall of Room 2")
    for near, far in METRES:
        here = np.array([row[1:] for row in noted if near <= row[0] < far])
        more = (here[:, 0] > here[:, 1]).mean()
        print(
            f"{near:2} to {far:2}: the altered block has changed more in {more:.3f} of {len(here):,} steps; "
            f"by {here[:, 0].mean():.2f}, the other by {here[:, 1].mean():.2f}"
        )


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
