"""What the two halves of each task's stimuli are, in words: the paper's stimulus tables."""

import importlib

from memorylab.tasks.task import find_task

QUADRANTS = "goal in the north-west or south-east quadrant", "goal in the north-east or south-west quadrant"
IN_WORDS = {
    "arbitrary_visuomotor_mapping": ("object pictures with even ids", "object pictures with odd ids"),
    "continuous_recognition": ("object pictures with even ids", "object pictures with odd ids"),
    "what_then_where": ("digits 0, 1, 2, 3, 4", "digits 5, 6, 7, 8, 9"),
    "spot_diff_motion": (
        "circle, square, star, hexagon, line from side to side, line to the upper right",
        "no motion, triangle, pentagon, figure of eight, line up and down, line to the lower right",
    ),
    "visible_goal_with_buildings": QUADRANTS,
    "invisible_goal_with_buildings": QUADRANTS,
    "invisible_goal_empty_arena": QUADRANTS,
    "visible_goal_procedural_maze": ("goal in the northern half", "goal in the southern half"),
}
COLOURS_IN = {  # a module each
    "change_detection": "psychlab.change_detection",
    "spot_diff_basic": "rooms.spot_difference",
    "spot_diff_passive": "rooms.spot_difference",
    "spot_diff_multi_object": "rooms.spot_difference",
    "transitive_inference": "rooms.transitive_inference",
}


def stimuli_of(task: str) -> dict[str, str]:
    """Half -> what it holds."""
    name = find_task(task).name
    halves = IN_WORDS.get(name) or colours_of(name)
    return dict(zip(("train", "holdout"), halves, strict=True))


def colours_of(task: str) -> tuple[str, str]:
    """As the task's module names them."""
    module = importlib.import_module(f"memorylab.tasks.{COLOURS_IN[task]}")
    return ", ".join(module.TRAIN_COLOURS), ", ".join(module.HOLDOUT_COLOURS)
