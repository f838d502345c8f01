"""Contact sheets and animations of a task as a scripted player sees it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from memorylab.envs.plan import PAPER, with_map
from memorylab.envs.single import MemoryEnv
from memorylab.runs.files import replacing

MARGIN = 4
CAPTION = 14


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
    pictures = [with_map(env.batch, picture, route)]
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
            pictures.append(with_map(env.batch, picture, route))
            on_picture()
        elif "x" in env.info:
            route.append((env.info["x"][0], env.info["z"][0]))
    return pictures


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
