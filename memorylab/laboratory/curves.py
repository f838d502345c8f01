"""The learning curve of a run beside the scripted players."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from memorylab.envs.scripted import play_episodes
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
    with replacing(out) as temporary:
        figure.savefig(temporary, format=out.suffix.removeprefix("."), dpi=150)
    plt.close(figure)
