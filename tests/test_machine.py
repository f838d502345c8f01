"""Machines without what Linux has, and without a place to keep compiled code."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching

import memorylab
from memorylab.envs import batch
from memorylab.machine import compile_and_keep, usable_cores
from memorylab.world import jit

PACKAGE = Path(memorylab.__file__).parent


def test_cores_where_the_system_does_not_tell_who_may_use_them(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert usable_cores() == 3
    assert memorylab.make_vec("ti", num_envs=8, size=(8, 8)).batch.pool.threads == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cores() == 1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="Linux only")
def test_cores_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5})
    assert usable_cores() == 2


def test_cores_are_counted_in_one_place():
    places = [path.name for path in PACKAGE.rglob("*.py") if "sched_getaffinity" in path.read_text()]
    assert places == ["machine.py"]


@pytest.fixture
def nowhere(monkeypatch):
    """As on a read-only install without a home."""
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])


def test_code_is_compiled_though_it_cannot_be_kept(nowhere, tmp_path):
    file = tmp_path / "rules.py"
    file.write_text("from memorylab.world.jit import jit\n\n\n@jit\ndef twice(x):\n    return 2 * x\n")
    spec = importlib.util.spec_from_file_location("rules_of_a_test", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.twice(21) == 42
    assert not jit.is_kept(module.twice)
    assert jit.stamp_of(module.twice) is None


def test_so_are_the_agents_loops(nowhere):
    def total(numbers):
        return numbers.sum()

    assert compile_and_keep(total, nogil=True)(np.arange(4)) == 6


def test_it_is_said_where_a_place_could_be_named(nowhere, capsys):
    def begin(x):
        return x

    batch.announce_compiling("doors", compile_and_keep(begin))
    assert "compiling doors" in (said := capsys.readouterr().err)
    assert "NUMBA_CACHE_DIR" in said
