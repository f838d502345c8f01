"""Spot the Difference: Motion. Two blocks trace figures in the air; one traces another figure in the second room."""

import math

from memorylab.tasks.locomotion import WalkedRules, walked_task
from memorylab.tasks.rooms.spot_difference import (
    BLOCK_HALF,
    BLOCK_INSTRUCTIONS,
    CHECKS,
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
    room_1_north,
    set_gates,
    spot,
)
from memorylab.world.jit import jit
from memorylab.world.materials import MATERIALS
from memorylab.world.rng import below, below_except, uniform

SCALES = {
    "small": Waiting(0, 240, 20, 8),
    "large": Waiting(10, 240, 20, 8),
    "interpolate": Waiting(5, 240, 20, 8),
    "extrapolate": Waiting(15, 240, 20, 8),
}
PERIOD = 240  # frames
SIZE = 1.3  # how far from its middle a block moves
HEIGHT = 2.2  # of that middle, over the stand
STAND = 0.4
APART = 4.0  # from the middle of the room, less where there is no room for it
WALL_GAP = 2.0  # from a stand's middle to a wall at least
BLOCK_COLOURS = MATERIALS["Yellow"], MATERIALS["Turquoise"]
STAND_MATERIAL = MATERIALS["stand"]

# Figures for training, then those held out.
CIRCLE, SQUARE, STAR, HEXAGON, LINE_X, LINE_UP = range(6)
STILL, TRIANGLE, PENTAGON, EIGHT, LINE_Y, LINE_DOWN = range(6, 12)
NUM_FIGURES = 6  # in each half


@jit
def figure(kind, phase):
    """Where in its figure a block is, right and up, each from -1 to 1; phase runs from 0 to 1."""
    swing = 1.0 - 4.0 * abs(phase - 0.5)
    if kind == CIRCLE:
        return math.cos(2 * math.pi * phase), math.sin(2 * math.pi * phase)
    if kind == EIGHT:
        return math.sin(2 * math.pi * phase), math.sin(4 * math.pi * phase)
    if kind == LINE_X:
        return swing, 0.0
    if kind == LINE_Y:
        return 0.0, swing
    if kind == LINE_UP:
        return swing, swing
    if kind == LINE_DOWN:
        return swing, -swing
    if kind == SQUARE:
        return along_polygon(4, 1, phase)
    if kind == STAR:
        return along_polygon(5, 2, phase)
    if kind == HEXAGON:
        return along_polygon(6, 1, phase)
    if kind == TRIANGLE:
        return along_polygon(3, 1, phase)
    if kind == PENTAGON:
        return along_polygon(5, 1, phase)
    return 0.0, 0.0


@jit
def along_polygon(corners, stride, phase):
    """From corner to corner; every second corner of five makes a star."""
    corner = int(phase * corners)
    part = phase * corners - corner
    first = 2 * math.pi * (corner * stride / corners) + (math.pi / 4 if corners == 4 else 0.0)
    second = first + 2 * math.pi * stride / corners
    right = (1 - part) * math.sin(first) + part * math.sin(second)
    up = (1 - part) * math.cos(first) + part * math.cos(second)
    return right, up


@jit
def begin_episode(game, scale, stimuli):
    """Two stands left and right of the way to the corridor, a block in the air above each."""
    game.scale = scale.delay / 60.0
    build_rooms(game, scale)
    game.blocks = 2
    apart = min(APART, game.room / 2 - WALL_GAP)
    for k in range(2):
        game.home_x[k] = middle_x(game) + (2 * k - 1) * apart
        game.home_z[k] = room_1_north(game) - uniform(game, 2.0, 4.0)
    choose_figures(game, NUM_FIGURES * stimuli.holdout)
    put_blocks(game)
    game.num_boxes = 4 * game.blocks + 2  # two more for each pair: what moves above the stands
    set_gates(game)
    move_blocks(game)


@jit
def choose_figures(game, first):
    """Two different figures; in Room 2 the altered block traces a third."""
    one = below(game, NUM_FIGURES)
    two = below_except(game, NUM_FIGURES, one)
    game.altered = below(game, 2)
    new = one
    while new in (one, two):
        new = below(game, NUM_FIGURES)
    for room in range(2):
        game.stimulus[room, 0] = first + one
        game.stimulus[room, 1] = first + two
    game.stimulus[1, game.altered] = first + new


@jit
def move_blocks(game):
    """In a vertical plane that faces the entrance; the stands below are what one touches."""
    phase = (game.frame % PERIOD) / PERIOD
    for room in range(2):
        for k in range(game.blocks):
            stand = game.boxes[room * game.blocks + k]
            stand[3] = STAND
            game.box_material[room * game.blocks + k] = STAND_MATERIAL
            right, up = figure(game.stimulus[room, k], phase)
            number = 2 * game.blocks + 2 + room * game.blocks + k
            x, z = (stand[0] + stand[1]) / 2 + SIZE * right, (stand[4] + stand[5]) / 2
            box = game.boxes[number]
            y = HEIGHT + SIZE * up
            box[0], box[1], box[2], box[3] = x - BLOCK_HALF, x + BLOCK_HALF, y - BLOCK_HALF, y + BLOCK_HALF
            box[4], box[5] = z - BLOCK_HALF, z + BLOCK_HALF
            game.box_material[number] = BLOCK_COLOURS[k]
            game.box_solid[number] = 0


@jit
def play(game, action, scale, stimuli):
    """Blocks move on before the walker does, in both rooms at once."""
    move_blocks(game)
    return spot(game, action, scale, stimuli)


TASK = walked_task(
    name="spot_diff_motion",
    title="Spot the Difference: Motion",
    rule="One block moves in another figure in the second room: walk up to it.",
    instructions=(
        *BLOCK_INSTRUCTIONS,
        "What differs is the figure in which one of two blocks moves; touch its stand.",
    ),
    stimuli={
        "train": "circle, square, star, hexagon, horizontal line, rising line",
        "holdout": "still, triangle, pentagon, eight, vertical line, falling line",
    },
    family="rooms",
    rules=WalkedRules(begin_episode, play, remember, forget),
    advise=advise,
    scales=SCALES,
    scale_record=SCALE,
    game=SPOT_DIFFERENCE,
    checks=CHECKS,
    report=REPORT,
    card_step=54,
    curriculum=(
        {"room": 8, "corridor": 3, "delay": 0},
        {"room": 12, "corridor": 4, "delay": 0},
        {"room": 16, "delay": 0},
    ),
)
