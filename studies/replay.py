"""Is every episode that autoreset began the one that its seed plays? Whole ones, of all tasks, in three batch sizes.

python studies/replay.py                  # 100 episodes each; --tasks avm cr for some
"""

import argparse
import time
import zlib

import numpy as np

import memorylab
from memorylab.envs.vector import MemoryVectorEnv

SIZE = (36, 48)
BATCHES = (1, 7, 256)


class Played:
    """An episode as it came: what was done, and a check sum of what was seen and paid."""

    def __init__(self, seed: int):
        self.seed, self.actions, self.checksum = seed, bytearray(), 0

    def add(self, action: int, picture: np.ndarray, reward: float) -> None:
        self.actions.append(action)
        self.checksum = zlib.crc32(np.float32(reward).tobytes(), zlib.crc32(picture, self.checksum))


def autoreset_episodes(envs: MemoryVectorEnv, number: int, chance: np.random.Generator) -> list[Played]:
    """The first whole episodes that autoreset began."""
    _, info = envs.reset()
    under_way = [Played(int(seed)) for seed in info["seed"]]
    first, done = {episode.seed for episode in under_way}, []
    while len(done) < number:
        actions = chance.integers(0, envs.single_action_space.n, envs.num_envs)
        pictures, rewards, terminated, truncated, info = envs.step(actions)
        over = terminated | truncated
        for i, episode in enumerate(under_way):
            episode.add(actions[i], info["final_obs"][i] if over[i] else pictures[i], rewards[i])
            if over[i]:
                done += [episode] if episode.seed not in first else []
                under_way[i] = Played(int(info["seed"][i]))
    return done[:number]


def is_replayed(alone: memorylab.envs.single.MemoryEnv, episode: Played) -> bool:
    _, info = alone.reset(seed=episode.seed)
    again, is_over = Played(info["seed"]), False
    for action in episode.actions:
        if is_over:
            return False
        picture, reward, terminated, truncated, _ = alone.step(action)
        again.add(action, picture, reward)
        is_over = terminated or truncated
    return is_over and (again.seed, again.checksum) == (episode.seed, episode.checksum)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", nargs="+", default=memorylab.TASKS)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, help="of an episode; as long as the task's if not given")
    options = parser.parse_args()
    setting = {"size": SIZE} | ({"seconds": options.seconds} if options.seconds else {})
    print(f"{'task':30} games  replayed   steps  seconds", flush=True)
    for task in options.tasks:
        for games in BATCHES:
            begun, chance = time.perf_counter(), np.random.default_rng(options.seed)
            envs = memorylab.make_vec(task, num_envs=games, seed=options.seed, **setting)
            played = autoreset_episodes(envs, options.episodes, chance)
            alone = memorylab.make(task, **setting)
            same = sum(is_replayed(alone, episode) for episode in played)
            steps = sum(len(episode.actions) for episode in played)
            seconds = time.perf_counter() - begun
            print(f"{task:30} {games:5}  {same:3} of {len(played):3} {steps:7,}  {seconds:7.0f}", flush=True)


if __name__ == "__main__":
    main()
