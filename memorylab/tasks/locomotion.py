"""What the tasks share that are walked through: the view, the record, and how a task is put together."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from memorylab.tasks.checks import WALKED_CHECKS, Check
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
from memorylab.world.jit import bind, jit
from memorylab.world.materials import build_materials
from memorylab.world.rng import side_draw
from memorylab.world.scene import draw_scene, scene_fields
from memorylab.world.sky import build_sky
from memorylab.world.walking import WALK_ACTIONS, WALKER

REPORT = EPISODE_REPORT | {"x": "x", "z": "z", "yaw": "yaw"}
ABOVE_ACTIONS = 16  # the bit of an advice from which on it tells a place
RANDOM_ACTIONS, GUESSES, WANDERINGS = range(3)  # side streams of an episode's chance


class WalkedRules(NamedTuple):
    """The rules of a task that is walked through: compiled functions, of one game each."""

    begin_episode: Any = None  # (game, scale, stimuli): build the place, put the walker into it
    play: Any = None  # (game, action, scale, stimuli) -> reward: one frame
    remember: Any = None  # (game) -> action: what a player does who remembers
    forget: Any = None  # (game) -> action: the same without memory


rules = WalkedRules()  # those of a task, once `bind` has bound them


@jit
def tell_place(game, x, z, step, reach=0.0):
    """How many steps, each so many metres long, one is east and north of a place, and the way one faces; and how far
    from there the walls of a square place are, if it is one. As bits of an advice above those of the actions."""
    east, north = (game.x - x) / step, (game.z - z) / step
    turn = int(game.yaw % 360.0 / 360.0 * 1024) & 1023
    place = int(east + 2048.5) << 12 | int(north + 2048.5)
    return ((int(reach / step + 0.5) << 24 | place) << 10 | turn) << ABOVE_ACTIONS


def walked_fields(side: int) -> list[tuple]:
    """The first fields of a game's record; `side` is the most cells that its grid may have across."""
    return [*EPISODE, *scene_fields(side), *WALKER]


class SceneView(NamedTuple):
    """What drawing reads and never changes, so that all games share it."""

    surfaces: np.ndarray  # materials, then the sky
    sky: int


def build_scene_view(pictures: list[np.ndarray]) -> SceneView:
    """With pictures, each (SIZE, SIZE, 3), as further materials after the usual ones."""
    materials = build_materials(pictures)
    return SceneView(np.concatenate([materials, build_sky().ravel()]), len(materials))


@cache
def plain_view() -> SceneView:
    """Built once a process: all tasks that hang no pictures on their walls share it."""
    return build_scene_view([])


def build_plain_view(games: int, width: int) -> SceneView:
    """The same for any number of games and any width of picture."""
    return plain_view()


def enter(game, scale, stimuli):
    """Standing still, looking level, in a world without things; the task puts in its own."""
    game.v_x = 0.0
    game.v_z = 0.0
    game.pitch = 0.0
    game.num_boxes = 0
    game.num_ovals = 0
    game.pictures = 0
    rules.begin_episode(game, scale, stimuli)


def play_frame(game, action, scale, stimuli):
    """The task's own frame, then the clock, which ends what the task has not ended itself."""
    game.frame += 1
    reward = rules.play(game, action, scale, stimuli)
    if game.over == PLAYING and game.frame >= scale.frames:
        game.over = OUT_OF_TIME
    return reward


def draw(game, number, view, stimuli, picture):
    """From the walker's eyes; nothing but the game's record decides what is seen."""
    draw_scene(game, view.surfaces, view.sky, picture)


def remembering(games, actions, start, stop):
    """Acts by the rule of the player that remembers, in games `start` to `stop`."""
    for i in range(start, stop):
        actions[i] = rules.remember(games[i])


def forgetting(games, actions, start, stop):
    """The same by the rule of the player without memory."""
    for i in range(start, stop):
        actions[i] = rules.forget(games[i])


def random(games, actions, start, stop):
    """Every action is equally likely, at every step anew."""
    for i in range(start, stop):
        actions[i] = side_draw(games[i], RANDOM_ACTIONS, games[i].length, len(WALK_ACTIONS))


def walked_task(
    *,
    name: str,
    rules: WalkedRules,
    scales: Mapping[str, Any],
    report: Mapping[str, str],
    checks: Mapping[str, Check] | None = None,
    skill: Any = None,
    advise: Any = None,
    **parts: Any,
) -> Task:
    """A task that is walked through, from its rules; `checks` are those of its own fields; `skill` is another
    `forget`, whose habits are better to imitate; `advise` tells all actions, as bits, that a good walker could take who
    remembers nothing; `parts` are fields of Task."""
    players = {"random": random, "forgetting": forgetting, "remembering": remembering}
    compiled = compile_game("a walked task", name, rules, GameRules(enter, play_frame, draw), players)
    if skill is not None:
        compiled["players"]["skilled"] = bind(forgetting, rules._replace(forget=skill), f"{name}_skilled")
        compiled["teacher"] = "skilled"
    if advise is not None:
        compiled["advice"] = bind(forgetting, rules._replace(forget=advise), f"{name}_advice")
    usual: dict[str, Any] = {"engine": "unity", "build_view": build_plain_view, "load_stimuli": load_nothing(name)}
    return Task(
        name=name,
        actions=WALK_ACTIONS,
        scales=scales,
        keywords=scale_keywords(type(scales["small"])),
        report={**REPORT, **report},
        checks={**WALKED_CHECKS, **(checks or {})},
        **compiled,
        **(usual | parts),
    )
