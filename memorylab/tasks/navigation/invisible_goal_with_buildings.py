"""Invisible Goal with Buildings: see arena.py for the rules."""

from memorylab.tasks.navigation.arena import Goal, arena_task

TASK = arena_task(
    name="invisible_goal_with_buildings",
    title="Invisible Goal with Buildings",
    rule="Find the unmarked place that pays, remember it by the buildings, and come back after each respawn.",
    goal=Goal(reach=1.35, is_visible=False, among_buildings=True),
    instructions=(
        "The goal cannot be seen: walk about until the score goes up, and remember the place by the buildings.",
    ),
    card_step=18,
    curriculum=({"side": 10},),
    curriculum_share=0.25,
)
