"""Spot the Difference: Basic. Two blocks at random places; one has another colour in the second room."""

from memorylab.tasks.rooms.spot_difference import (
    COLOURS,
    REPORT,
    SCALE,
    SPOT_DIFFERENCE,
    Waiting,
    build_rooms,
    put_blocks,
    scatter_blocks,
    set_gates,
    spot,
)
from memorylab.tasks.rooms.spot_difference import forget as forget
from memorylab.tasks.rooms.spot_difference import remember as remember
from memorylab.tasks.walked import walked_task
from memorylab.world.chance import below, below_except
from memorylab.world.compiled import compiled

ROOM, CORRIDOR = 12, 4
SCALES = {"small": Waiting(0), "large": Waiting(10), "interpolate": Waiting(5), "extrapolate": Waiting(15)}


@compiled
def begin_episode(game, scale, stimuli):
    game.scale = scale.delay / 60.0
    build_rooms(game, ROOM, CORRIDOR)
    game.blocks = 2
    scatter_blocks(game)
    paint_blocks(game, COLOURS[stimuli.holdout])
    put_blocks(game)
    set_gates(game)


@compiled
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


@compiled
def play(game, action, scale, stimuli):
    return spot(game, action, scale)


TASK = walked_task(
    __name__,
    name="spot_diff_basic",
    short="sdb",
    title="Spot the Difference: Basic",
    rule="One block has another colour in the second room: walk up to it.",
    scales=SCALES,
    scale_record=SCALE,
    game=SPOT_DIFFERENCE,
    report=REPORT,
)
