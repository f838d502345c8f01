"""What Then Where: a digit is shown; later four digits. At the end: where among the four was the first?"""

from dataclasses import dataclass

import numpy as np

from memorylab.tasks.checks import MANY, below_count, within
from memorylab.tasks.psychlab.session import SCALE, Session
from memorylab.tasks.psychlab.trial import (
    ANSWERED,
    CHOOSE,
    EDGE_BUTTONS,
    FIRST_PHASE,
    PSYCHLAB,
    STUDY_FRAMES,
    TrialRules,
    await_answer,
    paint_answered_button,
    show,
    time_is_up,
    trial_task,
)
from memorylab.tasks.scales import whole
from memorylab.tasks.stimuli import load_digits
from memorylab.world.canvas import BLACK, WHITE, fill_disc, stamp
from memorylab.world.gaze import inside
from memorylab.world.jit import jit
from memorylab.world.rng import below, below_unmarked
from memorylab.world.room import surface_size

NUM_DIGITS = 5  # in each half of the stimuli
NUM_PLACES = 4


@dataclass(frozen=True)
class Digits(Session):
    """A session, how many of the digits are in play, and how many of these stand at the edges."""

    digits: int = NUM_DIGITS
    shown: int = NUM_PLACES

    def __post_init__(self):
        super().__post_init__()
        if not whole(self.digits) or not 1 <= self.digits <= NUM_DIGITS:
            raise ValueError(f"digits must be a whole number from 1 to {NUM_DIGITS}, not {self.digits!r}")
        most = min(self.digits, NUM_PLACES)
        if not whole(self.shown) or not 1 <= self.shown <= most:
            raise ValueError(f"shown must be a whole number from 1 to {most}, the digits in play, not {self.shown!r}")

    def record(self) -> tuple:
        """With both numbers."""
        return *super().record(), self.digits, self.shown

    def text(self) -> str:
        """The numbers only where they are not the usual ones."""
        usual = self.digits == NUM_DIGITS and self.shown == NUM_PLACES
        return super().text() + ("" if usual else f", {self.shown} shown of {self.digits} digits")


SCALES = {
    "small": Digits(trials=50, seconds=600, delays=(4, 8)),
    "large": Digits(trials=50, seconds=600, delays=(32, 128)),
    "interpolate": Digits(trials=50, seconds=600, delays=(16, 64)),
    "extrapolate": Digits(trials=50, seconds=600, delays=(132, 156, 200, 256)),
    "train": Digits(trials=50, seconds=600, delays=(4, 8, 32, 128)),  # drawn anew for every gap
}
SCALE_RECORD = np.dtype([*SCALE.descr, ("digits", "i4"), ("shown", "i4")])

BACKGROUND = BLACK
BUTTONS = EDGE_BUTTONS
DISC_SIDE = 0.082

WHAT, FIRST_DELAY, WHERE, SECOND_DELAY, DISC = range(FIRST_PHASE, FIRST_PHASE + 5)

WHAT_SIDE = 0.25
WHERE_REGION = 0.95
WHERE_SIDE = 0.25 * WHERE_REGION
WHERE_OFF_CENTRE = (WHERE_REGION - WHERE_SIDE) / 2  # flush with the region's edge
WHERE_PLACES = 0.5 + WHERE_OFF_CENTRE * np.array([(0, -1), (0, 1), (-1, 0), (1, 0)])  # top, bottom, left, right
EMPTY = -1  # an edge where no digit stands

GAME = np.dtype(
    [
        *PSYCHLAB,
        ("total_delay", "i4"),
        ("first_delay", "i4"),
        ("second_delay", "i4"),
        ("target", "i4"),  # the digit to be remembered
        ("what", "i4"),  # its picture
        ("digits", "i4", (4,)),  # the digit at each edge
        ("where", "i4", (4,)),  # and their pictures
    ],
    align=True,
)


@jit
def begin_episode(game, scale, stimuli):
    """The scale that is reported is a mean of delays, none of which is drawn yet."""
    game.scale = 0.0
    game.total_delay = 0


