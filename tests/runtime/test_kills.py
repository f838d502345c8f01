"""kill -9, SIGTERM and a full disk at random moments of a run, which then goes on. MEMORYLAB_KILLS=30 for more."""

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

from tiny_runs import UPDATE, assert_same_run, rows

KILLS = int(os.environ.get("MEMORYLAB_KILLS", "5"))
DRIVER = Path(__file__).with_name("killed_runs.py")


def test_kills_lose_one_interval_at_most_and_the_run_goes_on(tmp_path):
    command = [sys.executable, str(DRIVER), str(tmp_path), str(KILLS), "1"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    print(*told, sep="\n")  # pytest -rP shows it
    assert len(told) == KILLS
    assert all(0 <= kill["lost"] <= (0 if kill["saved"] else UPDATE) for kill in told), told
    kept = [kill["kept"] for kill in told]
    assert all(before <= after for before, after in pairwise(kept))
    assert len(set(kept)) > 1, "a run that never gets anywhere was not tested"
    steps = [int(row["step"]) for row in rows(tmp_path / "killed" / "metrics.csv")]
    assert steps == list(range(UPDATE, kept[-1] + 5 * UPDATE + 1, UPDATE))
    assert_same_run(tmp_path / "killed", tmp_path / "whole")
