"""The figures of a report. Colours are told apart by the colour-blind (Okabe and Ito; cividis) and in grey print."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memorylab.laboratory.find_runs import Run
from memorylab.laboratory.human_normalised import Average, Cell, Cells, Kind
from memorylab.laboratory.references import Yardstick
from memorylab.laboratory.statistics import Estimate, median_interval
from memorylab.runs.config import untaught
from memorylab.runs.scores import standard_error
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import find_task

LEVEL_TITLES = {
    "train": "Train",
    "holdout_interpolate": "Holdout interpolate",
    "holdout_extrapolate": "Holdout extrapolate",
}
LEVEL_COLOURS = {"train": "#0072B2", "holdout_interpolate": "#009E73", "holdout_extrapolate": "#D55E00"}
OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", ":")
TAUGHT_DASHES = "-."
MODEL_ORDER = (
    "mra",
    "lstm+mem",
    "lstm+cpc",
    "lstm+mem+rec",
    "ff+mem",
    "ff+mem+cpc",
    "lstm",
    "ff",
    "ff+mem+rec",
    "mra-njb",
)
TASK_INCHES = 0.64  # of a heat map: thirteen tasks can still be read on a page
DRAWN_POINTS = 200  # of a curve
HIGHEST_COLOUR: dict[Kind, float] = {"human": 150.0, "memory": 100.0}  # what is above has the same colour
SCORE_NAMES: dict[Kind, str] = {"human": "human-normalised score, %", "memory": "memory score, %"}

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"})
plt.rcParams["text.parse_math"] = False  # a dollar in a model's name is one


def look(model: str, models: Sequence[str]) -> dict[str, str]:
    """The paper's models keep their looks in every report; others take the next ones. A taught model has the colour of
    its untaught twin, and dashes of its own."""
    order = list(dict.fromkeys([*MODEL_ORDER, *map(untaught, models)]))
    place = order.index(untaught(model))
    dashes = DASHES[place // len(OKABE_ITO) % len(DASHES)] if model == untaught(model) else TAUGHT_DASHES
    return {"color": OKABE_ITO[place % len(OKABE_ITO)], "linestyle": dashes}


def short(task: str) -> str:
    """A task's title."""
    return find_task(task).title


# --- the heat map


def heat_map(
    found: Cells, models: Sequence[str], tasks: Sequence[str], with_errors: bool = False, kind: Kind = "human"
) -> Figure:
    """Models by tasks, a panel per level; a missing cell is hatched and says so."""
    width = 2.6 + TASK_INCHES * len(tasks)
    panel = 0.55 + 0.3 * len(models) * (1.25 if with_errors else 1)
    figure, panels = plt.subplots(3, 1, figsize=(width, 3 * panel + 1.9), sharex=True)
    for axes, level in zip(panels, PAPER_LEVELS, strict=True):
        percents = [[percent_of(found.get((task, model, level)), kind) for task in tasks] for model in models]
        table = np.array([[percent.mean if percent else np.nan for percent in row] for row in percents])
        image = axes.imshow(table, cmap="cividis", vmin=0, vmax=HIGHEST_COLOUR[kind], aspect="auto")
        for row, of_model in enumerate(percents):
            for column, percent in enumerate(of_model):
                write_cell(axes, row, column, percent, with_errors, HIGHEST_COLOUR[kind])
        axes.set_yticks(range(len(models)), models)
        axes.set_title(LEVEL_TITLES[level], loc="left", fontsize=10, fontweight="bold")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    panels[-1].set_xticks(range(len(tasks)), [short(task) for task in tasks], rotation=35, ha="right")
    figure.tight_layout()
    bar = figure.colorbar(image, ax=panels, fraction=0.02, pad=0.015)
    bar.set_label(SCORE_NAMES[kind])
    bar.outline.set_visible(False)
    return figure


