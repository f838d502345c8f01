"""Is an altered block of Spot the Difference newer than an unaltered one, to a memory of colours?

python studies/newer_blocks.py [--task spot_diff_basic] [--steps 1500]

The remembering player walks. At each step in Room 2 of an episode in which it has seen all blocks of Room 1, the
greatest and the mean novelty are noted around every block in view; the share is that of pairs, one altered and one not,
in which the altered block has more.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import tyro
from scipy.stats import rankdata

from memorylab.agent import AgentConfig, Inputs
from memorylab.agent.familiarity import COLUMNS, ROWS, FamiliarityMemory
from memorylab.agent.palette import PaletteMemory
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.world.walking import HALF_VIEW

NUM_ENVS = 64
LOOKS: dict[str, Callable[[AgentConfig], FamiliarityMemory]] = {
    "mean of a patch": FamiliarityMemory,
    "detail 2": partial(FamiliarityMemory, detail=2),
    "detail 2, brightness 0.3": partial(FamiliarityMemory, detail=2, brightness=0.3),
    "palette": PaletteMemory,
}
METRES = (0, 3), (3, 5), (5, 8), (8, 12)
BELOW_THE_WALLS = 3  # rows of patches above it show sky and walls


@dataclass
class Settings:
    task: str = "spot_diff_basic"
    steps: int = 1500


def blocks_in_view(game: np.void) -> list[tuple[float, slice, bool]]:
    """Of Room 2: how far, in which columns of patches, and whether it is the altered one."""
    found = []
    for k in range(game["blocks"]):
        west, east, _, _, south, north = game["boxes"][game["blocks"] + k]
        right, ahead = (west + east) / 2 - game["x"], (south + north) / 2 - game["z"]
        angle = (math.degrees(math.atan2(right, ahead)) - game["yaw"] + 180) % 360 - 180
        if abs(angle) < 0.85 * HALF_VIEW:
            column = (0.5 + math.tan(math.radians(angle)) / 2) * COLUMNS  # the view is 90 degrees wide
            around = slice(max(int(column - 0.6), 0), min(int(column + 0.6), COLUMNS - 1) + 1)
            found.append((math.hypot(right, ahead), around, k == game["altered"]))
    return found


def share(altered: np.ndarray, others: np.ndarray) -> float:
    """Of pairs in which the altered one has more; ties count half."""
    ranks = rankdata(np.concatenate([altered, others]))[: len(altered)]
    return (ranks.mean() - (len(altered) + 1) / 2) / len(others)


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    env = MemoryVectorEnv(settings.task, "train", NUM_ENVS, seed=1, size=(36, 48), threads=1)
    pictures, _ = env.reset()
    config = AgentConfig(encoder="small", memory="familiarity", height=36, width=48, capacity=128, embedding_size=2)
    memories = {name: make(config) for name, make in LOOKS.items()}
    stores = {name: memory.new_store(NUM_ENVS) for name, memory in memories.items()}
    resets, actions = np.ones(NUM_ENVS, np.bool_), np.zeros(NUM_ENVS, np.int64)
    nothing, noted = torch.zeros(1, NUM_ENVS), {name: [] for name in LOOKS}
    for _ in range(settings.steps):
        inputs = Inputs(torch.from_numpy(pictures)[None], nothing, nothing.long(), torch.from_numpy(resets)[None])
        novelty = {}
        for name, memory in memories.items():
            stores[name].wipe(inputs.resets[0])
            met = stores[name].meet(memory.look(inputs, torch.float32)[0])
            novelty[name] = met.view(NUM_ENVS, ROWS, COLUMNS)[:, BELOW_THE_WALLS:].numpy()
        games = env.batch.records
        in_room_2 = games["z"] > 1 + games["room"] + games["corridor"]
        for b in np.flatnonzero(in_room_2 & (games["seen"] == (1 << games["blocks"]) - 1)):
            for far, around, is_altered in blocks_in_view(games[b]):
                for name, new in novelty.items():
                    noted[name].append((far, is_altered, new[b, :, around].max(), new[b, :, around].mean()))
        env.act("remembering", actions)
        pictures, _, terminated, truncated, _ = env.step(actions)
        resets = terminated | truncated
    print(f"{settings.task}: share of pairs by the greatest / by the mean novelty, at that many metres")
    print(" " * 26 + "".join(f"{f'{near} to {far}':>14}" for near, far in METRES))
    for name, rows in noted.items():
        all_of_them = np.array(rows)
        print(f"{name:26}", end="")
        for near, far in METRES:
            here = all_of_them[(all_of_them[:, 0] >= near) & (all_of_them[:, 0] < far)]
            one, other = here[here[:, 1] == 1], here[here[:, 1] == 0]
            print(f"   {share(one[:, 2], other[:, 2]):.2f} / {share(one[:, 3], other[:, 3]):.2f}", end="")
        print()


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
