"""What the four PsychLab tasks share: the cross, the trial, the buttons, the clock, and two scripted players.

A trial begins with one frame of gaze on the red cross. The task's own phases follow. Gaze entering a button
fixes the answer and shows feedback; the reward comes, and the trial ends, when gaze leaves that button.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from memorylab.tasks.checks import Check, trial_checks
from memorylab.tasks.psychlab.panel import (
    BUTTON_SIDE,
    build_view,
    canvas_of,
    paint_button,
    paint_cross,
    panel_start,
)
from memorylab.tasks.psychlab.session import SCALE, Session
from memorylab.tasks.stepping import (
    ENDED,
    EPISODE,
    EPISODE_REPORT,
    FRAMES_PER_STEP,
    OUT_OF_TIME,
    GameRules,
    compile_game,
)
from memorylab.tasks.task import Task, scale_keywords
from memorylab.world.canvas import clear, rgb
from memorylab.world.gaze import (
    DEGREES_PER_FRAME,
    DOWN,
    LEFT,
    LOOK_ACTIONS,
    NOTHING,
    PANEL_DISTANCE,
    PANEL_SIDE,
    RIGHT,
    UP,
    gaze_on_panel,
    inside,
    turn,
)
from memorylab.world.jit import jit
from memorylab.world.rng import side_draw, uniform
from memorylab.world.room import draw_room

FIXATION_SIDE = 0.05  # gaze must come this near to the cross's centre
PICTURE_SIDE = 0.75
STUDY_FRAMES = 25
OFF_PANEL_FRAMES = 300  # more than this in a row end the episode
START_YAW = 22.5
REACH = 0.049  # a gaze this near to a button's middle line is surely inside it
STEP_DEGREES = DEGREES_PER_FRAME * FRAMES_PER_STEP

RIGHT_ANSWER, WRONG_ANSWER = rgb(100, 255, 100), rgb(255, 100, 100)

# Phases every task has; its own count on from FIRST_PHASE, and CHOOSE is the one that waits for a button.
REST, FIXATE, CHOOSE, ANSWERED, FIRST_PHASE = range(5)

# Side streams of an episode's chance.
DIRECTIONS, GUESSES, RANDOM_ACTIONS = range(3)

EDGE_BUTTONS = np.array([(0.5, 0.05), (0.5, 0.95), (0.05, 0.5), (0.95, 0.5)])  # top, bottom, left, right

PSYCHLAB = [
    *EPISODE,
    ("yaw", "f8"),
    ("pitch", "f8"),
    ("off_panel", "i4"),
    ("phase", "i4"),
    ("timer", "i4"),
    ("trial", "i4"),
    ("correct", "i4"),
    ("answer", "i4"),
    ("repaint", "i4"),
]
REPORT = EPISODE_REPORT | {"trial": "trial", "answer": "answer", "right_answer": "correct"}


# --- rules in words that the tasks use


@jit
def show(game, phase, frames=0):
    """Go on to a phase, for so many frames where it is timed, and have the panel painted anew."""
    game.phase = phase
    game.timer = frames
    game.repaint = 1


@jit
def time_is_up(game):
    """Counts a frame of a timed phase; true in its last one."""
    game.timer -= 1
    return game.timer <= 0


@jit
def await_answer(game, u, v, buttons):
    """Gaze on a button fixes the answer; the reward waits until gaze leaves it."""
    for button in range(len(buttons)):
        if inside(u, v, buttons[button, 0], buttons[button, 1], BUTTON_SIDE):
            game.answer = button
            show(game, ANSWERED)


@jit
def paint_answered_button(game, canvas, buttons, button, plain):
    """The pressed button tells whether it was right; the others stay as they were."""
    pressed = game.phase == ANSWERED and game.answer == button
    feedback = RIGHT_ANSWER if game.answer == game.correct else WRONG_ANSWER
    paint_button(canvas, buttons, button, feedback if pressed else plain)


@jit
def bearing(x):
    """The yaw that looks at column x of the panel, in degrees."""
    return math.degrees(math.atan((x - 0.5) * PANEL_SIDE / PANEL_DISTANCE))


@jit
def within_reach(yaw, buttons):
    """Can every button be looked at by turning in whole steps from here?

    Looking moves in whole steps, so the start decides for the whole episode which columns a gaze can rest on,
    and a button above or below the horizon is entered only along such a column.
    """
    for button in range(len(buttons)):
        x, y = buttons[button]
        if abs(y - 0.5) > BUTTON_SIDE / 2:
            column = yaw + STEP_DEGREES * round((bearing(x) - yaw) / STEP_DEGREES)
            u, _ = gaze_on_panel(column, 0.0)
            if abs(u - x) > REACH:
                return False
    return True


# --- a trial, by the rules of its task


@jit
def end_quietly(game, is_correct):
    """For tasks that keep nothing from one trial to the next."""
    pass


class TrialRules(NamedTuple):
    """The rules of a task of trials: where its buttons are, and compiled functions, of one game each."""

    buttons: Any = None  # (number, 2): their middles on the panel, from (0, 0) at its top left to (1, 1)
    background: Any = None  # colour of the panel
    begin_episode: Any = None  # (game, scale, stimuli)
    begin_trial: Any = None  # (game, scale, stimuli): draw what it asks; shows the first phase
    play_phase: Any = None  # (game, u, v, scale): a frame of the task's own phases, with gaze at (u, v)
    paint: Any = None  # (game, canvas, stimuli): what the panel shows in this phase
    needs_memory: Any = None  # (game) -> bool: must a player without memory guess in this trial?
    end_trial: Any = end_quietly  # (game, is_correct)


rules = TrialRules()  # those of a task, once `bind` has bound them


def enter(game, scale, stimuli):
    """Gaze starts level, at a yaw from which every button can be reached."""
    game.yaw = uniform(game, -START_YAW, START_YAW)
    while not within_reach(game.yaw, rules.buttons):
        game.yaw = uniform(game, -START_YAW, START_YAW)
    game.pitch = 0.0
    game.off_panel = 0
    game.trial = 0
    game.correct = -1
    game.answer = -1
    show(game, FIXATE)
    rules.begin_episode(game, scale, stimuli)


def play_frame(game, action, scale, stimuli):
    """Turn, then one frame of the phase; an episode ends by its trials, by looking away too long, or by the clock."""
    turn(game, action)
    u, v = gaze_on_panel(game.yaw, game.pitch)
    reward = 0.0
    if game.phase == REST:
        show(game, FIXATE)
    elif game.phase == FIXATE:
        if inside(u, v, 0.5, 0.5, FIXATION_SIDE):
            rules.begin_trial(game, scale, stimuli)
    elif game.phase == ANSWERED:
        if not inside(u, v, rules.buttons[game.answer, 0], rules.buttons[game.answer, 1], BUTTON_SIDE):
            reward = 1.0 if game.answer == game.correct else 0.0
            rules.end_trial(game, game.answer == game.correct)
            game.trial += 1
            show(game, REST)
    else:
        rules.play_phase(game, u, v, scale)

    game.frame += 1
    on_panel = 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0
    game.off_panel = 0 if on_panel else game.off_panel + 1
    if game.trial >= scale.trials or game.off_panel > OFF_PANEL_FRAMES:
        game.over = ENDED
    elif game.frame >= scale.frames:
        game.over = OUT_OF_TIME
    return reward


def draw(game, number, view, stimuli, picture):
    """The panel is painted only when what it shows has changed, the room in every picture."""
    if game.repaint:
        canvas = canvas_of(view, number)
        clear(canvas, rules.background)
        if game.phase == FIXATE:
            paint_cross(canvas)
        elif game.phase != REST:
            rules.paint(game, canvas, stimuli)
        game.repaint = 0
    draw_room(game.yaw, game.pitch, view.surfaces, view.size, panel_start(view, number), picture)


# --- scripted players

BEYOND_THE_EDGE = 33.0  # degrees; the panel ends at 31.9


@jit
def look_towards(game, yaw, pitch):
    """Along the horizon first, then up or down: no other button lies on that way."""
    near = STEP_DEGREES / 2
    if abs(game.yaw - yaw) > near:
        if game.pitch > near:
            return DOWN
        if game.pitch < -near:
            return UP
        return LEFT if game.yaw > yaw else RIGHT
    if abs(game.pitch - pitch) > near:
        return DOWN if game.pitch > pitch else UP
    return NOTHING


@jit
def look_towards_button(game, buttons, button):
    """Aim a little past the button, so that the same glance also leaves it."""
    x, y = buttons[button]
    if abs(y - 0.5) < BUTTON_SIDE / 2:
        return look_towards(game, BEYOND_THE_EDGE * np.sign(x - 0.5), 0.0)
    return look_towards(game, bearing(x), BEYOND_THE_EDGE * np.sign(0.5 - y))


@jit
def look_towards_centre(game):
    """Where the cross and the discs are; from nearby a step leads across them, and every frame of it counts."""
    action = look_towards(game, 0.0, 0.0)
    if action == NOTHING and game.timer == 0:  # nearly there, and something waits to be looked at
        return LEFT if game.yaw > 0.0 else RIGHT
    return action


def remembering(games, actions, start, stop):
    """Always knows the right button."""
    for i in range(start, stop):
        game = games[i]
        if game.phase == CHOOSE:
            actions[i] = look_towards_button(game, rules.buttons, game.correct)
        else:
            actions[i] = look_towards_centre(game)


def forgetting(games, actions, start, stop):
    """Looks just as well, but guesses where memory is needed: one guess a trial."""
    for i in range(start, stop):
        game = games[i]
        if game.phase == CHOOSE:
            guess = side_draw(game, GUESSES, game.trial, len(rules.buttons))
            actions[i] = look_towards_button(game, rules.buttons, guess if rules.needs_memory(game) else game.correct)
        else:
            actions[i] = look_towards_centre(game)


def random(games, actions, start, stop):
    """Every action is equally likely, at every step anew."""
    for i in range(start, stop):
        game = games[i]
        actions[i] = side_draw(game, RANDOM_ACTIONS, game.length, len(LOOK_ACTIONS))


# --- assembly


GAZE_INSTRUCTIONS = (
    "You look straight ahead: the marks on the frame show where. Look at the red cross to begin a trial.",
    "To answer, move your gaze onto a button, then off it again: green was right and pays 1.",
    "Stay on the panel: five seconds of looking away end the episode.",
)
FEW_TRIALS_FIRST = tuple({"trials": number} for number in (1, 2, 4, 8, 16, 32))


def trial_task(
    *,
    name: str,
    rules: TrialRules,
    scales: Mapping[str, Session],
    instructions: tuple[str, ...],
    family: str = "psychlab",
    curriculum: tuple[Mapping[str, Any], ...] = FEW_TRIALS_FIRST,
    checks: Mapping[str, Check] | None = None,
    scale_record: np.dtype = SCALE,
    **parts: Any,
) -> Task:
    """A task of trials from its rules; `checks` are those of its own fields, `parts` are fields of Task."""
    players = {"random": random, "forgetting": forgetting, "remembering": remembering}
    has_delays = bool(scales["small"].delays)
    return Task(
        name=name,
        family=family,
        engine="dmlab",
        actions=LOOK_ACTIONS,
        scales=scales,
        keywords=tuple(name for name in scale_keywords(type(scales["small"])) if has_delays or name != "delays"),
        scale_record=scale_record,
        report=REPORT,
        build_view=build_view,
        instructions=(*instructions, *GAZE_INSTRUCTIONS),
        counter=("trial", "Trials"),
        curriculum=curriculum,
        checks={**trial_checks(0 if rules.buttons is None else len(rules.buttons), OFF_PANEL_FRAMES), **(checks or {})},
        **compile_game("a task of trials", name, rules, GameRules(enter, play_frame, draw), players),
        **parts,
    )
