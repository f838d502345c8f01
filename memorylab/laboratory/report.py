"""From a folder of runs to the paper's tables and figures: one page, and everything on it as a file of its own."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from memorylab.laboratory import curve_sections, score_sections
from memorylab.laboratory.find_runs import Run, find_runs
from memorylab.laboratory.findings import Findings
from memorylab.laboratory.human_normalised import cells, sorted_models, sorted_tasks
from memorylab.laboratory.kept import name_bad_rows, other_weights, walk_snapshots
from memorylab.laboratory.page import Page
from memorylab.laboratory.references import Yardstick

SECTIONS: tuple[Callable[[Findings, Page], None], ...] = (
    score_sections.ranking, score_sections.heat_map, curve_sections.learning_curves, curve_sections.uncertainty,
    curve_sections.jumpy_backpropagation, curve_sections.scale_and_stimulus, curve_sections.beyond_training,
    curve_sections.routes, score_sections.rewards, score_sections.scores, score_sections.snapshots,
)  # fmt: skip


def report(
    paths: Sequence[Path],
    out: Path,
    yardstick: Yardstick,
    clip: bool = False,
    routes: int = 0,
    complain: Callable[[str], None] = lambda _: None,
    on_section: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write the report of all runs in and below `paths` into `out`; the path of its page."""
    complaints: list[str] = []

    def note(text: str) -> None:
        complaints.append(text)
        complain(text)

    runs = find_runs(paths, note)
    if not runs:
        raise ValueError(f"there is no run to report in {', '.join(map(str, paths))}")
    found = cells(runs, yardstick, clip)
    unfinished = [run for run in runs if "train" not in run.curves]
    for run in unfinished:
        note(f"{run.folder} was never evaluated on the training level: it has curves, but no score")
    uneven(runs, note)
    other_games(runs, note)
    on_section("walking")
    name_bad_rows(runs, note)
    walk_snapshots(runs, routes, note)
    other_weights(runs, note)
    models = sorted_models(found) + sorted({r.model for r in unfinished} - {c.model for c in found.values()})
    tasks = sorted_tasks(found) + sorted({r.task for r in unfinished} - {c.task for c in found.values()})
    findings = Findings(runs, found, yardstick, models, tasks, out, note)
    page = Page("memorylab report", summary(findings), complaints)
    for section in SECTIONS:
        on_section(section.__name__.replace("_", " "))
        section(findings, page)
    return page.write(out)


def summary(f: Findings) -> str:
    """How much there is, in a sentence."""
    seeds = {run.seed for run in f.runs}
    return (
        f"{counted(len(f.runs), 'run')}: {counted(len(f.tasks), 'task')}, {counted(len(f.models), 'model')}, "
        f"{counted(len(seeds), 'seed')}. Scores are percent: {f.yardstick.text(f.tasks[0], 'train')}."
    )


def counted(number: int, noun: str) -> str:
    """With its plural."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def other_games(runs: Iterable[Run], complain: Callable[[str], None]) -> None:
    """Runs whose games were changed by their user: the references are not for these."""
    for run in runs:
        scale = run.config.get("scale") or ()
        changes = [*(scale if isinstance(scale, list) else [scale] if scale else ()), run.config.get("stimuli") or ""]
        told = ", ".join(str(change)[:100] for change in changes if change)
        if told:
            complain(f"{run.folder} played other games than the paper's ({told}): compare it with care")


def uneven(runs: Iterable[Run], complain: Callable[[str], None]) -> None:
    """Groups with fewer seeds than the others."""
    seeds: dict[tuple[str, str], set[int]] = {}
    for run in runs:
        seeds.setdefault((run.task, run.model), set()).add(run.seed)
    every = set().union(*seeds.values())
    for (task, model), own in seeds.items():
        if own != every:
            complain(f"{model} on {task} has no seed {', '.join(map(str, sorted(every - own)))}")
