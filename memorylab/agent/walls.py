"""Where one stands among four walls, by what one picture tells of them and by a count of one's steps.

How far a wall is that one looks at can be seen, whatever the size of the arena; where the middle is cannot. So a small
network tells from a picture which way one faces and how far each wall in sight is, and how sure a picture makes one of
it. It learns from a teacher that tells the place while training. Along each axis, east and north, one's own place, both
walls and the place that pays are numbers of one Kalman filter, with what one knows of one by the other (Smith, Self &
Cheeseman 1990: simultaneous localisation and mapping). Its origin is where an episode begins. A step moves the place; a
wall that is seen tells how far it and the place are apart; what pays is here. Who is put down elsewhere has lost the
place, not the walls.
"""

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, normalize

from memorylab.agent.auxiliary import Metrics
from memorylab.agent.encoders import centred
from memorylab.agent.episodic import EpisodicStore
from memorylab.agent.homing import (
    AS_ONE,
    FAR,
    MOTIONS,
    NEAR,
    SLIP,
    Poses,
    distance,
    on_map,
    seen_from,
    told_poses,
)
from memorylab.agent.kernels import suits

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

ABOVE_POSES = 50  # the bit of a teacher's advice from which on it tells how far the walls are from the middle
USUAL = 4.0  # the logarithm of 55 steps
SUREST = math.log(0.5), math.log(0.02)  # steps and radians: nothing is known better from one picture
SEEN = 2.0  # the logit from which on a wall is taken to be in sight
DIZZY = 0.03  # radians^2: who knows less well which way he faces takes one wall for another, and looks at none
ANYWHERE = 1e5  # steps^2: the variance of what has not been seen
PLACE, UPPER, LOWER, GOAL = range(4)  # of an axis: upper is the wall in the east or north
HALF = 60.0  # steps from a start to a wall that has not been seen
REACH = 9.0  # steps^2 by which what pays may be elsewhere than who is paid


