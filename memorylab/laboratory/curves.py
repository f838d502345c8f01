"""The learning curve of a run beside the scripted players."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from memorylab.envs.scripted import play_episodes
from memorylab.laboratory.figures import LEVEL_TITLES, short
from memorylab.laboratory.references import scripted_players
from memorylab.laboratory.statistics import half_interval
from memorylab.runs import RunFolder, read_config, read_scores
from memorylab.runs.config import model_name
from memorylab.runs.files import replacing
from memorylab.tasks.levels import PAPER_LEVELS

COLOURS = {"train": "#1f6fb4", "holdout_interpolate": "#2c9c63", "holdout_extrapolate": "#d1662a"}
PLAYERS = {"remembering": "--", "forgetting": "-.", "random": ":"}


def check_there(file: Path) -> None:
    """One sentence, rather than an empty figure."""
    if not file.exists():
        raise ValueError(f"{file} is missing; is {file.parent} the folder of a run?")


def level_scores(folder: Path) -> dict[str, dict[int, list[float]]]:
    """level -> step -> returns of its evaluated episodes."""
    scores: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    check_there(folder / "scores.csv")
    for row in read_scores(folder / "scores.csv"):
        scores[row.level][row.step].append(row.score)
    return scores


def draw_levels(axes: Axes, folder: Path, task: str, episodes: int) -> None:
    """Scores on the true levels, and what scripted players score on the training level."""
    for level, by_step in level_scores(folder).items():
        steps = np.array(sorted(by_step)) / 1e6
        means = np.array([np.mean(by_step[step]) for step in sorted(by_step)])
        halves = np.array([half_interval(by_step[step]) for step in sorted(by_step)])
        axes.plot(steps, means, "o-", markersize=3, color=COLOURS.get(level), label=level)
        axes.fill_between(steps, means - halves, means + halves, color=COLOURS.get(level), alpha=0.2, linewidth=0)
    scores = {player: scripted_score(task, player, episodes) for player in PLAYERS}
    for player, style in PLAYERS.items():
        score = scores[player]
        axes.axhline(score, color="0.45", linestyle=style, linewidth=1)
        axes.annotate(
            f"{player} on train, {score:.1f}", (0.99, score), xycoords=("axes fraction", "data"), ha="right",
            va="bottom", fontsize=8, color="0.35",
        )  # fmt: skip
    axes.set_ylabel("score on the true level")
    title = "bands: 95 % confidence interval\nof the mean over episodes"
    axes.legend(frameon=False, fontsize=8, title=title, title_fontsize=7)
    add_memory_axis(axes, scores["forgetting"], scores["remembering"])


def add_memory_axis(axes: Axes, zero: float, hundred: float) -> None:
    """The memory score on the training level, at the right: 0 is the forgetting player, 100 the remembering one."""

    def to_percent(score: Any) -> Any:
        return 100 * (score - zero) / (hundred - zero)

    def to_score(percent: Any) -> Any:
        return zero + percent / 100 * (hundred - zero)

    if hundred > zero:
        scale = axes.secondary_yaxis("right", functions=(to_percent, to_score))
        scale.set_ylabel("memory score on train, %", color="0.35")
        scale.tick_params(colors="0.35", labelsize=8)
        scale.spines["right"].set_visible(False)


def scripted_score(task: str, player: str, episodes: int) -> float:
    """On the training level: as measured for the package, or else now."""
    known = scripted_players().get((task, player, PAPER_LEVELS[0]))
    return known.mean if known else float(play_episodes(task, PAPER_LEVELS[0], player, episodes, seed=0)[0].mean())


def draw_training(axes: Axes, folder: Path) -> None:
    """Mean training score; where a curriculum moved on, a line says to what."""
    check_there(folder / "metrics.csv")
    rows = RunFolder(folder).read_metrics()
    steps = [int(row["step"]) / 1e6 for row in rows]
    axes.plot(steps, [float(row["score"]) for row in rows], color="0.2", linewidth=1)
    stage = None
    for step, row in zip(steps, rows, strict=True):
        if row["stage"] != stage:
            stage = row["stage"]
            axes.axvline(step, color="0.8", linewidth=1, zorder=0)
            axes.annotate(
                stage, (step, 1.0), xycoords=("data", "axes fraction"), rotation=90, ha="left", va="top", fontsize=7,
                color="0.4",
            )  # fmt: skip
    axes.set_ylabel("training score in its stage")


def draw_run(folder: Path, out: Path, episodes: int = 64) -> None:
    """The figure of one run."""
    config = read_config(folder)
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(7, 6), sharex=True, height_ratios=(3, 2))
    draw_levels(upper, folder, config["task"], episodes)
    draw_training(lower, folder)
    lower.set_xlabel("agent steps, millions")
    upper.set_title(f"{model_name(config)} on {config['task']}, preset {config['preset']}", fontsize=10)
    for axes in (upper, lower):
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    save(figure, out)


# --- several runs beside each other


def draw_comparison(folders: Sequence[Path], out: Path) -> None:
    """Runs of one task, a panel for each level, over the minutes that they trained."""
    configs = {folder: read_config(folder) for folder in folders}
    tasks = {config["task"] for config in configs.values()}
    if len(tasks) > 1:
        raise ValueError(f"runs of one task can be drawn together, not of {' and '.join(sorted(tasks))}")
    [task] = tasks
    figure, panels = plt.subplots(1, len(PAPER_LEVELS), figsize=(10.5, 3.4), sharex=True)
    for axes, level in zip(panels, PAPER_LEVELS, strict=True):
        for folder, config in configs.items():
            draw_over_minutes(axes, folder, level, f"{model_name(config)}, seed {config['seed']}")
        draw_players(axes, task, level)
        axes.set_title(LEVEL_TITLES[level], fontsize=9)
        axes.set_xlabel("minutes of training")
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("score on the true level")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="lower center", ncols=min(len(names), 4), frameon=False, fontsize=8)
    figure.suptitle(short(task), x=0.01, ha="left", fontsize=10, fontweight="bold")
    figure.tight_layout(rect=(0, 0.03 + 0.05 * -(-len(names) // 4), 1, 1))
    save(figure, out)


def draw_over_minutes(axes: Axes, folder: Path, level: str, name: str) -> None:
    """The mean of each evaluation and its 95 % interval."""
    by_step = level_scores(folder).get(level)
    if not by_step:
        return
    check_there(folder / "metrics.csv")
    clock = np.array([(0, 0), *((float(r["step"]), float(r["seconds"])) for r in RunFolder(folder).read_metrics())])
    steps = np.array(sorted(by_step))
    minutes = np.interp(steps, clock[:, 0], clock[:, 1]) / 60
    means, halves = (np.array([of(by_step[step]) for step in steps]) for of in (np.mean, half_interval))
    (line,) = axes.plot(minutes, means, "o-", markersize=3, label=name)
    axes.fill_between(minutes, means - halves, means + halves, color=line.get_color(), alpha=0.2, linewidth=0)


def draw_players(axes: Axes, task: str, level: str) -> None:
    """What is to be had without memory, and with it."""
    for player, side in (("forgetting", "bottom"), ("remembering", "top")):
        known = scripted_players().get((task, player, level))
        if known:
            axes.axhline(known.mean, color="0.45", linestyle=PLAYERS[player], linewidth=1)
            axes.annotate(
                f"{player} {known.mean:.1f}", (0.01, known.mean), xycoords=("axes fraction", "data"), va=side,
                fontsize=7, color="0.35",
            )  # fmt: skip


def save(figure: Figure, out: Path) -> None:
    """As its ending says."""
    with replacing(out) as temporary:
        figure.savefig(temporary, format=out.suffix.removeprefix("."), dpi=150)
    plt.close(figure)
