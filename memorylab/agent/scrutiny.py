"""A close look: familiarity, and beside it which pixels were otherwise in all moments that looked like now.

Comparison lays the patches of one moment beside those of now. Where one walks, a thing far away is smaller than a
patch, and nothing is ever quite where it was. Here pixels are compared, each with those up to `shift` pixels around it,
and not with one moment but with all K neighbours: what is as it was in any of them has not changed. For each of the
9 x 12 patches m_t also has

    d_c = max over the pixels p of c of min over the neighbours j of min(4 apart_j(p), 1)
    apart_j(p) = max(|now(p) - then_j(around p)|, |then_j(p) - now(around p)|)

with the distance to the nearest colour around p; colours go from 0 to 1, and what is nearer than 8 / 255 is the same.
It goes both ways since what is gone has changed, too. A neighbour counts if a share `alike` of its pixels is as now; if
none does, all d are 0: who wants to compare two places must have looked at both from the same one. Nothing of d is
learned; which moments are the neighbours, the keys say, and these are.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from memorylab.agent.data import Inputs
from memorylab.agent.familiarity import COLUMNS, PATCHES, ROWS, FamiliarityMemory, FamiliarityStore, Recognised
from memorylab.agent.kernels import array, suits
from memorylab.agent.palette import patches_of
from memorylab.agent.picture_kernels import PIXEL_SCALE, SAME, compare_pixels

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig


class ScrutinyStore(FamiliarityStore):
    """With each moment's picture."""

    def __init__(
        self,
        side: tuple[int, int],
        shift: int,
        sideways: int,
        alike: float,
        rest: int,
        num_envs: int,
        capacity: int,
        *sizes: int,
        **options: Any,
    ):
        super().__init__(rest, num_envs, capacity, *sizes, **options)
        self.shift, self.sideways, self.alike = shift, sideways, alike
        self.patch_of = patches_of(*side, device=self.k.device)
        self.seen = torch.zeros(num_envs, capacity, *side, 3, dtype=torch.uint8, device=self.k.device)
        self.update(seen=self.seen)

    def differences(self, pictures: Tensor, age: Tensor, valid: Tensor) -> Tensor:
        """Of the patches (B, patches) of pictures (B, height, width, 3) from those that were seen `age` (B, K) steps
        ago; zeros where none of them was alike."""
        slots = (self.next_slot - age) % self.capacity
        found = self.k.new_zeros(len(pictures), PATCHES)
        if suits(self.k):
            given = pictures.contiguous(), self.seen, slots, valid, self.patch_of
            compare_pixels(*map(array, given), self.shift, self.sideways, self.alike, array(found))
            return found
        now, like_any = pictures.to(found), torch.zeros_like(valid[:, 0])
        least = torch.full(pictures.shape[:3], torch.inf).to(found)
        for then_at, is_valid in zip(slots.unbind(1), valid.unbind(1), strict=True):
            then = self.seen[torch.arange(len(slots), device=slots.device), then_at].to(found)
            is_same = (now - then).square().sum(-1) <= SAME**2
            is_like = is_valid & (is_same.to(found).mean((1, 2)) >= self.alike)
            around = self.shift, self.sideways
            apart = torch.maximum(nearest_around(now, then, *around), nearest_around(then, now, *around))
            least = torch.where(is_like[:, None, None], torch.minimum(least, apart), least)
            like_any |= is_like
        each = torch.where(least > SAME, PIXEL_SCALE * least, 0).clamp_max(1).flatten(1)
        found.scatter_reduce_(1, self.patch_of.expand(len(found), -1), each, "amax")
        return torch.where(like_any[:, None], found, 0)

    def see(self, pictures: Tensor) -> None:
        """What the next slot to be written will have looked like."""
        self.seen[:, self.next_slot] = pictures


def nearest_around(one: Tensor, other: Tensor, shift: int, sideways: int) -> Tensor:
    """How far each colour (B, rows, columns, 3) is from the nearest up to `shift` pixels around it in the other."""
    rows, columns = one.shape[1:3]
    around = pad(other, (0, 0, sideways, sideways, shift, shift), value=torch.inf)
    nearest = torch.full(one.shape[:3], torch.inf, dtype=one.dtype, device=one.device)
    for row in range(2 * shift + 1):
        for column in range(2 * sideways + 1):
            moved = around[:, row : row + rows, column : column + columns]
            nearest = torch.minimum(nearest, (one - moved).square().sum(-1))
    return nearest.sqrt()


class ScrutinyMemory(FamiliarityMemory):
    """m_t = [what familiarity has, d]."""

    def __init__(
        self,
        config: "AgentConfig",
        *,
        rest: int = 64,
        detail: int = 1,
        brightness: float = 1.0,
        shift: int = 2,
        sideways: int = 4,
        alike: float = 0.4,
    ):
        super().__init__(config, rest=rest, detail=detail, brightness=brightness)
        if not 0 <= shift < ROWS:
            raise ValueError(f"scrutiny.shift must be at least 0 and below {ROWS} pixels, not {shift}")
        if not 0 <= sideways < COLUMNS:
            raise ValueError(f"scrutiny.sideways must be at least 0 and below {COLUMNS} pixels, not {sideways}")
        if not 0 <= alike <= 1:
            raise ValueError(f"scrutiny.alike must be from 0 to 1, not {alike}")
        self.shift, self.sideways, self.alike = shift, sideways, alike
        self.side = config.height, config.width
        self.noticed += PATCHES
        self.size += PATCHES

    def new_store(self, num_envs: int, **options: Any) -> ScrutinyStore:
        """Familiarity's, with pictures."""
        sizes = self.capacity, self.input_size, self.hidden_size, self.key_size
        return ScrutinyStore(self.side, self.shift, self.sideways, self.alike, self.rest, num_envs, *sizes, **options)

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """Every pixel."""
        return inputs.pictures

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Recognised:  # type: ignore[override]
        """The nearest slots, and what no one of them has."""
        found = super().search(store, q_t, self.patches(looked_t, q_t.dtype))
        differences = store.differences(looked_t, found.age, found.valid)
        store.see(looked_t)
        return found._replace(novelty=torch.cat([found.novelty, differences], -1))
