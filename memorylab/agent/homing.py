"""Homing: the paper's episodic memory, and beside it where the place that pays lies from here.

Who is put down somewhere else after a reward looks for what does not look like now, and the paper's read finds what
does. Here the agent learns to tell from a picture where it stands and which way it faces, and keeps in mind where it
stood when it was paid. Nobody tells it where it is: it knows how its actions move it, and that is enough (learning to
see by moving, Agrawal et al. 2015). From x_t a pose (P_t, u_t) is read, a point of a map and a direction; for two
steps of one walk, how the one lies to the other must be what the steps between them add up to:

    R(u_t)' (P_s - P_t) = the way walked from t to s, as seen from t,    R(u_t)' u_s = the turns between them.

Only differences are learned from, so the map may lie anyhow; but it is one map, where the world is always the same.
m_t also has the mean of the P_s of all rewards of the episode, as seen from here: right, ahead, and how far.
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
SENSED = 4  # numbers of m_t beside the paper's
ABOVE_ACTIONS = 16  # the bit of a teacher's advice from which on it tells a place


def seen_from(direction: Tensor, vector: Tensor) -> Tensor:
    """A vector (..., 2) of the map by one who faces `direction`: to the right, ahead. Both are (east, north)."""
    (east, north), (x, z) = direction.unbind(-1), vector.unbind(-1)
    return torch.stack([x * north - z * east, x * east + z * north], -1)


class Poses(AuxiliaryLoss):
    """From x to a pose (..., 4): a point of the map, in steps, and the direction one faces."""

    def __init__(self, config: "AgentConfig", weight: float):
        super().__init__()
        if config.actions != len(MOTIONS):
            raise ValueError(f"memory homing needs the {len(MOTIONS)} actions of walked tasks, not {config.actions}")
        self.weight = weight
        X = config.embedding_size
        self.layers = nn.Sequential(nn.Linear(X, X), nn.ReLU(), nn.Linear(X, 4))

    def forward(self, x: Tensor) -> Tensor:
        """The pose of each picture."""
        place, direction = self.layers(x).split(2, -1)
        return torch.cat([FAR * place, normalize(direction, dim=-1, eps=1e-6)], -1)

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, Metrics]:
        """How far the poses of two steps of a walk are from the way between them; and from what a teacher tells."""
        poses = self(output.x)
        by_walk = self.by_walk(poses, inputs)
        metrics = dict(zip(("pose_apart", "pose_turn"), by_walk.detach(), strict=True))
        if self.lesson is None:
            return by_walk.sum(), metrics
        is_told = self.lesson.advice >> ABOVE_ACTIONS > 0  # not every teacher tells places
        number = self.over_learners(is_told.sum()).clamp_min(1)
        by_map = (off(poses, told_poses(self.lesson.advice).to(poses)) * is_told).sum((1, 2)) / number
        metrics |= dict(zip(("map_apart", "map_turn"), by_map.detach(), strict=True))
        return by_walk.sum() + self.lesson.weight * by_map.sum(), metrics

    def by_walk(self, poses: Tensor, inputs: Inputs) -> Tensor:
        """(2,): how far apart, and how much turned, on average over lags of 4, 8, 16 ... steps."""
        walked, walk = walked_poses(inputs), walks(inputs)
        errors: list[Tensor] = []
        counts: list[Tensor] = []
        for lag in lags(len(walk)):
            known, guessed = (between(each[:-lag], each[lag:]) for each in (walked, poses))
            counts.append(walk[:-lag] == walk[lag:])
            errors.append((off(guessed, known) * counts[-1]).sum((1, 2)))
        number = self.over_learners(torch.stack([count.sum() for count in counts]).sum()).clamp_min(1)
        return torch.stack(errors).sum(0) / number


def off(poses: Tensor, true: Tensor) -> Tensor:
    """(2, ...): how far apart two poses are, in tens of steps, and 1 - the cosine of the angle between them."""
    apart = smooth_l1_loss(poses[..., :2], true[..., :2], beta=NEAR, reduction="none").sum(-1) / 10
    return torch.stack([apart, 1 - (poses[..., 2:] * true[..., 2:]).sum(-1)])


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
    right, ahead, turn = MOTIONS.to(inputs.rewards)[inputs.actions].unbind(-1)
    angle = turn.cumsum(0)
    middle = angle - turn / 2  # of a step in a bend
    east = right * middle.cos() + ahead * middle.sin()
    north = ahead * middle.cos() - right * middle.sin()
    return torch.stack([east.cumsum(0), north.cumsum(0), angle.sin(), angle.cos()], -1)


def walks(inputs: Inputs) -> Tensor:
    """The number of each step's walk (T, B): a reward, after which one is put elsewhere, begins another."""
    return (inputs.resets | (inputs.rewards > 0)).long().cumsum(0)


