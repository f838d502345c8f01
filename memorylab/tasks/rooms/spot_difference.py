"""Spot the Difference: one block in the second room differs from its twin in the first. Which?

Room 1, a corridor with a pair of gates, Room 2. Entering the middle of the corridor closes both gates for the delay;
then the far one opens. Touching a block in Room 2 ends the episode: 1 for the altered one, 0 for another.
Four tasks share these rules; the sizes of their rooms and corridors make a random player score as in the paper.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from memorylab.tasks.checks import MANY, Check, as_begun, below_count, up_to, within
from memorylab.tasks.locomotion import GUESSES, tell_place, walked_fields
from memorylab.tasks.scales import check_seconds, frames, whole
from memorylab.tasks.stepping import ENDED, FRAMES_PER_SECOND, FRAMES_PER_STEP
from memorylab.world.building import put_box
from memorylab.world.jit import jit
from memorylab.world.materials import MATERIALS
from memorylab.world.paths import way_around, way_is_clear
from memorylab.world.rng import side_draw, uniform
from memorylab.world.scene import MAX_BOXES
from memorylab.world.walking import (
    FORWARD,
    FULL_TURN,
    LOOK_RIGHT,
    STEERING,
    in_view,
    steer_towards,
    touched_box,
    turn_towards,
    walk,
    without_turning,
)

MAX_BLOCKS = (MAX_BOXES - 2) // 2
SCALE = np.dtype(
    [
        ("delay", "i4"),
        ("frames", "i4"),
        ("num_choices", "i4"),
        ("choices", "i4", (MAX_BLOCKS,)),
        ("room", "i4"),
        ("corridor", "i4"),
    ]
)
MIN_ROOM, MAX_ROOM = 8, 20
MIN_CORRIDOR, MAX_CORRIDOR = 3, 12  # the least that holds a walker between its gates


@dataclass(frozen=True)
class Waiting:
    """Seconds between the gates, the clock, and metres across a room and along the corridor."""

    delay: float
    seconds: float = 120
    room: int = 14
    corridor: int = 4

    def __post_init__(self):
        if isinstance(self.delay, str) or not 0 <= self.delay < 1e5:
            raise ValueError(f"delay must be a number of seconds, 0 or more, not {self.delay!r}")
        check_seconds(self.seconds)
        check_rooms(self.room, self.corridor)

    def record(self) -> tuple:
        """Delay and clock in frames; always two blocks."""
        return frames(self.delay), frames(self.seconds), 1, np.full(MAX_BLOCKS, 2), self.room, self.corridor

    def text(self) -> str:
        """As the tables show it, such as `delay 5 s, 120 s`."""
        return f"delay {self.delay:g} s, {self.seconds:g} s"


def check_rooms(room: Any, corridor: Any) -> None:
    """Or one sentence."""
    if not whole(room) or not MIN_ROOM <= room <= MAX_ROOM or room % 2:  # the corridor is two metres wide
        raise ValueError(f"room must be an even number of metres from {MIN_ROOM} to {MAX_ROOM}, not {room!r}")
    if not whole(corridor) or not MIN_CORRIDOR <= corridor <= MAX_CORRIDOR:
        raise ValueError(
            f"corridor must be a whole number of metres from {MIN_CORRIDOR} to {MAX_CORRIDOR}, not {corridor!r}"
        )


CORRIDOR_WIDTH = 2
GATE_FROM_ROOM = 1.0  # metres from the room to its gate
GATE_THICKNESS = 0.1

EYE = 1.0
SPEED = 2.0
STEP = SPEED * FRAMES_PER_STEP / FRAMES_PER_SECOND  # metres that an action leads ahead
RADIUS = 0.25
WALL_HEIGHT = 3.0
BLOCK_HALF = 0.5

BEFORE, BETWEEN, AFTER = range(3)

SPOT_DIFFERENCE = np.dtype(
    [
        *walked_fields(2 * MAX_ROOM + MAX_CORRIDOR + 2),
        ("room", "i4"),  # metres across a room
        ("corridor", "i4"),  # and along the corridor
        ("blocks", "i4"),
        ("altered", "i4"),
        ("gates", "i4"),
        ("opens_at", "i4"),
        ("choice", "i4"),  # the block touched; -1 as long as none is
        ("seen", "i4"),  # blocks of Room 1 that have been in view, as bits
        ("stimulus", "i4", (2, MAX_BLOCKS)),  # what each block is like, in Room 1 and in Room 2
        ("home_x", "f4", (MAX_BLOCKS,)),  # its place in Room 1
        ("home_z", "f4", (MAX_BLOCKS,)),
    ],
    align=True,
)
BLOCK_INSTRUCTIONS = (
    "You begin in the first room. Look at the blocks and remember them.",
    "Walk into the dark opening: a corridor. Its gates close around you for a while, then the far one opens.",
    "In the second room one block is different. Walk into it: that pays 1, any other 0, and the episode ends.",
)
CHECKS: dict[str, Check] = {
    **dict.fromkeys(("room", "corridor", "blocks", "altered"), as_begun),
    "gates": within(BEFORE, AFTER),
    "opens_at": within(0, MANY),
    "choice": below_count(lambda kept: kept.games["blocks"], -1),
    "seen": up_to(lambda kept: (1 << kept.games["blocks"]) - 1),
    "stimulus": within(0, len(MATERIALS) - 1),
}
REPORT = {"choice": "choice", "right_choice": "altered", "gates": "gates", "seen": "seen"}

TRAIN_COLOURS = ("Red", "Green", "Blue", "White", "Slate")
HOLDOUT_COLOURS = ("Yellow", "Brown", "Pink", "Orange", "Purple")
COLOUR_HALVES = {"train": ", ".join(TRAIN_COLOURS), "holdout": ", ".join(HOLDOUT_COLOURS)}
COLOURS = np.array([[MATERIALS[name] for name in names] for names in (TRAIN_COLOURS, HOLDOUT_COLOURS)])
MATERIAL_WALL, MATERIAL_FLOOR, MATERIAL_GATE = MATERIALS["wall 1"], MATERIALS["floor 3"], MATERIALS["gate"]


# The map in metres: a wall of one metre, Room 1, the corridor going north, Room 2.


@jit
def middle_x(game):
    """The corridor's middle line, and that of both rooms."""
    return 1.0 + game.room / 2


