"""Two numbers of docs/walked.md: what one sees of Room 1 on the way, and how often the goal of a maze can be reached.

python studies/anchors.py
"""

import numpy as np

import memorylab
from memorylab.tasks.navigation.maze_layout import SPAWN
from memorylab.tasks.navigation.visible_goal_procedural_maze import REACH, REWARD, SCALES, SPEED

GAMES, MAZES = 2048, 512


def seen_on_the_way(player: str) -> np.ndarray:
    """Share of the first episodes of Basic in which no, one and both blocks of Room 1 were in view."""
    envs = memorylab.make_vec("spot_diff_basic", num_envs=GAMES, seed=0, size=(8, 8))
    envs.reset()
    seen, actions = np.full(GAMES, -1), np.zeros(GAMES, np.int64)
    while (seen < 0).any():
        envs.batch.act(player, actions)
        info = envs.step(actions)[-1]
        if "final_info" in info:
            new = info["_final_info"] & (seen < 0)
            seen[new] = info["final_info"]["seen"][new]
    return np.bincount(np.bitwise_count(seen.astype(np.uint8)), minlength=3) / GAMES


def most_reward(level: str) -> float:
    """Of one who walks straight from each spawn to the goal at full speed, through walls, and never turns."""
    envs = memorylab.make_vec("visible_goal_procedural_maze", level, num_envs=MAZES, seed=0, size=(8, 8))
    envs.reset()
    seconds = SCALES["small"].seconds
    rewards = []
    for game in envs.batch.records:
        rows, columns = np.nonzero(game["marks"] == SPAWN)
        way = np.hypot(rows - game["goal_row"], columns - game["goal_column"])
        rewards.append(REWARD * seconds / np.mean(np.maximum(way - REACH, 0) / SPEED))
    return float(np.mean(rewards))


if __name__ == "__main__":
    for player in ("forgetting", "remembering"):
        none, one, both = seen_on_the_way(player)
        print(
            f"Basic, {player} player, {GAMES:,} episodes: no block seen in {none:.1%}, one {one:.1%}, both {both:.1%}"
        )
    small, large = most_reward("train_small"), most_reward("train_large")
    print(f"maze, straight through walls, {MAZES} mazes each: small {small:.0f}, large {large:.0f}", end="")
    print(f", train {(small + large) / 2:.0f}")
