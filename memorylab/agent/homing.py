"""Homing: the paper's episodic memory, and beside it where one stands and where the place that pays lies from here.

Who is put down somewhere else after a reward looks for what does not look like now, and the paper's read finds what
does. Here the agent learns to tell from a picture where it stands and which way it faces, a pose (P, u) on a map, and
how sure of it a picture makes one. Three things teach it: how its own actions move it (learning to see by moving,
Agrawal et al. 2015),

    R(u_t)' (P_s - P_t) = the way walked from t to s, as seen from t,    R(u_t)' u_s = the turns between them,

and a teacher, where one tells the pose. No single picture is trusted: one counts one's steps and lets pictures correct
the count, each by how sure it is (a Kalman filter, Kalman 1960), from wherever one was put down. Where the count stood
when it paid is kept. m_t also has one's own pose, and the mean of those places as seen from here.
"""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, smooth_l1_loss

from memorylab.agent.auxiliary import AuxiliaryLoss, Metrics
from memorylab.agent.data import Inputs, Output
from memorylab.agent.episodic import EpisodicMemory, EpisodicStore, Neighbours, Recalled
from memorylab.agent.memory import Memory

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

TURN = math.radians(8.448)
# What each of the eight actions of walked tasks does: steps to the right and ahead, and the turn to the right.
MOTIONS = torch.tensor(
    [[0, 1, 0], [0, -1, 0], [-1, 0, 0], [1, 0, 0], [0, 0, -TURN], [0, 0, TURN], [0, 1, -TURN], [0, 1, TURN]]
)
FAR = 50.0  # steps: what one is on the map
NEAR = 3.0  # steps within which directions fade
ABOVE_ACTIONS = 16  # the bit of a teacher's advice from which on it tells a place
SUREST = math.log(1.0), math.log(0.03)  # steps and radians: nothing is known better from one picture
AS_ONE = 20.0  # pictures of a walk err alike: so many count as one
SLIP = 0.03, 1e-5  # steps^2 and radians^2 by which a step of one's own may differ from what it should be
ANYWHERE = 1e9  # the variance of who has just been put down
SENSED = 9  # numbers of m_t beside the paper's: right, ahead, far, known; one's own pose and how sure it is


def seen_from(direction: Tensor, vector: Tensor) -> Tensor:
    """A vector (..., 2) of the map by one who faces `direction`: to the right, ahead. Both are (east, north)."""
    (east, north), (x, z) = direction.unbind(-1), vector.unbind(-1)
    return torch.stack([x * north - z * east, x * east + z * north], -1)


class Poses(AuxiliaryLoss):
    """From x to a pose (..., 6): a point of the map, in steps, the direction one faces, and the logarithms of how far
    off the two may be, in steps and radians."""

    def __init__(self, config: "AgentConfig", weight: float):
        super().__init__()
        if config.actions != len(MOTIONS):
            raise ValueError(f"memory homing needs the {len(MOTIONS)} actions of walked tasks, not {config.actions}")
        self.weight = weight
        X = config.embedding_size
        self.layers = nn.Sequential(nn.Linear(X, X), nn.ReLU(), nn.Linear(X, 6))

    def forward(self, x: Tensor) -> Tensor:
        """The pose of each picture."""
        place, direction, spread = self.layers(x).split(2, -1)
        spread = torch.maximum(spread + spread.new_tensor([math.log(10), 0]), spread.new_tensor(SUREST))
        return torch.cat([FAR * place, normalize(direction, dim=-1, eps=1e-6), spread], -1)

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, Metrics]:
        """How far the poses of two steps of a walk are from the way between them; and what a teacher tells is from
        being likely."""
        poses = self(output.x)
        by_walk = self.by_walk(poses[..., :4], inputs)
        metrics = dict(zip(("pose_apart", "pose_turn"), by_walk.detach(), strict=True))
        if self.lesson is None:
            return by_walk.sum(), metrics
        is_told = self.lesson.advice >> ABOVE_ACTIONS > 0  # not every teacher tells places
        number = self.over_learners(is_told.sum()).clamp_min(1)
        off = off_by(poses, told_poses(self.lesson.advice).to(poses))
        metrics |= dict(zip(("map_apart", "map_turn"), ((off * is_told).sum((1, 2)) / number).detach(), strict=True))
        by_map = (unlikely(off, poses[..., 4:]) * is_told).sum() / number
        return by_walk.sum() + by_map, metrics  # a place is no advice: it is told for as long as there is a teacher

    def by_walk(self, poses: Tensor, inputs: Inputs) -> Tensor:
        """(2,): how far apart, and how much turned, on average over lags of 4, 8, 16 ... steps."""
        walked, walk = walked_poses(inputs), walks(inputs)
        errors: list[Tensor] = []
        counts: list[Tensor] = []
        for lag in lags(len(walk)):
            known, guessed = (between(each[:-lag], each[lag:]) for each in (walked, poses))
            counts.append(walk[:-lag] == walk[lag:])
            errors.append((apart(guessed, known) * counts[-1]).sum((1, 2)))
        number = self.over_learners(torch.stack([count.sum() for count in counts]).sum()).clamp_min(1)
        return torch.stack(errors).sum(0) / number


