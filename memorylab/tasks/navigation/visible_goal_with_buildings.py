"""Visible Goal with Buildings: see arena.py for the rules."""

from memorylab.tasks.navigation.arena import Goal, arena_task

TASK = arena_task(
    name="visible_goal_with_buildings",
    title="Visible Goal with Buildings",
    rule="Find the golden oval among the buildings, again and again: it stays where it is.",
    goal=Goal(reach=1.35, is_visible=True, among_buildings=True),
    instructions=("The goal is a golden oval among buildings.",),
    card_step=36,
    curriculum=({"side": 6}, {"side": 10}),
    curriculum_share=0.6,
)
