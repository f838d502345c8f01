"""Goal navigation in a square arena: find the goal, remember where it is, and get back to it after each respawn.

Three tasks share these rules: the goal can be seen or not, and there are buildings or only walls, floor and sky.
Reaching the goal pays 1 and puts the walker at a random free place. The goal stays where it is for the episode.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from memorylab.tasks.checks import MANY, Check, as_begun, within
from memorylab.tasks.locomotion import WANDERINGS, WalkedRules, tell_place, walked_fields, walked_task
from memorylab.tasks.scales import check_seconds, frames
from memorylab.tasks.stepping import FRAMES_PER_SECOND, FRAMES_PER_STEP
from memorylab.tasks.task import Task
from memorylab.world.building import put_oval
from memorylab.world.jit import bind, jit
from memorylab.world.materials import MATERIALS
from memorylab.world.paths import is_open_ahead, way_around, way_is_clear
from memorylab.world.rng import below, hashed, uniform
from memorylab.world.walking import (
    FORWARD,
    FORWARD_LEFT,
    FORWARD_RIGHT,
    FULL_TURN,
    LOOK_RIGHT,
    STRAFE_LEFT,
    STRAFE_RIGHT,
    in_view,
    is_free,
    steer_towards,
    step_towards,
    turn_towards,
    walk,
)


class Goal(NamedTuple):
    """What tells the three tasks apart."""

    reach: float  # metres from its middle at which the goal counts as reached; a scale may say otherwise
    is_visible: bool
    among_buildings: bool


rules = Goal(1.0, True, True)  # those of a task, once `bind` has bound them

SCALE = np.dtype([("side", "f8"), ("frames", "i4"), ("reach", "f8")])


@dataclass(frozen=True)
class Arena:
    """Side in metres, the clock, and metres from its middle at which the goal counts as reached."""

    side: float
    seconds: float = 200
    reach: float = 1.35

    def __post_init__(self):
        if isinstance(self.side, str) or not 6 <= self.side <= 200:
            raise ValueError(f"side must be a number of metres from 6 to 200, not {self.side!r}")
        check_seconds(self.seconds)
        if isinstance(self.reach, str) or not 0.2 <= self.reach <= self.side / 4:
            raise ValueError(f"reach must be a number of metres from 0.2 to a quarter of the side, not {self.reach!r}")

    def record(self) -> tuple:
        """The side and the reach stay in metres, the clock becomes frames."""
        return self.side, frames(self.seconds), self.reach

    def text(self) -> str:
        """As the tables show it, such as `10 x 10 m, 200 s`."""
        return f"{self.side:g} x {self.side:g} m, {self.seconds:g} s"


SCALES = {"small": Arena(10), "large": Arena(20), "interpolate": Arena(15), "extrapolate": Arena(25)}

EYE = 1.0
SPEED = 1.3
RADIUS = 0.25
WALL_HEIGHT = 2.5
STEP = SPEED * FRAMES_PER_STEP / FRAMES_PER_SECOND  # metres that an action leads ahead
CELLS = 4  # the open square in cells; one more around it is wall
GRID = CELLS + 2
CLEARANCE = 0.15  # of the side: nobody respawns nearer to the goal
GOAL_MARGIN = 0.06  # of the side, kept free along the walls
NEAR = 0.6  # metres: a wall or building this near ahead makes a wanderer turn
WALKING = 0.7  # of the full speed: who is slower stands and chooses where to go
LONG_WAY = 0.4, 0.95  # of the side: how much of a free way makes a wanderer set out, drawn between these
CHOOSING = 30  # steps before another is drawn
FAR = 1 - 2 * GOAL_MARGIN

# Fixed places of the buildings, in shares of the side: west, east, south, north, height.
BUILDINGS = np.array(
    [
        (0.16, 0.28, 0.62, 0.70, 0.16),
        (0.58, 0.66, 0.74, 0.88, 0.24),
        (0.70, 0.82, 0.28, 0.36, 0.14),
        (0.30, 0.38, 0.14, 0.30, 0.20),
    ]
)

ARENA = np.dtype(
    [
        *walked_fields(GRID),
        ("reach", "f8"),
        ("goal_x", "f8"),
        ("goal_z", "f8"),
        ("goals", "i4"),
        ("goal_step", "i4"),  # the step at which it was last reached; -1 if never
    ],
    align=True,
)
ARENA_INSTRUCTIONS = (
    "Reaching the goal pays 1 and puts you down somewhere else, looking anywhere.",
    "The goal stays where it is for the whole episode: come back as often as you can.",
)
QUADRANTS = {"train": "goals in the north-west or south-east", "holdout": "goals in the north-east or south-west"}
PLACE = "cell", "rows", "columns", "solid", "num_boxes", "boxes", "box_solid", "reach", "goal_x", "goal_z"
CHECKS: dict[str, Check] = {
    **dict.fromkeys(PLACE, as_begun),  # or nobody may find a free place to respawn
    "goals": within(0, MANY),
    "goal_step": within(-1, MANY),
}
REPORT = {"goals": "goals", "goal_step": "goal_step", "respawns": "goals", "goal_x": "goal_x", "goal_z": "goal_z"}


@jit
def build_arena(game, side, with_buildings):
    """Walls around an open square of `side` metres and, if asked for, the four buildings."""
    game.scale = side
    game.cell = side / CELLS
    game.rows = GRID
    game.columns = GRID
    game.solid[:] = 1
    game.solid[1 : CELLS + 1, 1 : CELLS + 1] = 0
    game.eye = EYE
    game.wall_height = WALL_HEIGHT
    game.wall_material = MATERIAL_WALL
    game.floor_material = MATERIAL_FLOOR
    if with_buildings:
        game.num_boxes = len(BUILDINGS)
        for number in range(len(BUILDINGS)):
            west, east, south, north, height = BUILDINGS[number] * side
            box = game.boxes[number]
            box[0], box[1], box[4], box[5] = west + game.cell, east + game.cell, south + game.cell, north + game.cell
            box[2], box[3] = 0.0, height
            game.box_material[number] = MATERIAL_BUILDING + number
            game.box_solid[number] = 1


MATERIAL_WALL, MATERIAL_FLOOR = MATERIALS["wall 2"], MATERIALS["floor 1"]
MATERIAL_BUILDING, MATERIAL_GOAL = MATERIALS["building 0"], MATERIALS["goal"]


@jit
def place_goal(game, side, holdout):
    """In the north-west or south-east quadrant for training, north-east or south-west for holdout."""
    in_north = below(game, 2)
    in_east = in_north if holdout else 1 - in_north
    while True:
        game.goal_x = game.cell + side * uniform(game, GOAL_MARGIN, 0.5) + in_east * side * (0.5 - GOAL_MARGIN)
        game.goal_z = game.cell + side * uniform(game, GOAL_MARGIN, 0.5) + in_north * side * (0.5 - GOAL_MARGIN)
        if is_free(game, game.goal_x, game.goal_z, RADIUS * 2):
            break
    game.goals = 0
    game.goal_step = -1


@jit
def respawn(game, clearance):
    """Somewhere free and this far from the goal, facing anywhere, standing still."""
    side = game.cell * CELLS
    while True:
        game.x = game.cell + side * uniform(game, 0.02, 0.98)
        game.z = game.cell + side * uniform(game, 0.02, 0.98)
        if is_free(game, game.x, game.z, RADIUS) and not at_goal(game, clearance):
            break
    game.yaw = uniform(game, -180.0, 180.0)
    game.v_x = 0.0
    game.v_z = 0.0


@jit
def at_goal(game, reach):
    """Is the walker within `reach` metres of the goal's middle?"""
    return math.hypot(game.x - game.goal_x, game.z - game.goal_z) <= reach


