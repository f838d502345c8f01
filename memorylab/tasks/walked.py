"""What the tasks share that are walked through: the view, the record, and how a task is put together."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from memorylab.tasks.stepping import (
    EPISODE,
    EPISODE_REPORT,
    FRAMES_PER_SECOND,
    OUT_OF_TIME,
    PLAYING,
    begin_template,
    start_episode_template,
    step_template,
)
from memorylab.tasks.stimuli import HOLDOUT, Nothing
from memorylab.tasks.task import Task, scale_keywords
from memorylab.world.chance import side_draw
from memorylab.world.compiled import compile_for
from memorylab.world.materials import build_materials
from memorylab.world.scene import draw_scene, scene_fields
from memorylab.world.sky import build_sky
from memorylab.world.walking import WALK_ACTIONS, WALKER

if TYPE_CHECKING:  # the rules that each task's file supplies

    def begin_episode(game, scale, stimuli): ...
    def play(game, action, scale, stimuli): ...
    def remember(game): ...
    def forget(game): ...


REPORT = EPISODE_REPORT | {"x": "x", "z": "z", "yaw": "yaw"}
RANDOM_ACTIONS, GUESSES, WANDERINGS = range(3)  # side streams of an episode's chance


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


def load_nothing(name: str):
    """For tasks that draw their own stimuli: which half of them is all there is to know."""

    def load_stimuli(split, width, source, scales):
        if source is not None:
            raise ValueError(f"{name} draws its own stimuli; leave `stimuli` out")
        return Nothing(HOLDOUT[split])

    return load_stimuli


def enter_template(game, scale, stimuli):
    game.v_x = 0.0
    game.v_z = 0.0
    game.pitch = 0.0
    game.num_boxes = 0
    game.num_ovals = 0
    game.pictures = 0
    begin_episode(game, scale, stimuli)


def play_frame_template(game, action, scale, stimuli):
    game.frame += 1
    reward = play(game, action, scale, stimuli)
    if game.over == PLAYING and game.frame >= scale.frames:
        game.over = OUT_OF_TIME
    return reward


def draw_template(game, number, view, stimuli, picture):
    draw_scene(game, view.surfaces, view.sky, picture)


def remembering_template(games, actions, start, stop):
    for i in range(start, stop):
        actions[i] = remember(games[i])


def forgetting_template(games, actions, start, stop):
    for i in range(start, stop):
        actions[i] = forget(games[i])


def random_template(games, actions, start, stop):
    for i in range(start, stop):
        actions[i] = side_draw(games[i], RANDOM_ACTIONS, games[i].length, len(WALK_ACTIONS))


def frames(seconds: float) -> int:
    return round(seconds * FRAMES_PER_SECOND)


def walked_task(module: str, *, name: str, scales: Mapping[str, Any], report: Mapping[str, str], **parts) -> Task:
    """A task from the rules in `module`."""
    compile_for(module, enter_template, play_frame_template, draw_template, start_episode_template)
    begin, step = compile_for(module, begin_template, step_template)
    players = compile_for(module, random_template, forgetting_template, remembering_template)
    return Task(
        name=name,
        actions=WALK_ACTIONS,
        scales=scales,
        keywords=scale_keywords(type(scales["small"])),
        report={**REPORT, **report},
        load_stimuli=load_nothing(name),
        begin=begin,
        step=step,
        players=dict(zip(("random", "forgetting", "remembering"), players, strict=True)),
        **{"build_view": build_plain_view, **parts},
    )
