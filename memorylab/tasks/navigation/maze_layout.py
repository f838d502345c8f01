"""Random mazes of rooms and corridors: which cells are walls, where an agent may start and where a goal may stand.

Rooms and corridor cells sit on the odd rows and columns of a square, so a line of wall always fits between two of
them. Row 0 is the south edge. Every draw comes from the game's own stream: the same key gives the same maze.
"""

import numpy as np

from memorylab.world.jit import jit
from memorylab.world.rng import below

OPEN, WALL = 0, 1
NO_MARK, SPAWN, GOAL = 0, 1, 2

FAILED_TRIES = 1000  # rooms that did not fit before we stop adding some
SPAWNS_PER_ROOM = 5
SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1))


@jit
def generate_maze(game, solid, marks, size, max_rooms, room_min, room_max, goals_per_room, goal_row_low, goal_row_high):
    """Fill `solid` and `marks` up to `size` and return the number of goal cells (at 0, draw another maze)."""
    solid[:size, :size] = WALL
    marks[:size, :size] = NO_MARK
    regions = np.zeros((size, size), np.int16)  # 0 is no region, then come the rooms, then the corridors
    rooms = np.empty((max_rooms, 4), np.int64)  # south row, west column, height, width
    room_count = place_rooms(game, rooms, size, room_min, room_max)
    for room in range(room_count):
        row, column, height, width = rooms[room]
        solid[row : row + height, column : column + width] = OPEN
        regions[row : row + height, column : column + width] = room + 1
    region_count = carve_corridors(game, solid, regions, size, room_count)
    join_regions(game, solid, regions, size, region_count)
    fill_dead_ends(solid, regions, size, room_count)
    # A shortcut leaves as many ways out of each cell as it had: no new dead end.
    while shorten_horseshoes(solid, regions, size, room_count):
        pass
    goals = 0
    for room in range(room_count):
        goals += mark_room(game, marks, rooms[room], goals_per_room, goal_row_low, goal_row_high)
    return goals


@jit
def draw_marked_cell(game, marks, size, mark):
    """A uniform (row, column) among the cells with that mark, or (-1, -1) if there is none."""
    marked = 0
    for row in range(size):
        for column in range(size):
            marked += marks[row, column] == mark
    if marked == 0:
        return -1, -1
    skip = below(game, marked)
    for row in range(size):
        for column in range(size):
            if marks[row, column] == mark:
                if skip == 0:
                    return row, column
                skip -= 1
    return -1, -1


