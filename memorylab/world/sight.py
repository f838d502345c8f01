"""Which boxes and ovals may be seen, and between which rows and columns."""

from memorylab.world.jit import jit
from memorylab.world.pixels import LANES, whole_vectors
from memorylab.world.rays import FAR, NEAREST

NUMBER, TOP, FOOT, LEFT, RIGHT = range(5)  # what is noted of a thing that may be seen


@jit
def is_in_view(view, walls, box, wall_height):
    """Is any part of a box within the outermost bearings, and not behind walls that are higher?"""
    west, east, bottom, top, south, north = box
    is_ahead = is_left = is_right = False
    nearest, lowest, highest = FAR, FAR, -FAR
    for corner in range(4):
        x, z = (east if corner & 1 else west) - view.x, (north if corner & 2 else south) - view.z
        aside, ahead = x * view.cos_yaw - z * view.sin_yaw, x * view.sin_yaw + z * view.cos_yaw
        is_ahead |= ahead > NEAREST
        is_left |= aside < view.reach * ahead
        is_right |= -aside < view.reach * ahead
        nearest = min(nearest, ahead)
        bearing = aside / max(ahead, NEAREST)
        lowest, highest = min(lowest, bearing), max(highest, bearing)
    if top <= bottom or not (is_ahead and is_left and is_right):
        return False
    return nearest < NEAREST or top > wall_height or reaches(view, walls, nearest, lowest, highest)


@jit
def reaches(view, walls, distance, lowest, highest):
    """Does any ray between two bearings go that far?"""
    bearing = min(max(int((lowest - view.first) / view.step) - 1, 0), len(walls))
    stop = min(max(int((highest - view.first) / view.step) + 3, 0), len(walls))
    while bearing < stop and walls[bearing] <= distance:
        bearing += 1
    return bearing < stop


@jit
def outline(view, box, number, seen, place):
    """Note a thing and the rows and columns between which its box is seen, a little too wide rather than too narrow."""
    west, east, bottom, top, south, north = box
    low_x, high_x, low_y, high_y = 1e9, -1e9, 1e9, -1e9
    for corner in range(8):
        x = (east if corner & 1 else west) - view.x
        y = (top if corner & 2 else bottom) - view.y
        z = (north if corner & 4 else south) - view.z
        right, level = x * view.cos_yaw - z * view.sin_yaw, x * view.sin_yaw + z * view.cos_yaw
        ahead, up = level * view.cos_pitch + y * view.sin_pitch, y * view.cos_pitch - level * view.sin_pitch
        if ahead < NEAREST:  # it reaches past the eye: anywhere
            low_x, high_x, low_y, high_y = -1e6, 1e6, -1e6, 1e6
            break
        inverse = 1.0 / ahead
        low_x, high_x = min(low_x, right * inverse), max(high_x, right * inverse)
        low_y, high_y = min(low_y, up * inverse), max(high_y, up * inverse)
    half = view.width / 2
    seen[place, NUMBER] = number
    seen[place, TOP] = min(max(int(view.height / 2 - high_y * half - 1), 0), view.height)
    seen[place, FOOT] = min(max(int(view.height / 2 - low_y * half + 2), 0), view.height)
    seen[place, LEFT] = min(max(int(half + low_x * half - 1), 0), view.width) & -LANES
    seen[place, RIGHT] = whole_vectors(min(max(int(half + high_x * half + 2), 0), view.width))


@jit
def oval_of(game, number):
    """Its middle and its half axes, as numbers that compiled code can pass on."""
    x, y, z, radius, half_height = game.ovals[number]
    return x, y, z, radius, half_height


@jit
def box_around(oval):
    """The smallest box that holds an oval."""
    x, y, z, radius, half_height = oval
    return x - radius, x + radius, y - half_height, y + half_height, z - radius, z + radius


@jit
def box_of(game, number):
    """Its six sides, as numbers that compiled code can pass on."""
    west, east, bottom, top, south, north = game.boxes[number]
    return west, east, bottom, top, south, north


@jit(inline=True)
def find_things(game, view, walls, seen):
    """Note the boxes, then the ovals, that may be seen; returns how many boxes, and how many in all."""
    count = 0
    for number in range(game.num_boxes):
        box = box_of(game, number)
        if is_in_view(view, walls, box, game.wall_height):
            outline(view, box, number, seen, count)
            count += 1
    num_boxes = count
    for number in range(game.num_ovals):
        box = box_around(oval_of(game, number))
        if is_in_view(view, walls, box, game.wall_height):
            outline(view, box, number, seen, count)
            count += 1
    return num_boxes, count
