"""Pictures as PyTorch's convolutions want them."""

import numpy as np
from gymnasium import spaces


def channels_first(pictures: np.ndarray) -> np.ndarray:
    """(games, height, width, 3) as a new array (games, 3, height, width)."""
    return np.ascontiguousarray(pictures.transpose(0, 3, 1, 2))


def channels_first_space(space: spaces.Box) -> spaces.Box:
    """Of one picture."""
    height, width, channels = space.shape
    return spaces.Box(0, 255, (channels, height, width), np.uint8)
