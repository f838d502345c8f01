"""The pictures on the tasks' cards. They come with the package: to draw them, thirteen tasks would have to be compiled.

python -m memorylab.web.cards draws them anew.
"""

import io

import numpy as np
from PIL import Image

from memorylab.runs.files import replacing
from memorylab.tasks.task import TASKS
from memorylab.web.game import VIEWS, new_games
from memorylab.web.pages import CARDS

# The moment that shows a task best, in steps of the episode below.
CARD_SEED = 3
CARD_STEPS = {
    "arbitrary_visuomotor_mapping": 24,
    "continuous_recognition": 66,
    "change_detection": 60,
    "what_then_where": 42,
    "spot_diff_basic": 3,
    "spot_diff_passive": 54,
    "spot_diff_multi_object": 48,
    "spot_diff_motion": 54,
    "visible_goal_with_buildings": 36,
    "invisible_goal_with_buildings": 18,
    "invisible_goal_empty_arena": 54,
    "visible_goal_procedural_maze": 30,
    "transitive_inference": 48,
}


def draw_card(task: str) -> bytes:
    """A moment of the task, as a remembering player sees it."""
    games = new_games(task, "train", VIEWS["agent"])
    action = np.zeros(1, np.int64)
    games.begin(games.seed([CARD_SEED]), np.ones(1, np.bool_), games.pictures)
    for _ in range(CARD_STEPS[task]):
        games.act("remembering", action)
        games.step(action, games.pictures, autoreset=True)
    return as_png(games.pictures[0])


def as_png(picture: np.ndarray) -> bytes:
    """As few bytes as it takes."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=1)
    return file.getvalue()


if __name__ == "__main__":
    for name in TASKS:
        with replacing(CARDS / f"{name}.png") as temporary:
            temporary.write_bytes(draw_card(name))
