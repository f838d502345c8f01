"""A palette: familiarity with colours by the pixel, and by when each was first met.

[Familiarity](familiarity.py) takes the mean colour of a patch, which mixes a thing with what is behind it: the same
block is another colour from farther away. Here every pixel counts by itself. Colours are sorted into bins by hue and
brightness; a bin knows the step t_c at which it or one beside it was first met. The novelty of a patch, at step t of an
episode, is a mean over its pixels:

    n = mean of t_c / t,    1 for what was never met before now.

What was met when the episode was young is old whenever one looks, and what is new stays so for about as long as it took
to get here: no number of steps needs to be chosen. Nothing of it is learned.
"""

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicStore
from memorylab.agent.familiarity import COLUMNS, PATCHES, ROWS, FamiliarityMemory
from memorylab.agent.kernels import array, suits
from memorylab.agent.picture_kernels import note_pixels

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

GRAIN = 15  # of 255: how wide a bin is
HUES, SHADES = 510 // GRAIN + 3, 255 // GRAIN + 3  # one more on either side, so that every bin has others beside it
BINS = HUES * HUES * SHADES
BESIDE = [(i * HUES + j) * SHADES + k for i, j, k in product((-1, 0, 1), repeat=3)]
NEVER = 2**31 - 1


def bins_of(pictures: Tensor) -> Tensor:
    """Of each pixel (..., 3): red against green, both against blue, and brightness."""
    r, g, b = pictures.to(torch.int64).unbind(-1)
    i, j, k = (r - g + 255) // GRAIN, (r + g - 2 * b + 510) // (2 * GRAIN), (r + g + b) // (3 * GRAIN)
    return ((i + 1) * HUES + j + 1) * SHADES + k + 1


@cache
def patches_of(height: int, width: int, device: torch.device) -> Tensor:
    """Which patch each pixel is in."""
    rows, columns = torch.arange(height) * ROWS // height, torch.arange(width) * COLUMNS // width
    return (rows[:, None] * COLUMNS + columns).flatten().to(device)


class PaletteStore(EpisodicStore):
    """With the step at which each game first met each bin or one beside it."""

    def __init__(self, rest: int, num_envs: int, *sizes: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        self.rest = rest
        device = self.k.device
        self.first = torch.full((num_envs, BINS), NEVER, dtype=torch.int32, device=device)
        self.met = torch.zeros(num_envs, BINS, dtype=torch.bool, device=device)
        self.clock = torch.zeros(num_envs, dtype=torch.int32, device=device)
        self.update(first=self.first, met=self.met, clock=self.clock)

    def wipe(self, reset: Tensor) -> None:
        """Forget the colours, too."""
        super().wipe(reset)
        if not suits(self.k) or reset.any():
            self.first.masked_fill_(reset[:, None], NEVER)
            self.met.masked_fill_(reset[:, None], False)
            self.clock.masked_fill_(reset, 0)

    def meet(self, pictures: Tensor) -> Tensor:
        """The novelty of the patches of pictures (B, height, width, 3), which are then no longer new."""
        novelty = self.k.new_zeros(len(pictures), PATCHES)
        patch_of = patches_of(*pictures.shape[1:3], device=pictures.device)
        pixels = pictures.flatten(1, 2)
        if suits(self.k):
            given = pixels.contiguous(), self.first, self.met, self.clock
            note_pixels(*map(array, given), GRAIN, HUES, SHADES, array(patch_of), array(novelty))
            return novelty
        self.clock += 1
        bins, clock = bins_of(pixels), self.clock[:, None]
        new = (self.first.gather(1, bins).minimum(clock) / clock).to(novelty.dtype)
        number = patch_of.bincount(minlength=PATCHES)
        novelty.index_add_(1, patch_of, new).div_(number)
        for beside in BESIDE:
            self.first.scatter_reduce_(1, bins + beside, clock.expand_as(bins), "amin")
        self.met.scatter_(1, bins, True)
        return novelty


class PaletteMemory(FamiliarityMemory):
    """m_t = [what is recalled, how new the picture is, how new the pixels of each patch are]."""

    def __init__(self, config: "AgentConfig", *, rest: int = 64):
        super().__init__(config, rest=rest)

    def new_store(self, num_envs: int, **options: Any) -> PaletteStore:  # type: ignore[override]
        """Rings of `capacity` slots, and no colours yet."""
        return PaletteStore(self.rest, num_envs, *self.sizes, **options)

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """Every pixel."""
        return inputs.pictures