def apart(poses: Tensor, true: Tensor) -> Tensor:
    """(2, ...): how far apart two poses are, in tens of steps, and 1 - the cosine of the angle between them."""
    way = smooth_l1_loss(poses[..., :2], true[..., :2], beta=NEAR, reduction="none").sum(-1) / 10
    return torch.stack([way, 1 - (poses[..., 2:] * true[..., 2:]).sum(-1)])


def off_by(poses: Tensor, true: Tensor) -> Tensor:
    """(2, ...): steps from one point to the other, and the chord of the angle between the directions."""
    return torch.stack([distance(poses[..., :2] - true[..., :2]), distance(poses[..., 2:4] - true[..., 2:])])


def distance(vector: Tensor) -> Tensor:
    """Its length, smooth at 0."""
    return (vector.square().sum(-1) + 1e-6).sqrt()


def unlikely(off: Tensor, spread: Tensor) -> Tensor:
    """Minus the logarithm of how likely these (2, ...) are, by Laplace's law, for a point and for an angle."""
    of_point, of_angle = spread.unbind(-1)
    return off[0] * (-of_point).exp() + 2 * of_point + off[1] * (-of_angle).exp() + of_angle


def told_poses(advice: Tensor) -> Tensor:
    """(..., 4) from what a teacher says above the bits of the actions: steps east and north, and the way one faces."""
    told = advice >> ABOVE_ACTIONS
    angle = (told & 1023) * (2 * math.pi / 1024)
    east, north = (told >> 22) - 2048, (told >> 10 & 4095) - 2048
    return torch.stack([east, north, angle.sin(), angle.cos()], -1)


def lags(steps: int) -> list[int]:
    """4, 8, 16 ... below the number of steps: who has hardly moved learns little."""
    return [2**n for n in range(2, 20) if 2**n < steps] or [1]


def between(pose: Tensor, later: Tensor) -> Tensor:
    """How a later pose lies to a pose: right, ahead, and its direction as seen from there."""
    facing = pose[..., 2:]
    return torch.cat([seen_from(facing, later[..., :2] - pose[..., :2]), seen_from(facing, later[..., 2:])], -1)


def walked_poses(inputs: Inputs) -> Tensor:
    """Where actions lead (T, B, 4), from wherever one was at first; walls, which stop some, are not known."""
    motion = MOTIONS.to(inputs.rewards)[inputs.actions]
    angle = motion[..., 2].cumsum(0)
    way = on_map(angle - motion[..., 2], motion).cumsum(0)
    return torch.cat([way, angle.sin()[..., None], angle.cos()[..., None]], -1)


def on_map(angle: Tensor, motion: Tensor) -> Tensor:
    """The way (..., 2), east and north, of a motion (..., 3) that begins facing `angle`."""
    right, ahead, turn = motion.unbind(-1)
    middle = angle + turn / 2  # of a step in a bend
    return torch.stack([right * middle.cos() + ahead * middle.sin(), ahead * middle.cos() - right * middle.sin()], -1)


def walks(inputs: Inputs) -> Tensor:
    """The number of each step's walk (T, B): a reward, after which one is put elsewhere, begins another."""
    return (inputs.resets | (inputs.rewards > 0)).long().cumsum(0)


class Found(NamedTuple):
    """What a read found, and what one knows of where one is."""

    pv: Tensor  # as in Recalled
    valid: Tensor
    age: Tensor
    sensed: Tensor  # (..., 9)


class Near(NamedTuple):
    """The same as a read needs it."""

    keys: Tensor  # as in Neighbours
    pv: Tensor
    valid: Tensor
    sensed: Tensor


