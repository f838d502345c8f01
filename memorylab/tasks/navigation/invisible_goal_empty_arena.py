"""Invisible Goal Empty Arena: see arena.py for the rules."""

from memorylab.tasks.navigation.arena import Goal, arena_task

TASK = arena_task(
    name="invisible_goal_empty_arena",
    title="Invisible Goal Empty Arena",
    rule="Find the unmarked place that pays in an empty arena, with only walls and sky to tell where you are.",
    goal=Goal(reach=0.22, is_visible=False, among_buildings=False),
    instructions=(
        "The goal cannot be seen: walk about until the score goes up, and remember the place by walls and sky.",
    ),
    card_step=54,
    curriculum=({"side": 6, "reach": 0.6}, {"side": 6}, {"side": 10}),
    curriculum_share=0.25,
)
