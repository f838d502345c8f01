"""How a run shows itself: a bar and a live table in a terminal, plain lines elsewhere."""

import sys
from contextlib import suppress
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from memorylab.runtime.training import Report

SHOWN = (
    "loss", "policy_gradient", "baseline", "entropy", "explained_variance", "cpc", "cpc_accuracy", "rec_image",
    "gradient", "clipped_ratios", "policy_lag", "read_entropy", "recalled_age", "teacher_weight", "teacher_agreement",
)  # fmt: skip
LINE_SECONDS = 30.0
TERMINAL_GONE = (OSError, SystemExit)  # rich ends a program whose pipe is broken


class Display:
    """Give `tell` to a Training; `say` what takes its time before there is one."""

    def __init__(self, title: str, steps: int, minutes: float | None, console: Console | None = None):
        self.title, self.steps, self.minutes = title, steps, minutes
        self.console = console or Console(stderr=True)
        self.live = Live(console=self.console, refresh_per_second=2) if self.console.is_terminal else None
        doing = TextColumn("{task.description}")
        self.bar = Progress(SpinnerColumn(), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), doing)
        self.work = self.bar.add_task("", total=1.0)
        self.last_line = 0.0

    def __enter__(self) -> "Display":
        if self.live:
            self.live.start()
            self.live.update(Group(Text(self.title), self.bar))
        return self

    def say(self, doing: str) -> None:
        """Show what takes its time."""
        self.bar.update(self.work, description=doing)
        if not self.live:
            self.console.print(f"{doing} ...", highlight=False, soft_wrap=True)

    def __exit__(self, kind: type | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        if self.live:
            with suppress(*TERMINAL_GONE):
                self.live.stop()

    def tell(self, report: Report) -> None:
        """Show how the run stands, if there is still somebody to see it."""
        with suppress(*TERMINAL_GONE):
            self.show(report)

    def show(self, report: Report) -> None:
        """In the table, or as a line now and then."""
        self.bar.update(self.work, completed=self.share_done(report), description="")
        if report.doing:
            self.say(report.doing)
        elif self.live:
            self.live.update(Group(self.table(report), self.bar))
        elif report.seconds - self.last_line >= LINE_SECONDS or not self.last_line:
            self.last_line = report.seconds
            self.console.print(self.line(report), highlight=False, soft_wrap=True)

    def share_done(self, report: Report) -> float:
        """Of the steps or the minutes, whichever end first."""
        of_minutes = 0.0 if self.minutes is None else report.seconds / (60 * self.minutes)
        return min(max(report.step / self.steps, of_minutes), 1.0)

    def left(self, report: Report) -> str:
        """By steps or minutes, whichever end first."""
        by_steps = (self.steps - report.step) / max(report.rate, 1e-9)
        by_minutes = float("inf") if self.minutes is None else 60 * self.minutes - report.seconds
        return clock(max(min(by_steps, by_minutes), 0.0))

    def line(self, report: Report) -> str:
        """For a file or a pipe."""
        levels = "".join(f" {name} {score:.2f}" for name, score in report.levels.items())
        m = report.metrics
        return (
            f"{clock(report.seconds)} {report.step / 1e6:.2f}M steps {report.rate:,.0f}/s, {report.stage}: "
            f"score {report.score:.2f}{until(report)}, {report.length:.0f} steps an episode;{levels}; "
            f"loss {m.get('loss', 0):.3g} entropy {m.get('entropy', 0):.3f} lag {m.get('policy_lag', 0):.0f}; "
            f"{self.left(report)} left"
        )

    def table(self, report: Report) -> Table:
        """For a terminal."""
        table = Table(title=self.title, title_justify="left", show_header=False, box=None, padding=(0, 2))
        for _ in range(4):
            table.add_column(justify="left")
        table.add_row("steps", f"{report.step:,}", "steps/s", f"{report.rate:,.0f}")
        table.add_row("time", clock(report.seconds), "left", self.left(report))
        score = f"{report.score:.2f}{until(report)} ({report.length:.0f} steps an episode)"
        table.add_row("stage", report.stage, "score", score)
        for level, mean in report.levels.items():
            table.add_row(level, f"{mean:.2f}", "", "")
        shown = [(name, f"{report.metrics[name]:.4g}") for name in SHOWN if name in report.metrics]
        for left, right in zip(shown[::2], [*shown[1::2], ("", "")], strict=False):
            table.add_row(*left, *right)
        return table


def say(text: str) -> None:
    """To whoever is there: a terminal that was closed stops no run."""
    with suppress(OSError):
        print(text, file=sys.stderr)


def until(report: Report) -> str:
    """What ends the stage; on the true level nothing does."""
    return f" of {report.goal:.2f}" if report.goal < float("inf") else ""


def clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    if seconds == float("inf"):
        return "?"
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"
