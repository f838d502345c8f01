"""A chart: what stands where. Homing's count of where one is, and beside it the places of coloured things.

That a block is red, or that one was red before, says little where colours repeat; that here, where there was a red one,
stands a blue one says all. What is as high as one's eyes ends at the horizon: a column of the picture in which the
colour below the horizon is not the one above it shows such a thing, and the row at which its colour ends tells how far
away it is. With the pose that homing knows that is a place on the map. Each episode keeps a list of sightings: place,
colour, and the step t_i at which that was first met there. For a thing of colour c at place P, at step t,

    new     = t_P / t         t_P: the first sighting near P, of any colour
    changed = (t_c - t_P)/t   t_c: the first one of this colour that may have been near P; both are t if there is none

and m_t has their means over the columns of each of 24 strips of the view. Nothing of it is learned but the map.
"""

from typing import Any

import torch
from torch import Tensor

from memorylab.agent.data import Inputs
from memorylab.agent.homing import ANYWHERE, SENSED, HomingMemory, HomingStore
from memorylab.agent.kernels import array, suits
from memorylab.agent.map_kernels import note_things
from memorylab.agent.sensing import Found

STRIPS = 24
ALIKE = 0.04  # how far the shares of a thing's pixels are apart
FEWEST = 2  # rows: what has less may be too far away to say where it is
EYES = 7.5  # steps, of those that one makes in the rooms: as far as one's eyes are high
NEAR = 7.5  # steps within which two sightings are at the same place
APART = 4.0  # steps: nearer ones of the same colour are one
SIGHTINGS = 512  # of an episode
SURE = 6.0, 0.2  # steps and radians: who knows less well where he is notes nothing
LOST = 5.0  # how many times farther off than he thought one finds himself elsewhere
SHARE, SHADE = 0.1, 0.6  # colours that are two: so much of a channel's share apart, or by 2 to that in brightness
EDGE = 0.5  # of such colours apart, squared, where a thing ends at the horizon: light and shade alone are less


def shares_of(pixels: Tensor) -> Tensor:
    """Of each (..., 3), the share that each channel has, which light and shade leave as it is."""
    channels = pixels.to(torch.float32).clamp_min(1)
    return channels / channels.sum(-1, keepdim=True)


def colour_of(pixels: Tensor) -> Tensor:
    """The shares of red and green and the logarithm of the brightness, so that 1 apart are two colours."""
    brightness = pixels.amax(-1, keepdim=True).to(torch.float32).clamp_min(16).log2()
    return torch.cat([shares_of(pixels)[..., :2] / SHARE, brightness / SHADE], -1)


def things_in(pictures: Tensor) -> Tensor:
    """Of pictures (N, height, width, 3), for each column: how many rows a thing has below the horizon, 0 for none, and
    its colour. (N, width, 4)."""
    horizon = pictures.shape[1] // 2
    above, colour = colour_of(pictures[:, horizon - 1 : horizon + 1]).unbind(1)
    foot = shares_of(pictures[:, horizon:])
    rows = ((foot - foot[:, :1]).abs().sum(-1) < ALIKE).cumprod(1).sum(1)
    is_thing = (rows >= FEWEST) & ((colour - above).square().sum(-1) > EDGE)
    return torch.cat([torch.where(is_thing, rows, 0)[..., None], colour], -1)


