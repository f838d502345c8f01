"""A sense of what is new: the paper's episodic memory, and beside it how familiar the picture and each patch of it are.

To tell same from different is hardly learned from two pictures side by side, and soon from their difference
(docs/signatures.md). A nearest-neighbour read has that difference, and the paper's agent does not see it: its weights
sum to one, whether what they weigh is near or far. Here m_t has it, for the whole picture,

    n_0 = log(0.001 + |q_t - k_j|^2) / 5,    j the nearest slot,

and, since where one walks no picture returns but things do, in other places of the view, for each of 9 x 12 patches:
each episode keeps the colours it has met, and the novelty of a patch is its distance to the nearest of them,

    n_c = min(10 |colour_c - colour_i|, 1),    i the nearest kept colour.

The steps just gone by look most like now and say nothing about the past: slots and colours count only when they are
`rest` steps old. Nothing of n is learned, so it knows what no agent was trained on as well as anything else.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicStore, Neighbours
from memorylab.agent.kernels import array, suits
from memorylab.agent.picture_kernels import note_colours
from memorylab.agent.sensing import Found, Near, SensingMemory

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

ROWS, COLUMNS = 9, 12
PATCHES = ROWS * COLUMNS
KEPT = 256  # colours of an episode; a walk through two rooms meets about a hundred
APART = 0.03  # a colour is kept if it is farther than this from all kept ones; channels go from 0 to 1


class FamiliarityStore(EpisodicStore):
    """With the colours that each game has met, in the order in which it met them."""

    def __init__(self, rest: int, num_envs: int, *sizes: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        self.rest = rest
        whole: dict[str, Any] = {"device": self.k.device, "dtype": torch.int64}
        self.colours = self.k.new_zeros(num_envs, 3, KEPT)
        self.born = torch.zeros(num_envs, KEPT, **whole)
        self.kept = torch.zeros(num_envs, **whole)  # how many
        self.clock = torch.zeros(num_envs, **whole)
        self.update(colours=self.colours, born=self.born, kept=self.kept, clock=self.clock)

    def wipe(self, reset: Tensor) -> None:
        """Forget the colours, too."""
        super().wipe(reset)
        self.kept.masked_fill_(reset, 0)
        self.clock.masked_fill_(reset, 0)

    def meet(self, patches: Tensor) -> Tensor:
        """The novelty of patches (B, patches, 3); those that are new to the episode are kept."""
        novelty = patches.new_zeros(patches.shape[:2])
        if suits(patches, self.colours):
            given = patches, self.colours, self.born, self.kept, self.clock
            note_colours(*map(array, given), self.rest, APART, array(novelty))
            return novelty
        self.clock += 1
        number = torch.arange(KEPT, device=patches.device)
        has_rested = (number < self.kept[:, None]) & (self.born + self.rest <= self.clock[:, None])
        for c, patch in enumerate(patches.unbind(1)):  # one by one: a colour may be new only in the first of two
            distance = (self.colours - patch[:, :, None]).square().sum(1)
            far = distance.masked_fill(~has_rested, torch.inf).amin(1).sqrt()
            novelty[:, c] = torch.where(has_rested.any(1), (10 * far).clamp_max(1), 0)
            nearest = distance.masked_fill(number >= self.kept[:, None], torch.inf).amin(1)
            here = (number == self.kept[:, None]) & (nearest > APART**2)[:, None]
            self.colours.copy_(torch.where(here[:, None], patch[:, :, None], self.colours))
            self.born.copy_(torch.where(here, self.clock[:, None], self.born))
            self.kept += here.any(1)
        return novelty


class FamiliarityMemory(SensingMemory):
    """m_t = [what is recalled, n_0, n_c of all patches]."""

    sensed = PATCHES

    def __init__(self, config: "AgentConfig", *, rest: int = 64, detail: int = 1, brightness: float = 1.0):
        super().__init__(config)
        if not 0 <= rest < self.capacity:
            raise ValueError(f"{config.memory}.rest must be at least 0 and below the capacity, not {rest}")
        if not 1 <= detail <= min(config.height // ROWS, config.width // COLUMNS):
            raise ValueError(f"{config.memory}.detail must be from 1 to the pixels across a patch, not {detail}")
        if not 0 <= brightness <= 1:
            raise ValueError(f"{config.memory}.brightness must be from 0 to 1, not {brightness}")
        self.rest, self.detail, self.brightness = rest, detail, brightness
        self.size += 1

    def new_store(self, num_envs: int, **options: Any) -> FamiliarityStore:
        """Rings of `capacity` slots, and no colours yet."""
        return FamiliarityStore(self.rest, num_envs, *self.sizes, **options)

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The mean colour of each patch, channels from 0 to 1: (T, B, patches, 3).

        With more detail that of one part of it, below and right of its middle, for the edges of things mix with what is
        behind them; with less brightness, light and shade count less.
        """
        flat = inputs.pictures.flatten(0, 1).permute(0, 3, 1, 2).to(dtype)
        parts = adaptive_avg_pool2d(flat, (ROWS * self.detail, COLUMNS * self.detail)).div_(255)
        one = slice(self.detail // 2, None, self.detail)
        patches = parts[..., one, one]
        if self.brightness < 1:
            patches = patches - (1 - self.brightness) * patches.mean(1, keepdim=True)
        return patches.flatten(2).mT.contiguous().view(*inputs.resets.shape, PATCHES, 3)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Found:  # type: ignore[override]
        """The K nearest slots, and what is new in this picture, which is then no longer so."""
        return self.found(store, q_t, store.meet(looked_t))

    def forward(self, q_t: Tensor, near: Near) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(m_t, w_t)."""
        m_t, w_t = self.read_slots(q_t, Neighbours(*near[:3]))
        squared_distance = (q_t[..., None, :] - near.keys).square().sum(-1)
        nearest = squared_distance.masked_fill(~near.valid, torch.inf).amin(-1, keepdim=True)
        novelty = torch.where(nearest < torch.inf, torch.log(0.001 + nearest) / 5, 0)
        return torch.cat([m_t, novelty, near.sensed], -1), w_t