@jit
def room_1_north(game):
    """Where Room 1 ends and the corridor begins."""
    return 1.0 + game.room


@jit
def room_2_south(game):
    """Where the corridor ends and Room 2 begins."""
    return 1.0 + game.room + game.corridor


@jit
def build_rooms(game, scale):
    """Two equal rooms, the corridor between them, and the walker somewhere in the south of Room 1."""
    room, corridor = scale.room, scale.corridor
    game.room = room
    game.corridor = corridor
    game.cell = 1.0
    game.rows = 2 * room + corridor + 2
    game.columns = room + 2
    game.solid[:] = 1
    game.solid[1 : 1 + room, 1 : 1 + room] = 0
    game.solid[1 + room + corridor : 1 + 2 * room + corridor, 1 : 1 + room] = 0
    first = 1 + (room - CORRIDOR_WIDTH) // 2
    game.solid[1 + room : 1 + room + corridor, first : first + CORRIDOR_WIDTH] = 0
    game.eye = EYE
    game.wall_height = WALL_HEIGHT
    game.wall_material = MATERIAL_WALL
    game.floor_material = MATERIAL_FLOOR
    game.choice = -1
    game.seen = 0
    game.gates = BEFORE
    game.x = uniform(game, 2.0, room)
    game.z = uniform(game, 2.0, 1.0 + 0.35 * room)
    game.yaw = uniform(game, -180.0, 180.0)


@jit
def set_gates(game):
    """The near gate is shut from the moment one is between them; the far one until the delay is over."""
    put_gate(game, 2 * game.blocks, room_1_north(game) + GATE_FROM_ROOM, game.gates != BEFORE)
    put_gate(game, 2 * game.blocks + 1, room_2_south(game) - GATE_FROM_ROOM, game.gates != AFTER)


@jit
def put_gate(game, number, z, shut):
    """An open gate is a box that stops neither eyes nor feet."""
    height = WALL_HEIGHT if shut else -1.0
    put_box(game, number, middle_x(game), z, CORRIDOR_WIDTH / 2, 0.0, height, MATERIAL_GATE)
    box = game.boxes[number]
    box[4], box[5] = z - GATE_THICKNESS, z + GATE_THICKNESS
    game.box_solid[number] = shut