class Found(NamedTuple):
    """What a read found, and where the place that pays lies."""

    pv: Tensor  # as in Recalled
    valid: Tensor
    age: Tensor
    paid: Tensor  # (..., 3): a point of the map, and how often it has paid


class Near(NamedTuple):
    """The same as a read needs it."""

    keys: Tensor  # as in Neighbours
    pv: Tensor
    valid: Tensor
    paid: Tensor


class HomingStore(EpisodicStore):
    """With the sum of the points where one was paid, their number, and the last point."""

    def __init__(self, *sizes: int, **options: Any):
        super().__init__(*sizes, **options)
        self.paid = self.k.new_zeros(len(self.k), 3)
        self.last = self.k.new_zeros(len(self.k), 3)  # with a 1, to be added
        self.update(paid=self.paid, last=self.last)

    def wipe(self, reset: Tensor) -> None:
        """Where it paid, too."""
        super().wipe(reset)
        self.paid.masked_fill_(reset[:, None], 0)

    def note(self, pose: Tensor, rewards: Tensor) -> Tensor:
        """Where it pays, now that one stands at `pose` (B, 4); a reward was for the point before."""
        self.paid.add_(torch.where((rewards > 0)[:, None], self.last, 0))
        self.last.copy_(torch.cat([pose[:, :2], torch.ones_like(pose[:, :1])], -1))
        return self.paid / torch.cat([self.paid[:, 2:].clamp_min(1).expand(-1, 2), self.last[:, 2:]], -1)


class HomingMemory(EpisodicMemory):
    """m_t = [the paper's, right, ahead, how far, whether it is known]. Queries have nothing of h."""

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
        """K slots and a point, a step."""
        return Found(*super().new_recalled(lead, **options), torch.zeros(*lead, 3, **options))

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The reward that came with each picture; none where an episode begins."""
        return inputs.rewards.masked_fill(inputs.resets, 0)

    def embed(self, x: Tensor) -> Tensor:
        """W_qx x + b_q, and the pose, which rewards do not teach."""
        return torch.cat([super().embed(x), self.poses(x).detach()], -1)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Found:  # type: ignore[override]
        """The K nearest slots, and where it pays."""
        q, pose = q_t.split([self.key_size, 4], -1)
        return Found(*super().search(store, q.contiguous()), store.note(pose, looked_t))

    def project(self, recalled: Found) -> Near:  # type: ignore[override]
        """Keys anew, as in the episodic memory."""
        return Near(*super().project(Recalled(*recalled[:3])), recalled.paid)

    def forward(self, q_t: Tensor, near: Near) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(m_t, w_t)."""
        q, pose = q_t.split([self.key_size, 4], -1)
        m_t, w_t = self.read_slots(q.contiguous(), Neighbours(*near[:3]))
        way = seen_from(pose[..., 2:], near.paid[..., :2] - pose[..., :2])
        far = way.norm(dim=-1, keepdim=True)
        is_known = (near.paid[..., 2:] > 0).to(m_t.dtype)
        return torch.cat([m_t, is_known * way / (far + NEAR), is_known * far / (far + FAR), is_known], -1), w_t