@jit
def seek_goal(game, action, reach, clearance):
    """One frame: walk, and if that reached the goal, 1 and a new start."""
    walk(game, action, SPEED, RADIUS)
    if not at_goal(game, reach):
        return 0.0
    game.goals += 1
    game.goal_step = game.length
    respawn(game, max(clearance, reach))
    return 1.0


@jit
def show_goal(game, reach):
    """As wide as makes a walker reach the goal by touching it."""
    radius = max(reach - RADIUS, 0.05)
    game.num_ovals = 1
    put_oval(game, 0, game.goal_x, EYE, game.goal_z, radius, radius * 1.5, MATERIAL_GOAL)


# --- scripted players


@jit
def go_to_goal(game):
    """Around buildings, whether the goal can be seen or not."""
    x, z = way_around(game, game.goal_x, game.goal_z, RADIUS)
    return step_towards(game, x, z)


@jit
def walk_on(game):
    """Straight on; where something is near ahead, turn right until nothing is."""
    return FORWARD if is_open_ahead(game, NEAR, RADIUS) else LOOK_RIGHT


@jit
def go_wandering(game):
    """Straight on until something is near ahead; then to the right until the way is free for as long as is drawn."""
    if math.hypot(game.v_x, game.v_z) > WALKING * SPEED:
        return walk_on(game)
    share = LONG_WAY[0] + drawn(game, steps_here(game) // CHOOSING) * (LONG_WAY[1] - LONG_WAY[0])
    return FORWARD if is_open_ahead(game, game.cell * CELLS * share, RADIUS) else LOOK_RIGHT


@jit
def drawn(game, number):
    """From 0 to 1, anew for each number and each start."""
    bits = hashed(hashed(game.key, -1 - WANDERINGS), number + 1000 * game.goals)
    return np.float64(bits & np.uint64(0xFFFF)) / 65536.0


@jit
def go_sweeping(game, reach):
    """After a point that runs up and down the arena in lanes, as one who knows where it has looked before."""
    side = game.cell * CELLS
    span = FAR * side
    lanes = int(span / (1.8 * reach)) + 1
    lane_way = span + span / lanes
    way = 0.9 * SPEED * max(0.0, game.frame / FRAMES_PER_SECOND - 0.6 * side / SPEED)  # the point waits in its corner
    lane, along = int(way / lane_way) % lanes, min(way % lane_way, span)
    x = game.cell + GOAL_MARGIN * side + (span - along if lane % 2 else along)
    z = game.cell + GOAL_MARGIN * side + span * (lane + 0.5) / lanes
    x, z = way_around(game, x, z, RADIUS)
    return step_towards(game, x, z)


@jit
def steps_here(game):
    """How long ago the walker was put where it began this search."""
    return game.length - max(game.goal_step, 0)


@jit
def goal_is_seen(game):
    """Is its middle or either side in view, and no building before it?"""
    ahead = math.atan2(game.goal_x - game.x, game.goal_z - game.z)
    for side in range(-1, 2):
        aside = side * 0.4 * (game.reach - RADIUS)
        x, z = game.goal_x + aside * math.cos(ahead), game.goal_z - aside * math.sin(ahead)
        if in_view(game, x, z) and way_is_clear(game, game.x, game.z, x, z, 0.0):
            return True
    return False


@jit
def look_for_goal(game):
    """To the goal once it is in view; until then one turn to the right, a few steps somewhere, and again."""
    if goal_is_seen(game):
        x, z = way_around(game, game.goal_x, game.goal_z, RADIUS)
        if in_view(game, x, z):
            return steer_towards(game, x, z)
        return STRAFE_RIGHT if turn_towards(game, x, z) > 0 else STRAFE_LEFT  # past a corner, the goal still in view
    return LOOK_RIGHT if steps_here(game) % (2 * FULL_TURN) < FULL_TURN else go_wandering(game)


@jit
def advise(game):
    """As bits, for one who looks for what cannot be seen: on, straight or in a bend, while the way is free; else to
    turn right, for who may turn either way turns to and fro. Where to is for memory to say; where one stands is
    told."""
    if is_open_ahead(game, NEAR, RADIUS):
        return told_place(game) | 1 << FORWARD | 1 << FORWARD_LEFT | 1 << FORWARD_RIGHT
    return told_place(game) | 1 << LOOK_RIGHT


@jit
def told_place(game):
    """From the middle of the arena, and how far its walls are from there."""
    middle = game.cell * GRID / 2
    return tell_place(game, middle, middle, STEP, game.cell * CELLS / 2)


# --- the rules, by a task's goal


def begin_episode(game, scale, stimuli):
    """The goal is put down first: the walker has to start away from it."""
    game.reach = scale.reach
    build_arena(game, scale.side, rules.among_buildings)
    place_goal(game, scale.side, stimuli.holdout)
    if rules.is_visible:
        show_goal(game, scale.reach)
    respawn(game, max(CLEARANCE * scale.side, scale.reach))


def play(game, action, scale, stimuli):
    """1 in a frame that reaches the goal, else 0."""
    return seek_goal(game, action, scale.reach, CLEARANCE * scale.side)


def remember(game):
    """What cannot be seen has to be found once before one can know the way."""
    return go_to_goal(game) if rules.is_visible or game.goals > 0 else go_sweeping(game, game.reach)


def forget(game):
    """Starts every search as if it were the first."""
    return look_for_goal(game) if rules.is_visible else go_wandering(game)


def arena_task(*, name: str, goal: Goal, instructions: tuple[str, ...], **parts: Any) -> Task:
    """One of the three tasks, from what is special about its goal; `parts` are fields of Task."""
    return walked_task(
        name=name,
        rules=WalkedRules(*(bind(rule, goal, name) for rule in (begin_episode, play, remember, forget))),
        instructions=(*instructions, *ARENA_INSTRUCTIONS),
        stimuli=QUADRANTS,
        family="navigation",
        scales={size: replace(scale, reach=goal.reach) for size, scale in SCALES.items()},
        scale_record=SCALE,
        game=ARENA,
        report=REPORT,
        checks=CHECKS,
        counter=("goals", "Goals"),
        advise=None if goal.is_visible else advise,
        **parts,
    )