class Walls(Poses):
    """From a picture what is seen in it (N, X), the direction one faces (east, north), and the logarithm of how far off
    that may be, in radians. What is seen and the way one faces, whoever tells it, then tell the walls: four walls look
    alike."""

    def __init__(self, config: "AgentConfig", weight: float):
        super().__init__(config, weight)
        X = config.embedding_size
        self.layers = nn.Sequential(nn.Linear(X, X), nn.ReLU(), nn.Linear(X, 3))
        self.walls = nn.Sequential(nn.Linear(X + 2, X), nn.ReLU(), nn.Linear(X, 12))
        self.numbers = X + 3

    def forward(self, pictures: Tensor) -> Tensor:
        """(N, X + 3)."""
        seen = self.encoder(centred(pictures, next(self.parameters()).dtype))
        direction, spread = self.layers(seen).split([2, 1], -1)
        return torch.cat([seen, normalize(direction, dim=-1, eps=1e-6), spread.clamp_min(SUREST[1])], -1)

    def distances(self, seen: Tensor, facing: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Steps to the walls in the east, west, north and south (N, 4), the logarithms of how far off they may be, and
        the logits of whether they are in sight; of others nothing is known."""
        walls, spreads, sight = self.walls(torch.cat([seen, facing], -1)).split(4, -1)
        return (USUAL + walls.clamp(-6, 3)).exp(), (spreads + 1).clamp_min(SUREST[0]), sight

    def is_told(self, advice: Tensor) -> Tensor:
        """Whether there are walls."""
        return advice >> ABOVE_POSES > 0

    def lessons(self, advice: Tensor) -> Tensor:
        """(N, 6): steps to the four walls, and the direction."""
        place, direction = told_poses(advice).split(2, -1)
        half = (advice >> ABOVE_POSES)[:, None]
        return torch.cat([torch.stack([half - place, half + place], -1).flatten(1), direction], -1)

    def judge(self, poses: Tensor, told: Tensor) -> tuple[Tensor, Metrics]:
        """How unlikely what was told is, by Laplace's law, of the direction and the walls that are looked at."""
        seen, direction, spread = poses.split([self.numbers - 3, 2, 1], -1)
        true, facing = told.split([4, 2], -1)
        walls, spreads, sight = self.distances(seen, facing)
        off, turned, is_seen = (walls - true).abs(), distance(direction - facing), in_sight(true, facing)
        of_walls = (off * (-spreads).exp() + spreads)[is_seen].mean()
        of_sight = binary_cross_entropy_with_logits(sight, is_seen.to(sight))
        of_direction = (turned * (-spread[:, 0]).exp() + spread[:, 0]).mean()
        metrics = {"walls_apart": off[is_seen].detach().median(), "map_turn": turned.detach().median()}
        return of_walls + of_sight + of_direction, metrics


def in_sight(walls: Tensor, facing: Tensor) -> Tensor:
    """Which walls (..., 4), east, west, north and south and so far away, reach into a view of 90 degrees."""
    east, west, north, south = walls.unbind(-1)
    corners = torch.stack([east, north, east, -south, -west, north, -west, -south], -1).unflatten(-1, (4, 2))
    right, ahead = seen_from(facing[..., None, :], corners).unbind(-1)
    ne, se, nw, sw = (right.abs() <= ahead).unbind(-1)
    is_ahead = torch.stack([facing, -facing], -1).flatten(-2) > 0.5**0.5
    return is_ahead | torch.stack([ne | se, nw | sw, ne | nw, se | sw], -1)


class WallsStore(EpisodicStore):
    """With the filter: means (B, axes, 4) and covariances (B, axes, 4, 4), and which way one faces."""

    def __init__(self, num_envs: int, *sizes: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        self.began = self.k.new_tensor([0, HALF, -HALF, 0]), self.k.new_tensor([0, *[ANYWHERE] * 3]).diag()
        self.mean = self.began[0].repeat(num_envs, 2, 1)
        self.covariance = self.began[1].repeat(num_envs, 2, 1, 1)
        self.angle, self.turn_variance = self.k.new_zeros(num_envs), self.k.new_full((num_envs,), ANYWHERE)
        self.paid = self.k.new_zeros(num_envs, 1)  # how often
        self.motions = MOTIONS.to(self.k)
        self.update(mean=self.mean, covariance=self.covariance, angle=self.angle)
        self.update(turn_variance=self.turn_variance, paid=self.paid)

    def wipe(self, reset: Tensor) -> None:
        """Here is the origin; nothing else is known."""
        super().wipe(reset)
        mean, covariance = self.began
        self.mean.copy_(torch.where(reset[:, None, None], mean, self.mean))
        self.covariance.copy_(torch.where(reset[:, None, None, None], covariance, self.covariance))
        self.turn_variance.masked_fill_(reset, ANYWHERE)
        self.paid.masked_fill_(reset[:, None], 0)

    def note(self, walls: Walls, looked: Tensor, actions: Tensor, is_paid: Tensor) -> Tensor:
        """(B, 9), now that these actions have led to pictures of which this is known (B, X + 3). Who was paid stood at
        the end of that step, and now stands elsewhere."""
        self.step(self.motions[actions])
        if not suits(self.k) or is_paid.any():  # to look would make another device wait
            self.arrive(is_paid)
        seen, direction, spread = looked.split([looked.shape[-1] - 3, 2, 1], -1)
        self.look_up(direction, spread)
        self.look_about(*walls.distances(seen, self.facing))
        return self.sense()

    def step(self, motion: Tensor) -> None:
        """As far as one's own legs tell."""
        self.mean[..., PLACE].add_(on_map(self.angle, motion))
        self.covariance[..., PLACE, PLACE].add_(SLIP[0])
        self.angle.add_(motion[:, 2])
        self.turn_variance.add_(SLIP[1])

    def arrive(self, is_paid: Tensor) -> None:
        """What pays is where one stands; then one stands elsewhere."""
        here = torch.where(is_paid, REACH, torch.inf)[:, None].to(self.mean)
        self.observe(GOAL, PLACE, torch.zeros_like(here), here)
        self.covariance[..., PLACE].masked_fill_(is_paid[:, None, None], 0)
        self.covariance[..., PLACE, :].masked_fill_(is_paid[:, None, None], 0)
        self.covariance[..., PLACE, PLACE].masked_fill_(is_paid[:, None], ANYWHERE)
        self.turn_variance.masked_fill_(is_paid, ANYWHERE)
        self.paid.add_(is_paid[:, None])

    def look_up(self, direction: Tensor, spread: Tensor) -> None:
        """As far as the picture is to be trusted beside one's turns."""
        doubt = AS_ONE * (2 * spread[:, 0]).exp()
        trust = self.turn_variance / (self.turn_variance + doubt)
        sin, cos = direction.unbind(-1)
        off = torch.atan2(sin, cos) - self.angle
        self.angle.addcmul_(trust, torch.atan2(off.sin(), off.cos()))
        self.turn_variance.copy_(trust * doubt)

    def look_about(self, walls: Tensor, spreads: Tensor, sight: Tensor) -> None:
        """The walls that are in sight."""
        is_seen = (sight > SEEN) & (self.turn_variance < DIZZY)[:, None]
        doubts = (AS_ONE * (2 * spreads).exp()).masked_fill(~is_seen, torch.inf)
        (upper, lower), (of_upper, of_lower) = (part.view(-1, 2, 2).unbind(-1) for part in (walls, doubts))
        self.observe(UPPER, PLACE, upper, of_upper)
        self.observe(PLACE, LOWER, lower, of_lower)

    @property
    def facing(self) -> Tensor:
        """(B, 2), east and north."""
        return torch.stack([self.angle.sin(), self.angle.cos()], -1)

    def observe(self, one: int, other: int, apart: Tensor, variance: Tensor) -> None:
        """Along each axis, one number is seen to be that much above the other (B, axes), with an error of this
        variance; an infinite one says nothing."""
        column = self.covariance[..., one] - self.covariance[..., other]
        gain = column / (column[..., one] - column[..., other] + variance)[..., None]
        off = apart - (self.mean[..., one] - self.mean[..., other])
        self.mean.addcmul_(gain, off[..., None])
        self.covariance.addcmul_(gain[..., :, None], column[..., None, :], value=-1)

    def sense(self) -> Tensor:
        """Right, ahead, far, known; one's own place from the middle, direction, and how sure one is."""
        place, facing, is_known = self.mean[..., PLACE], self.facing, self.paid > 0
        aim, has_aim = self.aim(self.mean[..., GOAL], is_known)
        way = seen_from(facing, aim - place)
        far = way.norm(dim=-1, keepdim=True)
        middle = (self.mean[..., UPPER] + self.mean[..., LOWER]) / 2
        sure = 1 / (1 + self.place_variance.sqrt() / 10)
        told = has_aim * way / (far + NEAR), has_aim * far / (far + FAR), is_known, (place - middle) / FAR
        return torch.cat([*told, facing, sure], -1)

    @property
    def place_variance(self) -> Tensor:
        """(B, 1), along the axis where it is known less."""
        return self.covariance[..., PLACE, PLACE].amax(-1, keepdim=True)

    def aim(self, goal: Tensor, is_known: Tensor) -> tuple[Tensor, Tensor]:
        """Where to (B, 2), and whether there is such a place (B, 1)."""
        return goal, is_known
