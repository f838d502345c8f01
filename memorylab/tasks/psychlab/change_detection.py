"""Change Detection: an array of coloured squares and letters, a blank delay, an array again. Did one of them change?"""

import numpy as np

from memorylab.tasks.checks import MANY, within
from memorylab.tasks.psychlab.session import Session
from memorylab.tasks.psychlab.trial import (
    ANSWERED,
    CHOOSE,
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
from memorylab.tasks.stimuli import load_nothing
from memorylab.world.canvas import BLACK, WHITE, fill_box, fill_disc, fill_square, rgb
from memorylab.world.gaze import inside
from memorylab.world.jit import jit
from memorylab.world.rng import below, below_except, below_unmarked, fraction

SCALES = {
    "small": Session(trials=50, seconds=300, delays=(2, 4, 8)),
    "large": Session(trials=50, seconds=300, delays=(64, 128)),
    "interpolate": Session(trials=50, seconds=300, delays=(16, 32)),
    "extrapolate": Session(trials=50, seconds=300, delays=(130, 150, 200, 250)),
    "train": Session(trials=50, seconds=300, delays=(2, 4, 8, 64, 128)),  # drawn anew for every trial
}

BACKGROUND = WHITE
DIFFERENT, SAME = range(2)
BUTTONS = np.array([(0.40, 0.95), (0.60, 0.95)])
BUTTON_DELAY = 8  # frames from the test array to its buttons
DISC_SIDE = 0.082

STUDY, DELAY, DISC, TEST = range(FIRST_PHASE, FIRST_PHASE + 4)

TRAIN_COLOURS = {  # names of the paper
    "Amethyst": (240, 163, 255),
    "Mallow": (194, 0, 136),
    "Jade": (148, 255, 181),
    "Caramel": (153, 63, 0),
    "Honeydew": (255, 204, 153),
}
HOLDOUT_COLOURS = {
    "Violet": (116, 10, 255),
    "Lime": (157, 204, 0),
    "Pink": (255, 168, 187),
    "Sky": (94, 241, 242),
    "Yellow": (255, 255, 0),
}
COLOURS = np.array([[rgb(*c) for c in colours.values()] for colours in (TRAIN_COLOURS, HOLDOUT_COLOURS)])
NUM_COLOURS = 5

# Nine cells in the shape of a cross, centred on the panel; an object fills its cell.
CELL = 0.125
CELLS = 0.5 + CELL * np.array([(0, 0), (-2, 0), (-1, 0), (1, 0), (2, 0), (0, -2), (0, -1), (0, 1), (0, 2)])

# What an object can be: a filled square, or the letter E turned four ways.
SQUARE, LETTER = 0, 1
NUM_TURNS = 4

# What varies in a trial.
LETTERS, LETTER_COLOURS, LETTER_TURNS, SQUARE_COLOURS, MIXED = range(5)
NUM_DOMAINS = 5
MAX_OBJECTS = 4

# What a change does to one object.
MOVE, RECOLOUR, TURN, RESHAPE = range(4)

GAME = np.dtype(
    [
        *PSYCHLAB,
        ("delay", "i4"),
        ("total_delay", "i4"),
        ("objects", "i4"),
        ("cell", "i4", (MAX_OBJECTS,)),
        ("colour", "i4", (MAX_OBJECTS,)),
        ("form", "i4", (MAX_OBJECTS,)),
        ("changed", "i4"),  # which object differs at test; -1 for none
        ("new_cell", "i4"),
        ("new_colour", "i4"),
        ("new_form", "i4"),
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
    """A delay, an array and, in half of the trials, one change to it."""
    game.delay = scale.delays[below(game, scale.num_delays)]
    game.total_delay += game.delay
    game.scale = game.total_delay / (game.trial + 1)  # the episode's mean delay so far
    domain = below(game, NUM_DOMAINS)
    draw_array(game, domain)
    game.changed = -1
    game.correct = SAME
    if fraction(game) < 0.5:
        game.correct = DIFFERENT
        draw_change(game, domain)
    show(game, STUDY, STUDY_FRAMES)


@jit
def draw_array(game, domain):
    """One to four objects in different cells, alike in what the domain keeps fixed."""
    one_colour = below(game, NUM_COLOURS)
    used = 0
    game.objects = 1 + below(game, MAX_OBJECTS)
    for i in range(game.objects):
        game.cell[i] = below_unmarked(game, len(CELLS), used)
        used |= 1 << game.cell[i]
        game.colour[i] = one_colour if domain == LETTER_TURNS else below(game, NUM_COLOURS)
        game.form[i] = draw_form(game, domain)


@jit
def draw_form(game, domain):
    """The square, or one of the turns of the letter that the domain allows."""
    if domain == SQUARE_COLOURS or (domain == MIXED and fraction(game) < 0.5):
        return SQUARE
    if domain == LETTER_COLOURS:
        return LETTER  # upright
    return LETTER + below(game, NUM_TURNS)


@jit
def draw_change(game, domain):
    """One object, one of the changes that its domain allows; the new value always differs."""
    game.changed = below(game, game.objects)
    game.new_cell = game.cell[game.changed]
    game.new_colour = game.colour[game.changed]
    game.new_form = game.form[game.changed]
    is_letter = game.new_form != SQUARE
    illegal = 0
    if domain == LETTER_TURNS:
        illegal |= 1 << RECOLOUR
    if not is_letter or domain == LETTER_COLOURS:
        illegal |= 1 << TURN
    if domain != MIXED:
        illegal |= 1 << RESHAPE

    change = below_unmarked(game, 4, illegal)
    if change == MOVE:
        used = 0
        for i in range(game.objects):
            used |= 1 << game.cell[i]
        game.new_cell = below_unmarked(game, len(CELLS), used)
    elif change == RECOLOUR:
        game.new_colour = below_except(game, NUM_COLOURS, game.new_colour)
    elif change == TURN:
        game.new_form = LETTER + below_except(game, NUM_TURNS, game.new_form - LETTER)
    else:
        game.new_form = SQUARE if is_letter else LETTER + below(game, NUM_TURNS)


@jit
def play_phase(game, u, v, scale):
    """Study, blank delay, a disc that waits for the gaze, test; buttons come a moment after the test array."""
    if game.phase == STUDY:
        if time_is_up(game):
            show(game, DELAY, game.delay)
    elif game.phase == DELAY:
        if time_is_up(game):
            show(game, DISC)
    elif game.phase == DISC:
        if inside(u, v, 0.5, 0.5, DISC_SIDE):
            show(game, TEST, BUTTON_DELAY)
    elif game.phase == TEST:
        if time_is_up(game):
            show(game, CHOOSE)
    else:
        await_answer(game, u, v, BUTTONS)


@jit
def paint(game, canvas, stimuli):
    """The array as studied or as tested, the disc, or nothing during the delay."""
    if game.phase == DISC:
        fill_disc(canvas, 0.5, 0.5, DISC_SIDE, BLACK)
    elif game.phase != DELAY:
        for i in range(game.objects):
            if i == game.changed and game.phase != STUDY:
                paint_object(canvas, game.new_cell, COLOURS[stimuli.holdout, game.new_colour], game.new_form)
            else:
                paint_object(canvas, game.cell[i], COLOURS[stimuli.holdout, game.colour[i]], game.form[i])
    if game.phase == CHOOSE or game.phase == ANSWERED:
        for button in range(len(BUTTONS)):
            paint_answered_button(game, canvas, BUTTONS, button, BLACK)


@jit
def paint_object(canvas, cell, colour, form):
    """A square or a letter that fills its cell."""
    x, y = CELLS[cell]
    if form == SQUARE:
        fill_square(canvas, x, y, CELL, colour)
    else:
        paint_letter(canvas, x, y, form - LETTER, colour)


@jit
def paint_letter(canvas, x, y, turns, colour):
    """An E on a 5 x 5 design, turned clockwise by quarter turns: a spine and three bars."""
    unit = CELL / 5
    cos, sin = (1, 0, -1, 0)[turns], (0, 1, 0, -1)[turns]
    for part in range(4):
        # Centre and size of the part, in units, before turning.
        right, down = (-2.0, 0.0) if part == 0 else (0.5, 2.0 * part - 4.0)
        width, height = (1.0, 5.0) if part == 0 else (4.0, 1.0)
        middle_x, middle_y = x + unit * (right * cos - down * sin), y + unit * (right * sin + down * cos)
        if sin != 0:
            width, height = height, width
        fill_box(canvas, middle_x - unit * width / 2, middle_y - unit * height / 2, unit * width, unit * height, colour)


@jit
def needs_memory(game):
    """Always: the test array alone tells nothing."""
    return True


TASK = trial_task(
    name="change_detection",
    title="Change Detection",
    rule="Study the array; after a delay and the black disc, look at the left button if something changed, else right.",
    instructions=(
        "An array of squares and letters flashes up for less than half a second. Then comes a blank delay.",
        "Look at the black disc: the array comes back. Left button: something changed. Right button: all the same.",
    ),
    stimuli={"train": ", ".join(TRAIN_COLOURS), "holdout": ", ".join(HOLDOUT_COLOURS)},
    curriculum=({"delays": 2}, {"delays": 8}, {"delays": 64}),
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
    load_stimuli=load_nothing("change_detection"),
    checks={
        "delay": within(0, 10**6),
        "total_delay": within(0, MANY),
        "objects": within(0, MAX_OBJECTS),
        "changed": within(-1, MAX_OBJECTS - 1),
        **dict.fromkeys(("cell", "new_cell"), within(0, len(CELLS) - 1)),
        **dict.fromkeys(("colour", "new_colour"), within(0, NUM_COLOURS - 1)),
        **dict.fromkeys(("form", "new_form"), within(SQUARE, LETTER + NUM_TURNS - 1)),
    },
    card_step=60,
)
