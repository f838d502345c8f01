"""Visible Goal Procedural Maze: a new maze every episode; find the goal, and find it again from wherever one respawns.

The maze and its goal stay the same for the episode. Reaching the goal pays 10 and puts the walker on a spawn cell.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from memorylab.tasks.checks import MANY, Check, Kept, as_begun, within
from memorylab.tasks.locomotion import (
    WANDERINGS,
    SceneView,
    WalkedRules,
    build_scene_view,
    tell_place,
    walked_fields,
    walked_task,
)
from memorylab.tasks.navigation.maze_layout import GOAL, SPAWN, draw_marked_cell, generate_maze
from memorylab.tasks.scales import check_seconds, frames
from memorylab.tasks.stepping import FRAMES_PER_SECOND, FRAMES_PER_STEP
from memorylab.tasks.stimuli import some_pictures
from memorylab.world.building import put_oval
from memorylab.world.jit import jit
from memorylab.world.materials import FLOOR_STYLES, MATERIALS, WALL_STYLES
from memorylab.world.materials import SIZE as TEXTURE_SIZE
from memorylab.world.paths import distances_to, line_is_clear
from memorylab.world.rng import below, hashed, uniform
from memorylab.world.walking import BEHIND, HALF_VIEW, in_view, steer_towards, step_towards, walk

LARGEST = 63
SCALE = np.dtype(
    [("cells", "i4"), ("rooms", "i4"), ("room_side", "i4"), ("goals_per_room", "i4"), ("frames", "i4")],
)


@dataclass(frozen=True)
class Maze:
    """Cells across with the outer wall, most rooms, longest side of a room, goal cells per room, and the clock."""

    cells: int
    rooms: int
    room_side: int
    goals_per_room: int
    seconds: float = 120

    def __post_init__(self):
        limits = {"cells": (7, LARGEST), "rooms": (1, 1000), "room_side": (3, LARGEST), "goals_per_room": (1, 1000)}
        for name, (low, high) in limits.items():
            value = getattr(self, name)
            kind = "an odd" if name in ("cells", "room_side") else "a whole"
            if (
                not isinstance(value, (int, np.integer))
                or not low <= value <= high
                or (kind == "an odd" and value % 2 == 0)
            ):
                raise ValueError(f"{name} must be {kind} number from {low} to {high}, not {value!r}")
        if self.room_side > self.cells - 2:
            raise ValueError(f"room_side must fit into the maze: at most {self.cells - 2}, not {self.room_side}")
        check_seconds(self.seconds)

    def record(self) -> tuple:
        """The cells and rooms as they are, the clock in frames."""
        return self.cells, self.rooms, self.room_side, self.goals_per_room, frames(self.seconds)

    def text(self) -> str:
        """As the tables show it, such as `11 x 11, 9 rooms of 3 to 3, 120 s`."""
        return f"{self.cells} x {self.cells}, {self.rooms} rooms of 3 to {self.room_side}, {self.seconds:g} s"


SCALES = {
    "small": Maze(11, 9, 3, 5),
    "large": Maze(21, 13, 7, 15),
    "interpolate": Maze(15, 11, 5, 10),
    "extrapolate": Maze(27, 15, 9, 20),
}

# In cells: the original's 100 units.
SPEED = 3.07
RADIUS = 0.15
EYE = 0.5
REACH = 0.4  # of the goal
STEP = SPEED * FRAMES_PER_STEP / FRAMES_PER_SECOND  # that an action leads ahead
REWARD = 10.0
LIKES = 1, 8, 1  # how readily one goes on by the left, straight on, by the right
AROUND = (1, 0), (0, 1), (-1, 0), (0, -1)  # the cells around one, in rows north and columns east, clockwise
GOAL_MATERIAL, FIRST_WALL, FIRST_FLOOR = MATERIALS["goal"], MATERIALS["wall 0"], MATERIALS["floor 0"]

GAME = np.dtype(
    [
        *walked_fields(LARGEST),
        ("marks", "u1", (LARGEST, LARGEST)),
        ("goal_row", "i4"),
        ("goal_column", "i4"),
        ("goals", "i4"),
        ("goal_step", "i4"),
        ("came_from", "i4"),  # where the cell lies from which one came to this one, see AROUND; -1 after a respawn
        ("entered", "i4"),  # the step at which one came to it
    ],
    align=True,
)
REPORT = {
    "goals": "goals",
    "goal_step": "goal_step",
    "respawns": "goals",
    "goal_row": "goal_row",
    "goal_column": "goal_column",
}


@jit
def begin_episode(game, scale, stimuli):
    """A maze that has a goal cell in the half that the level asks for; others are drawn anew."""
    game.scale = scale.cells
    game.cell = 1.0
    game.rows = scale.cells
    game.columns = scale.cells
    # Goals lie in the northern half for training, in the southern for holdout; row 0 is south.
    half = scale.cells // 2
    low, high = (1, half - 1) if stimuli.holdout else (scale.cells - half, scale.cells - 2)
    while True:
        goals = generate_maze(
            game, game.solid, game.marks, scale.cells, scale.rooms, 3, scale.room_side, scale.goals_per_room, low, high
        )
        if goals > 0:
            break
    game.goal_row, game.goal_column = draw_marked_cell(game, game.marks, scale.cells, GOAL)
    game.goals = 0
    game.goal_step = -1
    furnish_maze(game)
    respawn(game)


NUM_PICTURES = 16
FIRST_PICTURE = len(MATERIALS)


@cache
def view_with_pictures() -> SceneView:
    """With some of the packaged pictures to hang on walls."""
    return build_scene_view(some_pictures(NUM_PICTURES, TEXTURE_SIZE))


def build_view(games: int, width: int) -> SceneView:
    """The same for any number of games and any width of picture."""
    return view_with_pictures()


@jit
def furnish_maze(game):
    """A style of wall and of floor for the episode, pictures on some walls, the golden oval on the goal's cell."""
    game.eye = EYE
    game.wall_height = 1.0
    game.wall_material = FIRST_WALL + below(game, WALL_STYLES)
    game.floor_material = FIRST_FLOOR + below(game, FLOOR_STYLES)
    game.pictures = NUM_PICTURES
    game.first_picture = FIRST_PICTURE
    game.hanging = game.key
    game.num_ovals = 1
    put_oval(game, 0, game.goal_column + 0.5, 0.45, game.goal_row + 0.5, 0.2, 0.28, GOAL_MATERIAL)


