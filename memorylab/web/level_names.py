"""The nine levels of a task as a person would call them."""

from typing import NamedTuple

from memorylab.tasks.levels import LEVELS


class Words(NamedTuple):
    """What changes from level to level of a task."""

    between: str  # a scale within those of training
    beyond: str  # a scale past them
    new: str  # the stimuli that were held out


UNKNOWN = Words("in between", "beyond training", "with new stimuli")  # a task of a user's own
TRIALS = Words("a little shorter", "longer", "with new pictures")
DELAYS = Words("with middling delays", "with longer delays", "with new colours")
ARENA = Words("in a middling arena", "in a larger arena", "with goals in other corners")
WORDS = {
    "arbitrary_visuomotor_mapping": TRIALS,
    "continuous_recognition": TRIALS,
    "change_detection": DELAYS,
    "what_then_where": DELAYS._replace(new="with new digits"),
    "spot_diff_basic": DELAYS,
    "spot_diff_passive": DELAYS,
    "spot_diff_multi_object": Words("with a middling number of blocks", "with more blocks", "with new colours"),
    "spot_diff_motion": DELAYS._replace(new="with new figures"),
    "visible_goal_with_buildings": ARENA,
    "invisible_goal_with_buildings": ARENA,
    "invisible_goal_empty_arena": ARENA,
    "visible_goal_procedural_maze": Words("in a middling maze", "in a larger maze", "with goals in the other half"),
    "transitive_inference": Words("with a middling chain", "with a longer chain", "with new colours"),
}


def level_title(task: str, level: str) -> str:
    """Such as "Longer and with new pictures"."""
    words = WORDS.get(task, UNKNOWN)
    scales, stimuli = LEVELS[level]
    scale = {
        ("small", "large"): "as in training",
        ("small",): "the small ones of training",
        ("large",): "the large ones of training",
        ("interpolate",): words.between,
        ("extrapolate",): words.beyond,
    }[scales]
    title = scale if stimuli == "train" else f"{scale} and {words.new}"
    return title[0].upper() + title[1:]
