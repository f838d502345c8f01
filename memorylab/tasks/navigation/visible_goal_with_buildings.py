"""Visible Goal with Buildings: see arena.py for the rules."""

from memorylab.tasks.locomotion import WalkedRules, walked_task
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
from memorylab.world.jit import jit

GOAL_RADIUS = 1.35  # metres from its middle at which the goal counts as reached


@jit
def begin_episode(game, scale, stimuli):
    build_arena(game, scale.side, True)
    place_goal(game, scale.side, stimuli.holdout)
    show_goal(game, GOAL_RADIUS)
    respawn(game, max(CLEARANCE * scale.side, GOAL_RADIUS))


@jit
def play(game, action, scale, stimuli):
    return seek_goal(game, action, GOAL_RADIUS, CLEARANCE * scale.side)


@jit
def remember(game):
    return go_to_goal(game)


@jit
def forget(game):
    return look_for_goal(game)


TASK = walked_task(
    name="visible_goal_with_buildings",
    short="vgb",
    title="Visible Goal with Buildings",
    rule="Find the golden oval among the buildings, again and again: it stays where it is.",
    rules=WalkedRules(begin_episode, play, remember, forget),
    scales=SCALES,
    scale_record=SCALE,
    game=ARENA,
    report=REPORT,
)
