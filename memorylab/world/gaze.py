"""A head that stands still and turns: yaw to the right and pitch up, in degrees."""

import math

from memorylab.world.jit import jit

LOOK_ACTIONS = ("look left", "look right", "look up", "look down", "nothing")
LEFT, RIGHT, UP, DOWN, NOTHING = range(5)

DEGREES_PER_FRAME = 2.112
PITCH_LIMIT = 88.0

PANEL_DISTANCE = 90.0
PANEL_SIDE = 112.0


@jit
def turn(game, action):
    """One frame of a look action; immediate, no inertia."""
    if action == LEFT:
        game.yaw -= DEGREES_PER_FRAME
        if game.yaw < -180.0:
            game.yaw += 360.0
    elif action == RIGHT:
        game.yaw += DEGREES_PER_FRAME
        if game.yaw > 180.0:
            game.yaw -= 360.0
    elif action == UP:
        game.pitch = min(game.pitch + DEGREES_PER_FRAME, PITCH_LIMIT)
    elif action == DOWN:
        game.pitch = max(game.pitch - DEGREES_PER_FRAME, -PITCH_LIMIT)


@jit
def gaze_on_panel(yaw, pitch):
    """Where the centre ray meets the panel, as (u, v), origin top left; (-1, -1) when facing away."""
    if abs(yaw) >= 90.0:
        return -1.0, -1.0
    yaw, pitch = math.radians(yaw), math.radians(pitch)
    u = 0.5 + PANEL_DISTANCE * math.tan(yaw) / PANEL_SIDE
    v = 0.5 - PANEL_DISTANCE * math.tan(pitch) / (PANEL_SIDE * math.cos(yaw))
    return u, v


@jit
def inside(u, v, x, y, side):
    """Is (u, v) in the square of that side around (x, y)?"""
    return abs(u - x) <= side / 2 and abs(v - y) <= side / 2
