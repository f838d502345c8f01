"""Four walls, how far they are, and where one stands among them."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, MemoryRecallAgent
from memorylab.agent.homing import AS_ONE, MOTIONS, SLIP, on_map
from memorylab.agent.walls import (
    ABOVE_POSES,
    ANYWHERE,
    DIZZY,
    GOAL,
    HALF,
    LOWER,
    PLACE,
    REACH,
    SEEN,
    UPPER,
    Walls,
    WallsStore,
    in_sight,
)
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.navigation.arena import STEP

B = 3
TOLD = SimpleNamespace(distances=lambda seen, facing: seen.split(4, -1))  # whose pictures say it in numbers


def store_of() -> WallsStore:
    return WallsStore(B, 8, 2, 2, 2, dtype=torch.float64)


def looked_of(walls, off, sight, angle, dizziness=0.02) -> torch.Tensor:
    """(B, 15): of all games the same where one number is given."""
    parts = [torch.as_tensor(part).double().expand(B, 4) for part in (walls, off, sight)]
    angle = torch.as_tensor(angle).double().expand(B)[:, None]
    spread = torch.full((B, 1), math.log(dizziness)).double()
    return torch.cat([parts[0], parts[1].log(), parts[2], angle.sin(), angle.cos(), spread], -1)


def test_which_walls_reach_into_the_view():
    """Against rays."""
    rng = np.random.default_rng(0)
    walls, yaw = rng.uniform(1, 100, (200, 4)), rng.uniform(0, 2 * math.pi, 200)
    facing = torch.from_numpy(np.stack([np.sin(yaw), np.cos(yaw)], -1))
    found = in_sight(torch.from_numpy(walls), facing).numpy()
    for (east, west, north, south), angle, is_found in zip(walls, yaw, found, strict=True):
        met = set()
        for ray in angle + np.linspace(-math.pi / 4, math.pi / 4, 4001):
            x, z = math.sin(ray), math.cos(ray)
            ways = {0: east / max(x, 1e-9), 1: west / max(-x, 1e-9), 2: north / max(z, 1e-9), 3: south / max(-z, 1e-9)}
            met.add(min(ways, key=ways.__getitem__))
        assert set(np.flatnonzero(is_found)) >= met  # a sliver at the edge may be missed by rays
        assert len(set(np.flatnonzero(is_found)) - met) <= 1


def test_the_filter_knows_what_all_that_was_seen_says():
    """Against least squares over all places of an episode, both walls and the goal, for each axis."""
    rng, store = np.random.default_rng(1), store_of()
    store.wipe(torch.ones(B, dtype=torch.bool))
    seen = [Axis(), Axis()]  # of game 1
    angle = np.zeros(B)
    for t in range(60):
        actions, is_paid = rng.integers(0, 8, B), (rng.random(B) < 0.1) & (t > 0)
        way = on_map(torch.from_numpy(angle), MOTIONS[actions].double()).numpy()
        angle = np.where(is_paid, rng.uniform(0, 6, B), angle + MOTIONS[actions, 2].numpy())
        walls, off = rng.uniform(5, 90, (B, 4)), rng.uniform(0.5, 3, (B, 4))
        sight = rng.choice([-1.0, 5.0], (B, 4))
        store.angle.copy_(torch.from_numpy(angle))
        store.turn_variance.zero_()
        told = looked_of(walls, off, sight, angle)
        sensed = move(store, told, way, is_paid)
        for axis, (upper, lower) in enumerate(((0, 1), (2, 3))):
            seen[axis].step(way[1, axis], is_paid[1])
            for wall, sign in ((upper, 1), (lower, -1)):
                if sight[1, wall] > SEEN:
                    seen[axis].see("upper" if sign > 0 else "lower", sign * walls[1, wall], AS_ONE * off[1, wall] ** 2)
    for axis in range(2):
        expected = seen[axis].solve()
        np.testing.assert_allclose(store.mean[1, axis].numpy(), expected, atol=0.02, rtol=1e-3)
    place, upper, lower = (np.array([each.solve()[i] for each in seen]) for i in (PLACE, UPPER, LOWER))
    np.testing.assert_allclose(sensed[1, 4:6].numpy() * 50, place - (upper + lower) / 2, atol=0.05)


def move(store: WallsStore, told, way, is_paid) -> torch.Tensor:
    """One step that leads so far."""
    turned, store.angle = store.angle.clone(), torch.zeros(B).double()
    store.motions = torch.cat([torch.from_numpy(way), torch.zeros(B, 1)], -1)  # who faces north steps north
    store.step(store.motions)
    store.angle = turned
    store.arrive(torch.from_numpy(is_paid))
    store.turn_variance.zero_()
    store.look_about(*told[:, :12].split(4, -1))
    return store.sense()


class Axis:
    """All that was ever seen along it, as equations between places, walls and the goal."""

    def __init__(self):
        self.rows, self.places = [], 1
        self.equation({0: 1}, 0, 1e-12)
        for name, mean in (("upper", HALF), ("lower", -HALF), ("goal", 0)):
            self.equation({name: 1}, mean, ANYWHERE)

    def equation(self, parts, value, variance):
        self.rows.append((parts, value, variance))

    def step(self, way, is_paid):
        self.equation({self.places: 1, self.places - 1: -1}, way, SLIP[0])
        self.places += 1
        if is_paid:
            self.equation({"goal": 1, self.places - 1: -1}, 0, REACH)
            self.places += 1  # elsewhere; about where one was before, for all that is known
            self.equation({self.places - 1: 1, self.places - 2: -1}, 0, ANYWHERE)

    def see(self, wall, apart, variance):
        self.equation({wall: 1, self.places - 1: -1}, apart, variance)

    def solve(self):
        columns = {**{i: i for i in range(self.places)}, "upper": -3, "lower": -2, "goal": -1}
        A, b = np.zeros((len(self.rows), self.places + 3)), np.zeros(len(self.rows))
        for row, (parts, value, variance) in enumerate(self.rows):
            for part, sign in parts.items():
                A[row, columns[part]] = sign / math.sqrt(variance)
            b[row] = value / math.sqrt(variance)
        found = np.linalg.lstsq(A, b, rcond=None)[0]
        return found[[self.places - 1, -3, -2, -1]]


def test_who_is_put_down_elsewhere_still_knows_the_walls_and_what_paid():
    store, nothing = store_of(), torch.zeros(B, dtype=torch.int64)
    for _ in range(80):
        store.note(TOLD, looked_of([40, 20, 30, 10], 0.5, 9.0, 0.0), nothing.fill_(4), torch.zeros(B, dtype=torch.bool))
    before = store.mean.clone()
    is_paid = torch.tensor([True, False, True])
    sensed = store.note(TOLD, looked_of([10, 50, 20, 20], 0.5, 9.0, 0.0), nothing, is_paid)
    torch.testing.assert_close(store.mean[0, :, [UPPER, LOWER]], before[0, :, [UPPER, LOWER]], atol=0.1, rtol=0)
    torch.testing.assert_close(store.mean[0, :, GOAL], before[0, :, PLACE], atol=0.3, rtol=0)
    torch.testing.assert_close(
        store.mean[0, :, PLACE], before[0, :, PLACE] + torch.tensor([30.0, 10]), atol=0.3, rtol=0
    )
    right, ahead, far, known = sensed[0, :4].tolist()
    angle = float(store.angle[0])
    east, north = ahead * math.sin(angle) + right * math.cos(angle), ahead * math.cos(angle) - right * math.sin(angle)
    way = math.hypot(30, 10)
    np.testing.assert_allclose((east, north), (-30 / (way + 3), -10 / (way + 3)), atol=0.02)
    assert (far, known) == (pytest.approx(way / (way + 50), abs=0.01), 1)
    assert sensed[1, 3] == 0


def test_who_does_not_know_which_way_he_faces_looks_at_no_wall():
    for dizziness, knows in ((math.sqrt(DIZZY / AS_ONE) * 1.01, False), (math.sqrt(DIZZY / AS_ONE) * 0.99, True)):
        store, nothing = store_of(), torch.zeros(B, dtype=torch.int64)
        told = looked_of([40, 20, 30, 10], 0.5, 9.0, 0.0, dizziness)
        store.note(TOLD, told, nothing, torch.zeros(B, dtype=torch.bool))
        assert (store.covariance[..., UPPER, UPPER] < 100).all() == knows


def test_walls_that_are_out_of_sight_tell_nothing():
    store, nothing = store_of(), torch.zeros(B, dtype=torch.int64)
    told = looked_of([40, 20, 30, 10], 0.5, [9, 9, -9, -9], 0.0)
    store.note(TOLD, told, nothing, torch.zeros(B, dtype=torch.bool))
    assert (store.covariance[..., [UPPER, LOWER], [UPPER, LOWER]] < 100).tolist() == [[[True] * 2, [False] * 2]] * B


def agent_of() -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": 36, "width": 48, "embedding_size": 32, "hidden_size": 8, "key_size": 4, "capacity": 16}
    return MemoryRecallAgent(AgentConfig(memory="survey", encoder="normalised", actions=8, auxiliary=(), **sizes))


def test_a_teacher_tells_how_far_each_wall_is():
    env = MemoryVectorEnv("iga", "train", 16, seed=2, size=(36, 48), threads=1)
    env.reset()
    advice = np.zeros(16, np.int64)
    env.advise("skills", advice)
    told = agent_of().read.walls.lessons(torch.from_numpy(advice)).numpy()
    games = env.batch.records
    near, far = games["cell"], 5 * games["cell"]  # one cell of six is wall on either side
    x, z, yaw = games["x"], games["z"], np.radians(games["yaw"])
    true = np.stack([far - x, x - near, far - z, z - near], -1) / STEP
    np.testing.assert_allclose(told[:, :4], true, atol=1)
    np.testing.assert_allclose(told[:, 4:], np.stack([np.sin(yaw), np.cos(yaw)], -1), atol=0.01)
    assert abs((told[:, :4] - true).mean()) < 0.3  # rounded, not cut off
    assert len(set((told[:, 0] + told[:, 1]).round())) == 2  # arenas of 10 and of 20 m
    assert ((advice >> ABOVE_POSES) < 2**12).all()
    env.close()


def test_nothing_is_learned_of_a_place_without_walls():
    env = MemoryVectorEnv("sdmo", "train", 4, seed=2, size=(36, 48), threads=1)
    env.reset()
    advice = np.zeros(4, np.int64)
    env.advise("skills", advice)
    walls = agent_of().read.walls
    walls.keep(torch.zeros(4, 36, 48, 3, dtype=torch.uint8), torch.from_numpy(advice))
    assert walls.met == 0
    env.close()


def test_what_is_learned_is_how_unlikely_what_was_told_is():
    walls = agent_of().auxiliary["survey"]
    assert isinstance(walls, Walls)
    told = torch.cat([torch.rand(50, 4) * 60, torch.nn.functional.normalize(torch.randn(50, 2), dim=-1)], -1)
    poses = walls(torch.randint(0, 256, (50, 36, 48, 3), dtype=torch.uint8))
    seen, direction, spread = poses.split([32, 2, 1], -1)
    found, spreads, sight = walls.distances(seen, told[:, 4:])
    is_seen = in_sight(told[:, :4], told[:, 4:])
    loss = -torch.distributions.Laplace(found, spreads.exp()).log_prob(told[:, :4])[is_seen].mean() - math.log(2)
    loss = loss - torch.distributions.Bernoulli(logits=sight).log_prob(is_seen.float()).mean()
    apart = (direction - told[:, 4:]).norm(dim=-1)
    loss = loss + (apart / spread[:, 0].exp() + spread[:, 0]).mean()
    judged, metrics = walls.judge(poses, told)
    torch.testing.assert_close(judged, loss, atol=1e-3, rtol=1e-4)
    torch.testing.assert_close(metrics["walls_apart"], (found - told[:, :4]).abs()[is_seen].median())
