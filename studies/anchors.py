"""Two numbers of docs/walked.md: what one sees of Room 1 on the way, and how often the goal of a maze can be reached.

python studies/anchors.py
"""

import numpy as np

import memorylab
from memorylab.tasks.navigation.maze_layout import SPAWN
from memorylab.tasks.navigation.visible_goal_procedural_maze import REACH, REWARD, SCALES, SPEED
from memorylab.tasks.rooms.spot_diff_basic import SCALES as BASIC
from memorylab.tasks.rooms.spot_difference import BEFORE
from memorylab.world.walking import FORWARD, LOOK_LEFT, LOOK_RIGHT

ROOM = BASIC["small"].room

GAMES, MAZES = 2048, 512


def seen_on_the_way(player: str, games: int = GAMES) -> np.ndarray:
    """Share of the first episodes of Basic in which no, one and both blocks of Room 1 were in view."""
    envs = memorylab.make_vec("spot_diff_basic", num_envs=games, seed=0, size=(8, 8))
    _, info = envs.reset()
    seen, actions = np.full(games, -1), np.zeros(games, np.int64)
    while (seen < 0).any():
        if player == "straight":
            actions = straight_to_the_corridor(info)
        else:
            envs.act(player, actions)
        info = envs.step(actions)[-1]
        new = (info["gates"] > BEFORE) & (seen < 0)  # Room 1 is left behind
        seen[new] = info["seen"][new]
    return np.bincount(np.bitwise_count(seen.astype(np.uint8)), minlength=3) / games


def straight_to_the_corridor(info: dict[str, np.ndarray]) -> np.ndarray:
    """Turn towards it the shorter way, then walk; between the gates there is nothing to do."""
    angle = np.degrees(np.arctan2(1 + ROOM / 2 - info["x"], ROOM + 3 - info["z"])) - info["yaw"]
    angle = (angle + 180) % 360 - 180
    return np.where(angle > 5, LOOK_RIGHT, np.where(angle < -5, LOOK_LEFT, FORWARD))


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
    for player in ("straight", "forgetting", "remembering"):
        none, one, both = seen_on_the_way(player)
        print(f"Basic, {player}, {GAMES:,} episodes: no block seen in {none:.1%}, one {one:.1%}, both {both:.1%}")
    small, large = most_reward("train_small"), most_reward("train_large")
    print(f"maze, straight through walls, {MAZES} mazes each: small {small:.0f}, large {large:.0f}", end="")
    print(f", train {(small + large) / 2:.0f}")
