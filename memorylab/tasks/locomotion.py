"""What the tasks share that are walked through: the view, the record, and how a task is put together."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from memorylab.tasks.stepping import (
    EPISODE,
    EPISODE_REPORT,
    OUT_OF_TIME,
    PLAYING,
    GameRules,
    compile_game,
)
from memorylab.tasks.stimuli import load_nothing
from memorylab.tasks.task import Task, scale_keywords
from memorylab.world.materials import build_materials
from memorylab.world.rng import side_draw
from memorylab.world.scene import draw_scene, scene_fields
from memorylab.world.sky import build_sky
from memorylab.world.walking import WALK_ACTIONS, WALKER

REPORT = EPISODE_REPORT | {"x": "x", "z": "z", "yaw": "yaw"}
RANDOM_ACTIONS, GUESSES, WANDERINGS = range(3)  # side streams of an episode's chance


class WalkedRules(NamedTuple):
    """The rules of a task that is walked through: compiled functions, of one game each."""

    begin_episode: Any = None  # (game, scale, stimuli): build the place, put the walker into it
    play: Any = None  # (game, action, scale, stimuli) -> reward: one frame
    remember: Any = None  # (game) -> action: what a player does who remembers
    forget: Any = None  # (game) -> action: the same without memory
    skill: Any = None  # (game) -> action: the same by what can be seen, where `forget` goes by more


rules = WalkedRules()  # those of a task, once `bind` has bound them


def walked_fields(side: int) -> list[tuple]:
    return [*EPISODE, *scene_fields(side), *WALKER]


class SceneView(NamedTuple):
    surfaces: np.ndarray  # materials, then the sky
    sky: int


def build_scene_view(pictures: list[np.ndarray]) -> SceneView:
    materials = build_materials(pictures)
    return SceneView(np.concatenate([materials, build_sky().ravel()]), len(materials))


@cache
def plain_view() -> SceneView:
    return build_scene_view([])


def build_plain_view(games: int, width: int) -> SceneView:
    return plain_view()


def enter(game, scale, stimuli):
    game.v_x = 0.0
    game.v_z = 0.0
    game.pitch = 0.0
    game.num_boxes = 0
    game.num_ovals = 0
    game.pictures = 0
    rules.begin_episode(game, scale, stimuli)


def play_frame(game, action, scale, stimuli):
    game.frame += 1
    reward = rules.play(game, action, scale, stimuli)
    if game.over == PLAYING and game.frame >= scale.frames:
        game.over = OUT_OF_TIME
    return reward


def draw(game, number, view, stimuli, picture):
    draw_scene(game, view.surfaces, view.sky, picture)


def remembering(games, actions, start, stop):
    for i in range(start, stop):
        actions[i] = rules.remember(games[i])


def forgetting(games, actions, start, stop):
    for i in range(start, stop):
        actions[i] = rules.forget(games[i])


def skilled(games, actions, start, stop):
    for i in range(start, stop):
        actions[i] = rules.skill(games[i])


def random(games, actions, start, stop):
    for i in range(start, stop):
        actions[i] = side_draw(games[i], RANDOM_ACTIONS, games[i].length, len(WALK_ACTIONS))


def walked_task(
    *, name: str, rules: WalkedRules, scales: Mapping[str, Any], report: Mapping[str, str], **parts: Any
) -> Task:
    """A task that is walked through, from its rules; `parts` are fields of Task."""
    players = {"random": random, "forgetting": forgetting, "remembering": remembering}
    if rules.skill is not None:
        players["skilled"] = skilled
    rules = rules._replace(skill=rules.skill or rules.forget)
    usual: dict[str, Any] = {
        "engine": "unity",
        "build_view": build_plain_view,
        "load_stimuli": load_nothing(name),
        "teacher": "skilled" if "skilled" in players else "forgetting",
    }
    return Task(
        name=name,
        actions=WALK_ACTIONS,
        scales=scales,
        keywords=scale_keywords(type(scales["small"])),
        report={**REPORT, **report},
        **compile_game("a walked task", name, rules, GameRules(enter, play_frame, draw), players),
        **(usual | parts),
    )
