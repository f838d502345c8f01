"""What is handed to rliable is what our own intervals are made of."""

import json

import numpy as np
import pytest
from synthetic_runs import write_run

from memorylab.laboratory.find_runs import find_runs
from memorylab.laboratory.findings import Findings
from memorylab.laboratory.human_normalised import cells
from memorylab.laboratory.references import yardstick
from memorylab.laboratory.rliable_export import export
from memorylab.laboratory.statistics import interquartile_mean
from memorylab.tasks.levels import PAPER_LEVELS

AVM, CR, CD = "arbitrary_visuomotor_mapping", "continuous_recognition", "change_detection"
SEEDS = {(AVM, "mra"): 3, (CR, "mra"): 2, (AVM, "lstm"): 3, (CR, "lstm"): 3, (CD, "mra"): 3}


@pytest.fixture
def findings(tmp_path) -> Findings:
    rng = np.random.default_rng(0)
    for (task, model), seeds in SEEDS.items():
        for seed in range(seeds):
            rows = [(1000, level, rng.uniform(10, 50)) for level in PAPER_LEVELS]
            write_run(tmp_path / "runs" / f"{task}-{model}-{seed}", task, model, seed, rows)
    runs = find_runs([tmp_path / "runs"], lambda text: pytest.fail(text))
    return Findings(runs, cells(runs, yardstick()), yardstick(), ["mra", "lstm"], [AVM, CR, CD], tmp_path / "report")


def test_matrices_of_runs_and_tasks_without_gaps(findings):
    file = export(findings)
    assert file == findings.out / "tables" / "rliable.json"
    told = json.loads(file.read_text())
    assert list(told) == list(PAPER_LEVELS)
    assert (told["train"]["tasks"], told["train"]["left_out"]) == ([AVM, CR], [CD])
    scores = {model: np.array(rows) for model, rows in told["holdout_extrapolate"]["scores"].items()}
    assert {model: matrix.shape for model, matrix in scores.items()} == {"mra": (2, 2), "lstm": (3, 2)}
    assert scores["lstm"][:, 1].tolist() == findings.cells[CR, "lstm", "holdout_extrapolate"].percents["human"]
    assert scores["mra"][:, 0].tolist() == findings.cells[AVM, "mra", "holdout_extrapolate"].percents["human"][:2]


def test_rliable_and_we_agree(findings):
    metrics = pytest.importorskip("rliable.metrics")
    scores = json.loads(export(findings).read_text())["train"]["scores"]["lstm"]
    ours = interquartile_mean(findings.strata("lstm", "train", [AVM, CR]))
    assert metrics.aggregate_iqm(np.array(scores)) == pytest.approx(ours)


def test_nothing_is_written_where_nothing_can_be_compared(findings):
    findings.tasks = []
    assert export(findings) is None
    assert not findings.out.exists()
