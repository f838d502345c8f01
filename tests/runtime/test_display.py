"""What a run tells about itself, and Ctrl-C when it suits."""

import errno
import io
import os
import signal
import sys
import threading

import pytest
import torch
from rich.console import Console

from memorylab.learning.trajectory import Episode
from memorylab.runs import RunFolder
from memorylab.runs.checkpoints import load_checkpoint, save_checkpoint
from memorylab.runs.scores import ScoreRow
from memorylab.runtime.display import LINE_SECONDS, Display, clock, say
from memorylab.runtime.interrupt import postponed_interrupt
from memorylab.runtime.snapshots import Snapshots
from memorylab.runtime.training import Report


def report(step: int = 1_500_000, seconds: float = 90.0, **changes) -> Report:
    numbers = {"rate": 5000.0, "stage": "trials 4", "score": 2.345, "length": 210.4, "episodes": 12}
    return Report(step, seconds, **(numbers | changes))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00:00"), (59.9, "0:00:59"), (60, "0:01:00"), (3600, "1:00:00"), (90061, "25:01:01"), (float("inf"), "?")],
)
def test_clock(seconds, text):
    assert clock(seconds) == text


def test_what_is_left_is_what_ends_first():
    assert Display("", 2_000_000, None).left(report()) == "0:01:40"  # half a million at 5000 a second
    assert Display("", 2_000_000, 2.0).left(report()) == "0:00:30"
    assert Display("", 2_000_000, 60.0).left(report()) == "0:01:40"
    assert Display("", 1_000_000, 1.0).left(report()) == "0:00:00", "and never less than nothing"
    assert Display("", 2_000_000, 3.0).left(report(rate=0.0)) == "0:01:30"


def test_a_line_says_how_the_run_stands():
    levels = {"train": 12.5, "holdout_extrapolate": 3.0}
    line = Display("", 2_000_000, None).line(report(levels=levels, metrics={"loss": 0.12345, "entropy": 1.5}))
    assert line == (
        "0:01:30 1.50M steps 5,000/s, trials 4: score 2.35, 210 steps an episode; "
        "train 12.50 holdout_extrapolate 3.00; loss 0.123 entropy 1.500 lag 0; 0:01:40 left"
    )


@pytest.mark.parametrize("problem", [BrokenPipeError(), OSError(errno.EIO, "the terminal is gone")])
def test_a_terminal_that_is_gone_stops_nothing(monkeypatch, problem):
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise problem

    with Display("", 2_000_000, None) as display:
        display.console = Console(file=Gone())
        display.console.on_broken_pipe = lambda: sys.exit(1)  # as it is, but for what it does to stdout
        display.tell(report())
        monkeypatch.setattr(sys, "stderr", Gone())
        say("saved")


def test_lines_come_now_and_then():
    display = Display("", 2_000_000, None)
    display.console = Console(file=io.StringIO())
    for seconds in (1.0, 2.0, LINE_SECONDS, LINE_SECONDS + 1.5, LINE_SECONDS + 2.0):
        display.tell(report(seconds=seconds))
    assert display.live is None, "tests have no terminal"
    lines = display.console.file.getvalue().splitlines()
    assert [line.split(" ")[0] for line in lines] == ["0:00:01", "0:00:31"]


def test_before_there_is_anything_to_report_it_says_what_it_does():
    display = Display("mra on avm", 2_000_000, None, Console(file=io.StringIO()))
    with display:
        display.say("making the games")
        display.tell(report(0, 0.0, doing="first evaluation"))
        display.tell(report(seconds=1.0))
    lines = display.console.file.getvalue().splitlines()
    assert lines[:2] == ["making the games ...", "first evaluation ..."]
    assert lines[2].startswith("0:00:01 1.50M steps")


def test_a_terminal_has_a_bar_from_the_start():
    """As wide as its share of the steps, or of the minutes."""
    display = Display("mra on avm", 2_000_000, 3.0, Console(file=io.StringIO(), force_terminal=True, width=100))
    with display:
        display.live.refresh()
        assert "mra on avm" in display.console.file.getvalue()
        assert "0%" in display.console.file.getvalue()
        display.say("making the games")
        display.live.refresh()
        assert "making the games" in display.console.file.getvalue()
        display.tell(report(500_000, 135.0))
        display.live.refresh()
        assert "75%" in display.console.file.getvalue()
        display.tell(report(1_900_000, 1.0, doing="last evaluation"))
        display.live.refresh()
    assert "95%" in display.console.file.getvalue()
    assert "last evaluation" in display.console.file.getvalue()


