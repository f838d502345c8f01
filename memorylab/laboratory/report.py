"""From a folder of runs to the paper's tables and figures: one page, and everything on it as a file of its own."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memorylab.laboratory import figures
from memorylab.laboratory.evaluate import Evaluation, summed_up, walks
from memorylab.laboratory.normalised import (
    Average,
    Cell,
    Cells,
    add_score,
    averages,
    cells,
    snapshot,
    sorted_models,
    sorted_tasks,
)
from memorylab.laboratory.page import Page, Table
from memorylab.laboratory.references import (
    PAPER_NAMES,
    Reference,
    Yardstick,
    paper_ranking,
    paper_scores,
    scripted_players,
)
from memorylab.laboratory.runs import Run, find_runs
from memorylab.laboratory.statistics import Estimate, Strata, iqm, probability_of_improvement
from memorylab.learning.trained import load_trained
from memorylab.runs.checkpoints import checkpoints, step_of
from memorylab.runs.tables import read_rows
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import find_task

MISSING = "-"
ROUTES_SEED = 3_000_003
WITHOUT_MEMORY = {"what_then_where": 50.0, "change_detection": 47.1}  # benchmarks/without_memory.py


@dataclass
class Findings:
    """What the sections of a report are made of."""

    runs: list[Run]
    cells: Cells
    yardstick: Yardstick
    models: list[str]  # sorted as in the paper
    tasks: list[str]
    out: Path

    def strata(self, model: str, level: str, tasks: Sequence[str]) -> Strata:
        return [np.array(self.cells[task, model, level].percents["human"]) for task in tasks]

    def tasks_of(self, model: str, level: str) -> list[str]:
        return [task for task in self.tasks if (c := self.cells.get((task, model, level))) and c.percents["human"]]


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
    on_section("walking")
    walk_snapshots(runs, routes)
    other_weights(runs, note)
    models = sorted_models(found) + sorted({r.model for r in unfinished} - {c.model for c in found.values()})
    tasks = sorted_tasks(found) + sorted({r.task for r in unfinished} - {c.task for c in found.values()})
    findings = Findings(runs, found, yardstick, models, tasks, out)
    page = Page("memorylab report", summary(findings), complaints)
    for section in SECTIONS:
        on_section(section.__name__.replace("_", " "))
        section(findings, page)
    return page.write(out)


def summary(f: Findings) -> str:
    seeds = {run.seed for run in f.runs}
    return (
        f"{counted(len(f.runs), 'run')}: {counted(len(f.tasks), 'task')}, {counted(len(f.models), 'model')}, "
        f"{counted(len(seeds), 'seed')}. Scores are percent: {f.yardstick.text(f.tasks[0], 'train')}."
    )


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def uneven(runs: Iterable[Run], complain: Callable[[str], None]) -> None:
    """Groups with fewer seeds than the others."""
    seeds: dict[tuple[str, str], set[int]] = {}
    for run in runs:
        seeds.setdefault((run.task, run.model), set()).add(run.seed)
    every = set().union(*seeds.values())
    for (task, model), own in seeds.items():
        if own != every:
            complain(f"{model} on {task} has no seed {', '.join(map(str, sorted(every - own)))}")


# --- sections


def ranking(f: Findings, page: Page) -> None:
    mean, memory, paper = averages(f.cells), averages(f.cells, "memory"), paper_ranking()
    same_tasks = averages(paper_cells(f.tasks, f.yardstick))
    titles = [figures.LEVEL_TITLES[level] for level in PAPER_LEVELS]
    ours = Table(["model", "tasks", *titles, "gap", *(f"memory score, {title}" for title in titles)])
    theirs = Table(["model", *(f"{part}, {title}" for part in ("paper", "paper, these tasks") for title in titles)])
    for model in f.models:
        own, remembered, computed = (
            [of.get((model, level)) for level in PAPER_LEVELS] for of in (mean, memory, same_tasks)
        )
        published = [paper.get((model, level)) for level in PAPER_LEVELS]
        gap = f"{own[0].mean - own[2].mean:.1f}" if own[0] and own[2] else MISSING
        tasks = str(own[0].tasks if own[0] else 0)
        ours.add(model, tasks, *(shown(a, 1) for a in own), gap, *(shown(a, 1) for a in remembered))
        theirs.add(model, *(shown(a, 1) for a in (*published, *computed)))
    page.section(
        "Ranking",
        "Average human-normalised score over the tasks that a model has, ± standard error over seeds. The gap is train "
        "less holdout extrapolate. The memory score counts our forgetting player as 0 and our remembering one as 100: "
        "the share of what memory can give that was gained. `paper` is its ranking table, over all thirteen tasks; "
        "`these tasks` is computed from its reward tables in the same way and on the same tasks as ours.",
    )
    page.table(ours, f.out, "ranking")
    page.table(theirs, f.out, "ranking_paper")
    page.figure(
        figures.average_scores(mean, memory, f.models), f.out, "averages",
        "Average scores on the three levels, and the gap",
    )  # fmt: skip


def heat_map(f: Findings, page: Page) -> None:
    page.section(
        "Heat map",
        "Human-normalised score in percent, models and tasks sorted by their training scores as in the paper; then the "
        "memory score. What was not run is marked as missing; it never counts as zero." + notes_in_the_world(f.tasks),
    )
    page.figure(figures.heat_map(f.cells, f.models, f.tasks), f.out, "heat_map", "Heat map of models and tasks")
    if any(len(cell.scores) > 1 for cell in f.cells.values()):
        page.figure(
            figures.heat_map(f.cells, f.models, f.tasks, True), f.out, "heat_map_errors", "With standard errors"
        )
    page.figure(
        figures.heat_map(f.cells, f.models, f.tasks, kind="memory"), f.out, "heat_map_memory", "Memory score in percent"
    )
    theirs = paper_cells(f.tasks, f.yardstick)
    page.section("The paper's scores", "Its reward tables, drawn in the same way for the same tasks.")
    page.figure(
        figures.heat_map(theirs, sorted_models(theirs), sorted_tasks(theirs)), f.out, "heat_map_paper",
        "Heat map of the paper's reward tables",
    )  # fmt: skip


def notes_in_the_world(tasks: Iterable[str]) -> str:
    """Where the memory score can be had without memory (docs/laboratory.md)."""
    known = [f"{score} of 50 in {figures.short(task)}" for task, score in WITHOUT_MEMORY.items() if task in tasks]
    if not known:
        return ""
    return (
        f" A player without memory that keeps notes in the direction of its gaze can score {' and '.join(known)} on "
        "train, more than our forgetting player: a high memory score there says that something was carried over the "
        "delay, not that the network carried it."
    )


def rewards(f: Findings, page: Page) -> None:
    """The paper's reward tables, one a task, with our players and its Random and Human at their foot."""
    paper = paper_scores()
    page.section(
        "Episode rewards",
        "At the snapshots, ± standard error over seeds; beside them the paper's. At the foot our random, forgetting "
        "and remembering players and the people that you recorded, with the paper's Random and Human.",
    )
    titles = [figures.LEVEL_TITLES[level] for level in PAPER_LEVELS]
    for task in f.tasks:
        table = Table([figures.short(task), "seeds", *titles, *(f"paper, {title}" for title in titles)])
        for model in f.models:
            own = [f.cells.get((task, model, level)) for level in PAPER_LEVELS]
            seeds = max(len(cell.scores) if cell else 0 for cell in own)
            theirs = [paper.get((task, model, level)) for level in PAPER_LEVELS]
            table.add(model, str(seeds), *(shown(score, 2) for score in (*own, *theirs)))
        for player in ("random", "forgetting", "remembering", "human"):
            ours = [ours_of(f, task, player, level) for level in PAPER_LEVELS]
            theirs = [paper.get((task, player, level)) for level in PAPER_LEVELS]
            table.add(player, "", *(shown(score, 2) for score in (*ours, *theirs)))
        page.table(table, f.out, f"rewards_{find_task(task).short}")


