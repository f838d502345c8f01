"""What can a player without any memory score on What Then Where and Change Detection, with notes kept in the world?

    python studies/without_memory.py [--level train] [--episodes 256] [--seed 0]

Each action is a function of `Seen`: what hangs on the panel now, where the gaze is (the room behind it tells), and
the action before, which agents are given too. Looking moves in whole steps, so gaze is a column and a row of a grid.

  gaze            What Then Where. The digit chooses a column, held over the first delay. When four digits show, column
                  tells which one was asked, and its edge chooses a row, held over the second delay. Row tells from
                  where to come to the disc: such that going straight on leads to the right button.
  sum of things   Change Detection. The sum of all objects' cells, colours and forms, modulo four, chooses on which side
                  of the centre to wait, so the step on to the disc, the action before the test array, still tells it.
                  Another sum then: changed. The same sum: most likely not.
  middle          The same with a plainer code: on which side of the centre is the objects' mean place?

All three need a column that crosses the disc. Where the start gave none, they first turn once around: a full
circle is no whole number of steps, and shifts the grid. These players show what is possible at least, not at most.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from memorylab import LEVELS, make_vec
from memorylab.envs.scripted import UNSEEN, play_episodes
from memorylab.runs import standard_error
from memorylab.tasks.psychlab import change_detection as cd
from memorylab.tasks.psychlab import what_then_where as wtw
from memorylab.tasks.psychlab.trial import ANSWERED, CHOOSE, FIXATE, STEP_DEGREES
from memorylab.world.gaze import DOWN, LEFT, NOTHING, RIGHT, UP
from memorylab.world.rng import SEED_BITS

IN_SIGHT = 42.0  # with less yaw the panel's centre is in the picture, which ends at 45 degrees
CROSSES_DISC = 2.5  # a column this near to the centre crosses the disc, whose half is 2.9 degrees
TOP_EDGE, BOTTOM_EDGE, LEFT_EDGE, RIGHT_EDGE = range(4)
ROW_OF_EDGE = {TOP_EDGE: -2, BOTTOM_EDGE: 2, LEFT_EDGE: 1, RIGHT_EDGE: -1}
PLACE_BEFORE = {LEFT: (1, 0), RIGHT: (-1, 0), UP: (0, -1), DOWN: (0, 1)}  # the step from there leads to the centre


class Thing(NamedTuple):
    """An object of Change Detection's array, as it is painted."""

    cell: int
    colour: int
    form: int


class Seen(NamedTuple):
    """All that a player goes by."""

    phase: int  # as far as the panel shows it: the players treat all blank phases alike
    shown: Sequence  # digits or things on the panel
    yaw: float
    column: int
    row: int
    previous: int  # action

    @property
    def shift(self) -> float:
        """Degrees from the centre to this column, if it is the middle one; the same in all columns."""
        return self.yaw - self.column * STEP_DEGREES


Player = Callable[[Seen], int]


def see(game: np.void, shown: Sequence, previous: int) -> Seen:
    yaw = float(game["yaw"])
    column, row = round(yaw / STEP_DEGREES), round(float(game["pitch"]) / STEP_DEGREES)
    return Seen(int(game["phase"]), shown, yaw, column, row, previous)


def shown_digits(game: np.void) -> list[int]:
    if game["phase"] == wtw.WHAT:
        return [int(game["target"])]
    return game["digits"].tolist() if game["phase"] == wtw.WHERE else []


def shown_things(game: np.void) -> list[Thing]:
    if game["phase"] not in (cd.STUDY, cd.TEST, CHOOSE, ANSWERED):
        return []
    parts = (game[name][: game["objects"]].tolist() for name in Thing._fields)
    things = [Thing(*values) for values in zip(*parts, strict=True)]
    if game["phase"] != cd.STUDY and game["changed"] >= 0:
        things[game["changed"]] = Thing(*(int(game[f"new_{name}"]) for name in Thing._fields))
    return things


# --- ways to go


def go(seen: Seen, column: int, row: int) -> int:
    """Along the row first."""
    if seen.column != column:
        return LEFT if seen.column > column else RIGHT
    if seen.row != row:
        return DOWN if seen.row > row else UP
    return NOTHING


def go_to_cross(seen: Seen) -> int:
    if abs(seen.shift) > CROSSES_DISC:  # once around, above the cross
        if seen.row == 0:
            return UP
        return LEFT if seen.shift > 0 else RIGHT
    if seen.row != 0:
        return DOWN if seen.row > 0 else UP
    return LEFT if seen.yaw > 0 else RIGHT