def test_a_narrow_terminal_keeps_the_numbers():
    metrics = {"loss": 0.12345, "entropy": 1.25, "explained_variance": 0.98765, "gradient": 12.345}
    table = Display("mra on avm", 2_000_000, None).table(report(levels={"holdout_extrapolate": 12.5}, metrics=metrics))
    console = Console(file=io.StringIO(), width=60)
    console.print(table)
    words = console.file.getvalue().split()
    assert {"1,500,000", "5,000", "0:01:30", "0:01:40", "12.50", "2.35", "0.1235", "0.9877", "12.35"} <= {*words}


def test_a_table_has_every_metric_that_is_there_two_by_two():
    metrics = {"loss": 0.5, "entropy": 1.25, "cpc": 2.0, "unheard_of": 9.0}
    table = Display("mra on avm", 2_000_000, None).table(report(levels={"train": 12.5}, metrics=metrics))
    console = Console(file=io.StringIO(), width=200)
    console.print(table)
    rows = [line.split() for line in console.file.getvalue().splitlines()]
    assert ["train", "12.50"] in rows
    assert ["loss", "0.5", "entropy", "1.25"] in rows
    assert ["cpc", "2"] in rows
    assert not any("unheard_of" in row for row in rows)


# --- Ctrl-C


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_waits_until_it_is_asked_for():
    with postponed_interrupt() as give_way:
        give_way()
        ctrl_c()
        with pytest.raises(KeyboardInterrupt):  # not before this
            give_way()


def test_afterwards_ctrl_c_is_what_it_was():
    outside = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    try:
        with postponed_interrupt():
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        with pytest.raises(KeyboardInterrupt):
            ctrl_c()
    finally:
        signal.signal(signal.SIGINT, outside)


def test_in_another_thread_nothing_is_touched():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with postponed_interrupt() as give_way:
            give_way()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


# --- the weights where the training score was best


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    return RunFolder(tmp_path)


def weights(value: float) -> dict[str, torch.Tensor]:
    return {"policy.bias": torch.full((2,), value)}


def offer(snapshots: Snapshots, step: int, score: float) -> None:
    """An evaluation of enough episodes to stand for itself."""
    snapshots.offer(step, [Episode(i, score, 1, 1.0, i) for i in range(16)], weights(step), {"score": score})


def steps(snapshots: Snapshots) -> list[int]:
    return [int(path.stem.removeprefix("step-")) for path in snapshots.found()]


def test_only_what_is_better_than_all_before_is_kept(folder):
    snapshots = Snapshots(folder, "avm")
    snapshots.begin(-1)
    for step, score in ((10, 3.0), (20, 1.0), (30, 5.0), (40, 5.0), (50, 4.0)):
        offer(snapshots, step, score)
    assert steps(snapshots) == [10, 30], "an equal one is no better"
    tensors, facts = load_checkpoint(folder.snapshot)
    assert tensors["agent.policy.bias"].tolist() == [30, 30]
    assert (facts["step"], facts["score"]) == (30, 5.0)


def test_a_run_that_goes_on_knows_its_earlier_scores_and_forgets_later_ones(folder):
    snapshots = Snapshots(folder, "avm")
    snapshots.begin(-1)
    for step, score in ((10, 3.0), (20, 5.0), (30, 9.0)):
        offer(snapshots, step, score)
    for step, score in ((10, 3.0), (20, 5.0)):
        folder.add_scores([ScoreRow(step, "train", 1.0, score, 1, 1)] * 16)
    again = Snapshots(folder, "avm")
    again.begin(20)
    assert steps(again) == [10, 20]
    offer(again, 30, 4.0)
    assert steps(again) == [10, 20]
    offer(again, 40, 6.0)
    assert steps(again) == [10, 20, 40]


def test_beaten_ones_go_when_no_checkpoint_is_older_than_the_best(folder):
    snapshots = Snapshots(folder, "avm")
    snapshots.begin(-1)
    for step, score in ((10, 1.0), (20, 2.0), (30, 3.0)):
        offer(snapshots, step, score)
    save_checkpoint(folder.checkpoints, 25, weights(0), {"evaluated": 20})
    snapshots.drop_beaten()
    assert steps(snapshots) == [20, 30], "from the checkpoint another may be found"
    save_checkpoint(folder.checkpoints, 35, weights(0), {"evaluated": 30}, keep=1)
    snapshots.drop_beaten()
    assert steps(snapshots) == [30]
