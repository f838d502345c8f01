"""Figures say what their numbers say: read off the drawing, not the file."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

from memorylab.laboratory import figures
from memorylab.laboratory.find_runs import Run
from memorylab.laboratory.human_normalised import Average, Cell
from memorylab.laboratory.references import Reference, Yardstick
from memorylab.laboratory.statistics import Estimate
from memorylab.learning.scores import as_curve
from memorylab.tasks.levels import PAPER_LEVELS

AVM, CD = "arbitrary_visuomotor_mapping", "change_detection"


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def cell(task: str, model: str, level: str, *percents: float) -> dict:
    return {(task, model, level): Cell(task, model, level, list(percents), {"human": list(percents), "memory": []})}


def run(tmp_path, seed: int, steps: list[int], scores: list[float], model: str = "mra") -> Run:
    return Run(tmp_path, AVM, model, seed, {}, {"train": as_curve(np.array(steps), np.array(scores))})


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_models_of_the_paper_look_the_same_in_every_report():
    assert figures.look("lstm", ["lstm"]) == figures.look("lstm", ["ff", "mine", "lstm"])
    looks = [tuple(figures.look(model, figures.MODEL_ORDER).values()) for model in figures.MODEL_ORDER]
    assert len(set(looks)) == len(looks) == 10
    mine = tuple(figures.look("mine", ["mine", "mra"]).values())
    assert mine not in looks


def test_a_heat_map_has_a_number_or_says_that_it_is_missing():
    found = cell(AVM, "mra", "train", 80.4, 90.4) | cell(CD, "mra", "train", 20.0)
    figure = figures.heat_map(found, ["mra", "ff"], [AVM, CD], with_errors=True)
    train, interpolate, extrapolate = figure.axes[:3]
    assert texts(train) == ["85\n± 5", "20", "missing", "missing"]  # nothing is known of one seed's error
    assert set(texts(interpolate)) == set(texts(extrapolate)) == {"missing"}
    assert len(train.patches) == 2
    shown = train.images[0].get_array()
    assert (shown[0, 0], shown[0, 1]) == (pytest.approx(85.4), pytest.approx(20))
    assert shown.mask.tolist() == [[False, False], [True, True]]
    assert [label.get_text() for label in train.get_yticklabels()] == ["mra", "ff"]
    assert [label.get_text() for label in extrapolate.get_xticklabels()] == [figures.short(AVM), figures.short(CD)]


@pytest.mark.parametrize(("percent", "colour"), [(0.0, "white"), (82.0, "white"), (83.0, "black"), (400.0, "black")])
def test_numbers_can_be_read_on_their_colour(percent, colour):
    _, axes = plt.subplots()
    figures.write_cell(axes, 0, 0, Average(percent, float("nan"), 1), with_errors=True, highest=150.0)
    assert axes.texts[0].get_color() == colour
    assert axes.texts[0].get_text() == str(round(percent))


def test_curves_are_drawn_where_all_seeds_have_been(tmp_path):
    """One run began later, the other ended earlier; between their evaluations a seed is read off the straight line."""
    runs = [run(tmp_path, 0, [0, 100, 200, 300], [0, 10, 20, 30]), run(tmp_path, 1, [50, 150, 250], [0, 0, 40])]
    _, axes = plt.subplots()
    figures.draw_model(axes, runs, "train", ["mra"])
    (line,) = axes.lines
    at, median = line.get_data()
    assert (at * 1e6).round().tolist() == [50, 100, 150, 200, 250]
    assert median.tolist() == [2.5, 5.0, 7.5, 20.0, 32.5]
    assert line.get_label() == "mra (2 seeds)"
    assert len(axes.collections) == 1, "a band"


def test_one_seed_has_no_band_and_no_runs_no_line(tmp_path):
    _, axes = plt.subplots()
    figures.draw_model(axes, [], "train", ["mra"])
    assert not axes.lines
    figures.draw_model(axes, [run(tmp_path, 0, [0, 10], [1, 2])], "train", ["mra"])
    assert axes.lines[0].get_label() == "mra"
    assert not axes.collections


def test_seeds_that_never_met_are_not_drawn(tmp_path):
    runs = [run(tmp_path, 0, [0, 10], [1, 2]), run(tmp_path, 1, [20, 30], [1, 2])]
    _, axes = plt.subplots()
    figures.draw_model(axes, runs, "train", ["mra"])
    assert not axes.lines


def test_long_curves_are_thinned_and_keep_their_ends(tmp_path):
    steps = list(range(0, 100_000, 10))
    _, axes = plt.subplots()
    figures.draw_model(axes, [run(tmp_path, 0, steps, [float(step) for step in steps])], "train", ["mra"])
    at, score = axes.lines[0].get_data()
    assert len(at) == figures.DRAWN_POINTS
    assert (score[0], score[-1]) == (0, steps[-1])
    assert np.allclose(at * 1e6, score)


def test_references_are_lines_where_they_are_known(tmp_path):
    known = {(AVM, who, "train"): Reference(mean, 0, "made up") for who, mean in (("random", 2.0), ("human", 50.0))}
    figure = figures.curves(AVM, [run(tmp_path, 0, [0, 10], [1, 2])], ["mra"], Yardstick(known, known))
    train, interpolate, _ = figure.axes
    assert [text.get_text() for text in train.texts] == ["random 2", "human 50"]
    assert [line.get_ydata()[0] for line in train.lines[1:]] == [2, 50]
    assert not interpolate.lines
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["mra"]


def test_averages_have_a_point_for_each_level_that_is_known():
    human = {
        ("mra", level): Average(mean, 2.0, 3) for level, mean in zip(PAPER_LEVELS, (90.0, 80.0, 60.0), strict=True)
    }
    human["ff", "train"] = Average(10.0, float("nan"), 1)
    figure = figures.average_scores(human, {}, ["mra", "ff"])
    left, right = figure.axes
    points = [(container.lines[0].get_xdata()[0], container.lines[0].get_ydata()[0]) for container in left.containers]
    assert points == [(90, 0), (80, 0), (60, 0), (10, 1)]
    assert not right.containers
    assert left.yaxis_inverted(), "the best model is at the top"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(figures.LEVEL_TITLES.values())


def test_estimates_are_bars_from_low_to_high():
    values = {"train": {"mra": Estimate(5.0, 4.0, 7.0), "ff": Estimate(1.0, 0.0, 2.0)}}
    figure = figures.estimates(values, "score", middle=0.5)
    bar, mark, other, _, middle = figure.axes[0].lines
    assert (list(bar.get_xdata()), list(mark.get_xdata())) == ([4, 7], [5])
    assert list(other.get_ydata()) == [1, 1]
    assert list(middle.get_xdata()) == [0.5, 0.5]


def test_losses_are_stacked_to_the_right_and_gains_to_the_left():
    figure = figures.decomposition({"mra": {"scale": 30.0, "stimulus": -5.0, "both together": 10.0}})
    bars = figure.axes[0].patches
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [(0, 30), (0, -5), (30, 10)]
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
        "scale",
        "stimulus",
        "both together",
    ]


def test_a_sweep_runs_from_small_to_large_whatever_its_order():
    figure = figures.scale_sweep("a task", "trials", {"mra": [(100, 9, 8, 10), (25, 3, 2, 4), (50, 5, 4, 6)]})
    (line,) = figure.axes[0].lines
    assert all(a < b for a, b in pairwise(line.get_xdata()))
    assert list(line.get_ydata()) == [3, 5, 9]


def test_a_figure_is_saved_twice_and_closed(tmp_path):
    figure = figures.goal_times("a task", {"mra": {0: [1.0]}})
    path = figures.save(figure, tmp_path / "deep" / "figures", "times")
    assert path.read_bytes().startswith(b"\x89PNG")
    assert "a task" in path.with_suffix(".svg").read_text(), "words stay words"
    assert not plt.fignum_exists(figure.number)
