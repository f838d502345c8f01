"""How things move: the paper's episodic memory, and beside it what moves otherwise than it did when last in sight.

A thing is told by its hue. At each step the pixels of a hue have a middle, as a bearing and an elevation, and a size;
where that has gone in LAG steps, own turns taken off, in sizes, is one of nine motions: eight directions, or still.
What is seen of a way and the size of a thing both shrink with distance, so that these do not depend on it. Each game
counts the motions of every hue: `now`, since it came into sight, and `then`, before it was last out of sight for a
while. How much a hue has changed is half of the distance between the two, less what counting does by chance,

    d = sum over motions of |then / sum of then - now / sum of now| / 2,    0 as long as either has few counts,
    c = (d - 0.2) / 0.4, from 0 to 1,

and m_t has its mean over the pixels of a hue in each of 9 x 12 patches: what has changed, and where it is. Nothing of
it is learned.
"""

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicStore
from memorylab.agent.familiarity import PATCHES, FamiliarityMemory
from memorylab.agent.homing import MOTIONS
from memorylab.agent.kernels import array, suits
from memorylab.agent.palette import patches_of
from memorylab.agent.picture_kernels import mean_over_patches, sum_over_hues

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

HUES = 12
PALE = HUES  # instead of a hue: grey, dark or nearly so
DARK, PURE = 60, 0.55  # the least value, and the least saturation, of a hue
LAG = 6  # steps
STILL = 0.25  # of its size: a thing that has gone less is still
DIRECTIONS = 8
AWAY = 30  # steps out of sight after which a thing is met anew
ENOUGH = 15  # counts
BY_CHANCE, SURELY = 0.2, 0.6  # how far counts of the same motion are apart, and those of others


def hues_of(pixels: Tensor) -> Tensor:
    """Of each pixel (..., 3), from 0 to 11, or PALE."""
    r, g, b = pixels.to(torch.int64).unbind(-1)
    most, least = pixels.amax(-1).to(torch.int64), pixels.amin(-1).to(torch.int64)
    d = (most - least).clamp_min(1)
    by_red, by_green, by_blue = 2 * (g - b) // d, 2 * (b - r) // d + 4, 2 * (r - g) // d + 8
    hue = torch.where(most == r, by_red, torch.where(most == g, by_green, by_blue)) % HUES
    return torch.where((most >= DARK) & (100 * (most - least) >= round(100 * PURE) * most), hue, PALE)


