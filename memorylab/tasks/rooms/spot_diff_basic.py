"""Spot the Difference: Basic. Two blocks at random places; one has another colour in the second room.

The walker begins nearer to the corridor than most blocks are: who walks straight to it may leave Room 1 without
having seen them.
"""

from memorylab.tasks.locomotion import WalkedRules, walked_task
from memorylab.tasks.rooms.spot_difference import (
    BLOCK_INSTRUCTIONS,
    CHECKS,
    COLOUR_HALVES,
    COLOURS,
    REPORT,
    SCALE,
    SPOT_DIFFERENCE,
    Waiting,
    advise,
    build_rooms,
    forget,
    middle_x,
    put_blocks,
    remember,
    set_gates,
    spot,
)
from memorylab.world.jit import jit
from memorylab.world.rng import below, below_except, uniform

WALL_GAP = 1.6  # from a block's middle to a wall at least
BLOCK_GAP = 2.4  # between the middles of two blocks at least
START_GAP = 1.2  # from the walker to a block's middle at least
START = 0.6, 0.85  # how far north in Room 1 the walker begins
SMALL_ROOMS_FIRST = {"room": 8, "corridor": 3, "delay": 0}, {"room": 10, "delay": 0}, {"delay": 0}
SCALES = {"small": Waiting(0), "large": Waiting(10), "interpolate": Waiting(5), "extrapolate": Waiting(15)}


@jit
def begin_episode(game, scale, stimuli):
    """Two blocks of different colours, one of which has a third in Room 2."""
    game.scale = scale.delay / 60.0
    build_rooms(game, scale)
    game.blocks = 2
    scatter_blocks(game)
    place_walker(game)
    paint_blocks(game, COLOURS[stimuli.holdout])
    put_blocks(game)
    set_gates(game)


@jit
def scatter_blocks(game):
    """Random places, not too near to walls, the way to the corridor and each other."""
    for k in range(game.blocks):
        while True:
            game.home_x[k] = uniform(game, 1.0 + WALL_GAP, 1.0 + game.room - WALL_GAP)
            game.home_z[k] = uniform(game, 1.0 + WALL_GAP, 1.0 + game.room - WALL_GAP)
            in_the_way = abs(game.home_x[k] - middle_x(game)) < 1.2 and game.home_z[k] > 1.0 + 0.5 * game.room
            if not in_the_way and not near_block(game, game.home_x[k], game.home_z[k], k, BLOCK_GAP):
                break


@jit
def place_walker(game):
    """In the northern part of Room 1, clear of the blocks."""
    while True:
        game.x = uniform(game, 2.0, game.room)
        game.z = 1.0 + game.room * uniform(game, START[0], START[1])
        if not near_block(game, game.x, game.z, game.blocks, START_GAP):
            break


@jit
def near_block(game, x, z, count, gap):
    """Is (x, z) nearer than the gap to one of the first `count` blocks?"""
    near = False
    for k in range(count):
        near = near or max(abs(x - game.home_x[k]), abs(z - game.home_z[k])) < gap
    return near


@jit
def paint_blocks(game, colours):
    """Two different colours; in Room 2 one block has a third."""
    first = below(game, len(colours))
    second = below_except(game, len(colours), first)
    game.altered = below(game, 2)
    for room in range(2):
        game.stimulus[room, 0] = colours[first]
        game.stimulus[room, 1] = colours[second]
    new = first
    while new in (first, second):
        new = below(game, len(colours))
    game.stimulus[1, game.altered] = colours[new]


TASK = walked_task(
    name="spot_diff_basic",
    title="Spot the Difference: Basic",
    rule="One block has another colour in the second room: walk up to it.",
    instructions=(*BLOCK_INSTRUCTIONS, "What differs is the colour of one of two blocks."),
    stimuli=COLOUR_HALVES,
    family="rooms",
    rules=WalkedRules(begin_episode, spot, remember, forget),
    advise=advise,
    scales=SCALES,
    scale_record=SCALE,
    game=SPOT_DIFFERENCE,
    checks=CHECKS,
    report=REPORT,
    card_step=3,
    curriculum=SMALL_ROOMS_FIRST,
)
