"""A walker: eight actions, speed that builds up and dies away, walls along which one slides."""

import math

from memorylab.world.gaze import DEGREES_PER_FRAME
from memorylab.world.jit import jit
from memorylab.world.scene import MAX_BOXES

WALK_ACTIONS = (
    "forward", "backward", "strafe left", "strafe right",
    "look left", "look right", "forward and look left", "forward and look right",
)  # fmt: skip
FORWARD, BACKWARD, STRAFE_LEFT, STRAFE_RIGHT, LOOK_LEFT, LOOK_RIGHT, FORWARD_LEFT, FORWARD_RIGHT = range(8)
STICKS = -1  # not one of the eight, but wherever the four sticks are
PITCH_LIMIT = 40.0
HALF_VIEW = 45.0  # degrees to either side that a picture shows
BEHIND = 135.0  # degrees to either side beyond which something lies behind one
STEERING = 9.0  # degrees off the way before one steers who goes by pictures
FULL_TURN = 43  # steps of looking one way that turn a walker once round

SECONDS = 1 / 60  # per frame
FRICTION = 6.0  # share of the speed lost per second
ACCELERATION = 10.0  # of the full speed, per second
TOUCH = 0.05  # a walker this near to a box touches it
SKIN = 1e-6  # what is kept between a walker and a wall

WALKER = [("v_x", "f8"), ("v_z", "f8"), ("sticks", "f8", (4,)), ("box_solid", "u1", (MAX_BOXES,))]


@jit
def wishes(game, action):
    """(right, forward, turn, tilt), each from -1 to 1: what an action stands for, or where the sticks are."""
    right, forward, turn, tilt = 0.0, 0.0, 0.0, 0.0
    if action == STICKS:
        right, forward, turn, tilt = game.sticks
    elif action in (FORWARD, FORWARD_LEFT, FORWARD_RIGHT):
        forward = 1.0
    elif action == BACKWARD:
        forward = -1.0
    elif action == STRAFE_LEFT:
        right = -1.0
    elif action == STRAFE_RIGHT:
        right = 1.0
    if action in (LOOK_LEFT, FORWARD_LEFT):
        turn = -1.0
    elif action in (LOOK_RIGHT, FORWARD_RIGHT):
        turn = 1.0
    return right, forward, turn, tilt


@jit
def walk(game, action, speed, radius):
    """One frame of an action."""
    right, forward, turn, tilt = wishes(game, action)
    turn_by(game, turn * DEGREES_PER_FRAME)
    game.pitch = min(max(game.pitch + tilt * DEGREES_PER_FRAME, -PITCH_LIMIT), PITCH_LIMIT)
    sin, cos = math.sin(math.radians(game.yaw)), math.cos(math.radians(game.yaw))
    accelerate(game, forward * sin + right * cos, forward * cos - right * sin, speed)
    slide(game, game.v_x * SECONDS, game.v_z * SECONDS, radius)


@jit
def turn_by(game, degrees):
    """Yaw stays between -180 and 180 degrees."""
    game.yaw += degrees
    if game.yaw > 180.0:
        game.yaw -= 360.0
    elif game.yaw < -180.0:
        game.yaw += 360.0


@jit
def accelerate(game, wish_x, wish_z, speed):
    """Friction, then a push towards the wish that never exceeds the full speed in its direction."""
    kept = max(0.0, 1.0 - FRICTION * SECONDS)
    game.v_x *= kept
    game.v_z *= kept
    wish = math.hypot(wish_x, wish_z)
    if wish > 0.0:
        wish_x, wish_z, speed = wish_x / wish, wish_z / wish, speed * min(wish, 1.0)
        missing = speed - (game.v_x * wish_x + game.v_z * wish_z)
        push = max(0.0, min(ACCELERATION * speed * SECONDS, missing))
        game.v_x += push * wish_x
        game.v_z += push * wish_z


@jit
def slide(game, by_x, by_z, radius):
    """Move as far as walls allow, one axis after the other: along a wall the rest of the way is kept."""
    free = free_way(game, 0, by_x, radius)
    game.x += free
    if free != by_x:
        game.v_x = 0.0
    free = free_way(game, 1, by_z, radius)
    game.z += free
    if free != by_z:
        game.v_z = 0.0


