"""The panel of the PsychLab tasks: where its texels are, and the marks that all of them show on it."""

from typing import NamedTuple

import numpy as np

from memorylab.world.canvas import fill_box, fill_square, rgb
from memorylab.world.jit import jit
from memorylab.world.room import NUM_SURFACES, furnish, surface_size

CROSS_SIDE = 0.1
BUTTON_SIDE = 0.1
RED = rgb(255, 0, 0)
MAX_TEXELS = 2**31  # drawing numbers them in 32 bits, with a sign


class PanelView(NamedTuple):
    """The room with a panel for every game, in one array that drawing looks texels up in."""

    surfaces: np.ndarray  # the room's texels, then each game's panel
    size: int  # texels across each of them


def most_games(width: int) -> int:
    """Whose panels drawing can number the texels of."""
    return MAX_TEXELS // surface_size(width) ** 2 - NUM_SURFACES


def build_view(games: int, width: int) -> PanelView:
    """Panels are empty until their games paint them."""
    size = surface_size(width)
    if games > most_games(width):
        raise ValueError(
            f"one environment with pictures {width} wide holds up to {most_games(width):,} games, not {games:,}"
        )
    panels = np.zeros((games, size, size), np.uint32)
    return PanelView(np.concatenate([furnish(width), panels]).ravel(), size)


@jit
def panel_start(view, number):
    """Where game `number`'s panel begins among the surfaces."""
    return (NUM_SURFACES + number) * view.size**2


@jit
def canvas_of(view, number):
    """Game `number`'s panel as a square that can be painted on: a view, not a copy."""
    first = panel_start(view, number)
    return view.surfaces[first : first + view.size**2].reshape((view.size, view.size))


@jit
def paint_button(canvas, buttons, button, colour):
    """In one colour, at its place among `buttons`."""
    fill_square(canvas, buttons[button, 0], buttons[button, 1], BUTTON_SIDE, colour)


@jit
def paint_cross(canvas):
    """Red, in the middle: the mark that begins a trial when looked at."""
    arm = CROSS_SIDE / 5
    fill_box(canvas, 0.5 - CROSS_SIDE / 2, 0.5 - arm / 2, CROSS_SIDE, arm, RED)
    fill_box(canvas, 0.5 - arm / 2, 0.5 - CROSS_SIDE / 2, arm, CROSS_SIDE, RED)
