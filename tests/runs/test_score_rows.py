"""scores.csv: what is written is what is read."""

import math

import numpy as np
import pytest

from memorylab.runs import RunFolder, ScoreRow, read_scores, standard_error
from memorylab.runs.scores import by_level

ROWS = [ScoreRow(0, "train", 8.0, 1.25, 300, 2**62 + 1), ScoreRow(50, "holdout_extrapolate", 50.0, -3.0, 7, 5)]


def test_rows_come_back_as_they_were_written(tmp_path):
    folder = RunFolder(tmp_path)
    assert folder.returns("train") == ([], [])
    folder.add_scores(ROWS[:1])
    folder.add_scores(ROWS[1:])
    assert read_scores(folder.scores) == ROWS
    assert folder.returns("train") == ([0], [1.25])


def test_a_strangers_columns_will_do(tmp_path):
    (tmp_path / "scores.csv").write_text("note,return,level,step\nmine,2,train,10\n")
    assert read_scores(tmp_path / "scores.csv") == [ScoreRow(10, "train", None, 2.0, None, None)]


def test_a_row_that_is_being_written_waits(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("step,level,return\n10,train,1\n20,train,15")  # of 15.5
    told = []
    assert [row.step for row in read_scores(file, told.append)] == [10]
    assert not told
    with file.open("a") as out:
        out.write(".5\n")
    assert read_scores(file)[1].score == 15.5


@pytest.mark.parametrize("row", ["x,train,1", "-1,train,1", "1,train,nan", "1,train,inf", "1,train", "1,train,1,1"])
def test_what_is_no_score_is_named(tmp_path, row):
    (tmp_path / "scores.csv").write_text(f"step,level,return\n{row}\n5,train,2\n")
    told = []
    assert [found.step for found in read_scores(tmp_path / "scores.csv", told.append)] == [5]
    assert told == [f"{tmp_path / 'scores.csv'}, row 2: {row!r} is no score; it is left out"]


def test_levels_that_are_not_known_are_named_where_somebody_asks(tmp_path):
    RunFolder(tmp_path).add_scores(ROWS)
    told = []
    assert read_scores(tmp_path / "scores.csv", told.append, ("train",)) == ROWS[:1]
    assert len(told) == 1


def test_scores_by_level(tmp_path):
    steps, scores = by_level([*ROWS, ScoreRow(9, "train", None, 4.0, None, None)])["train"]
    assert steps.tolist() == [0, 9]
    assert scores.tolist() == [1.25, 4.0]


def test_a_standard_error_divides_by_one_less(tmp_path):
    values = [1.0, 2.0, 6.0]
    slow = math.sqrt(sum((value - 3.0) ** 2 for value in values) / 2) / math.sqrt(3)
    assert standard_error(values) == standard_error(np.array(values)) == pytest.approx(slow)
    assert math.isnan(standard_error([4.0]))