def ours_of(f: Findings, task: str, player: str, level: str) -> Reference | None:
    """What a scripted player scores, or people that were recorded here."""
    known = f.yardstick.hundred if player == "human" else scripted_players()
    found = known.get((task, player, level))
    return found if found and found.source != "paper" else None


def scores(f: Findings, page: Page) -> None:
    paper = paper_scores()
    table = Table(
        ["task", "model", "level", "seeds", "episode reward", "normalised, %", "memory, %", "last evaluation", "paper"]
    )
    for task in f.tasks:
        for model in f.models:
            for level in PAPER_LEVELS:
                cell = f.cells.get((task, model, level))
                theirs = paper.get((task, model, level))
                latest = [
                    run.curves[level].means[-1]
                    for run in f.runs
                    if (run.task, run.model) == (task, model) and level in run.curves
                ]
                table.add(
                    task, model, level, str(len(cell.scores) if cell else 0), shown(cell, 2),
                    shown(figures.percent_of(cell, "human"), 1), shown(figures.percent_of(cell, "memory"), 1),
                    f"{np.mean(latest):.2f}" if latest else MISSING, shown(theirs, 2),
                )  # fmt: skip
    page.section(
        "Scores",
        "Episode reward at the snapshot: where training was best, smoothed over episodes. On train it is picked by one "
        "half of the episodes and read off the other, so that picking does not flatter. The last evaluation is the "
        "plain mean at the end of the runs.",
    )
    page.table(table, f.out, "scores")