def beside(ours: Cells, theirs: Cells, models: Sequence[str], tasks: Sequence[str]) -> Figure:
    """Ours and the paper's scores of the same models: two cells a task, ours on the left and its own in italics."""
    width = 2.2 + TASK_INCHES * len(tasks)
    figure, panels = plt.subplots(3, 1, figsize=(width, 3 * (0.55 + 0.3 * len(models)) + 1.9), sharex=True)
    for axes, level in zip(panels, PAPER_LEVELS, strict=True):
        axes.set_xlim(-0.55, len(tasks) - 0.45)
        axes.set_ylim(len(models) - 0.5, -0.5)
        for row, model in enumerate(models):
            for column, task in enumerate(tasks):
                own, published = ours.get((task, model, level)), theirs.get((task, untaught(model), level))
                half_cell(axes, row, column - 0.46, percent_of(own, "human"), "normal")
                half_cell(axes, row, column, percent_of(published, "human"), "italic")
        axes.set_yticks(range(len(models)), models)
        axes.set_title(f"{LEVEL_TITLES[level]}: ours | the paper's", loc="left", fontsize=10, fontweight="bold")
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
    panels[-1].set_xticks(range(len(tasks)), [short(task) for task in tasks], rotation=35, ha="right")
    figure.tight_layout()
    return figure


def half_cell(axes: Axes, row: int, left: float, percent: Average | None, style: str) -> None:
    """A coloured half of a cell with its number, or a dash on grey."""
    highest = HIGHEST_COLOUR["human"]
    colour = plt.get_cmap("cividis")(percent.mean / highest) if percent else "0.94"
    axes.add_patch(plt.Rectangle((left, row - 0.46), 0.46, 0.92, facecolor=colour, linewidth=0))
    ink = "0.45" if percent is None else "white" if percent.mean < 0.55 * highest else "black"
    text = f"{round(percent.mean)}" if percent else "-"
    axes.text(left + 0.23, row, text, ha="center", va="center", fontsize=8, fontstyle=style, color=ink)


def percent_of(cell: Cell | None, kind: Kind) -> Average | None:
    """None without a score."""
    return cell.percent(kind) if cell else None


def write_cell(axes: Axes, row: int, column: int, percent: Average | None, with_errors: bool, highest: float) -> None:
    """Its number, in a colour that can be read."""
    if percent is None:
        square = plt.Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, hatch="////", edgecolor="0.85", linewidth=0)
        axes.add_patch(square)
        axes.text(column, row, "missing", ha="center", va="center", fontsize=6.5, color="0.45")
        return
    text = f"{round(percent.mean)}"
    if with_errors and np.isfinite(percent.standard_error):
        text += f"\n± {percent.standard_error:.0f}"
    colour = "white" if percent.mean < 0.55 * highest else "black"
    axes.text(column, row, text, ha="center", va="center", fontsize=8, linespacing=0.9, color=colour)


# --- curves


def curves(
    task: str, runs: Sequence[Run], models: Sequence[str], yardstick: Yardstick, levels: Sequence[str] = PAPER_LEVELS
) -> Figure:
    """Scores over training on each level: the median over seeds and its 95 % interval."""
    figure, panels = plt.subplots(1, len(levels), figsize=(3.6 * len(levels), 2.9), squeeze=False)
    for axes, level in zip(panels[0], levels, strict=True):
        for model in models:
            draw_model(axes, [run for run in runs if run.model == model and level in run.curves], level, models)
        reference_lines(axes, task, level, yardstick)
        axes.set_title(LEVEL_TITLES.get(level, level), fontsize=9)
        axes.set_xlabel("agent steps, millions")
    panels[0, 0].set_ylabel("episode reward")
    handles, names = panels[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, names, loc="lower center", ncols=min(len(names), 6), frameon=False, fontsize=8)
    figure.suptitle(short(task), x=0.01, ha="left", fontsize=10, fontweight="bold")
    figure.tight_layout(rect=(0, 0.05 + 0.05 * (len(names) > 6), 1, 1))
    return figure


