"""A task of one's own. A golden oval shows a side for a second; after a delay there are two doors: that side's pays 1.

MEMORYLAB_EXTENSIONS=examples/my_task.py memorylab train two_doors
"""

from dataclasses import dataclass

import numpy as np

from memorylab import register_task
from memorylab.tasks.locomotion import GUESSES, WalkedRules, walked_fields, walked_task
from memorylab.tasks.scales import check_seconds, frames
from memorylab.tasks.stepping import ENDED
from memorylab.world.building import build_hall, put_box, put_oval
from memorylab.world.jit import jit
from memorylab.world.materials import MATERIALS
from memorylab.world.rng import below, side_draw
from memorylab.world.walking import BACKWARD, step_towards, touched_box, walk

HALL, SPEED, RADIUS = 8, 2.5, 0.25
DOORS_X, DOORS_Z = (3.2, 6.8), 6.0
WALL, FLOOR, GOLD = MATERIALS["wall 1"], MATERIALS["floor 1"], MATERIALS["goal"]
COLOURS = np.array([[MATERIALS["Red"], MATERIALS["Blue"]], [MATERIALS["Yellow"], MATERIALS["Purple"]]])
GAME = np.dtype([*walked_fields(HALL + 2), ("prize", "i4"), ("choice", "i4")], align=True)


@dataclass(frozen=True)
class Wait:
    delay: float = 1
    seconds: float = 20

    def record(self) -> tuple:
        check_seconds(self.seconds)
        return frames(self.delay), frames(self.seconds)

    def text(self) -> str:
        return f"delay {self.delay:g} s, {self.seconds:g} s"


@jit
def begin_episode(game, scale, stimuli):
    build_hall(game, HALL, WALL, FLOOR)
    game.x, game.z, game.yaw, game.scale = 1.0 + HALL / 2, 1.5, 0.0, scale.delay / 60.0
    game.prize, game.num_ovals = below(game, 2), 1
    put_oval(game, 0, DOORS_X[game.prize], 1.2, DOORS_Z, 0.4, 0.6, GOLD)


@jit
def play(game, action, scale, stimuli):
    walk(game, action, SPEED, RADIUS)
    game.num_ovals = game.frame < 60
    if game.frame == 60 + scale.delay:
        game.num_boxes = 2
        for side in range(2):
            put_box(game, side, DOORS_X[side], DOORS_Z, 0.6, 0.0, 2.0, COLOURS[stimuli.holdout, side])
    game.choice = touched_box(game, 0, game.num_boxes, RADIUS)
    if game.choice >= 0:
        game.over = ENDED
    return 1.0 if game.choice == game.prize else 0.0


@jit
def go_to_door(game, side):
    return step_towards(game, DOORS_X[side], DOORS_Z) if game.num_boxes else BACKWARD  # wait with the back to the wall


@jit
def remember(game):
    return go_to_door(game, game.prize)


@jit
def forget(game):
    return go_to_door(game, side_draw(game, GUESSES, 0, 2))


TASK = walked_task(
    name="two_doors",
    short="doors",
    title="Two Doors",
    rule="Walk into the door on the side where the golden oval was.",
    instructions=("A golden oval shows a side for a second.", "Later there are two doors: walk into that side's."),
    stimuli={"train": "Red and Blue doors", "holdout": "Yellow and Purple doors"},
    family="rooms",
    rules=WalkedRules(begin_episode, play, remember, forget),
    scales={"small": Wait(1), "large": Wait(4), "interpolate": Wait(2), "extrapolate": Wait(8)},
    scale_record=np.dtype([("delay", "i4"), ("frames", "i4")]),
    game=GAME,
    report={"choice": "choice", "right_choice": "prize"},
)
register_task(TASK)
