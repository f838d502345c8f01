"""Trail: the paper's episodic memory, and beside it the way by which one came to the place that pays.

In a maze that is new in every episode no picture tells where one is; but a picture that looks like an earlier one does,
if the way from there is known. One counts one's steps from wherever one was put down, by what pictures show of them
(sights.py), for who walks against a wall stands still. When it pays, all moments i since then are kept with the way
from there to here, and what looks like one of them later is a vote for where the place that pays lies,

    P_t + (way from moment i),   P_t: where one is now, by the count,

with the share that moment i has in looking like now, beside all others and none of them. Votes near each other add up.
m_t also has the way to where most of them are, how sure that is, and the way to where one was a little later who stood
here and came there soonest; and how long one has been at the places around already, since one was put down.
"""

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from memorylab.agent.auxiliary import AuxiliaryLoss
from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicStore
from memorylab.agent.homing import FAR, MOTIONS, NEAR, on_map, seen_from
from memorylab.agent.kernels import array, suits
from memorylab.agent.map_kernels import follow_trails
from memorylab.agent.sensing import Found, SensingMemory, acted
from memorylab.agent.sights import MARK, SAME_WAY, Sights

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

NOTED = 3  # of so many steps one is kept
MOMENTS = 640  # of an episode
CELL, CELLS = 4.0, 80  # steps across a cell of votes, and cells across
FADES = 0.99  # what a vote is worth a step later
ON_TRAIL = 5.0  # steps: as near to a moment one stands where it was
LATER = 5  # moments: as far along a trail as one looks
GROUND, GROUNDS = 5.0, 64  # steps across a cell of the ground, and cells across
AROUND, AWAY = 8, (5.0, 10.0)  # directions from ahead, and steps: where one looks how often one has been
SENSED = 9 + AROUND * len(AWAY)


