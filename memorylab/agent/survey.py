"""Survey: homing, and where one has not been yet.

Homing leads back to a place that pays; it says nothing of how to find it. Who looks for a goal as small as a hand must
walk over the ground, and over none of it twice. Here the ground is kept as well, in cells: which of them one has stood
on, by the count of one's steps. Until something has paid, what m_t tells as the place to go is the middle of the cell i
that costs least,

    c_i = d_i + TURNING (1 - cos a_i) + w_i,

d_i steps away, at an angle a_i from ahead, with w_i for the steps in which it was the place to go already, so that one
that cannot be reached is given up. The ground ends at walls, and how far they are from the middle is told by pictures.
"""

import math
from typing import Any

import torch
from torch import Tensor

from memorylab.agent.auxiliary import Metrics
from memorylab.agent.homing import HomingMemory, HomingStore, Poses, told_poses
from memorylab.agent.kernels import array, suits
from memorylab.agent.map_kernels import choose_ground

CELL = 5.2  # steps across one
CELLS = 64  # across the ground, whose middle is that of the map
TURNING = 18.0  # steps that a quarter turn is worth
WEARIER = 0.5  # steps
MARGIN = 0.9  # of the way to the walls, as far as the ground goes
ABOVE_POSES = 50  # the bit of a teacher's advice from which on it tells how far the walls are
USUAL, SUREST = 4.0, math.log(0.02)  # logarithms: of 55 steps, and of a fiftieth off


class Grounds(Poses):
    """Of a picture also the logarithm of how far the walls are from the middle of the map, and that of how far off this
    may be: (..., 8)."""

    numbers = 8

    def shaped(self, guess: Tensor) -> Tensor:
        """The last two are of the walls."""
        pose, walls, spread = guess.split([6, 1, 1], -1)
        return torch.cat([super().shaped(pose), USUAL + walls, spread.clamp_min(SUREST)], -1)

    def lessons(self, advice: Tensor) -> Tensor:
        """The pose, and the logarithm of how far the walls are."""
        walls = (advice >> ABOVE_POSES).clamp_min(1)  # not every place has any
        return torch.cat([told_poses(advice), walls[:, None].log()], -1)

    def judge(self, poses: Tensor, told: Tensor) -> tuple[Tensor, Metrics]:
        """Laplace's law for the walls, too."""
        loss, metrics = super().judge(poses, told)
        off, spread = (poses[..., 6] - told[..., 4]).abs(), poses[..., 7]
        return loss + (off * (-spread).exp() + spread).mean(), {**metrics, "walls_apart": off.detach().median()}


class SurveyStore(HomingStore):
    """With the ground: what one has been on, and how weary one is of what one has not."""

    def __init__(self, num_envs: int, *sizes: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        self.ground = self.k.new_zeros(num_envs, CELLS, CELLS)  # w, east and north; infinite where one has been
        self.walls = self.k.new_zeros(num_envs, 2)  # the sum of weighted logarithms, and that of their weights
        self.update(ground=self.ground, walls=self.walls)

    def wipe(self, reset: Tensor) -> None:
        """The ground, too."""
        super().wipe(reset)
        self.ground.masked_fill_(reset[:, None, None], 0)
        self.walls.masked_fill_(reset[:, None], 0)

    def correct(self, pose: Tensor) -> None:
        """Who knows where he stands has been there."""
        super().correct(pose[:, :6])
        weight = (-2 * pose[:, 7:]).exp()
        self.walls.add_(torch.cat([weight * pose[:, 6:7], weight], -1))
        is_sure = self.variance[:, 0] < CELL**2
        games = torch.arange(len(pose), device=pose.device)
        east, north = (self.place / CELL + CELLS / 2).long().clamp(0, CELLS - 1).unbind(-1)
        here = self.ground[games, east, north]
        self.ground[games, east, north] = torch.where(is_sure, torch.inf, here)

    def aim(self, goal: Tensor, is_known: Tensor) -> tuple[Tensor, Tensor]:
        """The place that pays; else the nearest where one has not been."""
        reach = MARGIN * (self.walls[:, :1] / self.walls[:, 1:]).exp()
        where, cost = self.choose(reach)
        has_ground = cost[:, None] < torch.inf
        return torch.where(is_known, goal, where), is_known | has_ground

    def choose(self, reach: Tensor) -> tuple[Tensor, Tensor]:
        """The middle (B, 2) of the cell within `reach` (B, 1) that costs least, and what it costs (B); one is then
        wearier of it."""
        if suits(self.ground, reach):
            where, cost = self.k.new_zeros(len(reach), 2), self.k.new_zeros(len(reach))
            given = self.ground, self.place, self.angle, reach[:, 0], where, cost
            choose_ground(*map(array, given), CELL, TURNING, WEARIER)
            return where, cost
        middles = (torch.arange(CELLS, device=reach.device).to(reach) + 0.5 - CELLS / 2) * CELL
        way = torch.stack(torch.meshgrid(middles, middles, indexing="ij"), -1).view(1, -1, 2) - self.place[:, None]
        d = way.square().sum(-1).sqrt()
        facing = torch.stack([self.angle.sin(), self.angle.cos()], -1)
        ahead = (way * facing[:, None]).sum(-1) / d.clamp_min(1e-3)
        is_ground = (middles.abs() <= reach)[:, :, None] & (middles.abs() <= reach)[:, None]
        c = d + TURNING * (1 - ahead) + self.ground.flatten(1)
        cost, chosen = c.masked_fill(~is_ground.flatten(1), torch.inf).min(1)
        games = torch.arange(len(reach), device=reach.device)
        self.ground.view(len(reach), -1)[games, chosen] += WEARIER
        return middles[torch.stack([chosen // CELLS, chosen % CELLS], -1)], cost


class SurveyMemory(HomingMemory):
    """Homing's; what it tells of where to go is told before anything has paid, too."""

    part = Grounds

    def new_store(self, num_envs: int, **options: Any) -> SurveyStore:
        """Rings of `capacity` slots; one has been nowhere yet."""
        return SurveyStore(num_envs, *self.sizes, **options)
