"""Rows for people and for programs."""

import csv
import io
import json
from dataclasses import dataclass
from math import nan

import pytest
from rich.console import Console

from memorylab.cli.tables import (
    as_csv,
    as_json,
    baseline_table,
    doing,
    evaluation_table,
    human_table,
    print_rows,
    print_table,
    progress,
    scores_table,
    settings_table,
    speed_table,
    zoo_table,
)
from memorylab.laboratory.baseline import Baseline
from memorylab.laboratory.bench import Speed
from memorylab.laboratory.evaluations import Evaluation
from memorylab.laboratory.settings import Setting
from memorylab.laboratory.zoo import cards
from memorylab.web.store import HumanScore

AVM = "arbitrary_visuomotor_mapping"


@dataclass(frozen=True)
class Row:
    name: str
    value: float | None


ROWS = [Row('a, "b"', 1.5), Row("line\nbreak", None)]


def shown(table) -> list[list[str]]:
    """A table as a terminal wide enough shows it, cell by cell."""
    console = Console(file=io.StringIO(), width=300)
    console.print(table)
    lines = console.file.getvalue().splitlines()
    return [[cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")] for line in lines if "│" in line]


def test_csv_comes_back_as_it_was():
    assert list(csv.DictReader(io.StringIO(as_csv(ROWS)))) == [
        {"name": 'a, "b"', "value": "1.5"},
        {"name": "line\nbreak", "value": ""},
    ]


def test_json_comes_back_as_it_was():
    assert json.loads(as_json(ROWS)) == [{"name": 'a, "b"', "value": 1.5}, {"name": "line\nbreak", "value": None}]


def test_what_is_no_number_is_null():
    assert json.loads(as_json([Row("interval", nan)]), parse_constant=pytest.fail)[0]["value"] is None


@pytest.mark.parametrize(("json", "csv", "first"), [(True, False, "["), (False, True, "name,value")])
def test_programs_get_nothing_but_the_rows(capsys, json, csv, first):
    print_rows(ROWS, json, csv, table=pytest.fail)
    assert capsys.readouterr().out.splitlines()[0] == first


def test_people_get_the_table(capsys):
    print_rows([Setting("unroll", "50", "all")], False, False, lambda rows: settings_table(rows, "a title"))
    assert "a title" in capsys.readouterr().out


NARROW = [
    baseline_table([Baseline(AVM, "holdout_extrapolate", "remembering", 9, 75.125, 0.011, 300.0, 10.06, 50.25, 49.95)]),
    speed_table([Speed(AVM, "train", 256, 2, 72, 96, 123456.7, 100000.0, 1e6, 0.1234567, 999.4)]),
    human_table([HumanScore(AVM, "holdout_extrapolate", 45.125, 0.25, 12, "people, 72 x 96 pictures")]),
    evaluation_table(
        [Evaluation(12000, "holdout_extrapolate", "", "", 64, 40.125, 38.525, 41.535, 300.0, 179.97, 160.5)]
    ),
    zoo_table(cards()),
    scores_table(cards()[0]),
]


@pytest.mark.parametrize("table", NARROW)
def test_a_narrow_terminal_keeps_the_numbers(table):
    console = Console(file=io.StringIO(), width=60)
    numbers = [word for column in table.columns if column.justify == "right" for cell in column.cells
               for word in cell.split()]  # fmt: skip
    print_table(table, console)
    lines = console.file.getvalue().splitlines()
    shown_words = " ".join(lines).split()
    assert [number for number in numbers if number not in shown_words] == []
    assert max(map(len, lines)) <= 60


def test_a_wide_terminal_has_lines_between():
    console = Console(file=io.StringIO(), width=100)
    print_table(settings_table([Setting("unroll", "50", "all")], "a title"), console)
    assert "│" in console.file.getvalue()


def test_what_takes_its_time_is_told(capsys):
    with doing("loading PyTorch"):
        assert capsys.readouterr().err == "loading PyTorch ...\n"
    assert capsys.readouterr().err == ""


def test_a_bar_is_shown_on_a_terminal_only():
    assert progress().disable, "tests have no terminal"


def test_players_stand_beside_the_paper_where_it_has_a_number():
    known = Baseline(AVM, "train", "random", 9, 0.061, 0.0021, 300.0, 0.06, 50.0, 49.9)
    unknown = Baseline(AVM, "extrapolate", "remembering", 9, 75.0, 0.0, 300.0, None, None, None)
    assert shown(baseline_table([known, unknown])) == [
        ["avm", "train", "random", "0.061", "0.002", "0.06", "50.00", "49.90"],
        ["avm", "extrapolate", "remembering", "75.000", "0.000", "", "", ""],
    ]


def test_speeds_have_thousands_and_the_share_of_copying_a_percent():
    speed = Speed(AVM, "train", 256, 2, 72, 96, 123456.7, 100000.0, 1e6, 0.1234567, 999.4)
    table = speed_table([speed])
    assert table.title == "256 games, 2 threads, 72 x 96, steps/s"
    assert shown(table) == [["avm", "123,457", "100,000", "1,000,000", "12.3%", "999"]]


def test_an_evaluation_says_its_scale_or_that_it_is_the_levels():
    usual = Evaluation(12000, "train", "", "", 64, 40.0, 38.5, 41.5, 300.0, 79.97, 60.0)
    sweep = Evaluation(12000, "train", "trials", "8", 64, 7.0, 6.5, 7.5, 50.0, None, None)
    changed = Evaluation(12000, "train", "trials", "trials=8 seconds=9", 1, 7.0, nan, nan, 50.0, None, None)
    table = evaluation_table([usual, sweep, changed])
    assert table.title == "step 12,000"
    assert shown(table) == [
        ["train", "as the level says", "40.000", "38.500 to 41.500", "80.0", "60.0", "64"],
        ["train", "trials 8", "7.000", "6.500 to 7.500", "", "", "64"],
        ["train", "trials=8 seconds=9", "7.000", "", "", "", "1"],
    ]


def test_a_setting_is_named_once():
    rows = [Setting("unroll", "50", "avm"), Setting("unroll", "100", "vgm"), Setting("discount", "0.9", "all")]
    assert [row[0] for row in shown(settings_table(rows, "title"))] == ["unroll", "", "discount"]


def test_people_are_counted():
    score = HumanScore(AVM, "train", 45.0, float("nan"), 1, "people, 72 x 96 pictures")
    assert shown(human_table([score])) == [["avm", "train", "45.000", "nan", "1", "people, 72 x 96 pictures"]]
