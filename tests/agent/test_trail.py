"""The way to what pays in a maze that nobody knows: steps are counted, moments vote, trails are followed."""

import itertools
import math
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize, one_hot

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.auxiliary import Lesson
from memorylab.agent.homing import MOTIONS, TURN, on_map
from memorylab.agent.sights import EVERY, MAZES, PAIRS, SAME_PLACE, SUREST, sameness
from memorylab.agent.trail import CELL, CELLS, FADES, LATER, NOTED, TrailStore
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.navigation.visible_goal_procedural_maze import STEP
from memorylab.world.walking import WALK_ACTIONS

B, PLACES = 3, 24


class TrueSights:
    """Features are (east, north, sine, cosine, place) as they are; places look alike if they have the same number."""

    known = torch.tensor([math.log(9.0), 5.0])

    def direction(self, features):
        return features[:, 2:4], torch.full((len(features),), SUREST)

    def step(self, before, now, actions):
        east, north = (now[:, :2] - before[:, :2]).unbind(-1)
        sin, cos = now[:, 2:4].unbind(-1)
        return torch.stack([east * cos - north * sin, east * sin + north * cos], -1)

    def mark(self, features):
        return one_hot(features[:, 4].long(), 32).to(features)


class SlowTrail:
    """One who writes down each moment, of one game, and adds up all votes anew at each step."""

    def __init__(self):
        self.t, self.moments, self.trails, self.votes = 0, [], [], []

    def note(self, x, z, yaw, place, is_paid):
        """Where it goes on, where the place that pays is, both as ways from here, and how sure that is."""
        self.t += 1
        if is_paid:  # one stood where the last step ended
            self.trails += [
                (x_i, z_i, yaw_i, place_i, self.last[0] - x_i, self.last[1] - z_i, self.t - t_i)
                for x_i, z_i, yaw_i, place_i, t_i in self.moments
            ]
            self.moments, self.votes = [], []
        self.last = x, z
        odds = [
            math.exp(9 * (place == place_i) - 5) * (math.cos(yaw - yaw_i) > 1 - 0.3**2 / 2)
            for _, _, yaw_i, place_i, *_ in self.trails
        ]
        for weight, (*_, east, north, _) in zip(odds, self.trails, strict=True):
            self.votes.append((weight / (1 + sum(odds)) / FADES**self.t, x + east, z + north))
        told = self.elect(x, z)
        if self.t % NOTED == 0:
            self.moments.append((x, z, yaw, place, self.t))
        return told

    def elect(self, x, z):
        sums = np.zeros((3, CELLS, CELLS))
        weight, east, north = np.array(self.votes).reshape(-1, 3).T
        ways = east - self.begun[0], north - self.begun[1]  # cells are counted from where one was put down
        i, j = (np.floor(each / CELL + CELLS / 2).astype(int) for each in ways)
        for beside in itertools.product((-1, 0, 1), repeat=2):
            for total, values in zip(sums, (weight, weight * east, weight * north), strict=True):
                np.add.at(total, (i + beside[0], j + beside[1]), values)
        most = sums[0].max()
        if most == 0:
            return None
        _, east, north = sums[:, *np.argwhere(sums[0] == most)[0]] / most
        sure = most / (sum(weight for weight, *_ in self.votes) + FADES**-self.t)
        here = [
            number for number, (*_, way_x, way_z, _) in enumerate(self.trails)
            if math.hypot(east - way_x - x, north - way_z - z) < 5
        ]  # fmt: skip
        aim = east, north
        if here:
            best = min(here, key=lambda number: self.trails[number][-1])
            if best + LATER < len(self.trails) and self.trails[best + LATER][-1] < self.trails[best][-1]:
                *_, way_x, way_z, _ = self.trails[best + LATER]
                aim = east - way_x, north - way_z
        return aim[0] - x, aim[1] - z, east - x, north - z, sure