def snapshots(f: Findings, page: Page) -> None:
    table = Table(["run", "task", "model", "seed", "evaluations", "steps", "snapshot"])
    for run in f.runs:
        taken = snapshot(run)
        steps = max(int(curve.steps[-1]) for curve in run.curves.values())
        evaluations = max(len(curve.steps) for curve in run.curves.values())
        at = f"{taken.step:,}" if taken else MISSING
        table.add(run.folder.name, run.task, run.model, str(run.seed), str(evaluations), f"{steps:,}", at)
    page.section("Snapshots", "Where in training each run was scored.")
    page.table(table, f.out, "snapshots")


def learning_curves(f: Findings, page: Page) -> None:
    page.section(
        "Learning curves",
        "Median over seeds. The band is a 95 % confidence interval of that median, from a bootstrap over seeds: of "
        "three seeds it reaches from the lowest to the highest, a single one has none.",
    )
    for task in f.tasks:
        runs = [run for run in f.runs if run.task == task]
        figure = figures.curves(task, runs, f.models, f.yardstick)
        page.figure(figure, f.out, f"curves_{find_task(task).short}", f"Learning curves on {task}")


def jumpy_backpropagation(f: Findings, page: Page) -> None:
    both = [t for t in f.tasks if {"mra", "mra-njb"} <= {run.model for run in f.runs if run.task == t}]
    if not both:
        return
    page.section("Jumpy backpropagation", "MRA with it and without (mra-njb).")
    for task in both:
        runs = [run for run in f.runs if run.task == task and run.model in ("mra", "mra-njb")]
        figure = figures.curves(task, runs, ["mra", "mra-njb"], f.yardstick)
        page.figure(figure, f.out, f"jumpy_{find_task(task).short}", f"MRA with and without on {task}")


def uncertainty(f: Findings, page: Page) -> None:
    """Interquartile means, and how likely the best model beats each other one on the tasks both have."""
    means: dict[str, dict[str, Estimate]] = {}
    better: dict[str, dict[str, Estimate]] = {}
    for level in PAPER_LEVELS:
        for model in f.models:
            tasks = f.tasks_of(model, level)
            if tasks:
                means.setdefault(level, {})[model] = iqm(f.strata(model, level, tasks))
            shared = [task for task in tasks if task in f.tasks_of(f.models[0], level)]
            if shared and model != f.models[0]:
                a, b = f.strata(f.models[0], level, shared), f.strata(model, level, shared)
                better.setdefault(level, {})[f"over {model}"] = probability_of_improvement(a, b)
    if not means:
        return
    page.section(
        "Uncertainty",
        "Interquartile mean over all seeds and tasks of a model, with 95 % intervals from a bootstrap within tasks "
        "(as in rliable). With a single seed per task an interval has no width: it then says nothing.",
    )
    page.figure(figures.estimates(means, "interquartile mean, %"), f.out, "iqm", "Interquartile means")
    if better:
        page.figure(
            figures.estimates(better, f"probability that {f.models[0]} scores more", 0.5), f.out, "improvement",
            "Probability of improvement",
        )  # fmt: skip