def draw_model(axes: Axes, runs: Sequence[Run], level: str, models: Sequence[str]) -> None:
    """The median over seeds and its band."""
    if not runs:
        return
    ends = [run.curves[level].steps for run in runs]
    first, last = max(steps[0] for steps in ends), min(steps[-1] for steps in ends)  # where all seeds are
    every = np.unique(np.concatenate([steps[(steps >= first) & (steps <= last)] for steps in ends]))
    if not len(every):
        return
    at = every[np.unique(np.linspace(0, len(every) - 1, min(DRAWN_POINTS, len(every))).round().astype(int))]
    seeds = np.array([np.interp(at, run.curves[level].steps, run.curves[level].means) for run in runs])
    style, model = look(runs[0].model, models), runs[0].model
    label = f"{model} ({len(runs)} seeds)" if len(runs) > 1 else model
    axes.plot(at / 1e6, np.median(seeds, 0), label=label, linewidth=1.4, marker="." if len(at) < 30 else None, **style)  # type: ignore[arg-type]
    if len(runs) > 1:
        axes.fill_between(at / 1e6, *median_interval(seeds), color=style["color"], alpha=0.18, linewidth=0)


def reference_lines(axes: Axes, task: str, level: str, yardstick: Yardstick) -> None:
    """What counts as 0 and 100."""
    ends = yardstick.ends(task, level)
    sides = ("right", 1), ("left", 0)  # where curves are not, as a rule
    names = yardstick.zero_name, yardstick.hundred_name
    for reference, name, (side, x) in zip(ends or (), names, sides, strict=False):
        axes.axhline(reference.mean, color="0.5", linewidth=0.8, linestyle=(0, (1, 1.5)))
        axes.annotate(
            f"{name} {reference.mean:.3g}", (x, reference.mean), xycoords=("axes fraction", "data"), ha=side,
            va="bottom", fontsize=7, color="0.35",
        )  # fmt: skip


# --- averages and statistics


Averages = Mapping[tuple[str, str], Average]  # by model and level


