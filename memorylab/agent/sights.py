"""What a walker in a maze that nobody knows can see in its pictures: which way it faces, its steps, a place again.

A small network of a memory's own, see trail.py. It learns from a teacher that tells poses while training, by pictures
drawn from those that are kept, each with the one before it: some mazes, some pictures of each, and of each of these
another that shows the same place, if there is one.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot

from memorylab.agent.auxiliary import AuxiliaryLoss, Metrics
from memorylab.agent.data import Inputs, Output
from memorylab.agent.encoders import NormalisedEncoder, centred
from memorylab.agent.homing import ABOVE_ACTIONS, MOTIONS, distance, seen_from, told_poses

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

MARK = 32  # numbers by which a place is known again
KEPT, EVERY = 16384, 7  # pictures that are kept, of every so-manyth step
MAZES, PAIRS = 4, 16  # drawn for an update, and pictures of each
SAME_PLACE, SAME_WAY = 4.0, 0.3  # steps, and the chord of an angle, within which two pictures show the same
NO_STEP = 3.0  # steps: who is farther than that from where it was has been put down there
SUREST = math.log(0.05)  # radians: no direction is known better from one picture


class Kept(NamedTuple):
    """Pictures, each with the one before it, and what a teacher told of them."""

    pictures: Tensor  # (N, 2, height, width, 3)
    poses: Tensor  # (N, 2, 4): see told_poses
    actions: Tensor  # (N): that led from one to the other
    mazes: Tensor  # (N): a number for each


class Sights(AuxiliaryLoss):
    """From a picture to features (N, X), and from these to the rest."""

    def __init__(self, config: "AgentConfig", weight: float):
        super().__init__()
        if config.actions != len(MOTIONS):
            raise ValueError(f"memory trail needs the {len(MOTIONS)} actions of walked tasks, not {config.actions}")
        self.weight = weight
        X = config.embedding_size
        self.encoder = NormalisedEncoder(config.height, config.width, X)
        self.facing = nn.Sequential(nn.Linear(X, X), nn.ReLU(), nn.Linear(X, 3))
        self.marking = nn.Sequential(nn.Linear(X, X), nn.ReLU(), nn.Linear(X, MARK))
        self.stepping = nn.Sequential(nn.Linear(2 * X + len(MOTIONS), X), nn.ReLU(), nn.Linear(X, 2))
        self.known = nn.Parameter(torch.tensor([1.0, 2.0]))  # log a and c of `likeness`
        self.kept: Kept | None = None
        self.maze = torch.zeros(0, dtype=torch.int64)  # that each game is in
        self.met = 0  # pictures so far

    def features(self, pictures: Tensor) -> Tensor:
        """Of pictures (N, height, width, 3)."""
        return self.encoder(centred(pictures, next(self.parameters()).dtype))

    def direction(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """(N, 2), of length 1, east and north, and the logarithm (N) of how far off it may be."""
        direction, spread = self.facing(features).split([2, 1], -1)
        return normalize(direction, dim=-1, eps=1e-6), spread[..., 0].clamp_min(SUREST)

    def step(self, before: Tensor, now: Tensor, actions: Tensor) -> Tensor:
        """Steps to the right and ahead (N, 2), of one who faces as in `now`, from where `before` was seen."""
        return self.stepping(torch.cat([before, now, one_hot(actions, len(MOTIONS)).to(now)], -1))

    def mark(self, features: Tensor) -> Tensor:
        """(N, MARK), of length 1."""
        return normalize(self.marking(features), dim=-1, eps=1e-6)

    def likeness(self, marks: Tensor, others: Tensor) -> Tensor:
        """(..., N, M): a times the product of two marks, less c. As a logit, beside one of 0 that the place is new."""
        return self.known[0].exp() * (marks @ others.mT) - self.known[1]

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, Metrics]:
        """Of pictures drawn from those that are kept."""
        if self.lesson is not None:
            self.keep(inputs, self.lesson.advice)
        if self.lesson is None or self.kept is None or self.met == 0:
            return output.x.new_zeros(()), {}
        drawn = self.draw(self.kept)
        kept = Kept(*(part[drawn.flatten()] for part in self.kept))
        before, now = self.features(kept.pictures.flatten(0, 1)).unflatten(0, (-1, 2)).unbind(1)
        poses = kept.poses.to(now)
        marks, places = self.mark(now).unflatten(0, drawn.shape), poses[:, 1].unflatten(0, drawn.shape)
        judged = (
            self.judge_direction(now, poses[:, 1]),
            self.judge_step(self.step(before, now, kept.actions), poses),
            self.judge_marks(marks, places, drawn),
        )
        return torch.stack([loss for loss, _ in judged]).sum(), {k: v for _, told in judged for k, v in told.items()}

    def judge_direction(self, features: Tensor, poses: Tensor) -> tuple[Tensor, Metrics]:
        """How unlikely what was told is, by Laplace's law."""
        direction, spread = self.direction(features)
        off = distance(direction - poses[:, 2:])
        return (off * (-spread).exp() + spread).mean(), {"facing_off": off.detach().median()}

    def judge_step(self, step: Tensor, poses: Tensor) -> tuple[Tensor, Metrics]:
        """The mean square, since a pose is told in whole steps: their mean is right, their median is not."""
        before, now = poses.unbind(1)
        way = seen_from(now[:, 2:], now[:, :2] - before[:, :2])
        is_step = way.norm(dim=-1) < NO_STEP
        off = (step - way).square().sum(-1) * is_step
        return off.sum() / is_step.sum().clamp_min(1), {"step_off": off.detach().median()}

    def judge_marks(self, marks: Tensor, poses: Tensor, drawn: Tensor) -> tuple[Tensor, Metrics]:
        """Cross-entropy of which of the others of its maze shows the same place, or that none does."""
        is_same = sameness(poses)
        is_other = drawn[:, :, None] != drawn[:, None]
        logits = self.likeness(marks, marks).masked_fill(~is_other, -torch.inf)
        logits = torch.cat([logits, torch.zeros_like(logits[..., :1])], -1)
        target = is_same * is_other
        target = torch.cat([target, (target.sum(-1, keepdim=True) == 0).to(target)], -1)
        target = target / target.sum(-1, keepdim=True)
        log_share = logits.log_softmax(-1)
        loss = -(target * log_share.masked_fill(target == 0, 0)).sum(-1).mean()
        share = log_share.detach().exp()[..., :-1]
        return loss, {"known_again": (share * (target[..., :-1] > 0)).sum() / share.sum()}

    def draw(self, kept: Kept) -> Tensor:
        """Numbers of pictures (MAZES, 2 PAIRS): some of each maze, and for each of these one of the same place."""
        random = torch.Generator().manual_seed(self.turn)
        mazes, poses, drawn = kept.mazes[: self.met].cpu(), kept.poses[: self.met, 1].cpu(), []
        for maze in mazes[torch.randint(len(mazes), (MAZES,), generator=random)]:
            members = (mazes == maze).nonzero()[:, 0]
            some = torch.randint(len(members), (PAIRS,), generator=random)
            is_same = sameness(poses[members])[some]
            is_same[torch.arange(PAIRS), some] = 0
            others = torch.multinomial(is_same + 1e-6, 1, generator=random)[:, 0]
            drawn.append(members[torch.cat([some, others])])
        return torch.stack(drawn).to(kept.mazes.device)

    def keep(self, inputs: Inputs, advice: Tensor) -> None:
        """Those of which the pose is told, in place of the oldest."""
        T, B = advice.shape
        poses = told_poses(advice).to(torch.float32)
        if self.kept is None:
            self.maze = torch.arange(B, device=advice.device)
            parts = inputs.pictures[0, :1].expand(2, -1, -1, -1), poses[0, :1].expand(2, -1), self.maze[0], self.maze[0]
            self.kept = Kept(*(part.new_zeros(KEPT, *part.shape) for part in parts))
        for t in range(T):
            self.maze = self.maze + B * inputs.resets[t]
            if t % EVERY == 1:
                is_told = ((advice[t] >> ABOVE_ACTIONS > 0) & ~inputs.resets[t]).nonzero()[:, 0]
                places = (self.met + torch.arange(len(is_told), device=advice.device)) % KEPT
                both = inputs.pictures[t - 1 : t + 1, is_told], poses[t - 1 : t + 1, is_told]
                new = *(part.transpose(0, 1) for part in both), inputs.actions[t, is_told], self.maze[is_told]
                for part, values in zip(self.kept, new, strict=True):
                    part[places] = values
                self.met += len(is_told)


def sameness(poses: Tensor) -> Tensor:
    """(..., N, N): from 1, of two poses (..., N, 4) that are the same, down to 0."""
    apart, turned = (poses[..., :, None, :] - poses[..., None, :, :]).split(2, -1)
    return (1 - apart.norm(dim=-1) / SAME_PLACE).clamp_min(0) * (turned.norm(dim=-1) < SAME_WAY)