class ChartStore(HomingStore):
    """With what was sighted, and when first."""

    def __init__(self, num_envs: int, *sizes: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        device = self.k.device
        self.sighted = self.k.new_zeros(num_envs, SIGHTINGS, 6)  # place, how far that may be off, colour
        self.born = torch.zeros(num_envs, SIGHTINGS, dtype=torch.int64, device=device)
        self.kept, self.clock = (torch.zeros(num_envs, dtype=torch.int64, device=device) for _ in range(2))
        self.update(sighted=self.sighted, born=self.born, kept=self.kept, clock=self.clock)

    def wipe(self, reset: Tensor) -> None:
        """What was sighted, too."""
        super().wipe(reset)
        self.kept.masked_fill_(reset, 0)
        self.clock.masked_fill_(reset, 0)

    def correct(self, pose: Tensor) -> None:
        """Who sees that he is far from where he should be is elsewhere: the other room looks like the first."""
        off = (pose[:, :2] - self.place).square().sum(-1)
        expected = self.variance[:, 0] + (2 * pose[:, 4]).exp()
        self.variance.masked_fill_((off > LOST**2 * expected)[:, None], ANYWHERE)
        super().correct(pose)

    def meet(self, things: Tensor) -> Tensor:
        """(B, 2 STRIPS): how changed and how new what is seen in each strip is; it is then sighted."""
        B, W, _ = things.shape
        self.clock += 1
        found = self.k.new_zeros(B, 2, STRIPS)
        is_sure = (self.variance < self.variance.new_tensor(SURE).square()).all(-1)
        sightings = self.placed(things)
        rows = torch.where(is_sure[:, None], things[..., 0], 0)
        strip = torch.arange(W, device=things.device) * STRIPS // W
        if suits(self.k, sightings):
            given = rows, sightings, strip, self.sighted, self.born, self.kept, self.clock, found
            note_things(*map(array, given), NEAR, APART)
            return found.flatten(1)
        number = found.new_zeros(B, STRIPS)
        for column in range(W):  # one by one: a thing may be new only in the first of two
            is_thing = rows[:, column] > 0
            judged = self.judge(sightings[:, column], is_thing)
            found[:, :, strip[column]] += judged * is_thing[:, None]
            number[:, strip[column]] += is_thing
        return (found / number.clamp_min(1)[:, None]).flatten(1)

    def placed(self, things: Tensor) -> Tensor:
        """Of each column: the place of a thing on the map, how far that may be off, and its colour: (B, W, 6)."""
        W = things.shape[1]
        rows = things[..., 0].clamp_min(1)
        aside = (torch.arange(W, device=things.device) + 0.5) * 2 / W - 1
        ahead = EYES * W / 2 / rows
        sin, cos = self.angle.sin()[:, None], self.angle.cos()[:, None]
        place = self.place[:, None] + ahead[..., None] * torch.stack([sin + aside * cos, cos - aside * sin], -1)
        return torch.cat([place, (ahead / rows / 2)[..., None], things[..., 1:].to(place)], -1).contiguous()

    def judge(self, sighting: Tensor, is_thing: Tensor) -> Tensor:
        """(B, 2): changed and new, of one sighting (B, 6) a game."""
        now = self.clock
        is_kept = torch.arange(SIGHTINGS, device=now.device) < self.kept[:, None]
        away = (self.sighted[..., :2] - sighting[:, None, :2]).square().sum(-1).sqrt()
        is_alike = (self.sighted[..., 3:] - sighting[:, None, 3:]).square().sum(-1) < 1
        reach = NEAR + self.sighted[..., 2] + sighting[:, 2, None]
        t_p = self.earliest(is_kept & (away < NEAR))
        t_c = torch.maximum(t_p, self.earliest(is_kept & is_alike & (away < reach)))
        is_new = is_thing & ~(is_kept & is_alike & (away < APART)).any(1) & (self.kept < SIGHTINGS)
        here = (torch.arange(SIGHTINGS, device=now.device) == self.kept[:, None]) & is_new[:, None]
        self.sighted.copy_(torch.where(here[..., None], sighting[:, None], self.sighted))
        self.born.copy_(torch.where(here, now[:, None], self.born))
        self.kept += is_new
        return torch.stack([t_c - t_p, t_p], 1) / now[:, None]

    def earliest(self, these: Tensor) -> Tensor:
        """The first step at which one of them was sighted; now if there is none."""
        return torch.where(these, self.born, self.clock[:, None]).amin(1)


class ChartMemory(HomingMemory):
    """m_t = [homing's, how changed and how new what stands in each strip of the view is]."""

    sensed = SENSED + 2 * STRIPS

    def new_store(self, num_envs: int, **options: Any) -> ChartStore:
        """Rings of `capacity` slots; nothing has been sighted yet."""
        return ChartStore(num_envs, *self.sizes, **options)

    @torch.no_grad()
    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The pose of each picture, what led to it, and the things in it: (T, B, W + 2, 4)."""
        things = things_in(inputs.pictures.flatten(0, 1)).to(dtype).unflatten(0, inputs.actions.shape)
        return torch.cat([super().look(inputs, dtype).unflatten(-1, (2, 4)), things], -2)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Found:  # type: ignore[override]
        """The K nearest slots, where one is, and what stands there."""
        found = super().search(store, q_t, looked_t[:, :2].flatten(1))
        return found._replace(sensed=torch.cat([found.sensed, store.meet(looked_t[:, 2:])], -1))
