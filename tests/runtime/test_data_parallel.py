"""Learners that share a batch make the update of one on the whole."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from data_parallel_updates import CASES, learned
from safetensors.torch import load_file
from tiny_runs import tiny_config

PROCESS = [sys.executable, str(Path(__file__).with_name("data_parallel_updates.py"))]


@pytest.fixture(scope="module")
def two_learners(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("joint")
    begun = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen([*PROCESS, "0", "2", str(folder)], **begun) as first,
        subprocess.Popen([*PROCESS, "1", "2", str(folder)], **begun) as second,
    ):
        second.communicate(first.stdout.readline(), timeout=200)
    assert (first.returncode, second.returncode) == (0, 0)
    return folder


@pytest.mark.parametrize(("number", "case"), list(enumerate(CASES)))
def test_two_learners_are_as_one_on_the_joint_batch(two_learners, number, case):
    model, reductions = case
    config = replace(tiny_config().learner, gradient_norm=0.05, **reductions)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    one = learned(config, model, 0, 1, None)
    torch.set_num_threads(threads)
    left, right = (load_file(two_learners / f"{rank}-{number}.safetensors") for rank in (0, 1))
    assert one["gradient"] > 0.05, "clipping was not tested"
    for name, part in one.items():
        assert torch.equal(left[name], right[name]), name
        if name.startswith("agent."):
            assert (left[name] - part).abs().max() <= 1e-5, name
    assert abs(left["gradient"] - one["gradient"]) <= 1e-4 * one["gradient"]
