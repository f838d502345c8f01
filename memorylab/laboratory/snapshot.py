"""Contact sheets and animations of a task as a scripted player sees it."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from memorylab.envs.single import MemoryEnv
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.laboratory.plan import Plan, plan_of
from memorylab.runs.files import replacing

MARGIN = 4
CAPTION = 14
PAPER = (250, 250, 250)


def watch(
    task: str,
    level: str,
    player: str,
    frames: int,
    every: int,
    seed: int,
    on_picture: Callable[[], None] = lambda: None,
    **options: Any,
) -> list[np.ndarray]:
    """Pictures of an episode, one in `every` steps; a new episode begins where one ends.

    For tasks that are walked through each picture has a map beside it, with the route so far.
    """
    env = MemoryEnv(task, level, seed=seed, **options)
    picture, _ = env.reset()
    route: list[tuple[float, float]] = []
    pictures = [with_map(env, picture, route)]
    on_picture()
    action = np.zeros(1, np.int64)
    step = 0
    while len(pictures) < frames:
        env.batch.act(player, action)
        picture, _, terminated, truncated, _ = env.step(action[0])
        step += 1
        if terminated or truncated:
            picture, _ = env.reset()
            route.clear()
        if step % every == 0:
            pictures.append(with_map(env, picture, route))
            on_picture()
        elif "x" in env.info:
            route.append((env.info["x"][0], env.info["z"][0]))
    return pictures


def with_map(
    env: MemoryEnv | MemoryVectorEnv, picture: np.ndarray, route: list[tuple[float, float]], number: int = 0
) -> np.ndarray:
    """The picture and, to its right, what lies around seen from above: north is up, the walker a red dot."""
    plan = plan_of(env.batch, number)
    if plan is None:
        return picture
    game = env.batch.records[number]
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


def enlarge(picture: np.ndarray, zoom: int) -> Image.Image:
    """Each pixel as a square: exactly what the agent sees."""
    return Image.fromarray(picture.repeat(zoom, 0).repeat(zoom, 1))


def contact_sheet(strips: list[tuple[str, list[np.ndarray]]], columns: int, zoom: int) -> Image.Image:
    """Captioned strips of pictures below each other, each broken into rows of `columns`."""
    height, width = (max(strip[1][0].shape[axis] for strip in strips) * zoom + MARGIN for axis in (0, 1))
    rows = [-(-len(pictures) // columns) for _, pictures in strips]
    sheet = Image.new("RGB", (columns * width + MARGIN, sum(rows) * height + len(strips) * CAPTION + MARGIN), PAPER)
    pen = ImageDraw.Draw(sheet)
    top = MARGIN
    for (caption, pictures), count in zip(strips, rows, strict=True):
        pen.text((MARGIN, top - 2), caption, fill=(40, 40, 40))
        top += CAPTION
        for i, picture in enumerate(pictures):
            sheet.paste(enlarge(picture, zoom), (MARGIN + i % columns * width, top + i // columns * height))
        top += count * height
    return sheet


def save_animation(pictures: list[np.ndarray], zoom: int, path: Path, every: int) -> None:
    """At the speed of the game: 15 steps a second."""
    first, *rest = [enlarge(picture, zoom) for picture in pictures]
    with replacing(path) as temporary:
        first.save(temporary, "GIF", save_all=True, append_images=rest, duration=round(1000 * every / 15), loop=0)


def save_sheet(sheet: Image.Image, path: Path) -> None:
    """As PNG."""
    with replacing(path) as temporary:
        sheet.save(temporary, "PNG")