# --- players


def play_what_then_where(seen: Seen) -> int:
    if abs(seen.yaw) > IN_SIGHT or seen.phase in (CHOOSE, ANSWERED):
        return seen.previous
    if seen.phase == FIXATE:
        return go_to_cross(seen)
    if seen.phase == wtw.WHAT:
        return go(seen, seen.shown[0] - 2, 0)
    if seen.phase == wtw.WHERE and abs(seen.row) < 2:  # from farther up or down not all digits are in the picture
        return go(seen, seen.column, ROW_OF_EDGE[seen.shown.index(seen.column + 2)])
    if seen.phase == wtw.DISC:
        return go_to_disc(seen)
    return NOTHING


def go_to_disc(seen: Seen) -> int:
    """Rows 2 and -2 lead to the middle column and along it; rows 1 and -1 to the column beside it, and from there."""
    if seen.row == 0 or abs(seen.row) == 2 or seen.previous in (UP, DOWN):
        return go(seen, 0, 0)
    return go(seen, seen.row, 0)


def play_change_detection(code: Callable[[Sequence[Thing]], int], seen: Seen) -> int:
    """The note is the action that leads to the disc; `code` makes it of an array."""
    if abs(seen.yaw) > IN_SIGHT:
        return seen.previous
    if seen.phase == FIXATE:
        return go_to_cross(seen)
    if seen.phase == cd.STUDY:
        return go(seen, *PLACE_BEFORE[code(seen.shown)])
    if seen.phase == cd.DISC:
        return go(seen, 0, 0)
    if seen.phase in (cd.TEST, CHOOSE, ANSWERED):
        if seen.column != 0:  # above a button
            return DOWN
        return RIGHT if code(seen.shown) == seen.previous else LEFT
    return NOTHING


def sum_of_things(things: Sequence[Thing]) -> int:
    return sum(map(sum, things)) % 4


def middle(things: Sequence[Thing]) -> int:
    x, y = np.mean([cd.CELLS[thing.cell] for thing in things], axis=0) - 0.5
    if abs(x) > abs(y):
        return LEFT if x > 0 else RIGHT
    return UP if y > 0 else DOWN


# --- measurement


def scores_of(player: Player, shown: Callable[[np.void], Sequence], task: str, given: argparse.Namespace) -> np.ndarray:
    """One episode in each game."""
    env = make_vec(task, given.level, num_envs=given.episodes, seed=given.seed, size=UNSEEN)
    env.reset()
    scores, actions = np.full(given.episodes, np.nan), np.full(given.episodes, NOTHING)
    while (playing := np.flatnonzero(np.isnan(scores))).size:
        for i in playing:
            game = env.batch.records[i]
            actions[i] = player(see(game, shown(game), int(actions[i])))
        *_, info = env.step(actions)
        if "final_info" in info:
            ended = info["_final_info"] & np.isnan(scores)
            scores[ended] = info["final_info"]["score"][ended]
    env.close()
    return scores


def measure(task: str, players: dict[str, Player], shown: Callable, given: argparse.Namespace) -> None:
    scripted = ("forgetting", "remembering")
    scores = {name: play_episodes(task, given.level, name, given.episodes, given.seed)[0] for name in scripted}
    low, high = (scores[name].mean() for name in scripted)
    scores |= {name: scores_of(player, shown, task, given) for name, player in players.items()}
    for name, each in scores.items():
        error = standard_error(each)
        memory = 100 * (each.mean() - low) / (high - low)
        print(f"{task:4}  {name:13}  {each.mean():5.2f} +- {error:.2f}  {memory:12.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--level", choices=LEVELS, default="train")
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.episodes < 2 or not 0 <= given.seed < 2**SEED_BITS:
        print(f"without_memory: episodes must be 2 or more, seed from 0 to 2**{SEED_BITS} - 1", file=sys.stderr)
        sys.exit(2)
    print(f"task  player         {'score':>13}  memory score   ({given.level}, {given.episodes} episodes)")
    measure("wtw", {"gaze": play_what_then_where}, shown_digits, given)
    codes = {"sum of things": sum_of_things, "middle": middle}
    measure("cd", {name: partial(play_change_detection, code) for name, code in codes.items()}, shown_things, given)


if __name__ == "__main__":
    main()
