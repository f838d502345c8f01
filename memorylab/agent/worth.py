"""What things are worth: the paper's episodic memory, and beside it which colours won, and over what.

At each reward what one had walked up to, the colour in the middle of the view, has won, and what one had left aside,
colours that were in view since the reward before and no longer are, has lost. A thing c that won w and lost l times is
known by its own record and, as value transfer theory has it (von Fersen et al. 1991), by that of its partners, what it
won against or lost to:

    v(c) = (w - l) / (w + l),    u(c) = mean over the rewards it took part in of the mean v of its partners.

Of a chain A < B < C < D < E of which only neighbours were met, B, C and D all won once and lost once; but B won over
one that never won, and D lost to one that never lost. m_t has the means of v and of u over those pixels of each of
9 x 12 patches that have any. Nothing of it is learned.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicStore
from memorylab.agent.familiarity import PATCHES, FamiliarityMemory
from memorylab.agent.kernels import array
from memorylab.agent.palette import BINS, GRAIN, HUES, SHADES, patches_of
from memorylab.agent.picture_kernels import judge_pixels

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

EVENTS, LOSERS = 16, 6  # rewards that are kept, and the most colours that lost in one


class WorthStore(EpisodicStore):
    """With the rewards of each game: what won, and what lost. These are kept on the CPU, wherever the agent is."""

    def __init__(self, size: tuple[int, int], rest: int, num_envs: int, *sizes: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        self.height, self.width = size
        self.rest = rest
        whole: dict[str, Any] = {"dtype": torch.int32}
        self.most = torch.zeros(num_envs, BINS, **whole)  # pixels of each bin at once, since the last reward
        self.step = torch.zeros(num_envs, BINS, **whole)  # at which each bin was last in view
        self.clock, self.middle, self.rewards = (torch.zeros(num_envs, **whole) for _ in range(3))
        self.won = torch.zeros(num_envs, EVENTS, **whole)
        self.lost = torch.zeros(num_envs, EVENTS, LOSERS, **whole)  # 0: none
        self.worth = torch.zeros(num_envs, BINS, 2)  # v and u
        self.own = {
            "most": self.most, "step": self.step, "clock": self.clock, "middle": self.middle, "rewards": self.rewards,
            "won": self.won, "lost": self.lost, "worth": self.worth,
        }  # fmt: skip
        self.update(self.own)

    def wipe(self, reset: Tensor) -> None:
        """What won and lost, too."""
        super().wipe(reset)
        if (begins := reset.cpu()).any():
            for part in self.own.values():
                part[begins] = 0

    def meet(self, pixels: Tensor, rewards: Tensor) -> Tensor:
        """v of the patches of pictures (B, pixels, 3), then u, now that these rewards (B,) have come."""
        found = torch.zeros(len(pixels), 2, PATCHES)
        patch_of = patches_of(self.height, self.width, torch.device("cpu"))
        given = (pixels.cpu().contiguous(), rewards.cpu() > 0, *self.own.values(), patch_of, found)
        judge_pixels(*map(array, given), GRAIN, HUES, SHADES, self.width)
        return found.flatten(1).to(self.k)


class WorthMemory(FamiliarityMemory):
    """m_t = [what is recalled, how new the picture is, what the things in each patch are worth]."""

    def __init__(self, config: "AgentConfig", *, rest: int = 64):
        super().__init__(config, rest=rest)
        self.picture_size = config.height, config.width
        self.sensed += PATCHES
        self.size += PATCHES

    def new_store(self, num_envs: int, **options: Any) -> WorthStore:  # type: ignore[override]
        """Rings of `capacity` slots; nothing has won yet."""
        return WorthStore(self.picture_size, self.rest, num_envs, *self.sizes, **options)

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """Every pixel, and whether a reward came with it: bytes (T, B, pixels + 1, 3)."""
        paid = (inputs.rewards > 0) & ~inputs.resets
        return torch.cat([inputs.pictures.flatten(2, 3), paid[..., None, None].expand(*paid.shape, 1, 3).byte()], 2)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Any:  # type: ignore[override]
        """The K nearest slots, and what things are worth."""
        return self.found(store, q_t, store.meet(looked_t[:, :-1], looked_t[:, -1, 0]))