def average_scores(human: Averages, memory: Averages, models: Sequence[str]) -> Figure:
    """Average scores per model on the three levels, human-normalised and of memory; between the marks is the gap."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 1.1 + 0.36 * len(models)), sharey=True)
    for axes, averages, name in zip(panels, (human, memory), SCORE_NAMES.values(), strict=True):
        for row, model in enumerate(models):
            draw_averages(axes, row, [averages.get((model, level)) for level in PAPER_LEVELS])
        axes.set_yticks(range(len(models)), models)
        axes.set_xlabel(f"average {name}")
    panels[0].invert_yaxis()
    handles = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), frameon=False, fontsize=8, loc="upper center", ncols=3)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.3 / figure.get_figheight()))
    return figure


def draw_averages(axes: Axes, row: int, of_levels: Sequence[Average | None]) -> None:
    """One model: a point a level."""
    known = [average.mean for average in of_levels if average]
    axes.plot(known, [row] * len(known), color="0.8", linewidth=3, zorder=0, solid_capstyle="round")
    for level, average, marker in zip(PAPER_LEVELS, of_levels, "os^", strict=True):
        if average:
            error = average.standard_error if np.isfinite(average.standard_error) else None
            axes.errorbar(
                average.mean, row, xerr=error, fmt=marker, color=LEVEL_COLOURS[level], markersize=6,
                label=LEVEL_TITLES[level], capsize=2,
            )  # fmt: skip


def estimates(values: Mapping[str, Mapping[str, Estimate]], label: str, middle: float | None = None) -> Figure:
    """level -> name -> estimate with its 95 % interval, a panel per level."""
    rows = max(len(of_level) for of_level in values.values())
    figure, panels = plt.subplots(
        1, len(values), figsize=(3.4 * len(values) + 0.8, 0.9 + 0.32 * rows), sharey=True, squeeze=False
    )
    for axes, (level, of_level) in zip(panels[0], values.items(), strict=True):
        for row, (_, estimate) in enumerate(of_level.items()):
            axes.plot([estimate.low, estimate.high], [row, row], color=LEVEL_COLOURS[level], linewidth=6, alpha=0.35)
            axes.plot([estimate.value], [row], "|", color=LEVEL_COLOURS[level], markersize=11, markeredgewidth=2.5)
        if middle is not None:
            axes.axvline(middle, color="0.6", linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(of_level)), list(of_level))
        axes.set_title(LEVEL_TITLES[level], fontsize=9)
        axes.set_xlabel(label)
    panels[0, 0].invert_yaxis()
    figure.tight_layout()
    return figure


# --- what `memorylab evaluate` adds


def decomposition(parts: Mapping[str, Mapping[str, float]]) -> Figure:
    """model on task -> what is lost by scale and what by stimuli, as stacked bars."""
    figure, axes = plt.subplots(figsize=(6.4, 0.9 + 0.4 * len(parts)))
    colours = {"scale": "#0072B2", "stimulus": "#E69F00", "both together": "#999999"}
    for row, (_, shares) in enumerate(parts.items()):
        left = {True: 0.0, False: 0.0}  # losses to the right, gains to the left
        for name, value in shares.items():
            axes.barh(row, value, left=left[value >= 0], color=colours[name], label=name, height=0.6)
            left[value >= 0] += value
    axes.set_yticks(range(len(parts)), list(parts))
    axes.invert_yaxis()
    axes.axvline(0, color="0.3", linewidth=0.8)
    axes.set_xlabel("human-normalised score lost from train to holdout extrapolate, %")
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    axes.legend(
        handles.values(),
        handles.keys(),
        frameon=False,
        fontsize=8,
        ncols=3,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
    )
    figure.tight_layout()
    return figure


def scale_sweep(title: str, keyword: str, lines: Mapping[str, Sequence[tuple[float, float, float, float]]]) -> Figure:
    """name -> (value of the keyword, mean, low, high): score against scale."""
    figure, axes = plt.subplots(figsize=(5.2, 3.1))
    for name, points in lines.items():
        x, mean, low, high = np.array(sorted(points)).T
        (line,) = axes.plot(x, mean, "o-", markersize=4, label=name)
        axes.fill_between(x, low, high, color=line.get_color(), alpha=0.18, linewidth=0)
    axes.set_xlabel(keyword)
    axes.set_ylabel("episode reward")
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return figure


def goal_times(title: str, lines: Mapping[str, Mapping[int, Sequence[float]]]) -> Figure:
    """name -> number of the goal -> steps to it in each episode: who remembers is faster after the first.

    Bars are standard errors over episodes; a goal that one episode reached has none.
    """
    figure, axes = plt.subplots(figsize=(5.2, 3.1))
    for name, times in lines.items():
        goals = sorted(times)
        means = [float(np.mean(times[goal])) for goal in goals]
        errors = np.nan_to_num([standard_error(times[goal]) for goal in goals])
        axes.errorbar(
            [goal + 1 for goal in goals], means, yerr=errors, fmt="o-", markersize=4, capsize=2, elinewidth=0.8,
            label=name,
        )  # fmt: skip
    axes.set_xlabel("goal of the episode")
    axes.set_ylabel("steps to it, mean and standard error")
    axes.set_title(title, loc="left", fontsize=10, fontweight="bold")
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return figure


def save(figure: Figure, folder: Path, name: str) -> Path:
    """As PNG and SVG; the path of the PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / f"{name}.svg", bbox_inches="tight")
    figure.savefig(folder / f"{name}.png", dpi=130, bbox_inches="tight")
    plt.close(figure)
    return folder / f"{name}.png"