@jit
def begin_trial(game, scale, stimuli):
    """Two delays, the digit to remember, and four different digits, that one among them."""
    game.first_delay = scale.delays[below(game, scale.num_delays)]
    game.second_delay = scale.delays[below(game, scale.num_delays)]
    game.total_delay += game.first_delay + game.second_delay
    game.scale = game.total_delay / (2 * (game.trial + 1))  # the episode's mean delay so far

    game.target = below(game, scale.digits)
    game.what = draw_picture(game, game.target, stimuli)
    game.correct = below(game, len(BUTTONS))
    kept = 1 << game.correct
    for _ in range(len(BUTTONS) - scale.shown):  # none on the true levels
        kept |= 1 << below_unmarked(game, len(BUTTONS), kept)
    used = 1 << game.target
    for edge in range(len(BUTTONS)):
        game.digits[edge], game.where[edge] = EMPTY, 0
        if edge == game.correct:
            game.digits[edge] = game.target
        elif (kept >> edge) & 1 == 0:
            game.digits[edge] = below_unmarked(game, scale.digits, used)
        if game.digits[edge] != EMPTY:
            used |= 1 << game.digits[edge]
            game.where[edge] = draw_picture(game, game.digits[edge], stimuli)
    show(game, WHAT, STUDY_FRAMES)


@jit
def draw_picture(game, digit, stimuli):
    """One of the pictures that this digit has."""
    return stimuli.first[digit] + below(game, stimuli.first[digit + 1] - stimuli.first[digit])


@jit
def play_phase(game, u, v, scale):
    """The digit, a delay, the four digits, a delay, a disc that waits for the gaze, then the buttons."""
    if game.phase == WHAT:
        if time_is_up(game):
            show(game, FIRST_DELAY, game.first_delay)
    elif game.phase == FIRST_DELAY:
        if time_is_up(game):
            show(game, WHERE, STUDY_FRAMES)
    elif game.phase == WHERE:
        if time_is_up(game):
            show(game, SECOND_DELAY, game.second_delay)
    elif game.phase == SECOND_DELAY:
        if time_is_up(game):
            show(game, DISC)
    elif game.phase == DISC:
        if inside(u, v, 0.5, 0.5, DISC_SIDE):
            show(game, CHOOSE)
    else:
        await_answer(game, u, v, BUTTONS)


@jit
def paint(game, canvas, stimuli):
    """What the phase is called after; nothing during the delays."""
    if game.phase == WHAT:
        stamp(canvas, stimuli.what[game.what], 0.5, 0.5)
    elif game.phase == WHERE:
        for edge in np.flatnonzero(game.digits != EMPTY):
            stamp(canvas, stimuli.where[game.where[edge]], WHERE_PLACES[edge, 0], WHERE_PLACES[edge, 1])
    elif game.phase == DISC:
        fill_disc(canvas, 0.5, 0.5, DISC_SIDE, WHITE)
    elif game.phase == CHOOSE or game.phase == ANSWERED:
        for button in range(len(BUTTONS)):
            paint_answered_button(game, canvas, BUTTONS, button, WHITE)


@jit
def needs_memory(game):
    """Always: the buttons alone tell nothing."""
    return True


def load_stimuli(split, width, source, scales):
    """Every digit in both sizes in which it is shown."""
    texels = surface_size(width)
    return load_digits(split, round(WHAT_SIDE * texels), round(WHERE_SIDE * texels), source)


TASK = trial_task(
    name="what_then_where",
    title="What Then Where",
    rule="Remember the digit, then where it stands among four; after the white disc, look at the button in that place.",
    instructions=(
        "A digit flashes up; remember it. Then four digits flash up: remember where yours stands.",
        "Look at the white disc, then at the button in that place.",
    ),
    stimuli={"train": "digits 0 to 4", "holdout": "digits 5 to 9"},
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
    scale_record=SCALE_RECORD,
    game=GAME,
    load_stimuli=load_stimuli,
    checks={
        "total_delay": within(0, MANY),
        **dict.fromkeys(("first_delay", "second_delay"), within(0, 10**6)),
        "target": within(0, NUM_DIGITS - 1),
        "digits": within(EMPTY, NUM_DIGITS - 1),
        "what": below_count(lambda kept: len(kept.stimuli.what)),
        "where": below_count(lambda kept: len(kept.stimuli.where)),
    },
    card_step=42,
    curriculum=(  # where a digit stood; then which of two, of ever more digits; then all four, then delays
        {"trials": 4, "delays": 4, "shown": 1},
        *({"trials": 4, "delays": 4, "digits": number, "shown": 2} for number in (2, 3, 5)),
        {"trials": 4, "delays": 4, "shown": 3},
        {"trials": 4, "delays": 4},
        {"trials": 8, "delays": (4, 8)},
        {"trials": 16, "delays": (4, 8, 32)},
    ),
    curriculum_share=0.65,  # who guesses among two has half; slips of the gaze cost the rest
)
