"""Homing: the paper's episodic memory, and beside it where one stands and where the place that pays lies from here.

Who is put down somewhere else after a reward looks for what does not look like now, and the paper's read finds what
does. Here a small network tells from a picture where one stands and which way one faces, a pose (P, u) on a map, and
how sure a picture makes one of it. It learns from a teacher that tells poses while training, by pictures drawn from
many walks. No single picture is trusted: one counts one's steps and lets pictures correct the count, each by how sure
it is (a Kalman filter, Kalman 1960), from wherever one was put down. Where the count stood when it paid is kept. m_t
also has one's own pose, and the mean of those places as seen from here.
"""

import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from memorylab.agent.auxiliary import AuxiliaryLoss, Metrics
from memorylab.agent.data import Inputs, Output
from memorylab.agent.encoders import NormalisedEncoder, centred
from memorylab.agent.episodic import EpisodicStore
from memorylab.agent.sensing import Found, SensingMemory, acted

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
KEPT, EVERY, DRAWN = 32768, 10, 256  # pictures that are kept, of every so-manyth step, and drawn for an update
SENSED = 9  # numbers of m_t beside the paper's: right, ahead, far, known; one's own pose and how sure it is


def seen_from(direction: Tensor, vector: Tensor) -> Tensor:
    """A vector (..., 2) of the map by one who faces `direction`: to the right, ahead. Both are (east, north)."""
    (east, north), (x, z) = direction.unbind(-1), vector.unbind(-1)
    return torch.stack([x * north - z * east, x * east + z * north], -1)


class Poses(AuxiliaryLoss):
    """From a picture to a pose (..., 6): a point of the map, in steps, the direction one faces, and the logarithms of
    how far off the two may be, in steps and radians. It keeps pictures that a teacher told the pose of."""

    numbers = 6  # that it tells of a picture

    def __init__(self, config: "AgentConfig", weight: float):
        super().__init__()
        if config.actions != len(MOTIONS):
            needed = f"the {len(MOTIONS)} actions of walked tasks, not {config.actions}"
            raise ValueError(f"memory {config.memory} needs {needed}")
        self.weight = weight
        X = config.embedding_size
        self.encoder = NormalisedEncoder(config.height, config.width, X)
        self.layers = nn.Sequential(nn.Linear(X, X), nn.ReLU(), nn.Linear(X, self.numbers))
        self.pictures = torch.zeros(0, config.height, config.width, 3, dtype=torch.uint8)
        self.told = torch.zeros(0, 0)
        self.met = 0  # pictures so far

    def forward(self, pictures: Tensor) -> Tensor:
        """The poses of pictures (N, height, width, 3)."""
        return self.shaped(self.layers(self.encoder(centred(pictures, next(self.parameters()).dtype))))

    def shaped(self, guess: Tensor) -> Tensor:
        """As the layers give it, made a pose."""
        place, direction, spread = guess.split(2, -1)
        spread = torch.maximum(spread + spread.new_tensor([math.log(10), 0]), spread.new_tensor(SUREST))
        return torch.cat([FAR * place, normalize(direction, dim=-1, eps=1e-6), spread], -1)

    def loss(self, output: Output, inputs: Inputs) -> tuple[Tensor, Metrics]:
        """How unlikely what a teacher told is, of pictures drawn from those that are kept."""
        if self.lesson is not None:
            self.keep(inputs.pictures[::EVERY], self.lesson.advice[::EVERY])
        if self.lesson is None or self.met == 0:
            return output.x.new_zeros(()), {}
        draw = torch.Generator().manual_seed(self.turn)
        chosen = torch.randint(min(self.met, KEPT), (DRAWN,), generator=draw).to(self.told.device)
        poses = self(self.pictures[chosen])
        return self.judge(poses, self.told[chosen].to(poses))

    def judge(self, poses: Tensor, told: Tensor) -> tuple[Tensor, Metrics]:
        """The loss of guesses beside what was told, and how far off they are."""
        off = off_by(poses, told)
        metrics = dict(zip(("map_apart", "map_turn"), off.detach().median(-1).values, strict=True))
        return unlikely(off, poses[..., 4:6]).mean(), metrics

    def is_told(self, advice: Tensor) -> Tensor:
        """Not every teacher tells places."""
        return advice >> ABOVE_ACTIONS > 0

    def lessons(self, advice: Tensor) -> Tensor:
        """What is kept of an advice (N) that tells a place: (N, ...)."""
        return told_poses(advice)

    def keep(self, pictures: Tensor, advice: Tensor) -> None:
        """Those of which the pose is told, in place of the oldest."""
        is_told = self.is_told(advice)
        told = self.lessons(advice[is_told])
        if not len(self.told):
            self.pictures = pictures.new_zeros(KEPT, *self.pictures.shape[1:])
            self.told = told.new_zeros(KEPT, told.shape[-1])
        places = (self.met + torch.arange(len(told), device=told.device)) % KEPT
        self.pictures[places], self.told[places] = pictures[is_told], told
        self.met += len(told)


