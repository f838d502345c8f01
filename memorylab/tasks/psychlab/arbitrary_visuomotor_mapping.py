"""Arbitrary Visuomotor Mapping: learn within an episode which way to look for each picture.

The episode keeps a list of (picture, direction) pairs and starts with one. A pass shows every pair once, in
random order; a perfect pass adds a pair, an imperfect one is repeated. A pair's first showing marks the right button.
"""

import numpy as np

from memorylab.tasks.checks import Kept, below_count, within
from memorylab.tasks.psychlab.panel import paint_button
from memorylab.tasks.psychlab.session import Session
from memorylab.tasks.psychlab.trial import (
    ANSWERED,
    CHOOSE,
    DIRECTIONS,
    EDGE_BUTTONS,
    PICTURE_SIDE,
    PSYCHLAB,
    RIGHT_ANSWER,
    WRONG_ANSWER,
    TrialRules,
    await_answer,
    show,
    trial_task,
)
from memorylab.tasks.stimuli import PICTURE_HALVES, load_pictures
from memorylab.world.canvas import BLACK, WHITE, rgb, stamp
from memorylab.world.jit import jit
from memorylab.world.rng import below_unmarked, shuffled, side_draw
from memorylab.world.room import surface_size

SCALES = {
    "small": Session(trials=50, seconds=300),
    "large": Session(trials=50, seconds=300),
    "interpolate": Session(trials=40, seconds=300),
    "extrapolate": Session(trials=75, seconds=450),
}

BACKGROUND = WHITE
BUTTONS = EDGE_BUTTONS
CUE, NOT_CUED = rgb(100, 200, 100), rgb(200, 100, 100)
MAX_PAIRS = 62  # a pass marks the pairs it has shown in the bits of one integer

GAME = np.dtype(
    [
        *PSYCHLAB,
        ("pairs", "i4"),
        ("newest_shown", "i4"),  # has the newest pair had its first showing?
        ("shown", "i8"),  # pairs shown in this pass, as bits
        ("perfect", "i4"),  # is this pass without an error so far?
        ("picture", "i4"),
        ("cue", "i4"),
    ],
    align=True,
)


@jit
def begin_episode(game, scale, stimuli):
    """One pair, whose button the first trial will mark."""
    game.scale = scale.trials
    game.pairs = 1
    game.newest_shown = 0
    game.shown = 0
    game.perfect = 1


@jit
def begin_trial(game, scale, stimuli):
    """A pair that this pass has not shown; which picture and which button it has depends on the episode alone."""
    pair = below_unmarked(game, game.pairs, game.shown)
    game.shown |= 1 << pair
    game.picture = shuffled(pair, len(stimuli.pictures), game.key)
    game.correct = side_draw(game, DIRECTIONS, pair, len(BUTTONS))
    game.cue = pair == game.pairs - 1 and not game.newest_shown
    show(game, CHOOSE)


@jit
def play_phase(game, u, v, scale):
    """The picture stays, and buttons answer from the first frame on."""
    await_answer(game, u, v, BUTTONS)


@jit
def end_trial(game, is_correct):
    """A pass that showed every pair is over; if it was perfect, the next one has a pair more."""
    game.newest_shown |= game.cue
    game.perfect &= is_correct
    pass_is_over = game.shown == (1 << game.pairs) - 1
    if pass_is_over:
        if game.perfect and game.pairs < MAX_PAIRS:
            game.pairs += 1
            game.newest_shown = 0
        game.shown = 0
        game.perfect = 1


@jit
def paint(game, canvas, stimuli):
    """The picture and four buttons: black, marked at a pair's first showing, or with the feedback to an answer."""
    stamp(canvas, stimuli.pictures[game.picture], 0.5, 0.5, stimuli.zoom)
    for button in range(len(BUTTONS)):
        is_correct = button == game.correct
        if game.phase == ANSWERED:
            colour = RIGHT_ANSWER if is_correct else WRONG_ANSWER
        elif game.cue:
            colour = CUE if is_correct else NOT_CUED
        else:
            colour = BLACK
        paint_button(canvas, BUTTONS, button, colour)


@jit
def needs_memory(game):
    """Only a first showing marks its button."""
    return not game.cue


def load_stimuli(split, width, source, scales):
    """As many pictures as a player without an error can get to see."""
    trials = max(scale.trials for scale in scales)
    pairs = next(k for k in range(1, trials + 1) if k * (k + 1) // 2 >= trials)
    return load_pictures(split, round(PICTURE_SIDE * surface_size(width)), source, min(pairs, MAX_PAIRS))


def pairs_can_be(name: str, kept: Kept) -> np.ndarray:
    """Every pair but those of this pass took trials, so that pairs never outnumber the pictures."""
    pairs, under_way = kept.games["pairs"].astype(int), np.isin(kept.games["phase"], (CHOOSE, ANSWERED))
    in_range = (pairs >= 1) & (pairs <= MAX_PAIRS)
    shown = np.array([int(marks).bit_count() for marks in kept.games["shown"]])
    is_marked = (kept.games["shown"] >= 0) & (kept.games["shown"] >> np.where(in_range, pairs, 0) == 0)
    is_whole = shown == pairs
    played = pairs * (pairs - 1) // 2 + shown <= kept.games["trial"] + under_way
    return in_range & is_marked & played & (under_way | ~is_whole)


TASK = trial_task(
    name="arbitrary_visuomotor_mapping",
    title="Arbitrary Visuomotor Mapping",
    rule="Each picture belongs to one of four buttons: it is marked when the picture is new, remember it afterwards.",
    instructions=(
        "A picture belongs to one of four buttons. The first time it is shown, its button is green.",
        "Later no button is marked: remember which one it was.",
    ),
    stimuli=PICTURE_HALVES,
    rules=TrialRules(
        buttons=BUTTONS,
        background=BACKGROUND,
        begin_episode=begin_episode,
        begin_trial=begin_trial,
        play_phase=play_phase,
        paint=paint,
        needs_memory=needs_memory,
        end_trial=end_trial,
    ),
    scales=SCALES,
    game=GAME,
    load_stimuli=load_stimuli,
    checks={
        "pairs": pairs_can_be,
        "shown": pairs_can_be,
        "newest_shown": within(0, 1),
        "perfect": within(0, 1),
        "cue": within(0, 1),
        "picture": below_count(lambda kept: len(kept.stimuli.pictures)),
    },
    card_step=24,
)
