"""Spot the Difference: Passive. As Basic, but the blocks of Room 1 stand beside the corridor and are always seen."""

from memorylab.tasks.locomotion import WalkedRules, walked_task
from memorylab.tasks.rooms.spot_diff_basic import SCALES, SMALL_ROOMS_FIRST, paint_blocks
from memorylab.tasks.rooms.spot_difference import (
    BLOCK_INSTRUCTIONS,
    CHECKS,
    COLOUR_HALVES,
    COLOURS,
    REPORT,
    SCALE,
    SPOT_DIFFERENCE,
    advise,
    build_rooms,
    forget,
    middle_x,
    put_blocks,
    remember,
    room_1_north,
    set_gates,
    spot,
)
from memorylab.world.jit import jit

BESIDE_CORRIDOR = 2.6


@jit
def begin_episode(game, scale, stimuli):
    """As in Basic, with the blocks beside the way out and the walker far from it."""
    game.scale = scale.delay / 60.0
    build_rooms(game, scale)
    game.blocks = 2
    line_up_blocks(game)
    paint_blocks(game, COLOURS[stimuli.holdout])
    put_blocks(game)
    set_gates(game)


@jit
def line_up_blocks(game):
    """One on either side of the entrance to the corridor."""
    for k in range(2):
        game.home_x[k] = middle_x(game) + (2 * k - 1) * BESIDE_CORRIDOR
        game.home_z[k] = room_1_north(game) - 1.2


TASK = walked_task(
    name="spot_diff_passive",
    title="Spot the Difference: Passive",
    rule="One block has another colour in the second room: walk up to it.",
    instructions=(
        *BLOCK_INSTRUCTIONS,
        "What differs is the colour of one of two blocks, which you pass on your way.",
    ),
    stimuli=COLOUR_HALVES,
    family="rooms",
    rules=WalkedRules(begin_episode, spot, remember, forget),
    advise=advise,
    scales=SCALES,
    scale_record=SCALE,
    game=SPOT_DIFFERENCE,
    checks=CHECKS,
    report=REPORT,
    card_step=54,
    curriculum=SMALL_ROOMS_FIRST,
)
