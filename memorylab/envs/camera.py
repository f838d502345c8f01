"""What `render` shows of one game: a picture of any size, with a map beside it if wanted; and a window for it."""

from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled

from memorylab.envs.batch import EnvBatch, checked_size
from memorylab.envs.plan import with_map

WINDOW_WIDTH = 640  # small pictures are shown in whole multiples of their size, up to this width


class Camera:
    """Looks at the first game of a batch, by a twin of that game that is drawn in another size."""

    def __init__(self, batch: EnvBatch, size: tuple[int, int] | None, is_mapped: bool):
        self.batch, self.is_mapped = batch, is_mapped
        spec = replace(batch.spec, size=batch.spec.size if size is None else checked_size(size, "render_size"))
        self.twin = batch if spec == batch.spec else EnvBatch(spec, 1, threads=1)
        self.route: list[tuple[float, float]] = []

    def shoot(self) -> np.ndarray:
        """The picture of now, (height, width, 3); a map beside it has the route since `forget`."""
        if self.twin is not self.batch:
            self.twin.take_records(self.batch.records)
        picture = self.twin.draw()[0]
        return with_map(self.batch, picture, self.route) if self.is_mapped else picture

    def forget(self) -> None:
        """A new episode begins."""
        self.route.clear()


class Window:
    """A window of pygame's, opened with the first picture."""

    def __init__(self, title: str, pictures_per_second: int):
        self.title, self.pictures_per_second = title, pictures_per_second
        self.screen: Any = None
        self.clock: Any = None
        load_pygame()  # so that it is missed now and not in the middle of a game

    def show(self, picture: np.ndarray) -> None:
        """At the speed of the game."""
        pygame = load_pygame()
        height, width, _ = picture.shape
        zoom = max(1, WINDOW_WIDTH // width)
        if self.screen is None:
            pygame.display.init()  # no sound, no joysticks
            pygame.display.set_caption(self.title)
            self.screen = pygame.display.set_mode((zoom * width, zoom * height))
            self.clock = pygame.time.Clock()
        surface = pygame.surfarray.make_surface(picture.swapaxes(0, 1))
        self.screen.blit(pygame.transform.scale(surface, (zoom * width, zoom * height)), (0, 0))
        pygame.event.pump()
        pygame.display.flip()
        self.clock.tick(self.pictures_per_second)

    def close(self) -> None:
        """If it was ever opened."""
        if self.screen is not None:
            load_pygame().display.quit()
            self.screen = self.clock = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "screen": None, "clock": None}  # a copy opens its own


def load_pygame() -> Any:
    """Or one sentence."""
    try:
        import pygame
    except ImportError:
        raise DependencyNotInstalled(
            'render_mode="human" opens a window by pygame, which is not installed: pip install pygame'
        ) from None
    return pygame
