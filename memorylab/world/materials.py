"""What surfaces are made of: procedural textures, each with its smaller copies for the distance, in one flat array.

A material starts at `number * STRIDE` and holds 64 x 64, 32 x 32 ... 4 x 4 texels, red | green << 8 | blue << 16.
"""

import numpy as np

from memorylab.world.canvas import packed

SIZE_BITS = 6
SIZE = 1 << SIZE_BITS
COARSEST = 4  # 4 x 4 texels
STRIDE = 5461  # so that level n starts at STRIDE - (STRIDE >> 2 n)

COLOURS = {
    "Red": (230, 25, 25), "Green": (30, 160, 50), "Blue": (30, 70, 220), "White": (245, 245, 245),
    "Black": (20, 20, 20), "Slate": (90, 105, 125), "Yellow": (250, 220, 30), "Brown": (130, 75, 30),
    "Pink": (250, 150, 190), "Orange": (250, 130, 20), "Purple": (130, 40, 170), "Grey": (128, 128, 128),
    "Tan": (210, 180, 140), "Lime": (160, 230, 40), "Magenta": (235, 30, 200), "Mint": (150, 240, 190),
    "Navy": (15, 25, 100), "Olive": (120, 120, 20), "Teal": (10, 130, 130), "Turquoise": (60, 220, 210),
}  # fmt: skip


def coordinates() -> tuple[np.ndarray, np.ndarray]:
    """x and y of every texel's middle, from 0 to 1."""
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) / SIZE
    return x, y


def tinted(shade: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    """Shades of one colour, (SIZE, SIZE, 3)."""
    return shade[..., None] * np.array(colour)


def grain(seed: int, strength: float) -> np.ndarray:
    """Noise around 1, the same for the same seed: large surfaces would look flat without it."""
    return 1 + strength * (np.random.default_rng(seed).random((SIZE, SIZE)) - 0.5)


def bricks(colour: tuple[int, int, int], seed: int) -> np.ndarray:
    """Rows of bricks with pale joints, darker towards the ground."""
    x, y = coordinates()
    row = np.floor(y * 6)
    along = x * 3 + 0.5 * (row % 2)
    uneven = 0.86 + 0.14 * np.sin(np.floor(along) * 5.1 + row * 2.7)
    joint = (y * 6 - row < 0.14) | (along % 1 < 0.07)
    return tinted(np.where(joint, 1.12, uneven) * (0.85 + 0.15 * y) * grain(seed, 0.12), colour)


def planks(colour: tuple[int, int, int], seed: int) -> np.ndarray:
    """Upright boards of uneven shade with dark gaps, darker towards the ground."""
    x, y = coordinates()
    plank = np.floor(x * 5)
    shade = 0.88 + 0.12 * np.sin(plank * 2.4)
    return tinted(np.where(x * 5 - plank < 0.08, 0.6, shade) * (0.85 + 0.15 * y) * grain(seed, 0.1), colour)


def tiles(colour: tuple[int, int, int], seed: int) -> np.ndarray:
    """A chequered floor: squares tell depth."""
    x, y = coordinates()
    return tinted((0.8 + 0.2 * ((np.floor(x * 2) + np.floor(y * 2)) % 2)) * grain(seed, 0.12), colour)


def windows(colour: tuple[int, int, int], seed: int) -> np.ndarray:
    """The front of a building."""
    x, y = coordinates()
    pane = (abs(x * 2 % 1 - 0.5) < 0.25) & (abs(y * 2 % 1 - 0.5) < 0.3)
    wall = tinted(grain(seed, 0.1), colour)
    return np.where(pane[..., None], np.array((60, 80, 110)) * (0.8 + 0.4 * y[..., None]), wall)


def painted(colour: tuple[int, int, int]) -> np.ndarray:
    """A plain colour with a darker rim, so that a block's edges can be seen."""
    x, y = coordinates()
    rim = np.maximum(abs(x - 0.5), abs(y - 0.5)) > 0.45
    return tinted(np.where(rim, 0.72, 1.0), colour)


WALL_STYLES, FLOOR_STYLES, BUILDING_STYLES = 4, 4, 4
TEXTURES = {
    "wall 0": bricks((172, 104, 82), 1), "wall 1": planks((150, 128, 96), 2), "wall 2": bricks((120, 130, 140), 3),
    "wall 3": planks((104, 124, 108), 4),
    "floor 0": tiles((124, 118, 104), 5), "floor 1": tiles((96, 112, 92), 6), "floor 2": tiles((128, 104, 88), 7),
    "floor 3": tiles((104, 108, 124), 8),
    "building 0": windows((176, 150, 120), 9), "building 1": windows((150, 96, 84), 10),
    "building 2": windows((120, 140, 150), 11), "building 3": windows((170, 168, 150), 12),
    "gate": planks((92, 84, 96), 13), "stand": planks((96, 92, 88), 14),
    "goal": painted((255, 196, 0)),
    **{name: painted(colour) for name, colour in COLOURS.items()},
}  # fmt: skip
MATERIALS = {name: number for number, name in enumerate(TEXTURES)}


def with_copies(texture: np.ndarray) -> np.ndarray:
    """A texture and its halves, quarters ... as STRIDE texels; row 0 of a texture is its top."""
    levels = []
    for _ in range(COARSEST + 1):
        levels.append(packed(texture.clip(0, 255)).ravel())
        side = len(texture) // 2
        texture = texture.reshape(side, 2, side, 2, 3).mean(axis=(1, 3))
    flat = np.concatenate(levels)
    return np.concatenate([flat, np.zeros(STRIDE - len(flat), np.uint32)])


def build_materials(extra: list[np.ndarray]) -> np.ndarray:
    """All materials, then a user's: (64, 64, 3) textures numbered on from len(MATERIALS)."""
    return np.concatenate([with_copies(np.asarray(texture, float)) for texture in [*TEXTURES.values(), *extra]])
