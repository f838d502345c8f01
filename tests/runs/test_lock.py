"""One writer to a folder, and nobody who died keeps the others out."""

import os
import signal
import subprocess
import sys
import types

import pytest

from memorylab.runs.lock import FAR, one_writer

HOLDER = """
import sys, time
from pathlib import Path
from memorylab.runs.lock import one_writer
with one_writer(Path(sys.argv[1])):
    print("taken", flush=True)
    time.sleep(60)
"""


def test_a_second_writer_is_refused_in_a_sentence_that_names_the_first(tmp_path):
    with one_writer(tmp_path / "run"):
        told = rf"process {os.getpid()} on \S+ is training in .*run; wait until it ends, or give another --out"
        with pytest.raises(ValueError, match=told), one_writer(tmp_path / "run"):
            pytest.fail("two of them")
        with one_writer(tmp_path / "other"):
            pass
    with one_writer(tmp_path / "run"):
        pass


def test_a_crash_lets_go_of_the_folder(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "taken\n"
    with pytest.raises(ValueError, match=f"process {holder.pid} on"), one_writer(tmp_path):
        pytest.fail("two of them")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    with one_writer(tmp_path):
        pass


def test_a_problem_lets_go_of_the_folder(tmp_path):
    with pytest.raises(RuntimeError), one_writer(tmp_path):
        raise RuntimeError
    with one_writer(tmp_path):
        pass


def test_where_there_is_no_fcntl_bytes_are_locked(tmp_path, monkeypatch):
    """As Windows does it: a range of bytes of a file, from where one stands in it."""
    held: set[int] = set()

    def locking(descriptor: int, mode: int, count: int) -> None:
        assert (mode, count, os.lseek(descriptor, 0, os.SEEK_CUR)) == (2, 1, FAR)
        if held:
            raise PermissionError(13, "Permission denied")
        held.add(descriptor)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK=2))
    with one_writer(tmp_path), pytest.raises(ValueError, match=rf"process {os.getpid()} on"), one_writer(tmp_path):
        pytest.fail("two of them")


@pytest.mark.parametrize("missing", ["both", "locks"])
def test_where_nothing_can_be_locked_that_is_told_and_the_run_begins(tmp_path, monkeypatch, capsys, missing):
    def flock(*_) -> None:
        raise OSError(37, "No locks available")

    fcntl = types.SimpleNamespace(flock=flock, LOCK_EX=2, LOCK_NB=4)
    monkeypatch.setitem(sys.modules, "fcntl", fcntl if missing == "locks" else None)
    with one_writer(tmp_path):
        pass
    assert "cannot be locked" in capsys.readouterr().err


def test_a_run_that_never_began_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError), one_writer(tmp_path / "run"):
        raise ZeroDivisionError
    assert not (tmp_path / "run").exists()
    with one_writer(tmp_path / "run"):
        (tmp_path / "run" / "config.json").touch()
    assert (tmp_path / "run" / "config.json").exists()
