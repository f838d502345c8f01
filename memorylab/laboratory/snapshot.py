"""Contact sheets and animations of a task as a scripted player sees it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from memorylab.envs.single import MemoryEnv

MARGIN = 4
CAPTION = 14
PAPER = (250, 250, 250)


def watch(task: str, level: str, player: str, frames: int, every: int, seed: int, **options: Any) -> list[np.ndarray]:
    """Pictures of an episode, one in `every` steps; a new episode begins where one ends."""
    env = MemoryEnv(task, level, seed=seed, **options)
    picture, _ = env.reset()
    pictures = [picture]
    action = np.zeros(1, np.int64)
    step = 0
    while len(pictures) < frames:
        env.games.act(player, action)
        picture, _, terminated, truncated, _ = env.step(action[0])
        step += 1
        if terminated or truncated:
            picture, _ = env.reset()
        if step % every == 0:
            pictures.append(picture)
    return pictures


def enlarge(picture: np.ndarray, zoom: int) -> Image.Image:
    """Each pixel as a square: exactly what the agent sees."""
    return Image.fromarray(picture.repeat(zoom, 0).repeat(zoom, 1))


def contact_sheet(strips: Iterable[tuple[str, list[np.ndarray]]], columns: int, zoom: int) -> Image.Image:
    """Captioned strips of pictures below each other, each broken into rows of `columns`."""
    strips = list(strips)
    height, width = (side * zoom + MARGIN for side in strips[0][1][0].shape[:2])
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
    with replacing(path) as temporary:
        sheet.save(temporary, "PNG")


class replacing:
    """A temporary path that takes the place of `path` when all went well."""

    def __init__(self, path: Path):
        self.path, self.temporary = path, path.with_name(f".{path.name}.part")

    def __enter__(self) -> Path:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.temporary

    def __exit__(self, problem: Any, *_: Any) -> None:
        if problem is None:
            self.temporary.replace(self.path)
        else:
            self.temporary.unlink(missing_ok=True)