class MotionStore(EpisodicStore):
    """With the motions of each hue, and where it was in the last steps."""

    def __init__(self, size: tuple[int, int], rest: int, num_envs: int, *sizes: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        self.height, self.width = size
        self.rest = rest
        zeros = self.k.new_zeros
        self.seen = zeros(num_envs, LAG + 1, HUES, 3)  # newest first: bearing, elevation, size, 0 if there was none
        self.then, self.now = (zeros(num_envs, HUES, DIRECTIONS + 1) for _ in range(2))
        self.away = zeros(num_envs, HUES)
        self.turned = zeros(num_envs)
        self.update(seen=self.seen, then=self.then, now=self.now, away=self.away, turned=self.turned)
        self.turns = MOTIONS[:, 2].to(self.k)

    def wipe(self, reset: Tensor) -> None:
        """Motions, too."""
        super().wipe(reset)
        if not suits(self.k) or reset.any():
            for part in (self.seen, self.then, self.now, self.away, self.turned):
                part[reset] = 0

    def meet(self, pixels: Tensor, actions: Tensor) -> Tensor:
        """How much the hues of each patch have changed, in pictures (B, pixels, 3) that came after these actions."""
        hues, sums = self.sort(pixels)
        self.turned += self.turns[actions]
        self.look(sums)
        self.count()
        return self.paint(hues, self.changes())

    def sort(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """The hue of each pixel, and the sums (B, HUES, 3) of columns, rows and ones over the pixels of each hue."""
        hues = torch.empty(pixels.shape[:2], dtype=torch.int64, device=pixels.device)
        sums = self.k.new_zeros(len(pixels), HUES, 3)
        if suits(self.k):
            sum_over_hues(*map(array, (pixels, hues, sums)), self.width, DARK, round(100 * PURE))
            return hues, sums
        hues = hues_of(pixels)
        places = torch.arange(pixels.shape[1], device=pixels.device)
        ones = torch.ones_like(places)
        of_pixel = torch.stack([places % self.width, places // self.width, ones], -1).to(sums)
        by_hue = one_hot(hues, HUES + 1)[..., :HUES].to(sums)
        return hues, by_hue.mT @ of_pixel

    def look(self, sums: Tensor) -> None:
        """Where each hue is, as seen from where one looked at first: angles and sizes in parts of the view's half."""
        half = self.width / 2
        number = sums[..., 2]
        column, row = (sums[..., :2] / number.clamp_min(1)[..., None]).unbind(-1)
        bearing = torch.atan((column + 0.5) / half - 1) + self.turned[:, None]
        elevation = (self.height / 2 - 0.5 - row) / half
        size = torch.where(number >= 2, number.sqrt() / half, 0)
        self.seen[:, 1:] = self.seen[:, :-1].clone()
        self.seen[:, 0] = torch.stack([bearing, elevation, size], -1)

    def count(self) -> None:
        """The motion of each hue that was in sight at both ends of the lag; who returns after a while is met anew."""
        (bearing, elevation, size), (bearing_then, elevation_then, size_then) = (
            self.seen[:, lag].unbind(-1) for lag in (0, LAG)
        )
        returns = ((size > 0) & (self.away > AWAY))[..., None]
        self.then += torch.where(returns, self.now, 0)
        self.now.masked_fill_(returns, 0)
        self.away.copy_(torch.where(size > 0, 0, self.away + 1))
        scale = ((size**2 + size_then**2) / 2).sqrt().clamp_min(1e-6)
        right, up = (bearing - bearing_then) / scale, (elevation - elevation_then) / scale
        octant = ((torch.atan2(up, right) / (math.pi / 4) + 0.5).floor() % DIRECTIONS).long()
        motion = torch.where(torch.hypot(right, up) < STILL, DIRECTIONS, octant)
        in_sight = (size > 0) & (size_then > 0)
        self.now += one_hot(motion, DIRECTIONS + 1) * in_sight[..., None]

    def changes(self) -> Tensor:
        """(B, HUES)."""
        then, now = self.then.sum(-1, keepdim=True), self.now.sum(-1, keepdim=True)
        apart = (self.then / then.clamp_min(1) - self.now / now.clamp_min(1)).abs().sum(-1) / 2
        changed = ((apart - BY_CHANCE) / (SURELY - BY_CHANCE)).clamp(0, 1)
        return torch.where((then >= ENOUGH) & (now >= ENOUGH), changed[..., None], 0)[..., 0]

    def paint(self, hues: Tensor, changes: Tensor) -> Tensor:
        """(B, PATCHES): the mean over those pixels of a patch that have a hue; 0 without any."""
        patch_of = patches_of(self.height, self.width, hues.device)
        found = changes.new_zeros(len(hues), PATCHES)
        if suits(self.k):
            mean_over_patches(*map(array, (hues, changes, patch_of, found)))
            return found
        has_hue = (hues != PALE).to(changes)
        number = torch.zeros_like(found).index_add_(1, patch_of, has_hue)
        of_pixel = changes.gather(1, hues.clamp_max(HUES - 1)) * has_hue
        return found.index_add_(1, patch_of, of_pixel).div_(number.clamp_min(1))


class MotionMemory(FamiliarityMemory):
    """m_t = [what is recalled, how new the picture is, how much what is in each patch has changed its motion]."""

    def __init__(self, config: "AgentConfig", *, rest: int = 64):
        super().__init__(config, rest=rest)
        if config.actions != len(MOTIONS):
            raise ValueError(f"memory motion needs the {len(MOTIONS)} actions of walked tasks, not {config.actions}")
        self.picture_size = config.height, config.width

    def new_store(self, num_envs: int, **options: Any) -> MotionStore:  # type: ignore[override]
        """Rings of `capacity` slots, and nothing has moved yet."""
        return MotionStore(self.picture_size, self.rest, num_envs, *self.sizes, **options)

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """Every pixel, and the action before: bytes (T, B, pixels + 1, 3)."""
        actions = inputs.actions[..., None, None].expand(*inputs.actions.shape, 1, 3).to(torch.uint8)
        return torch.cat([inputs.pictures.flatten(2, 3), actions], 2)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Any:  # type: ignore[override]
        """The K nearest slots, and what moves otherwise than it did."""
        pixels, actions = looked_t[:, :-1].contiguous(), looked_t[:, -1, 0].long()
        return self.found(store, q_t, store.meet(pixels, actions))