def scale_and_stimulus(f: Findings, page: Page) -> None:
    """What of the gap is scale and what stimulus: train -> extrapolate (scale only), train -> holdout of the training
    scales (stimuli only)."""
    parts = {}
    levels = ["train", "new scale", "new stimuli", "both"]
    table = Table(["model", "task", *levels, "lost by scale", "by stimulus", "by both together"])
    for run in f.runs:
        percent = level_percents(run, f.yardstick)
        trained, scaled, both = (percent.get(name) for name in ("train", "extrapolate", "holdout_extrapolate"))
        sides = [percent[name] for name in ("holdout_small", "holdout_large") if name in percent]
        if trained is None or scaled is None or both is None or not sides:
            continue
        new_stimuli = float(np.mean(sides))
        by_scale, by_stimulus = trained - scaled, trained - new_stimuli
        rest = trained - both - by_scale - by_stimulus
        parts[f"{run.model}, {find_task(run.task).short}, seed {run.seed}"] = {
            "scale": by_scale, "stimulus": by_stimulus, "both together": rest
        }  # fmt: skip
        numbers = (trained, scaled, new_stimuli, both, by_scale, by_stimulus, rest)
        table.add(run.model, run.task, *(f"{number:.1f}" for number in numbers))
    page.section(
        "Scale and stimulus",
        "The way from train to holdout extrapolate in two: a larger scale with known stimuli, and new stimuli at the "
        "known scales, in percent of the references for that scale. `memorylab evaluate RUN --levels all --save` plays "
        "the levels that this needs." + ("" if parts else " None of these runs has been evaluated so."),
    )
    if parts:
        page.table(table, f.out, "scale_and_stimulus")
        page.figure(figures.decomposition(parts), f.out, "scale_and_stimulus", "What is lost by scale and by stimulus")


REFERENCE_LEVEL = {
    "train": "train",
    "holdout_small": "train",
    "holdout_large": "train",
    "extrapolate": "holdout_extrapolate",
    "holdout_extrapolate": "holdout_extrapolate",
}


def level_percents(run: Run, yardstick: Yardstick) -> dict[str, float]:
    """Normalised by the references for the same scale, since a scale may change what can be scored at all."""
    found = {}
    for e in kept_evaluations(run):
        percent = yardstick.normalise(run.task, REFERENCE_LEVEL.get(e.level, ""), e.mean)
        if not e.keyword and percent is not None:
            found[e.level] = percent
    return found


def kept_evaluations(run: Run) -> list[Evaluation]:
    """Of the snapshot, or else of the weights nearest to it that were evaluated; `other_weights` then says so."""
    found = summed_up(read_rows(run.folder / "evaluations.csv"), run.task)
    step = nearest(run, {e.step for e in found})
    return [e for e in found if e.step == step]


def nearest(run: Run, steps: Iterable[int]) -> int | None:
    """The snapshot's step, or that of these which is nearest to it."""
    taken = snapshot(run)
    wanted = taken.step if taken else max(run.curves[level].steps[-1] for level in run.curves)
    return min(steps, key=lambda step: abs(step - wanted), default=None)


def other_weights(runs: Iterable[Run], complain: Callable[[str], None]) -> None:
    """Runs whose kept evaluations or walks are of other weights than the snapshot's."""
    for run in runs:
        taken, evaluated = snapshot(run), kept_evaluations(run)
        played = {"evaluated": evaluated[0].step if evaluated else None, "walked": walked_step(run)}
        for done, step in played.items():
            if taken and step not in (None, taken.step):
                complain(f"{run.folder} was {done} with its weights of step {step:,}; its snapshot is {taken.step:,}")


