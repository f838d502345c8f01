"""A trained agent on any levels and scales, beyond the paper's four too; what the report shows of it is kept beside
the run: evaluations.csv, goal_times.csv and routes/."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image

from memorylab.envs.plan import with_map
from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import vector_env
from memorylab.laboratory.evaluations import keep
from memorylab.learning.actor import Player
from memorylab.learning.evaluation import evaluate
from memorylab.learning.trained import Trained
from memorylab.runs.files import replacing
from memorylab.tasks.task import check_level, find_task

MAP_SIDE = 320  # pixels


def parse_sweep(text: str, task: str) -> list[dict[str, Any]]:
    """`trials=10,50,100` as one dictionary of scale keywords per value."""
    keyword, _, values = text.partition("=")
    found = find_task(task)
    found.check_keywords({keyword: None})
    try:
        numbers = [int(value) for value in values.split(",")]
    except ValueError:
        raise ValueError(f"--sweep must look like {keyword}=1,2,4 with whole numbers, not {text!r}") from None
    return [found.setting(keyword, number) for number in numbers]


def evaluated(
    trained: Trained,
    levels: Sequence[str],
    game: GameSpec,
    sweeps: Sequence[str],
    episodes: int,
    seed: int,
    on_setting: Callable[[str], None] = lambda _: None,
    on_step: Callable[[], None] = lambda: None,
) -> Iterator[list[dict[str, Any]]]:
    """One list of rows per level, and per level and value of a sweep; another game than the paper's is named."""
    for level in levels:
        check_level(level)
    settings: list[dict[str, Any]] = [setting for text in sweeps for setting in parse_sweep(text, trained.task.name)]
    for level in levels:
        for setting in settings or [{}]:
            changed = game.changed(level, **setting)
            keyword, value = next(iter(setting.items()), ("", ""))
            value = str(value[0] if isinstance(value, tuple) else value)
            if game.own:
                keyword, value = keyword or "own", changed.own
            on_setting(f"{level} {keyword} {value}".strip())
            played = evaluate(trained.agent, changed, episodes, seed, on_step=on_step)
            yield [
                {"step": trained.step, "level": level, "keyword": keyword, "value": value, "scale": e.scale,
                 "return": e.score, "length": e.length, "seed": e.seed} for e in played
            ]  # fmt: skip


class Walk(NamedTuple):
    """One episode of a navigation task."""

    drawn: np.ndarray  # the map with its route
    steps_to_goals: list[int]


@torch.no_grad()
def walk(trained: Trained, level: str, number: int, seed: int, on_step: Callable[[], None]) -> list[Walk]:
    """So many episodes, side by side."""
    agent = trained.agent
    env = vector_env(trained.game(level), number, seed=seed)
    player = Player(env, agent, seed)
    blank = np.full((MAP_SIDE, 1, 3), 255, np.uint8)
    routes: list[list[tuple[float, float]]] = [[] for _ in range(number)]
    reached: list[list[int]] = [[] for _ in range(number)]
    drawn = [with_map(env.batch, blank, routes[i], i) for i in range(number)]
    under_way, step = set(range(number)), 0
    while under_way:
        *_, ended = player.play()
        step += 1
        on_step()
        under_way -= {episode.game for episode in ended}
        for i in under_way:
            if env.info["goals"][i] > len(reached[i]):
                reached[i].append(step)
            routes[i].append((float(env.info["x"][i]), float(env.info["z"][i])))
            if step % 64 == 0:  # the map of the last moments will do
                drawn[i] = with_map(env.batch, blank, routes[i], i)
    env.close()
    return [Walk(drawn[i][:, 1:], np.diff([0, *reached[i]]).tolist()) for i in range(number)]


def walks(trained: Trained, levels: Sequence[str], number: int, seed: int, on_step: Callable[[], None]) -> None:
    """Maps as routes/STEP/LEVEL-N.png, times as rows of goal_times.csv."""
    rows = []
    for level in levels:
        for episode, (drawn, times) in enumerate(walk(trained, level, number, seed, on_step)):
            path = trained.folder / "routes" / str(trained.step) / f"{level}-{episode}.png"
            with replacing(path) as temporary:
                Image.fromarray(drawn).save(temporary, "PNG")
            rows += [
                {"step": trained.step, "level": level, "keyword": "episode", "value": episode, "goal": goal, "steps": t}
                for goal, t in enumerate(times)
            ]
    if rows:
        keep(trained.folder / "goal_times.csv", rows)