class HomingStore(EpisodicStore):
    """With the count of one's steps, and the places where one was paid."""

    def __init__(self, *sizes: int, **options: Any):
        super().__init__(*sizes, **options)
        B = len(self.k)
        self.place, self.angle = self.k.new_zeros(B, 2), self.k.new_zeros(B)
        self.variance = self.k.new_full((B, 2), ANYWHERE)  # of the point and of the angle
        self.paid = self.k.new_zeros(B, 3)  # the sum of weighted points, and that of their weights
        self.motions = MOTIONS.to(self.k)
        self.update(place=self.place, angle=self.angle, variance=self.variance, paid=self.paid)

    def wipe(self, reset: Tensor) -> None:
        """Where one is and where it paid, too."""
        super().wipe(reset)
        self.paid.masked_fill_(reset[:, None], 0)
        self.variance.masked_fill_(reset[:, None], ANYWHERE)

    def note(self, pose: Tensor, actions: Tensor, is_paid: Tensor) -> Tensor:
        """(B, 9), now that these actions have led to pictures that look like `pose` (B, 6). Who was paid stood at the
        end of that step, and now stands elsewhere."""
        self.step(self.motions[actions])
        weight = (is_paid / (1 + self.variance[:, 0]))[:, None]
        self.paid.add_(torch.cat([weight * self.place, weight], -1))
        self.variance.masked_fill_(is_paid[:, None], ANYWHERE)
        self.correct(pose)
        return self.sense()

    def step(self, motion: Tensor) -> None:
        """As far as one's own legs tell."""
        self.place.add_(on_map(self.angle, motion))
        self.angle.add_(motion[:, 2])
        self.variance.add_(self.variance.new_tensor(SLIP))

    def correct(self, pose: Tensor) -> None:
        """As far as the picture is to be trusted beside them."""
        doubt = AS_ONE * (2 * pose[:, 4:]).exp()
        trust = self.variance / (self.variance + doubt)
        self.place.addcmul_(trust[:, :1], pose[:, :2] - self.place)
        sin, cos = pose[:, 2:4].unbind(-1)
        off = torch.atan2(sin, cos) - self.angle
        self.angle.addcmul_(trust[:, 1], torch.atan2(off.sin(), off.cos()))
        self.variance.copy_(trust * doubt)

    def sense(self) -> Tensor:
        """Right, ahead, far, known; one's own place, direction, and how sure one is."""
        facing = torch.stack([self.angle.sin(), self.angle.cos()], -1)
        is_known = self.paid[:, 2:] > 0
        goal = self.paid[:, :2] / torch.where(is_known, self.paid[:, 2:], 1)
        way = seen_from(facing, goal - self.place)
        far = way.norm(dim=-1, keepdim=True)
        sure = 1 / (1 + self.variance[:, :1].sqrt() / 10)
        return torch.cat(
            [is_known * way / (far + NEAR), is_known * far / (far + FAR), is_known, self.place / FAR, facing, sure], -1
        )


class HomingMemory(EpisodicMemory):
    """m_t = [the paper's, what one knows of where one is]. Queries have nothing of h."""

    def __init__(self, config: "AgentConfig", *, weight: float = 0.3):
        super().__init__(config)
        self.poses = Poses(config, weight)
        self.size = self.hidden_size + SENSED

    query = Memory.query

    @property
    def own_loss(self) -> AuxiliaryLoss:
        """That of the map."""
        return self.poses

    def new_store(self, num_envs: int, **options: Any) -> HomingStore:
        """Rings of `capacity` slots; nothing has paid yet."""
        return HomingStore(num_envs, self.capacity, self.input_size, self.hidden_size, self.key_size, **options)

    def new_recalled(self, lead: tuple[int, ...], **options: Any) -> Found:  # type: ignore[override]
        """K slots and what one knows, a step."""
        return Found(*super().new_recalled(lead, **options), torch.zeros(*lead, SENSED, **options))

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The action before each picture, and whether it paid; not where an episode begins."""
        is_paid = (inputs.rewards > 0) & ~inputs.resets
        return torch.stack([inputs.actions, is_paid.to(inputs.actions)], -1)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Found:  # type: ignore[override]
        """The K nearest slots, and where one is."""
        x_t, q = q_t.split([self.input_size, self.key_size], -1)
        actions, is_paid = looked_t.unbind(-1)
        return Found(*super().search(store, q.contiguous()), store.note(self.poses(x_t), actions, is_paid > 0))

    def embed(self, x: Tensor) -> Tensor:
        """x, from which a search tells the pose, and W_qx x + b_q."""
        return torch.cat([x.detach(), super().embed(x)], -1)

    def project(self, recalled: Found) -> Near:  # type: ignore[override]
        """Keys anew, as in the episodic memory."""
        return Near(*super().project(Recalled(*recalled[:3])), recalled.sensed)

    def forward(self, q_t: Tensor, near: Near) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(m_t, w_t)."""
        m_t, w_t = self.read_slots(q_t[..., self.input_size :].contiguous(), Neighbours(*near[:3]))
        return torch.cat([m_t, near.sensed], -1), w_t
