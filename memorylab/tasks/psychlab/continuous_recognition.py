"""Continuous Recognition: was this picture shown before in this episode? Left for new, right for old."""

import numpy as np

from memorylab.tasks.checks import below_count, up_to
from memorylab.tasks.psychlab.session import Session
from memorylab.tasks.psychlab.trial import (
    ANSWERED,
    CHOOSE,
    PICTURE_SIDE,
    PSYCHLAB,
    TrialRules,
    await_answer,
    paint_answered_button,
    show,
    trial_task,
)
from memorylab.tasks.stimuli import PICTURE_HALVES, load_pictures
from memorylab.world.canvas import BLACK, WHITE, stamp
from memorylab.world.jit import jit
from memorylab.world.rng import below, fraction, shuffled
from memorylab.world.room import surface_size

SCALES = {
    "small": Session(trials=50, seconds=300),
    "large": Session(trials=50, seconds=300),
    "interpolate": Session(trials=40, seconds=300),
    "extrapolate": Session(trials=75, seconds=450),
}

BACKGROUND = WHITE
NEW, OLD = range(2)
BUTTONS = np.array([(0.05, 0.5), (0.95, 0.5)])

GAME = np.dtype([*PSYCHLAB, ("shown", "i4"), ("picture", "i4")], align=True)


@jit
def begin_episode(game, scale, stimuli):
    """No picture counts as shown yet."""
    game.scale = scale.trials
    game.shown = 0


@jit
def begin_trial(game, scale, stimuli):
    """A new picture or, in half of the later trials, any one that was shown before."""
    if game.shown == 0 or fraction(game) < 0.5:
        game.correct = NEW
        card = game.shown
        game.shown += 1
    else:
        game.correct = OLD
        card = below(game, game.shown)
    game.picture = shuffled(card, len(stimuli.pictures), game.key)
    show(game, CHOOSE)


@jit
def play_phase(game, u, v, scale):
    """The picture stays, and buttons answer from the first frame on."""
    await_answer(game, u, v, BUTTONS)


@jit
def paint(game, canvas, stimuli):
    """The picture between its two buttons."""
    stamp(canvas, stimuli.pictures[game.picture], 0.5, 0.5, stimuli.zoom)
    for button in range(len(BUTTONS)):
        paint_answered_button(game, canvas, BUTTONS, button, BLACK)


@jit
def needs_memory(game):
    """In every trial but the first, whose picture is always new."""
    return game.trial > 0  # the first picture is always new


def load_stimuli(split, width, source, scales):
    """A picture for every trial, as all of them may be new."""
    needed = max(scale.trials for scale in scales)
    return load_pictures(split, round(PICTURE_SIDE * surface_size(width)), source, needed)


TASK = trial_task(
    name="continuous_recognition",
    title="Continuous Recognition",
    rule="Look left if the picture is new, right if it was shown before.",
    instructions=("Left button: this picture is new. Right button: you have seen it before.",),
    stimuli=PICTURE_HALVES,
    rules=TrialRules(
        buttons=BUTTONS,
        background=BACKGROUND,
        begin_episode=begin_episode,
        begin_trial=begin_trial,
        play_phase=play_phase,
        paint=paint,
        needs_memory=needs_memory,
    ),
    scales=SCALES,
    game=GAME,
    load_stimuli=load_stimuli,
    checks={
        "shown": up_to(lambda kept: kept.games["trial"] + np.isin(kept.games["phase"], (CHOOSE, ANSWERED))),
        "picture": below_count(lambda kept: len(kept.stimuli.pictures)),
    },
    card_step=66,
)