def off_by(poses: Tensor, true: Tensor) -> Tensor:
    """(2, ...): steps from one point to the other, and the chord of the angle between the directions."""
    return torch.stack([distance(poses[..., :2] - true[..., :2]), distance(poses[..., 2:4] - true[..., 2:4])])


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
    east, north = (told >> 22 & 4095) - 2048, (told >> 10 & 4095) - 2048
    return torch.stack([east, north, angle.sin(), angle.cos()], -1)


def on_map(angle: Tensor, motion: Tensor) -> Tensor:
    """The way (..., 2), east and north, of a motion (..., 3) that begins facing `angle`."""
    right, ahead, turn = motion.unbind(-1)
    middle = angle + turn / 2  # of a step in a bend
    return torch.stack([right * middle.cos() + ahead * middle.sin(), ahead * middle.cos() - right * middle.sin()], -1)


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
        """(B, 9), now that these actions have led to pictures that look like `pose` (B, numbers). Who was paid stood
        at the end of that step, and now stands elsewhere."""
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
        aim, has_aim = self.aim(self.paid[:, :2] / torch.where(is_known, self.paid[:, 2:], 1), is_known)
        way = seen_from(facing, aim - self.place)
        far = way.norm(dim=-1, keepdim=True)
        sure = 1 / (1 + self.variance[:, :1].sqrt() / 10)
        return torch.cat(
            [has_aim * way / (far + NEAR), has_aim * far / (far + FAR), is_known, self.place / FAR, facing, sure], -1
        )

    def aim(self, goal: Tensor, is_known: Tensor) -> tuple[Tensor, Tensor]:
        """Where to (B, 2), and whether there is such a place (B, 1)."""
        return goal, is_known


class HomingMemory(SensingMemory):
    """m_t = [the paper's, what one knows of where one is]."""

    sensed = SENSED
    part = Poses  # that tells a pose from a picture

    def __init__(self, config: "AgentConfig", *, weight: float = 0.01):
        super().__init__(config)
        self.poses = self.part(config, weight)

    @property
    def own_loss(self) -> AuxiliaryLoss:
        """That of the map."""
        return self.poses

    def new_store(self, num_envs: int, **options: Any) -> HomingStore:
        """Rings of `capacity` slots; nothing has paid yet."""
        return HomingStore(num_envs, *self.sizes, **options)

    @torch.no_grad()
    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The pose of each picture, the action before it, and whether that paid; not where an episode begins."""
        poses = self.poses(inputs.pictures.flatten(0, 1)).view(*inputs.actions.shape, -1).to(dtype)
        return torch.cat([poses, *acted(inputs, dtype)], -1)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Found:  # type: ignore[override]
        """The K nearest slots, and where one is."""
        pose, action, is_paid = looked_t.split([self.poses.numbers, 1, 1], -1)
        return self.found(store, q_t, store.note(pose, action[:, 0].long(), is_paid[:, 0] > 0))
