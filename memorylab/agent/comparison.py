"""Then and now side by side: familiarity, and beside it where this picture differs from the one it recalls.

Familiarity knows what the episode has never seen. A known colour in a new place, on another block or another square, is
nothing new to it. So m_t also has, for each of the 9 x 12 patches, how far its colour is from what the nearest moment
had there, or next to there, since one never stands at quite the same place twice:

    d_c = min(10 |colour_c - colour_i|, 1),    i the nearest of the patches around c in the nearest moment.

Nothing of d is learned either. Which moment is the nearest, the keys say, and these are.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from memorylab.agent.familiarity import COLUMNS, PATCHES, ROWS, FamiliarityMemory, FamiliarityStore
from memorylab.agent.kernels import array, suits
from memorylab.agent.picture_kernels import compare_patches
from memorylab.agent.sensing import Found

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig


class ComparisonStore(FamiliarityStore):
    """With the patches of each moment's picture."""

    def __init__(self, shift: int, rest: int, num_envs: int, capacity: int, *sizes: int, **options: Any):
        super().__init__(rest, num_envs, capacity, *sizes, **options)
        self.shift = shift
        self.seen = self.k.new_zeros(num_envs, capacity, PATCHES, 3)
        self.update(seen=self.seen)

    def differences(self, patches: Tensor, age: Tensor, valid: Tensor) -> Tensor:
        """Of patches (B, patches, 3) from those that were seen `age` (B,) steps ago; zeros where nothing was."""
        slots = (self.next_slot - age) % self.capacity
        found = patches.new_zeros(patches.shape[:2])
        if suits(patches, self.seen):
            given = patches, self.seen, slots, valid, found
            compare_patches(*map(array, given), ROWS, COLUMNS, self.shift)
            return found
        now = patches.view(-1, ROWS, COLUMNS, 3)
        then = self.seen[torch.arange(len(slots), device=slots.device), slots].view(now.shape)
        around = pad(then, (0, 0, *[self.shift] * 4), value=torch.inf)
        nearest = torch.full(now.shape[:3], torch.inf, dtype=now.dtype, device=now.device)
        for row in range(2 * self.shift + 1):
            for column in range(2 * self.shift + 1):
                moved = around[:, row : row + ROWS, column : column + COLUMNS]
                nearest = torch.minimum(nearest, (now - moved).square().sum(-1))
        return torch.where(valid[:, None], (10 * nearest.sqrt()).clamp_max(1).flatten(1), 0)

    def see(self, patches: Tensor) -> None:
        """What the next slot to be written will have looked like."""
        self.seen[:, self.next_slot] = patches


class ComparisonMemory(FamiliarityMemory):
    """m_t = [what familiarity has, d]."""

    def __init__(
        self, config: "AgentConfig", *, rest: int = 64, detail: int = 1, brightness: float = 1.0, shift: int = 1
    ):
        super().__init__(config, rest=rest, detail=detail, brightness=brightness)
        if not 0 <= shift < ROWS:
            raise ValueError(f"comparison.shift must be at least 0 and below {ROWS} patches, not {shift}")
        self.shift = shift
        self.sensed += PATCHES
        self.size += PATCHES

    def new_store(self, num_envs: int, **options: Any) -> ComparisonStore:
        """Familiarity's, with pictures."""
        return ComparisonStore(self.shift, self.rest, num_envs, *self.sizes, **options)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Found:  # type: ignore[override]
        """The nearest slots come first."""
        found = super().search(store, q_t, looked_t)
        differences = store.differences(looked_t, found.age[:, 0], found.valid[:, 0])
        store.see(looked_t)
        return found._replace(sensed=torch.cat([found.sensed, differences], -1))
