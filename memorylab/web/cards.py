"""The pictures on the tasks' cards. They come with the package: to draw them, thirteen tasks would have to be compiled.

python -m memorylab.web.cards draws them anew.
"""

import io

import numpy as np
from PIL import Image

from memorylab.envs.spec import GameSpec
from memorylab.runs.files import replacing
from memorylab.tasks.task import TASKS, find_task
from memorylab.web.game import VIEWS, new_batch
from memorylab.web.pages import CARDS

CARD_SEED = 3


def draw_card(task: str) -> bytes:
    """A moment of the task, as a remembering player sees it."""
    batch = new_batch(GameSpec(task, size=VIEWS["agent"]))
    action = np.zeros(1, np.int64)
    batch.begin(batch.seed([CARD_SEED]), np.ones(1, np.bool_), batch.pictures)
    for _ in range(find_task(task).card_step):
        batch.act("remembering", action)
        batch.step(action, batch.pictures, autoreset=True)
    return as_png(batch.pictures[0])


def as_png(picture: np.ndarray) -> bytes:
    """As few bytes as it takes."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG", compress_level=1)
    return file.getvalue()


if __name__ == "__main__":
    for name in TASKS:
        with replacing(CARDS / f"{name}.png") as temporary:
            temporary.write_bytes(draw_card(name))
