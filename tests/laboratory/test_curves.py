"""The figure of a run."""

import json

import matplotlib.pyplot as plt
import pytest
from PIL import Image
from synthetic_runs import write_run

from memorylab.laboratory.curves import draw_comparison, draw_levels, draw_over_minutes, draw_run, level_scores
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


def test_runs_beside_each_other_over_minutes(tmp_path):
    """Evaluations stand where the clock of metrics.csv puts their steps; runs of two tasks are not drawn together."""
    for model, pace in (("mra", 0.6), ("lstm", 0.3)):
        folder = write_run(tmp_path / model, "change_detection", model, 0, [(0, "train", 1), (200, "train", 9)])
        (folder / "metrics.csv").write_text(f"step,seconds\n100,{100 * pace}\n200,{200 * pace}\n")
    figure, axes = plt.subplots()
    for name in ("mra", "lstm"):
        draw_over_minutes(axes, tmp_path / name, "train", name)
        draw_over_minutes(axes, tmp_path / name, "holdout_interpolate", name)
    lines = {line.get_label(): line.get_xydata().tolist() for line in axes.lines}
    assert lines == {"mra": [[0, 1], [2, 9]], "lstm": [[0, 1], [1, 9]]}
    plt.close(figure)
    draw_comparison([tmp_path / "mra", tmp_path / "lstm"], tmp_path / "curve.png")
    with Image.open(tmp_path / "curve.png") as picture:
        assert picture.size == (1575, 510)
    other = write_run(tmp_path / "other", "continuous_recognition", "mra", 0, [(0, "train", 1)])
    with pytest.raises(ValueError, match="not of change_detection and continuous_recognition"):
        draw_comparison([tmp_path / "mra", other], tmp_path / "curve.png")


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