@jit
def free_way(game, axis, by, radius):
    """How much of the way `by` along x (0) or z (1) is free of walls and solid boxes, however long it is."""
    if by == 0.0:
        return 0.0
    here, beside = (game.x, game.z) if axis == 0 else (game.z, game.x)
    sign = 1.0 if by > 0.0 else -1.0
    front = here + sign * radius
    free = abs(by)
    first = math.floor(front / game.cell + sign * 1e-9)
    last = math.floor((front + by) / game.cell)
    for step in range(abs(last - first) + 1):
        place = first + int(sign) * step
        if is_walled(game, axis, place, beside - radius + SKIN, beside + radius - SKIN):
            edge = place * game.cell if sign > 0 else (place + 1) * game.cell
            free = min(free, max(0.0, sign * (edge - front) - SKIN))
            break
    for number in range(game.num_boxes):
        if game.box_solid[number]:
            box = game.boxes[number]
            low, high = (box[0], box[1]) if axis == 0 else (box[4], box[5])
            side_low, side_high = (box[4], box[5]) if axis == 0 else (box[0], box[1])
            if side_low < beside + radius - SKIN and side_high > beside - radius + SKIN:
                edge = low if sign > 0 else high
                gap = sign * (edge - front)
                if gap > -radius:  # a box already left behind is no obstacle
                    free = min(free, max(0.0, gap - SKIN))
    return sign * free if free < abs(by) else by


@jit
def is_walled(game, axis, place, low, high):
    """Is any cell at this row (or column) solid between low and high on the other axis?"""
    for other in range(math.floor(low / game.cell), math.floor(high / game.cell) + 1):
        row, column = (other, place) if axis == 0 else (place, other)
        if row < 0 or row >= game.rows or column < 0 or column >= game.columns or game.solid[row, column]:
            return True
    return False


@jit
def is_free(game, x, z, radius):
    """Could a walker stand there?"""
    for row in range(math.floor((z - radius) / game.cell), math.floor((z + radius) / game.cell) + 1):
        if is_walled(game, 1, row, x - radius, x + radius):
            return False
    for number in range(game.num_boxes):
        if game.box_solid[number]:
            west, east, _, _, south, north = game.boxes[number]
            if west < x + radius and east > x - radius and south < z + radius and north > z - radius:
                return False
    return True


@jit
def touched_box(game, first, last, radius):
    """The box from first to last - 1 that the walker touches; -1 for none."""
    near = radius + TOUCH
    for number in range(first, last):
        west, east, _, _, south, north = game.boxes[number]
        if west < game.x + near and east > game.x - near and south < game.z + near and north > game.z - near:
            return number
    return -1


@jit
def turn_towards(game, x, z):
    """How far to turn, in degrees to the right, to face (x, z)."""
    angle = math.degrees(math.atan2(x - game.x, z - game.z)) - game.yaw
    return (angle + 180.0) % 360.0 - 180.0


@jit
def in_view(game, x, z):
    """Is (x, z) before the walker's eyes, if nothing hides it?"""
    return abs(turn_towards(game, x, z)) <= HALF_VIEW


@jit
def step_towards(game, x, z):
    """The action that a good walker takes to get to (x, z) when nothing is in the way."""
    angle = turn_towards(game, x, z)
    if abs(angle) > 50.0:
        return LOOK_RIGHT if angle > 0 else LOOK_LEFT
    if abs(angle) > 5.0:
        return FORWARD_RIGHT if angle > 0 else FORWARD_LEFT
    return FORWARD


@jit
def without_turning(actions):
    """Of several ways to go, as bits, those that are in view, if any is."""
    ahead = actions & ~(1 << LOOK_RIGHT)
    return ahead if ahead else actions


@jit
def steer_towards(game, x, z, behind=HALF_VIEW):
    """The same for one who goes by what pictures show: what is farther to the left or right than `behind` is turned to
    by the right always, and only what is clearly off is steered at."""
    angle = turn_towards(game, x, z)
    if angle > HALF_VIEW or angle < -behind:
        return LOOK_RIGHT
    if angle < -HALF_VIEW:
        return LOOK_LEFT
    if abs(angle) > STEERING:
        return FORWARD_RIGHT if angle > 0 else FORWARD_LEFT
    return FORWARD
