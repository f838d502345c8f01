"""Visible Goal with Buildings: see arena.py for the rules."""

from memorylab.tasks.navigation.arena import (
    ARENA,
    CLEARANCE,
    REPORT,
    SCALE,
    SCALES,
    build_arena,
    go_to_goal,
    look_for_goal,
    place_goal,
    respawn,
    seek_goal,
    show_goal,
)
from memorylab.tasks.walked import walked_task
from memorylab.world.compiled import compiled

GOAL_RADIUS = 1.35  # metres from its middle at which the goal counts as reached


@compiled
def begin_episode(game, scale, stimuli):
    build_arena(game, scale.side, True)
    place_goal(game, scale.side, stimuli.holdout)
    show_goal(game, GOAL_RADIUS)
    respawn(game, max(CLEARANCE * scale.side, GOAL_RADIUS))


@compiled
def play(game, action, scale, stimuli):
    return seek_goal(game, action, GOAL_RADIUS, CLEARANCE * scale.side)


@compiled
def remember(game):
    return go_to_goal(game)


@compiled
def forget(game):
    return look_for_goal(game)


TASK = walked_task(
    __name__,
    name="visible_goal_with_buildings",
    short="vgb",
    title="Visible Goal with Buildings",
    rule="Find the golden oval among the buildings, again and again: it stays where it is.",
    scales=SCALES,
    scale_record=SCALE,
    game=ARENA,
    report=REPORT,
)
