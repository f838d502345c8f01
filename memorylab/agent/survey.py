"""Survey: where one stands among four walls, where the place that pays lies from here, and where one has not been yet.

Who is put down somewhere else after a reward must know where that lies from here (see walls.py for how), and before
that must find it. Who looks for a goal as small as a hand must walk over the ground, and over none of it twice. So the
ground is kept, in cells: which of them one has stood on. Until something has paid, what m_t tells as the place to go is
the middle of the cell i between the walls that costs least,

    c_i = d_i + TURNING (1 - cos a_i) + w_i,

d_i steps away, at an angle a_i from ahead, with w_i for the steps in which it was the place to go already, so that one
that cannot be reached is given up.
"""

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from memorylab.agent.auxiliary import AuxiliaryLoss
from memorylab.agent.data import Inputs
from memorylab.agent.homing import SENSED
from memorylab.agent.kernels import array, suits
from memorylab.agent.map_kernels import choose_ground
from memorylab.agent.sensing import Found, SensingMemory, acted
from memorylab.agent.walls import LOWER, PLACE, UPPER, Walls, WallsStore

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

CELLS = 128  # across the ground, in whose middle an episode begins
TURNING = 18.0  # steps that a quarter turn is worth
WEARIER = 0.5  # steps
MARGIN = 0.05  # of the way from wall to wall: no nearer to them


class SurveyStore(WallsStore):
    """With the ground: what one has been on, and how weary one is of what one has not."""

    def __init__(self, num_envs: int, *sizes: int, cell: float, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        self.cell = cell  # steps across one
        self.ground = self.k.new_zeros(num_envs, CELLS, CELLS)  # w, east and north; infinite where one has been
        self.update(ground=self.ground)

    def wipe(self, reset: Tensor) -> None:
        """The ground, too."""
        super().wipe(reset)
        if not suits(self.k) or reset.any():
            self.ground.masked_fill_(reset[:, None, None], 0)

    def look_about(self, *walls: Tensor) -> None:
        """Who knows where he stands has been there."""
        super().look_about(*walls)
        is_sure = self.place_variance[:, 0] < self.cell**2
        games = torch.arange(len(is_sure), device=is_sure.device)
        east, north = (self.mean[..., PLACE] / self.cell + CELLS / 2).long().clamp(0, CELLS - 1).unbind(-1)
        here = self.ground[games, east, north]
        self.ground[games, east, north] = torch.where(is_sure, torch.inf, here)

    def aim(self, goal: Tensor, is_known: Tensor) -> tuple[Tensor, Tensor]:
        """The place that pays; else the nearest where one has not been."""
        where, cost = self.choose(*self.bounds())
        has_ground = cost[:, None] < torch.inf
        return torch.where(is_known, goal, where), is_known | has_ground

    def bounds(self) -> tuple[Tensor, Tensor]:
        """The least and the most (B, 2), east and north, that is ground."""
        lower, upper = self.mean[..., LOWER], self.mean[..., UPPER]
        margin = MARGIN * (upper - lower)
        return lower + margin, upper - margin

    def choose(self, least: Tensor, most: Tensor) -> tuple[Tensor, Tensor]:
        """The middle (B, 2) of the cell between these that costs least, and what it costs (B); one is then wearier of
        it."""
        place = self.mean[..., PLACE].contiguous()
        if suits(self.ground, place):
            where, cost = torch.zeros_like(place), self.k.new_zeros(len(place))
            given = self.ground, place, self.angle, least, most, where, cost
            choose_ground(*map(array, given), self.cell, TURNING, WEARIER)
            return where, cost
        middles = (torch.arange(CELLS, device=place.device).to(place) + 0.5 - CELLS / 2) * self.cell
        way = torch.stack(torch.meshgrid(middles, middles, indexing="ij"), -1).view(1, -1, 2) - place[:, None]
        d = way.square().sum(-1).sqrt()
        ahead = (way * self.facing[:, None]).sum(-1) / d.clamp_min(1e-3)
        east, north = ((least[..., None] <= middles) & (middles <= most[..., None])).unbind(1)
        is_ground = (east[:, :, None] & north[:, None]).flatten(1)
        c = d + TURNING * (1 - ahead) + self.ground.flatten(1)
        cost, chosen = c.masked_fill(~is_ground, torch.inf).min(1)
        games = torch.arange(len(place), device=place.device)
        self.ground.view(len(place), -1)[games, chosen] += WEARIER
        return middles[torch.stack([chosen // CELLS, chosen % CELLS], -1)], cost


class SurveyMemory(SensingMemory):
    """m_t = [the paper's, where one stands, and where to]."""

    sensed = SENSED

    def __init__(self, config: "AgentConfig", *, weight: float = 0.01, cell: float = 5.2):
        super().__init__(config)
        if cell <= 0:
            raise ValueError(f"survey.cell must be a number of steps above 0, not {cell:g}")
        self.walls, self.cell = Walls(config, weight), cell

    @property
    def own_loss(self) -> AuxiliaryLoss:
        """That of what it sees."""
        return self.walls

    def new_store(self, num_envs: int, **options: Any) -> SurveyStore:
        """Rings of `capacity` slots; one has been nowhere yet."""
        return SurveyStore(num_envs, *self.sizes, cell=self.cell, **options)

    @torch.no_grad()
    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """What is seen in each picture, the action before it, and whether that paid; not where an episode begins."""
        looked = self.walls(inputs.pictures.flatten(0, 1)).view(*inputs.actions.shape, -1).to(dtype)
        return torch.cat([looked, *acted(inputs, dtype)], -1)

    @torch.no_grad()
    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Found:  # type: ignore[override]
        """The K nearest slots, and where one is."""
        looked, action, is_paid = looked_t.split([self.walls.numbers, 1, 1], -1)
        return self.found(store, q_t, store.note(self.walls, looked, action[:, 0].long(), is_paid[:, 0] > 0))