@jit
def place_rooms(game, rooms, size, room_min, room_max):
    """Draw rooms apart from each other into `rooms` and return how many."""
    count = failed = 0
    sides = (room_max - room_min) // 2 + 1
    while count < len(rooms) and failed < FAILED_TRIES:
        height = room_min + 2 * below(game, sides)
        width = room_min + 2 * below(game, sides)
        if height > size - 2 or width > size - 2:
            failed += 1
            continue
        row = 1 + 2 * below(game, (size - height) // 2)
        column = 1 + 2 * below(game, (size - width) // 2)
        if is_free(rooms, count, row, column, height, width):
            rooms[count, 0], rooms[count, 1] = row, column
            rooms[count, 2], rooms[count, 3] = height, width
            count += 1
        else:
            failed += 1
    return count


@jit
def is_free(rooms, count, row, column, height, width):
    """Does the rectangle overlap none of the first `count` rooms?"""
    for other in range(count):
        other_row, other_column, other_height, other_width = rooms[other]
        rows_meet = row < other_row + other_height and other_row < row + height
        if rows_meet and column < other_column + other_width and other_column < column + width:
            return False
    return True


@jit
def carve_corridors(game, solid, regions, size, region_count):
    """Fill what the rooms left with corridor trees, each its own region; returns the number of regions."""
    stack = np.empty(((size // 2) ** 2, 2), np.int64)
    for row in range(1, size, 2):
        for column in range(1, size, 2):
            if regions[row, column] == 0:
                region_count += 1
                carve_tree(game, solid, regions, size, region_count, row, column, stack)
    return region_count


@jit
def carve_tree(game, solid, regions, size, region, row, column, stack):
    """The recursive backtracker: walk at random into untouched cells, step back when there is none."""
    solid[row, column] = OPEN
    regions[row, column] = region
    stack[0, 0], stack[0, 1] = row, column
    depth = 1
    while depth > 0:
        row, column = stack[depth - 1]
        side = random_untouched_side(game, regions, size, row, column)
        if side < 0:
            depth -= 1
            continue
        north, east = SIDES[side]
        for step in range(1, 3):
            solid[row + step * north, column + step * east] = OPEN
            regions[row + step * north, column + step * east] = region
        stack[depth, 0], stack[depth, 1] = row + 2 * north, column + 2 * east
        depth += 1


@jit
def random_untouched_side(game, regions, size, row, column):
    """A side where the next odd cell is in no region yet, or -1."""
    untouched = 0  # sides as bits
    count = 0
    for side in range(4):
        north, east = SIDES[side]
        far_row, far_column = row + 2 * north, column + 2 * east
        inside = 0 < far_row < size and 0 < far_column < size
        if inside and regions[far_row, far_column] == 0:
            untouched |= 1 << side
            count += 1
    if count == 0:
        return -1
    skip = below(game, count)
    for side in range(4):
        if (untouched >> side) & 1:
            if skip == 0:
                return side
            skip -= 1
    return -1


@jit
def join_regions(game, solid, regions, size, region_count):
    """Open one wall cell between every two adjacent regions, uniform among those that touch both."""
    seen = np.zeros((region_count + 1, region_count + 1), np.int32)
    chosen = np.empty((region_count + 1, region_count + 1), np.int32)
    for row in range(1, size - 1):
        for column in range(1, size - 1):
            one, other = regions_joined_at(regions, row, column)
            if one > 0:
                seen[one, other] += 1
                # The n-th candidate replaces the choice with chance 1 / n: uniform without a list.
                if below(game, seen[one, other]) == 0:
                    chosen[one, other] = row * size + column
    for one in range(1, region_count + 1):
        for other in range(one + 1, region_count + 1):
            if seen[one, other] > 0:
                solid[chosen[one, other] // size, chosen[one, other] % size] = OPEN


@jit
def regions_joined_at(regions, row, column):
    """The two regions, lower first, on opposite sides of this wall cell, or (0, 0)."""
    if regions[row, column] > 0:
        return 0, 0
    for north, east in ((1, 0), (0, 1)):
        one = regions[row - north, column - east]
        other = regions[row + north, column + east]
        if one > 0 and other > 0 and one != other:
            return min(one, other), max(one, other)
    return 0, 0


@jit
def is_corridor(solid, regions, room_count, row, column):
    """Is the cell open and outside every room?"""
    return solid[row, column] == OPEN and not 0 < regions[row, column] <= room_count


@jit
def open_sides(solid, row, column):
    """How many of the four neighbours of a cell are open."""
    count = 0
    for north, east in SIDES:
        count += solid[row + north, column + east] == OPEN
    return count


@jit
def fill_dead_ends(solid, regions, size, room_count):
    """After this every corridor leads somewhere from either end."""
    for row in range(1, size - 1):
        for column in range(1, size - 1):
            fill_dead_end(solid, regions, room_count, row, column)


@jit
def fill_dead_end(solid, regions, room_count, row, column):
    """Fill this cell if it is a dead end, then the one it came from if that is one now, and so on."""
    while is_corridor(solid, regions, room_count, row, column) and open_sides(solid, row, column) < 2:
        solid[row, column] = WALL
        for north, east in SIDES:
            if solid[row + north, column + east] == OPEN:
                row, column = row + north, column + east
                break


@jit
def shorten_horseshoes(solid, regions, size, room_count):
    """One pass over the walls a corridor may bend around; returns how many bends were cut short."""
    shortened = 0
    for row in range(1, size - 1):
        for column in range(1 + row % 2, size - 1, 2):  # walls between two odd cells: one odd, one even number
            if solid[row, column] == WALL:
                for away in (-1, 1):
                    # The bend lies away from the wall, across the line that joins its two ends.
                    north, east = (away, 0) if row % 2 == 1 else (0, away)
                    shortened += shorten_horseshoe(solid, regions, size, room_count, row, column, north, east)
    return shortened


@jit
def shorten_horseshoe(solid, regions, size, room_count, row, column, north, east):
    """Replace a corridor around the wall cell (row, column), two cells out to (north, east), by a way through it."""
    far_row, far_column = row + 2 * north, column + 2 * east
    if not (0 < far_row < size and 0 < far_column < size):
        return False
    for side in (-1, 1):
        end_row, end_column = row + side * east, column + side * north
        if not is_corridor(solid, regions, room_count, end_row, end_column):
            return False
    for step in range(5):
        bend_row, bend_column = bend_cell(row, column, north, east, step)
        # A third open side would be a branch that needs the bend.
        if not is_corridor(solid, regions, room_count, bend_row, bend_column):
            return False
        if open_sides(solid, bend_row, bend_column) != 2:
            return False
    for step in range(5):
        bend_row, bend_column = bend_cell(row, column, north, east, step)
        solid[bend_row, bend_column] = WALL
    solid[row, column] = OPEN
    return True


@jit
def bend_cell(row, column, north, east, step):
    """Cell 0 .. 4 of the bend: one cell out, three across at two cells out, and one cell out again."""
    out = 1 if step == 0 or step == 4 else 2
    across = min(max(step - 2, -1), 1)
    return row + out * north + across * east, column + out * east + across * north


@jit
def mark_room(game, marks, room, goals_per_room, goal_row_low, goal_row_high):
    """Mark spawn cells, then goal cells among the rest; returns how many goal cells lie in the allowed rows."""
    south, west, height, width = room
    cells = np.arange(height * width)
    goals = 0
    for i in range(min(len(cells), SPAWNS_PER_ROOM + goals_per_room)):
        other = i + below(game, len(cells) - i)
        cells[i], cells[other] = cells[other], cells[i]
        row, column = south + cells[i] // width, west + cells[i] % width
        if i < SPAWNS_PER_ROOM:
            marks[row, column] = SPAWN
        elif goal_row_low <= row <= goal_row_high:
            marks[row, column] = GOAL
            goals += 1
    return goals
