"""Invisible Goal with Buildings: see arena.py for the rules."""

from memorylab.tasks.locomotion import WalkedRules, walked_task
from memorylab.tasks.navigation.arena import (
    ARENA,
    CLEARANCE,
    REPORT,
    SCALE,
    SCALES,
    build_arena,
    go_sweeping,
    go_to_goal,
    go_wandering,
    place_goal,
    respawn,
    seek_goal,
)
from memorylab.world.jit import jit

GOAL_RADIUS = 1.35  # metres from its middle at which the goal counts as reached


@jit
def begin_episode(game, scale, stimuli):
    build_arena(game, scale.side, True)
    place_goal(game, scale.side, stimuli.holdout)
    respawn(game, max(CLEARANCE * scale.side, GOAL_RADIUS))


@jit
def play(game, action, scale, stimuli):
    return seek_goal(game, action, GOAL_RADIUS, CLEARANCE * scale.side)


@jit
def remember(game):
    # It has to find the goal once before it can know the way.
    return go_to_goal(game) if game.goals > 0 else go_sweeping(game, GOAL_RADIUS)


@jit
def forget(game):
    return go_wandering(game)


TASK = walked_task(
    name="invisible_goal_with_buildings",
    short="igb",
    title="Invisible Goal with Buildings",
    rule="Find the unmarked place that pays, remember it by the buildings, and come back after each respawn.",
    rules=WalkedRules(begin_episode, play, remember, forget),
    scales=SCALES,
    scale_record=SCALE,
    game=ARENA,
    report=REPORT,
)
