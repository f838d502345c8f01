"""Spot the Difference: Multi-Object. Many blocks on a ring; one has another colour in the second room."""

import math
from dataclasses import dataclass

import numpy as np

from memorylab.tasks.locomotion import WalkedRules, walked_task
from memorylab.tasks.rooms.spot_difference import (
    BLOCK_INSTRUCTIONS,
    CHECKS,
    COLOUR_HALVES,
    COLOURS,
    MAX_BLOCKS,
    REPORT,
    SCALE,
    SPOT_DIFFERENCE,
    advise,
    build_rooms,
    check_rooms,
    forget,
    middle_x,
    put_blocks,
    remember,
    set_gates,
    spot,
)
from memorylab.tasks.scales import check_seconds, frames
from memorylab.world.jit import jit
from memorylab.world.rng import below, below_except, uniform

FROM_WALL = 2.5  # metres between the ring and a wall
BLOCK_GAP = 2.1  # between the middles of two blocks at least


@jit
def ring(room):
    """The radius of the ring in a room that large."""
    return room / 2 - FROM_WALL


@dataclass(frozen=True)
class Crowd:
    """How many blocks a room may hold, the clock, and metres across a room and along the corridor."""

    objects: tuple[int, ...]
    seconds: float = 120
    room: int = 16
    corridor: int = 6

    def __post_init__(self):
        objects = (self.objects,) if np.ndim(self.objects) == 0 else tuple(self.objects)
        object.__setattr__(self, "objects", objects)
        if not 1 <= len(objects) <= MAX_BLOCKS or not all(
            isinstance(n, (int, np.integer)) and 2 <= n <= MOST_OBJECTS for n in objects
        ):
            raise ValueError(f"objects must be whole numbers from 2 to {MOST_OBJECTS}, not {objects}")
        check_seconds(self.seconds)
        check_rooms(self.room, self.corridor)
        most = int(1.5 * math.pi * ring(self.room) / BLOCK_GAP)
        if max(objects) > most:
            raise ValueError(f"a room of {self.room} m holds at most {most} objects, not {max(objects)}")

    def record(self) -> tuple:
        """No delay; the numbers of blocks fill up a row of MAX_BLOCKS."""
        choices = np.zeros(MAX_BLOCKS, np.int32)
        choices[: len(self.objects)] = self.objects
        return 0, frames(self.seconds), len(self.objects), choices, self.room, self.corridor

    def text(self) -> str:
        """As the tables show it, such as `2 or 3 objects, 120 s`."""
        return f"{' or '.join(map(str, self.objects))} objects, {self.seconds:g} s"


MOST_OBJECTS = 12  # more would leave no way between them
SCALES = {"small": Crowd((2, 3)), "large": Crowd((5, 6)), "interpolate": Crowd((4,)), "extrapolate": Crowd((7,))}


@jit
def begin_episode(game, scale, stimuli):
    """As many blocks as one of the scale's choices says, one of them altered in Room 2."""
    build_rooms(game, scale)
    game.blocks = scale.choices[below(game, scale.num_choices)]
    game.scale = game.blocks
    place_on_ring(game)
    paint_blocks(game, COLOURS[stimuli.holdout])
    put_blocks(game)
    set_gates(game)


@jit
def place_on_ring(game):
    """Evenly, with a gap where one comes in; turned a little at random."""
    turn = uniform(game, -0.2, 0.2)
    for k in range(game.blocks):
        angle = math.pi * (-0.75 + 1.5 * (k + 0.5) / game.blocks) + turn
        game.home_x[k] = middle_x(game) + ring(game.room) * math.sin(angle)
        game.home_z[k] = 1.0 + game.room / 2 + ring(game.room) * math.cos(angle)


@jit
def paint_blocks(game, colours):
    """Colours may repeat; the altered block's new colour differs from its old one."""
    game.altered = below(game, game.blocks)
    for k in range(game.blocks):
        colour = below(game, len(colours))
        game.stimulus[0, k] = colours[colour]
        game.stimulus[1, k] = colours[below_except(game, len(colours), colour) if k == game.altered else colour]


TASK = walked_task(
    name="spot_diff_multi_object",
    title="Spot the Difference: Multi-Object",
    rule="One of many blocks has another colour in the second room: walk up to it.",
    instructions=(*BLOCK_INSTRUCTIONS, "What differs is the colour of one of many blocks."),
    stimuli=COLOUR_HALVES,
    family="rooms",
    rules=WalkedRules(begin_episode, spot, remember, forget),
    advise=advise,
    scales=SCALES,
    scale_record=SCALE,
    game=SPOT_DIFFERENCE,
    checks=CHECKS,
    report=REPORT,
    card_step=48,
    curriculum=(
        {"objects": 2, "room": 8, "corridor": 3},
        {"objects": 2, "room": 12},
        {"objects": (2, 3)},
    ),
)