class TrailStore(EpisodicStore):
    """With the moments of each episode, the count of one's steps since one was put down, and the votes."""

    def __init__(self, num_envs: int, *sizes: int, features: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        B, device, new = num_envs, self.k.device, self.k.new_zeros
        self.place, self.angle, self.compass = new(B, 2), new(B), new(B, 2)
        self.features, self.is_on_its_way = new(B, features), new(B)  # of the picture before, if there is one
        self.marks, self.facings = new(B, MOMENTS, MARK), new(B, MOMENTS, 2)
        self.ways, self.left = new(B, MOMENTS, 2), new(B, MOMENTS)  # to the place that pays, and the steps it took
        self.votes, self.total, self.worth = new(B, 3, CELLS, CELLS), new(B), self.k.new_ones(B)
        self.ground = new(B, GROUNDS, GROUNDS)  # steps that one has spent in each cell since one was put down
        self.kept, self.ready, self.clock = (torch.zeros(B, dtype=torch.int64, device=device) for _ in range(3))
        self.motions = MOTIONS.to(self.k)
        self.update(
            place=self.place, angle=self.angle, compass=self.compass, features=self.features, votes=self.votes,
            is_on_its_way=self.is_on_its_way, marks=self.marks, facings=self.facings, ways=self.ways, left=self.left,
            total=self.total, worth=self.worth, ground=self.ground, kept=self.kept, ready=self.ready, clock=self.clock,
        )  # fmt: skip

    def wipe(self, reset: Tensor) -> None:
        """Where one is, and all moments."""
        super().wipe(reset)
        for part in (self.kept, self.ready, self.clock):
            part.masked_fill_(reset, 0)
        if not suits(self.k) or reset.any():
            self.put_down(reset)

    def put_down(self, where: Tensor) -> None:
        """Elsewhere: the count begins anew."""
        self.place.masked_fill_(where[:, None], 0)
        self.angle.masked_fill_(where, 0)
        self.compass.masked_fill_(where[:, None], 0)
        self.is_on_its_way.masked_fill_(where, 0)
        self.votes.masked_fill_(where[:, None, None, None], 0)
        self.ground.masked_fill_(where[:, None, None], 0)
        self.total.masked_fill_(where, 0)
        self.worth.masked_fill_(where, 1)

    def note(self, sights: Sights, features: Tensor, actions: Tensor, is_paid: Tensor) -> Tensor:
        """(B, SENSED), now that these actions have led to pictures of these features."""
        self.clock += 1
        if not suits(self.k) or is_paid.any():  # to look would make another device wait
            self.arrive(is_paid)
        self.walk(self.motions[actions, 2], sights.step(self.features, features, actions))
        self.look_up(*sights.direction(features))
        self.features.copy_(features)
        self.is_on_its_way.fill_(1)
        marks, way = sights.mark(features), torch.stack([self.angle.sin(), self.angle.cos()], -1)
        here, facing = self.turned(self.place), self.turned(way)
        goal, aim, sure = self.follow(marks, here, facing, sights.known).split([2, 2, 1], -1)
        self.remember(marks, way)
        sensed = []
        for where in (aim, goal):
            way = seen_from(facing, where - here)
            far = way.norm(dim=-1, keepdim=True)
            sensed += [sure.sqrt() * way / (far + NEAR), sure.sqrt() * far / (far + FAR)]
        return torch.cat([*sensed, sure, facing, self.been()], -1)

    def been(self) -> Tensor:
        """(B, 2 AROUND): n / (n + 10) of the n steps, this one among them, that one has spent at places around."""
        angle = self.angle[:, None] + torch.arange(AROUND, device=self.angle.device) * (2 * math.pi / AROUND)
        way = torch.stack([angle.sin(), angle.cos()], -1)
        there = torch.cat([self.place[:, None], *(self.place[:, None] + away * way for away in AWAY)], 1)
        east, north = (there / GROUND + GROUNDS / 2).floor().long().clamp(0, GROUNDS - 1).unbind(-1)
        games = torch.arange(len(angle), device=angle.device)
        self.ground[games, east[:, 0], north[:, 0]] += 1
        spent = self.ground[games[:, None], east[:, 1:], north[:, 1:]]
        return spent / (spent + 10)

    def walk(self, turn: Tensor, way: Tensor) -> None:
        """Turn, and walk so far to the right and ahead; but nobody has walked where he was put down."""
        self.angle.add_(self.is_on_its_way * turn)
        motion = torch.cat([way, torch.zeros_like(way[:, :1])], -1)
        self.place.add_(self.is_on_its_way[:, None] * on_map(self.angle, motion))

    def look_up(self, seen: Tensor, spread: Tensor) -> None:
        """Where north is, by all that was seen of the sky since one was put down: turns are counted without error."""
        sin, cos = seen.unbind(-1)
        began = torch.atan2(sin, cos) - self.angle
        self.compass.add_((-2 * spread).exp()[:, None] * torch.stack([began.sin(), began.cos()], -1))

    def turned(self, ways: Tensor) -> Tensor:
        """Ways (B, ..., 2) as counted, from where one was put down and ahead of who stood there, by the compass."""
        sin, cos = normalize(self.compass, dim=-1).view(-1, *[1] * (ways.dim() - 2), 2).unbind(-1)
        right, ahead = ways.unbind(-1)
        return torch.stack([right * cos + ahead * sin, ahead * cos - right * sin], -1)

    def arrive(self, is_paid: Tensor) -> None:
        """All moments since one was put down get their way to here."""
        number = torch.arange(MOMENTS, device=is_paid.device)
        is_new = (number >= self.ready[:, None]) & (number < self.kept[:, None]) & is_paid[:, None]
        ways, facings = self.turned(self.place[:, None] - self.ways), self.turned(self.facings)
        self.ways.copy_(torch.where(is_new[..., None], ways, self.ways))
        self.facings.copy_(torch.where(is_new[..., None], facings, self.facings))
        self.left.copy_(torch.where(is_new, self.clock[:, None] - self.left, self.left))
        self.ready.copy_(torch.where(is_paid, self.kept, self.ready))
        self.put_down(is_paid)

    def remember(self, marks: Tensor, way: Tensor) -> None:
        """One moment more; until it has paid, with its place, by the count, and step instead of the way."""
        is_kept = (self.clock % NOTED == 0) & (self.kept < MOMENTS)
        games, slot = torch.arange(len(marks), device=marks.device), self.kept.clamp_max(MOMENTS - 1)
        for part, new in (
            (self.marks, marks), (self.facings, way), (self.ways, self.place), (self.left, self.clock.to(marks)),
        ):  # fmt: skip
            chosen = is_kept.view(-1, *[1] * (new.dim() - 1))
            part[games, slot] = torch.where(chosen, new, part[games, slot])
        self.kept += is_kept

    def follow(self, marks: Tensor, here: Tensor, facing: Tensor, known: Tensor) -> Tensor:
        """(B, 5): where the place that pays lies by most votes, where its trail goes on from here, and how sure it is,
        after the votes of now."""
        if suits(marks, self.marks):
            told = self.k.new_zeros(len(marks), 5)
            given = (
                marks, facing, self.marks, self.facings, self.ways, self.left, self.ready,
                here, self.votes, self.total, self.worth, told,
            )  # fmt: skip
            follow_trails(
                *map(array, given), float(known[0].exp()), float(known[1]), FADES, CELL, SAME_WAY, ON_TRAIL, LATER
            )
            return told
        self.vote(marks, here, facing, known)
        goal, sure = self.elect()
        return torch.cat([goal, self.goes_on(here, goal), sure], -1)

    def vote(self, marks: Tensor, here: Tensor, facing: Tensor, known: Tensor) -> None:
        """Of all moments whose way is known, in the nine cells around; what comes later is worth more."""
        self.worth.div_(FADES)
        logits = known[0].exp() * (marks[:, None] @ self.marks.mT)[:, 0] - known[1]
        is_alike = self.is_ready() & ((self.facings - facing[:, None]).norm(dim=-1) < SAME_WAY)
        logits = logits.masked_fill(~is_alike, -torch.inf)
        weight = torch.cat([logits, logits.new_zeros(len(logits), 1)], -1).softmax(-1)[:, :-1] * self.worth[:, None]
        self.total.add_(weight.sum(1))
        there = here[:, None] + self.ways
        cell = (there / CELL + CELLS / 2).floor().long().clamp(1, CELLS - 2)
        votes = torch.stack([weight, weight * there[..., 0], weight * there[..., 1]], 1)
        for east in range(-1, 2):
            for north in range(-1, 2):
                index = (cell[..., 0] + east) * CELLS + cell[..., 1] + north
                self.votes.flatten(2).scatter_add_(2, index[:, None].expand(-1, 3, -1), votes)

    def is_ready(self) -> Tensor:
        """(B, MOMENTS): whose way is known."""
        return torch.arange(MOMENTS, device=self.ready.device) < self.ready[:, None]

    def elect(self) -> tuple[Tensor, Tensor]:
        """The mean (B, 2) of the votes about the cell that has most, and their share of all and of one more (B, 1)."""
        most, cell = self.votes[:, 0].flatten(1).max(1)
        games = torch.arange(len(cell), device=cell.device)
        sums = self.votes.flatten(2)[games, 1:, cell]
        return sums / most[:, None].clamp_min(1e-9), (most / (self.total + self.worth))[:, None]

    def goes_on(self, here: Tensor, goal: Tensor) -> Tensor:
        """Where one was a little later who had stood here and had least left."""
        stood = goal[:, None] - self.ways
        is_here = self.is_ready() & ((stood - here[:, None]).norm(dim=-1) < ON_TRAIL)
        left, best = self.left.masked_fill(~is_here, torch.inf).min(1)
        games, later = torch.arange(len(best), device=best.device), best + LATER
        goes_on = (later < self.ready) & (left < torch.inf)
        later = later.clamp_max(MOMENTS - 1)
        goes_on &= self.left[games, later] < left
        return torch.where(goes_on[:, None], stood[games, later], goal)


class TrailMemory(SensingMemory):
    """m_t = [the paper's, what one knows of the way]."""

    sensed = SENSED

    def __init__(self, config: "AgentConfig", *, weight: float = 0.01):
        super().__init__(config)
        self.sights = Sights(config, weight)
        self.features = config.embedding_size

    @property
    def own_loss(self) -> AuxiliaryLoss:
        """That of what it sees."""
        return self.sights

    def new_store(self, num_envs: int, **options: Any) -> TrailStore:
        """Rings of `capacity` slots; no way is known yet."""
        return TrailStore(num_envs, *self.sizes, features=self.features, **options)

    @torch.no_grad()
    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The features of each picture, the action before it, and whether that paid."""
        features = self.sights.features(inputs.pictures.flatten(0, 1)).view(*inputs.actions.shape, -1).to(dtype)
        return torch.cat([features, *acted(inputs, dtype)], -1)

    @torch.no_grad()
    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Found:  # type: ignore[override]
        """The K nearest slots, and the way."""
        features, action, is_paid = looked_t.split([self.features, 1, 1], -1)
        sensed = store.note(self.sights, features, action[:, 0].long(), is_paid[:, 0] > 0)
        return self.found(store, q_t, sensed)
