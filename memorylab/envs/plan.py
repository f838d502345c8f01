"""The world seen from above: `render`, `snapshot` and routes draw it, the pages in the browser are sent it."""

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from memorylab.envs.batch import EnvBatch
from memorylab.world.materials import COARSEST, STRIDE

Colour = tuple[int, ...]
PAPER = (250, 250, 250)


class Block(NamedTuple):
    """A box that rises above the floor."""

    west: float
    east: float
    south: float
    north: float
    colour: Colour


class Oval(NamedTuple):
    """A round thing."""

    x: float
    z: float
    radius: float
    colour: Colour


@dataclass(frozen=True)
class Plan:
    """What lies around a walker, in metres from the south-west corner."""

    cell: float  # the side of one
    solid: np.ndarray  # (rows, columns) bool: where walls stand; rows go north
    blocks: list[Block]
    ovals: list[Oval]
    goal: tuple[float, float] | None  # x, z


def plan_of(batch: EnvBatch, number: int = 0) -> Plan | None:
    """Of one game; None in tasks that are not walked through."""
    game = batch.records[number]
    if "solid" not in game.dtype.names:
        return None
    boxes = zip(game["boxes"][: game["num_boxes"]].tolist(), game["box_material"], strict=False)
    ovals = zip(game["ovals"][: game["num_ovals"]].tolist(), game["oval_material"], strict=False)
    return Plan(
        float(game["cell"]),
        game["solid"][: game["rows"], : game["columns"]].astype(bool),
        [
            Block(west, east, south, north, average_colour(batch, material))
            for (west, east, _, top, south, north), material in boxes
            if top > 0
        ],
        [Oval(x, z, radius, average_colour(batch, material)) for (x, _, z, radius, _), material in ovals],
        goal_of(game),
    )


def goal_of(game: np.void) -> tuple[float, float] | None:
    """Arenas know the place, mazes the cell; other tasks have no goal."""
    names = game.dtype.names or ()
    if "goal_x" in names:
        return float(game["goal_x"]), float(game["goal_z"])
    if "goal_row" in names:
        return (game["goal_column"] + 0.5) * float(game["cell"]), (game["goal_row"] + 0.5) * float(game["cell"])
    return None


def average_colour(batch: EnvBatch, material: int) -> Colour:
    """Of the last, coarsest copy of a material's texture."""
    start = (material + 1) * STRIDE - (STRIDE >> 2 * COARSEST)
    texels = batch.view.surfaces[start : start + COARSEST**2]
    return tuple(int((texels >> shift & 255).mean()) for shift in (0, 8, 16))


# --- drawn


def with_map(batch: EnvBatch, picture: np.ndarray, route: list[tuple[float, float]], number: int = 0) -> np.ndarray:
    """The picture and, to its right, what lies around seen from above: north is up, the walker a red dot."""
    plan = plan_of(batch, number)
    if plan is None:
        return picture
    game = batch.records[number]
    route.append((float(game["x"]), float(game["z"])))
    side = picture.shape[0]
    drawn = draw_plan(plan, route, 4 * side).resize((side, side), Image.Resampling.BOX)  # drawn larger, then shrunk
    return np.concatenate([picture, np.asarray(drawn)], axis=1)


def draw_plan(plan: Plan, route: list[tuple[float, float]], side: int) -> Image.Image:
    """So many pixels square, with the route to where the walker stands."""
    cell = plan.cell
    scale = side / (max(plan.solid.shape) * cell)
    drawn = Image.new("RGB", (side, side), PAPER)
    pen = ImageDraw.Draw(drawn)

    def box(west: float, east: float, south: float, north: float) -> tuple[float, float, float, float]:
        return west * scale, side - north * scale, east * scale, side - south * scale

    def around(x: float, z: float, radius: float) -> tuple[float, float, float, float]:
        return box(x - radius, x + radius, z - radius, z + radius)

    for row, column in np.argwhere(plan.solid).tolist():
        pen.rectangle(box(column * cell, (column + 1) * cell, row * cell, (row + 1) * cell), (110, 110, 120))
    for *edges, colour in plan.blocks:
        pen.rectangle(box(*edges), colour, (60, 60, 60))
    for x, z, radius, colour in plan.ovals:
        pen.ellipse(around(x, z, radius), colour, (60, 60, 60))
    for (x_0, z_0), (x_1, z_1) in itertools.pairwise(route):
        if abs(x_1 - x_0) + abs(z_1 - z_0) < 1.0:  # a longer way in one step is a respawn
            pen.line((x_0 * scale, side - z_0 * scale, x_1 * scale, side - z_1 * scale), (40, 90, 220), 4)
    if plan.goal:
        pen.ellipse(around(*plan.goal, 0.5), outline=(210, 150, 0), width=6)
    pen.ellipse(around(*route[-1], 10 / scale), (220, 30, 30))
    return drawn