@jit
def respawn(game):
    """On a random spawn cell, facing anywhere, standing still."""
    row, column = draw_marked_cell(game, game.marks, game.rows, SPAWN)
    game.x = column + 0.5
    game.z = row + 0.5
    game.yaw = uniform(game, -180.0, 180.0)
    game.v_x = 0.0
    game.v_z = 0.0
    game.came_from = -1


@jit
def play(game, action, scale, stimuli):
    """10 in a frame that reaches the goal, which also puts the walker elsewhere; else 0."""
    row, column = int(game.z), int(game.x)
    walk(game, action, SPEED, RADIUS)
    note_cell(game, row, column)
    if abs(game.x - game.goal_column - 0.5) > REACH or abs(game.z - game.goal_row - 0.5) > REACH:
        return 0.0
    game.goals += 1
    game.goal_step = game.length
    respawn(game)
    return REWARD


@jit
def note_cell(game, row, column):
    """Whether one is in another cell than that now, and from where one came to it."""
    for side in range(4):
        if int(game.z) + AROUND[side][0] == row and int(game.x) + AROUND[side][1] == column:
            game.came_from = side
            game.entered = game.length


# --- scripted players


@jit
def go_to_cell(game, row, column):
    """Along the shortest way, cutting corners: towards its farthest cell that can be reached in a straight line."""
    distances = np.empty((game.rows, game.columns), np.int32)
    distances_to(game.solid, game.rows, game.columns, row, column, distances)
    at_row, at_column = int(game.z), int(game.x)
    aim_x, aim_z = at_column + 0.5, at_row + 0.5
    for _ in range(20):
        if distances[at_row, at_column] <= 0:
            break
        for turn in range(4):
            next_row, next_column = at_row + (turn == 0) - (turn == 1), at_column + (turn == 2) - (turn == 3)
            if distances[next_row, next_column] == distances[at_row, at_column] - 1:
                at_row, at_column = next_row, next_column
                break
        if not line_is_clear(game.solid, 1.0, game.x, game.z, at_column + 0.5, at_row + 0.5, RADIUS):
            break
        aim_x, aim_z = at_column + 0.5, at_row + 0.5
    return step_towards(game, aim_x, aim_z)


@jit
def remember(game):
    """Knows the way from the first step on."""
    return go_to_cell(game, game.goal_row, game.goal_column)


