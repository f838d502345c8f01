"""The world seen from above: `snapshot` and routes draw it, the pages in the browser are sent it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from memorylab.envs.batch import EnvBatch
from memorylab.world.materials import COARSEST, STRIDE

Colour = tuple[int, ...]


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
