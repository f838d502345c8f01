import numpy as np
import pytest
from PIL import Image

from memorylab.tasks.task import TASKS
from memorylab.web.cards import draw_card
from memorylab.web.pages import CARDS


@pytest.mark.parametrize("task", TASKS)
def test_the_packaged_card_is_what_the_task_looks_like(task, tmp_path):
    fresh = tmp_path / "card.png"
    fresh.write_bytes(draw_card(task))
    packaged, drawn = (np.asarray(Image.open(file)).astype(int) for file in (CARDS / f"{task}.png", fresh))
    assert (abs(packaged - drawn) > 3).mean() < 0.005  # other CPUs may round a pixel's edge differently