@jit
def explore(game):
    """To the goal when it is in view, else from cell to cell by what one sees, as one who has no map."""
    x, z = game.goal_column + 0.5, game.goal_row + 0.5
    if in_view(game, x, z) and line_is_clear(game.solid, 1.0, game.x, game.z, x, z, 0.0):
        if line_is_clear(game.solid, 1.0, game.x, game.z, x, z, RADIUS):
            return steer_towards(game, x, z, BEHIND)
        return go_to_cell(game, game.goal_row, game.goal_column)
    row, column = int(game.z), int(game.x)
    north, east = AROUND[next_side(game, row, column)]
    return steer_towards(game, column + east + 0.5, row + north + 0.5, BEHIND)  # openings were in view before


@jit
def advise(game):
    """The same, and where one stands, from the middle of the maze."""
    middle = game.rows / 2
    return tell_place(game, middle, middle, STEP) | 1 << explore(game)


@jit
def next_side(game, row, column):
    """After a respawn what is open next to the right; then one of the ways on, and back only from a dead end."""
    if game.came_from < 0:
        best, least = 0, 360.0
        for side in range(4):
            angle = (90.0 * side - game.yaw + HALF_VIEW) % 360.0
            if is_open(game, row, column, side) and angle < least:
                best, least = side, angle
        return best
    likes = np.zeros(4, np.int64)
    for turn in range(1, 4):
        if is_open(game, row, column, (game.came_from + turn) % 4):
            likes[turn] = LIKES[turn - 1]
    if likes.sum() == 0:
        return game.came_from
    drawn = int(hashed(hashed(game.key, -1 - WANDERINGS), game.entered) % np.uint64(likes.sum()))
    turn = 0
    while drawn >= 0:
        turn += 1
        drawn -= likes[turn]
    return (game.came_from + turn) % 4


@jit
def is_open(game, row, column, side):
    """Is the cell on that side of a cell open?"""
    north, east = AROUND[side]
    return game.solid[row + north, column + east] == 0


@jit
def forget(game):
    """To the goal when it is in view, else to some spawn cell, another every few seconds."""
    x, z = game.goal_column + 0.5, game.goal_row + 0.5
    if in_view(game, x, z) and line_is_clear(game.solid, 1.0, game.x, game.z, x, z, 0.0):
        return go_to_cell(game, game.goal_row, game.goal_column)
    leg = game.frame // 240 + 1000 * game.goals
    count = 0
    for row in range(game.rows):
        for column in range(game.columns):
            count += game.marks[row, column] == SPAWN
    chosen = hashed(hashed(game.key, -1 - WANDERINGS), leg) % np.uint64(count)
    for row in range(game.rows):
        for column in range(game.columns):
            if game.marks[row, column] == SPAWN:
                if chosen == np.uint64(0):
                    return go_to_cell(game, row, column)
                chosen -= np.uint64(1)
    return 0


def maze_as_begun(name: str, kept: Kept) -> np.ndarray:
    """Within its size; beyond it a larger one of before may have left something."""
    cells = np.arange(LARGEST) < kept.begun["rows"][:, None]
    inside = cells[:, :, None] & cells[:, None, :]
    return as_begun(name, kept) | ~inside


CHECKS: dict[str, Check] = {
    **dict.fromkeys(("cell", "rows", "columns", "goal_row", "goal_column"), as_begun),
    **dict.fromkeys(("solid", "marks"), maze_as_begun),
    **dict.fromkeys(("goals", "entered"), within(0, MANY)),
    "goal_step": within(-1, MANY),
    "came_from": within(-1, len(AROUND) - 1),
}
TASK = walked_task(
    name="visible_goal_procedural_maze",
    title="Visible Goal Procedural Maze",
    rule="Find the golden oval in the maze, then find it again from wherever you respawn: it stays where it is.",
    instructions=(
        "The goal is a golden oval somewhere in a maze that is new in every episode.",
        "Reaching it pays 10 and puts you down elsewhere in the same maze: find the way back as often as you can.",
    ),
    counter=("goals", "Goals"),
    stimuli={"train": "goals in the northern half", "holdout": "goals in the southern half"},
    family="navigation",
    engine="dmlab",
    rules=WalkedRules(begin_episode, play, remember, forget),
    skill=explore,
    advise=advise,
    scales=SCALES,
    scale_record=SCALE,
    game=GAME,
    report=REPORT,
    checks=CHECKS,
    build_view=build_view,
    card_step=30,
    curriculum=(
        {"cells": 7, "rooms": 2, "room_side": 3},
        {"cells": 9, "rooms": 4, "room_side": 3},
        {"cells": 11, "rooms": 9, "room_side": 3},
    ),
    curriculum_share=0.3,
)
