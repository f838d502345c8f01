"""The figure of a run."""

import json

import matplotlib.pyplot as plt
import pytest
from PIL import Image

from memorylab.laboratory.curves import draw_levels, draw_run, level_scores
from memorylab.laboratory.references import scripted_players


@pytest.fixture
def run(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"task": "change_detection", "model": "mra", "preset": "laptop"}))
    (tmp_path / "scores.csv").write_text(
        "step,level,scale,return,length,seed\n0,train,1,0,9,1\n0,train,1,2,9,2\n50,train,1,4,9,3\n50,holdout_interpolate,1,3,9,4\n"
    )
    (tmp_path / "metrics.csv").write_text("step,stage,score\n10,trials 1,0.5\n20,true level,3\n")
    return tmp_path


def test_scores_are_grouped_by_level_and_step(run):
    assert level_scores(run) == {"train": {0: [0, 2], 50: [4]}, "holdout_interpolate": {50: [3]}}


def test_a_run_becomes_a_figure(run):
    out = run / "figures" / "curve.png"
    draw_run(run, out, episodes=4)
    with Image.open(out) as picture:
        assert picture.size == (1050, 900)
    assert [file.name for file in out.parent.iterdir()] == ["curve.png"]


def test_the_memory_score_stands_at_the_right(run):
    """0 where the forgetting player is, 100 where the remembering one is."""
    figure, axes = plt.subplots()
    draw_levels(axes, run, "change_detection", episodes=4)
    figure.draw_without_rendering()
    (scale,) = axes.child_axes
    ends = [scripted_players()["change_detection", who, "train"].mean for who in ("forgetting", "remembering")]
    for score, percent in zip(ends, (0, 100), strict=True):
        _, height = axes.transData.transform((0, score))
        assert scale.transData.inverted().transform((0, height))[1] == pytest.approx(percent, abs=1e-6)
    plt.close(figure)


def test_what_is_no_run_is_told(run, tmp_path):
    with pytest.raises(ValueError, match="is not the folder of a run"):
        draw_run(tmp_path / "nothing", tmp_path / "curve.png")
    (run / "scores.csv").unlink()
    with pytest.raises(ValueError, match=r"scores.csv is missing"):
        draw_run(run, run / "curve.png", episodes=4)