@pytest.mark.parametrize("by_kernel", [True, False])
def test_the_way_that_is_told_against_one_who_writes_all_down(by_kernel, monkeypatch):
    """Walkers among places that look alike, each paid and put down elsewhere at its own time."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.trail.suits", lambda *tensors: False)
    store, draw = TrailStore(B, 8, 2, 2, 2, features=5, dtype=torch.float64), np.random.default_rng(0)
    slow, x, yaw, told = [SlowTrail() for _ in range(B)], 4 * draw.normal(size=(B, 2)), np.zeros(B), []
    for t in range(400):
        reset = draw.random(B) < (1 if t == 0 else 0.004)
        is_paid = (draw.random(B) < 0.03) & ~reset
        actions = draw.integers(8, size=B)
        motion = MOTIONS.double()[actions]
        yaw += motion[:, 2].numpy()
        x += on_map(torch.from_numpy(yaw), motion * torch.tensor([1, 1, 0])).numpy()
        is_elsewhere = reset | is_paid
        x[is_elsewhere], yaw[is_elsewhere] = (
            4 * draw.normal(size=(B, 2))[is_elsewhere],
            6 * draw.random(B)[is_elsewhere],
        )
        place = (x // 6 @ [1, 5] % PLACES).astype(int)
        features = np.concatenate([x, np.sin(yaw)[:, None], np.cos(yaw)[:, None], place[:, None]], -1)
        store.wipe(torch.from_numpy(reset))
        sensed = store.note(
            TrueSights(), torch.from_numpy(features), torch.from_numpy(actions), torch.from_numpy(is_paid)
        )
        for b in range(B):
            slow[b] = SlowTrail() if reset[b] else slow[b]
            if is_elsewhere[b]:
                slow[b].begun = x[b].copy()
            expected = slow[b].note(*x[b], yaw[b], place[b], is_paid[b])
            trail, goal, sure = sensed[b, :3], sensed[b, 3:6], float(sensed[b, 6])
            np.testing.assert_allclose(sensed[b, 7:9], [math.sin(yaw[b]), math.cos(yaw[b])], atol=1e-6)
            if expected is None:
                assert not sensed[b, :7].any()
                continue
            np.testing.assert_allclose(sure, expected[4], atol=1e-6)
            for way, (east, north) in ((trail, expected[:2]), (goal, expected[2:4])):
                far = math.hypot(east, north)
                right = east * math.cos(yaw[b]) - north * math.sin(yaw[b])
                ahead = east * math.sin(yaw[b]) + north * math.cos(yaw[b])
                expected_way = np.array([right / (far + 3), ahead / (far + 3), far / (far + 50)]) * math.sqrt(sure)
                np.testing.assert_allclose(way, expected_way, atol=1e-5)
            told.append((sure, np.allclose(trail, goal)))
    assert len(told) > 100
    assert 0.1 < np.mean([is_plain for _, is_plain in told]) < 0.9  # some trails go on, some are not known
    assert max(sure for sure, _ in told) > 0.5


def test_how_long_one_has_been_around():
    """Against a tally by the name of each cell, until one is put down elsewhere."""
    store, draw = TrailStore(B, 8, 2, 2, 2, features=5, dtype=torch.float64), np.random.default_rng(0)
    store.wipe(torch.ones(B, dtype=torch.bool))
    x, yaw, tallies = np.zeros((B, 2)), np.zeros(B), [Counter() for _ in range(B)]
    for t in range(80):
        is_paid = np.full(B, t == 60)
        actions = draw.integers(8, size=B)
        motion = MOTIONS.double()[actions]
        if t > 0:
            yaw += motion[:, 2].numpy()
            x += on_map(torch.from_numpy(yaw), motion * torch.tensor([1, 1, 0])).numpy()
        if t == 60:
            x[:], yaw[:], tallies = 0, 0, [Counter() for _ in range(B)]
        features = np.concatenate([x, np.sin(yaw)[:, None], np.cos(yaw)[:, None], np.zeros((B, 1))], -1)
        sensed = store.note(
            TrueSights(), torch.from_numpy(features), torch.from_numpy(actions), torch.from_numpy(is_paid)
        )
        for b in range(B):
            tallies[b][tuple(np.floor(x[b] / 5))] += 1
            bearings = [(away, yaw[b] + k * math.pi / 4) for away in (5, 10) for k in range(8)]
            places = [(x[b, 0] + d * math.sin(a), x[b, 1] + d * math.cos(a)) for d, a in bearings]
            for told, place in zip(sensed[b, 9:].tolist(), np.array(places) / 5, strict=True):
                spent = tallies[b][tuple(np.floor(place))]
                on_a_border = np.abs(place - place.round()).min() < 1e-6  # between two cells either may be told
                assert on_a_border or told == pytest.approx(spent / (spent + 10))
    assert sensed[:, 9:].any()


def test_who_comes_by_a_known_place_knows_the_way():
    """In mazes, told the true poses: after the first find, wherever one stands, once one has walked for a while."""
    env = MemoryVectorEnv("vgm", "train_small", B, seed=3, size=(36, 48), threads=1)
    env.reset()
    games, store = env.batch.records, TrailStore(B, 8, 2, 2, 2, features=5)
    store.wipe(torch.ones(B, dtype=torch.bool))
    actions, is_paid, off, since = np.zeros(B, np.int64), np.zeros(B, np.bool_), [], np.zeros(B)
    for _ in range(1200):
        yaw, cell = np.radians(games["yaw"]), (games["z"] // 1 * 5 + games["x"] // 1) % 32
        place = np.stack([games["x"], games["z"]], -1) / STEP
        features = np.concatenate([place, np.sin(yaw)[:, None], np.cos(yaw)[:, None], cell[:, None]], -1)
        sensed = store.note(
            TrueSights(), torch.from_numpy(features).float(), torch.from_numpy(actions), torch.from_numpy(is_paid)
        )
        since = np.where(is_paid, 0, since + 1)
        goal = np.stack([games["goal_column"], games["goal_row"]], -1) + 0.5
        east, north = (goal / STEP - place).T
        true = np.arctan2(east * np.cos(yaw) - north * np.sin(yaw), east * np.sin(yaw) + north * np.cos(yaw))
        found = torch.atan2(sensed[:, 3], sensed[:, 4]).numpy()
        far_off = np.abs(np.angle(np.exp(1j * (true - found))))
        off += far_off[(since > 20) & (games["goals"] > 2) & (np.hypot(east, north) > 10)].tolist()
        env.act("remembering", actions)
        _, rewards, *_ = env.step(actions)
        is_paid = np.asarray(rewards) > 0
    assert len(off) > 300
    assert np.mean(np.array(off) < 0.5) > 0.8
    env.close()


def agent_of(**changes) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": 36, "width": 48, "embedding_size": 32, "hidden_size": 8, "key_size": 4, "capacity": 16}
    settings = {"memory": "trail", "encoder": "normalised", "actions": 8, "auxiliary": (), **sizes, **changes}
    return MemoryRecallAgent(AgentConfig(**settings))


def lesson_of(east, north, turn) -> Lesson:
    told = ((torch.as_tensor(east) + 2048) << 12 | (torch.as_tensor(north) + 2048)) << 10 | torch.as_tensor(turn)
    return Lesson(told << 16 | 1, 0.5)


def test_pictures_are_kept_with_the_one_before_and_their_maze():
    sights, draw, T, kept = agent_of().auxiliary["trail"], torch.Generator().manual_seed(0), 10, []
    maze = torch.arange(B)
    for _ in range(3):
        pictures = torch.randint(0, 256, (T, B, 36, 48, 3), generator=draw, dtype=torch.uint8)
        resets, actions = torch.rand(T, B, generator=draw) < 0.2, torch.randint(8, (T, B), generator=draw)
        east = torch.randint(-50, 50, (T, B), generator=draw)
        sights.lesson = lesson_of(east, -east, 0)
        sights.loss(SimpleNamespace(x=torch.zeros(1)), Inputs(pictures, torch.zeros(T, B), actions, resets))
        for t in range(T):
            maze = maze + B * resets[t]
            if t % EVERY == 1:
                for b in (~resets[t]).nonzero()[:, 0]:
                    poses = [[e, -e, 0, 1] for e in east[t - 1 : t + 1, b].tolist()]
                    kept.append((pictures[t - 1 : t + 1, b], poses, actions[t, b], maze[b]))
    assert sights.met == len(kept) > 10
    for number, (pictures, poses, action, maze_of) in enumerate(kept):
        assert torch.equal(sights.kept.pictures[number], pictures)
        assert sights.kept.poses[number].tolist() == poses
        assert (sights.kept.actions[number], sights.kept.mazes[number]) == (action, maze_of)


def test_sameness():
    facing = [0.0, 1.0]
    poses = torch.tensor([[0.0, 0, *facing], [2, 0, *facing], [0, 5, *facing], [0, 0, 1, 0]])
    assert sameness(poses).tolist() == [[1, 1 - 2 / SAME_PLACE, 0, 0], [0.5, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]


def test_marks_are_judged_by_how_unlikely_the_same_places_are():
    sights, draw = agent_of().auxiliary["trail"], torch.Generator().manual_seed(0)
    N = 8
    marks = normalize(torch.randn(2, N, 32, generator=draw), dim=-1)
    places = torch.randint(0, 12, (2, N, 2), generator=draw).float()
    poses = torch.cat([places, torch.tensor([0.0, 1]).expand(2, N, 2)], -1)
    drawn = torch.tensor([[0, 1, 2, 3, 4, 5, 6, 0], [8, 9, 10, 11, 12, 13, 14, 15]])  # the first was drawn twice
    losses, kinds = [], set()
    for maze in range(2):
        for i in range(N):
            others = [j for j in range(N) if drawn[maze, j] != drawn[maze, i]]
            odds = {j: math.exp(math.e * float(marks[maze, i] @ marks[maze, j]) - 2) for j in others}
            near = {j: 1 - math.dist(places[maze, i], places[maze, j]) / 4 for j in others}
            near = {j: value for j, value in near.items() if value > 0} or {"none": 1.0}
            odds["none"], total = 1.0, sum(near.values())
            losses.append(-sum(value / total * math.log(odds[j] / sum(odds.values())) for j, value in near.items()))
            kinds.add("none" in near)
    loss, told = sights.judge_marks(marks, poses, drawn)
    np.testing.assert_allclose(loss.item(), np.mean(losses), rtol=1e-5)
    assert kinds == {True, False}
    assert 0 < told["known_again"] < 1


def test_what_a_step_was_is_a_mean_and_no_step_is_judged_that_put_one_down_elsewhere():
    sights = agent_of().auxiliary["trail"]
    north, east = [0.0, 1], [1.0, 0]
    poses = torch.tensor(
        [[[0.0, 0, *north], [0, 1, *north]], [[0, 0, *east], [2, 0, *east]], [[0, 0, *north], [9, 0, *north]]]
    )
    guess = torch.tensor([[0.0, 0.5], [0, 2], [7, 7]])
    loss, _ = sights.judge_step(guess, poses)
    torch.testing.assert_close(loss, torch.tensor(0.25 / 2))


def test_places_are_learned_again():
    """By pictures, one of each place: others of the same place are drawn, and known again."""
    agent = agent_of()
    sights, draw, T = agent.auxiliary["trail"], torch.Generator().manual_seed(0), 22
    optimiser, told = torch.optim.Adam(sights.parameters(), 3e-3), []
    seen = torch.randint(0, 256, (10, 36, 48, 3), generator=draw, dtype=torch.uint8)
    for turn in range(90):
        sights.turn = turn
        place = torch.randint(0, 10, (T, 32), generator=draw)
        sights.lesson = lesson_of(8 * place, 0 * place, 0)
        inputs = Inputs(seen[place], torch.zeros(T, 32), torch.zeros(T, 32).long(), torch.zeros(T, 32) > 0)
        loss, metrics = sights.loss(SimpleNamespace(x=torch.zeros(1)), inputs)
        if metrics:
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            told.append(float(metrics["known_again"]))
    drawn = sights.draw(sights.kept)
    east = sights.kept.poses[drawn, 1, 0]
    assert drawn.shape == (MAZES, 2 * PAIRS)
    assert (east[:, :PAIRS] == east[:, PAIRS:]).float().mean() > 0.95
    assert (sights.kept.mazes[drawn] == sights.kept.mazes[drawn[:, :1]]).all()
    assert told[0] < 0.5
    assert np.mean(told[-10:]) > 0.7


def test_other_actions_are_refused():
    with pytest.raises(ValueError, match="memory trail needs the 8 actions of walked tasks, not 5"):
        agent_of(actions=5)


def test_turns_are_those_of_the_walker():
    assert [WALK_ACTIONS[i] for i in (MOTIONS[:, 2] > 0).nonzero()[:, 0]] == ["look right", "forward and look right"]
    assert MOTIONS[:, 2].max() == pytest.approx(TURN)