def beyond_training(f: Findings, page: Page) -> None:
    sweeps: dict[tuple[str, str], dict[str, list[tuple[float, float, float, float]]]] = {}
    for run in f.runs:
        for e in kept_evaluations(run):
            if e.keyword:
                lines = sweeps.setdefault((run.task, e.keyword), {})
                name = f"{run.model}, {e.level}, seed {run.seed}"
                lines.setdefault(name, []).append((float(e.value), e.mean, e.low, e.high))
    page.section(
        "Beyond the training scale",
        "Score against scale, past the paper's four; bands are 95 % intervals of the mean. `memorylab evaluate RUN "
        "--sweep KEYWORD=1,2,4 --save` plays them." + ("" if sweeps else " None of these runs has been evaluated so."),
    )
    for (task, keyword), lines in sweeps.items():
        page.figure(
            figures.scale_sweep(f"{figures.short(task)}: {keyword}", keyword, lines), f.out,
            f"sweep_{find_task(task).short}_{keyword}", f"Score against {keyword} on {task}",
        )  # fmt: skip


def walked_step(run: Run) -> int | None:
    """Of the weights whose routes are shown."""
    return nearest(run, (int(folder.name) for folder in (run.folder / "routes").glob("*") if folder.name.isdigit()))


def walk_snapshots(runs: Iterable[Run], number: int) -> None:
    """Navigation runs whose snapshot has weights and has not been walked yet."""
    for run in runs:
        kept = [step_of(path) for path in checkpoints(run.folder / "snapshot")]
        if number and kept and find_task(run.task).report.get("goal_step") and walked_step(run) != kept[-1]:
            walks(load_trained(run.folder), PAPER_LEVELS, number, ROUTES_SEED, lambda: None)


def routes(f: Findings, page: Page) -> None:
    navigated = [run for run in f.runs if find_task(run.task).report.get("goal_step")]
    if not navigated:
        return
    walked = {run.folder: str(step) for run in navigated if (step := walked_step(run)) is not None}
    page.section(
        "Routes",
        "Maps with the route of an episode (the goal is the yellow ring), and the steps that each goal took: mean over "
        "episodes with its standard error, none where one episode got so far. They are walked by a run's snapshot; "
        "`memorylab evaluate RUN --routes 8 --save` walks more."
        + ("" if walked else " None of these runs has been walked, and none has weights to walk with."),
    )
    lines: dict[str, dict[str, dict[int, list[float]]]] = {}
    for run in [run for run in navigated if run.folder in walked]:
        for picture in sorted((run.folder / "routes" / walked[run.folder]).glob("*.png")):
            page.picture(picture, f"{run.model} on {run.task}, {picture.stem}")
        for row in read_rows(run.folder / "goal_times.csv"):
            if row["step"] == walked[run.folder]:
                times = lines.setdefault(run.task, {}).setdefault(f"{run.model}, {row['level']}", {})
                times.setdefault(int(row["goal"]), []).append(float(row["steps"]))
    for task, of_task in lines.items():
        name = f"goal_times_{find_task(task).short}"
        page.figure(figures.goal_times(figures.short(task), of_task), f.out, name, f"Steps to each goal on {task}")


SECTIONS: tuple[Callable[[Findings, Page], None], ...] = (
    ranking, heat_map, learning_curves, uncertainty, jumpy_backpropagation, scale_and_stimulus, beyond_training, routes,
    rewards, scores, snapshots,
)  # fmt: skip


# --- helpers


def paper_cells(tasks: Iterable[str], yardstick: Yardstick) -> Cells:
    """The paper's reward tables as if its runs were ours."""
    found: Cells = {}
    for (task, model, level), reference in paper_scores().items():
        if task in set(tasks) and model in PAPER_NAMES and model not in ("random", "human") and level in PAPER_LEVELS:
            add_score(found, task, model, level, reference.mean, yardstick)
    return found


def shown(score: Cell | Average | Reference | None, digits: int) -> str:
    if score is None:
        return MISSING
    error = f" ± {score.standard_error:.{digits}f}" if np.isfinite(score.standard_error) else ""
    return f"{score.mean:.{digits}f}{error}"
