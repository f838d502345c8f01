"""Sections of a report that draw: curves, uncertainty, scales, routes."""

import numpy as np

from memorylab.laboratory import figures, rliable_export
from memorylab.laboratory.findings import Findings
from memorylab.laboratory.kept import kept_evaluations, kept_rows, level_percents, no_picture_of, walked_step
from memorylab.laboratory.page import Page, Table
from memorylab.laboratory.statistics import Estimate, iqm, probability_of_improvement
from memorylab.runs.config import untaught
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import find_task


def learning_curves(f: Findings, page: Page) -> None:
    """A figure a task."""
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
    """MRA against its twin without, where both were run."""
    taught_alike = {name.removeprefix("mra") for name in f.models if untaught(name) == "mra"}
    pairs = [[f"mra{taught}", f"mra-njb{taught}"] for taught in sorted(taught_alike)]
    both = [(t, p) for t in f.tasks for p in pairs if {*p} <= {run.model for run in f.runs if run.task == t}]
    if not both:
        return
    page.section("Jumpy backpropagation", "MRA with it and without (mra-njb).")
    for task, pair in both:
        runs = [run for run in f.runs if run.task == task and run.model in pair]
        name = f"jumpy_{find_task(task).short}{'' if pair[0] == 'mra' else '_taught'}"
        page.figure(figures.curves(task, runs, pair, f.yardstick), f.out, name, f"{' and '.join(pair)} on {task}")


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
        "(as in rliable). With a single seed per task an interval has no width: it then says nothing."
        + (" The scores as rliable takes them are in `tables/rliable.json`." if rliable_export.export(f) else ""),
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


def beyond_training(f: Findings, page: Page) -> None:
    """Score against scale, where sweeps were kept."""
    sweeps: dict[tuple[str, str], dict[str, list[tuple[float, float, float, float]]]] = {}
    for run in f.runs:
        for e in kept_evaluations(run):
            if e.value.isdecimal():  # a game of a user's own has words there
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


def routes(f: Findings, page: Page) -> None:
    """Maps and times to the goal of navigation runs."""
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
            if (wrong := no_picture_of(picture, run.folder)) is None:
                page.picture(picture, f"{run.model} on {run.task}, {picture.stem}")
            else:
                f.complain(f"{picture} {wrong}; it is left out")
        for row in kept_rows(run.folder / "goal_times.csv"):
            if row["step"] == walked[run.folder]:
                times = lines.setdefault(run.task, {}).setdefault(f"{run.model}, {row['level']}", {})
                times.setdefault(int(float(row["goal"])), []).append(float(row["steps"]))
    for task, of_task in lines.items():
        name = f"goal_times_{find_task(task).short}"
        page.figure(figures.goal_times(figures.short(task), of_task), f.out, name, f"Steps to each goal on {task}")
