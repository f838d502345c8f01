"""Presets as tables, references as data."""

import math

import pytest

from memorylab.laboratory.findings import paper_cells, shown
from memorylab.laboratory.human_normalised import Average, average
from memorylab.laboratory.references import (
    PAPER_NAMES,
    Reference,
    Yardstick,
    best_agent,
    memory_yardstick,
    paper_scores,
    with_train,
    yardstick,
)
from memorylab.laboratory.report import counted, other_games, uneven
from memorylab.laboratory.settings import OF_A_RUN, flat, settings
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import TASKS

AVM = "arbitrary_visuomotor_mapping"


def test_names_have_all_their_dots():
    config = {"a": 1, "b": {"c": (2, 3), "d": {"e": None, "f": []}}, "g": "text"}
    assert list(flat(config)) == [("a", "1"), ("b.c", "2 3"), ("b.d.e", "None"), ("b.d.f", ""), ("g", "text")]


def test_every_task_has_one_value_of_every_setting():
    rows = settings(TASKS, "mra", "paper")
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.setting] = counts.get(row.setting, 0) + (13 if row.tasks == "all" else len(row.tasks.split()))
    assert set(counts.values()) == {13}
    assert not counts.keys() & set(OF_A_RUN)
    shared = [row.tasks == "all" for row in rows]
    assert shared == sorted(shared, reverse=True), "those that all tasks share come first"


def test_one_task_shares_everything_with_itself():
    assert {row.tasks for row in settings(["avm"], "ff", "laptop")} == {"all"}


# --- references


def test_train_is_the_mean_of_small_and_large_where_nothing_better_is_known():
    known = {("t", "human", "train_small"): Reference(2, 3, "x"), ("t", "human", "train_large"): Reference(6, 4, "x")}
    assert with_train(dict(known))["t", "human", "train"] == (4, 2.5, "x")
    given = known | {("t", "human", "train"): Reference(9, 0, "x")}
    assert with_train(dict(given))["t", "human", "train"].mean == 9
    assert ("t", "human", "train") not in with_train({("t", "human", "train_small"): Reference(2, 3, "x")})


def test_the_best_agent_is_neither_random_nor_human():
    for task in TASKS:
        for level in PAPER_LEVELS:
            scores = [paper_scores()[task, model, level] for model in PAPER_NAMES if model not in ("random", "human")]
            assert best_agent(task, level).mean == max(score.mean for score in scores)
    assert best_agent("chess", "train") is None


@pytest.mark.parametrize("stick", [yardstick(), yardstick("players"), memory_yardstick()])
def test_a_yardstick_has_0_and_100_at_its_ends(stick):
    for task in TASKS:
        zero, hundred = stick.ends(task, "train")
        assert stick.normalise(task, "train", zero.mean) == 0
        assert stick.normalise(task, "train", hundred.mean) == pytest.approx(100)
        middle = (zero.mean + hundred.mean) / 2
        assert stick.normalise(task, "train", middle) == pytest.approx(50)


def test_without_two_different_ends_there_is_no_percentage():
    one = {("t", "random", "train"): Reference(1, 0, "x")}
    same = one | {("t", "human", "train"): Reference(1, 0, "x")}
    for stick in (Yardstick(one, one), Yardstick(same, same), Yardstick({}, same)):
        assert stick.ends("t", "train") is None
        assert stick.normalise("t", "train", 3) is None
        assert stick.text("t", "train") == "no reference"
    assert yardstick().text(AVM, "train") == "0 = random (paper), 100 = human (paper)"


def test_the_papers_tables_as_cells():
    found = paper_cells([AVM], yardstick())
    assert {level for _, _, level in found} == set(PAPER_LEVELS)
    assert {task for task, _, _ in found} == {AVM}
    assert len({model for _, model, _ in found}) == 9
    assert found[AVM, "mra", "train"].scores == [paper_scores()[AVM, "mra", "train"].mean]


# --- how numbers are shown


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (None, "-"),
        (Reference(1.25, 0.5, "x"), "1.2 ± 0.5"),
        (Average(99.96, float("nan"), 1), "100.0"),
        (Average(-3.0, 0.04, 2), "-3.0 ± 0.0"),
    ],
)
def test_a_mean_and_its_error(score, text):
    assert shown(score, 1) == text


def test_errors_of_tasks_add_up_as_independent_ones():
    assert average([Average(10, 3, 1), Average(30, 4, 1)]) == (20, 2.5, 2)
    assert average([Average(10, 3, 1)]) == (10, 3, 1)
    assert math.isnan(average([Average(10, 3, 1), Average(30, float("nan"), 1)]).standard_error)


@pytest.mark.parametrize(("number", "text"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs")])
def test_plurals(number, text):
    assert counted(number, "run") == text


class Seen:
    """As much of a run as is looked at."""

    def __init__(self, task: str, model: str, seed: int, **config):
        self.task, self.model, self.seed, self.config, self.folder = task, model, seed, config, f"{model}-{seed}"


def test_groups_with_fewer_seeds_are_named():
    told: list[str] = []
    uneven([Seen("t", "a", 0), Seen("t", "a", 1), Seen("t", "a", 2), Seen("t", "b", 1)], told.append)
    assert told == ["b on t has no seed 0, 2"]


def test_games_that_a_user_changed_are_named():
    told: list[str] = []
    runs = [Seen("t", "a", 0), Seen("t", "b", 0, scale=["trials=9"], stimuli="mine"), Seen("t", "c", 0, scale=[])]
    other_games(runs, told.append)
    assert told == ["b-0 played other games than the paper's (trials=9, mine): compare it with care"]
