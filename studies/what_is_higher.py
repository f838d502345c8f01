"""Does a sense of worth know Transitive Inference's challenge before anything is learned?

    python studies/what_is_higher.py [--games 120] [--steps 700]

The forgetting player plays. Printed for each level: in how many challenges, at first sight, the side with more worth is
right, of how many; where both sides are worth the same, half is counted.
"""

import argparse

import numpy as np
import torch

from memorylab.agent import AgentConfig, Inputs
from memorylab.agent.worth import WorthMemory
from memorylab.envs.vector import MemoryVectorEnv


def rights(level: str, games: int, steps: int) -> list[float]:
    memory = WorthMemory(AgentConfig(embedding_size=4, hidden_size=4, key_size=4, capacity=128))
    env, store = MemoryVectorEnv("ti", level, games, seed=11, size=(36, 48)), memory.new_store(games)
    pictures, _ = env.reset()
    rewards, resets, actions = np.zeros(games, np.float32), np.ones(games, bool), np.zeros(games, np.int64)
    found = []
    for _ in range(steps):
        inputs = Inputs(*(torch.from_numpy(part.copy())[None] for part in (pictures, rewards, actions, resets)))
        store.wipe(inputs.resets[0])
        worth = store.meet(memory.look(inputs, torch.float32)[0]).view(games, 9, 12)[:, 2:6]
        left, right = (half.flatten(1).topk(2).values.sum(1) for half in (worth[..., :6], worth[..., 6:]))
        records = env.batch.records
        for i in np.flatnonzero((records["challenge"] == 1) & (rewards > 0) & ~resets):
            found.append(0.5 if left[i] == right[i] else float((right[i] > left[i]).item() == records["correct"][i]))
        env.act("forgetting", actions)
        pictures, rewards, terminated, truncated, _ = env.step(actions)
        resets = terminated | truncated
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=120)
    parser.add_argument("--steps", type=int, default=700)
    settings = parser.parse_args()
    for level in ("train_small", "train_large", "holdout_interpolate", "holdout_extrapolate"):
        found = rights(level, settings.games, settings.steps)
        print(f"{level:<20}  right in {np.mean(found):.1%} of {len(found)}", flush=True)


if __name__ == "__main__":
    main()