@jit
def put_blocks(game):
    """Both rooms: block k of Room 2 stands where block k of Room 1 stands in its room."""
    for k in range(game.blocks):
        for room in range(2):
            z = game.home_z[k] + room * (game.room + game.corridor)
            put_box(game, room * game.blocks + k, game.home_x[k], z, BLOCK_HALF, 0.0, 1.0, game.stimulus[room, k])
    game.num_boxes = 2 * game.blocks + 2


@jit
def pass_gates(game, delay):
    """The delay counts from the moment in which the walker has passed the near gate."""
    between = room_1_north(game) + GATE_FROM_ROOM + GATE_THICKNESS + RADIUS
    if game.gates == BEFORE and game.z > between:
        game.gates = BETWEEN
        game.opens_at = game.frame + delay
        set_gates(game)
    if game.gates == BETWEEN and game.frame >= game.opens_at:
        game.gates = AFTER
        set_gates(game)


@jit
def see_blocks(game):
    """Note the blocks of Room 1 that are before the walker's eyes and not behind another."""
    for k in range(game.blocks):
        x, z = game.home_x[k], game.home_z[k]
        if in_view(game, x, z) and way_is_clear(game, game.x, game.z, x, z, 0.0, k):
            game.seen |= 1 << k


@jit
def spot(game, action, scale, stimuli):
    """One frame: walk, mind the gates, and see whether a block of Room 2 is touched."""
    walk(game, action, SPEED, RADIUS)
    pass_gates(game, scale.delay)
    if game.z < room_1_north(game):
        see_blocks(game)
    touched = touched_box(game, game.blocks, 2 * game.blocks, RADIUS)
    if touched < 0:
        return 0.0
    game.choice = touched - game.blocks
    game.over = ENDED
    return 1.0 if game.choice == game.altered else 0.0


# --- scripted players


@jit
def go_and_touch(game, block):
    """To the corridor, through the gates, then to the block; what is not in view one turns to by the right."""
    x = middle_x(game)
    if game.z < room_1_north(game) - 0.6:
        x, z = way_around(game, x, room_1_north(game) - 0.4, RADIUS)
        return steer_towards(game, x, z)
    if game.gates == BETWEEN:
        return LOOK_RIGHT if abs(turn_towards(game, x, room_2_south(game))) > STEERING else FORWARD
    if game.z < room_2_south(game) + 0.4:
        return steer_towards(game, x, room_2_south(game) + 0.8)
    number = game.blocks + block
    west, east, _, _, south, north = game.boxes[number]
    # In a wide berth around the other blocks: to brush against one is to choose it.
    x, z = way_around(game, (west + east) / 2, (south + north) / 2, 2 * RADIUS, number)
    return steer_towards(game, x, z)


@jit
def remember(game):
    """Look round in Room 1 until every block was seen, then go; what was not seen must be guessed."""
    if game.gates == BEFORE and is_looking_round(game):
        return LOOK_RIGHT
    return go_and_touch(game, game.altered if difference_is_known(game) else guess(game))


@jit
def is_looking_round(game):
    """Once round at most, until every block was seen."""
    return game.length < FULL_TURN and game.seen != (1 << game.blocks) - 1


@jit
def difference_is_known(game):
    """Either the altered block was seen in Room 1 or every other one was."""
    others = ((1 << game.blocks) - 1) ^ (1 << game.altered)
    return bool(game.seen >> game.altered & 1) or game.seen & others == others


@jit
def guess(game):
    """One block for the whole episode."""
    return side_draw(game, GUESSES, 0, game.blocks)


@jit
def forget(game):
    """The same way as one who remembers, to a block that is guessed."""
    return go_and_touch(game, guess(game))


@jit
def advise(game):
    """As bits: the way to Room 2, or a look round in Room 1 first; there, the way to any block, but to turn only if no
    way is in view: else turning for ever would do. Where one stands is told, from the middle of the nearer room."""
    half = game.room / 2
    middle_z = room_1_north(game) - half
    if game.z > middle_z + half + game.corridor / 2:
        middle_z = room_2_south(game) + half
    told = tell_place(game, middle_x(game), middle_z, STEP)
    if game.z < room_2_south(game) + 0.4:
        more_to_see = game.gates == BEFORE and is_looking_round(game)
        return told | 1 << go_and_touch(game, 0) | more_to_see << LOOK_RIGHT
    actions = 0
    for block in range(game.blocks):
        actions |= 1 << go_and_touch(game, block)
    return told | without_turning(actions)
