"""A map that is learned from one's own steps, and where on it one was paid."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.auxiliary import Lesson
from memorylab.agent.homing import (
    ANYWHERE,
    DRAWN,
    MOTIONS,
    SLIP,
    TURN,
    HomingStore,
    off_by,
    on_map,
    seen_from,
    told_poses,
    unlikely,
)
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.actor import Actor, taped_trajectory
from memorylab.tasks.navigation.arena import SPEED
from memorylab.world.gaze import DEGREES_PER_FRAME
from memorylab.world.walking import FORWARD, WALK_ACTIONS

B = 3


def inputs_of(actions, rewards=None, resets=None, pictures=None) -> Inputs:
    actions = torch.tensor(actions)
    actions = actions[:, None] if actions.dim() == 1 else actions
    nothing = torch.zeros(actions.shape)
    pictures = torch.zeros(*actions.shape, 36, 48, 3, dtype=torch.uint8) if pictures is None else pictures
    rewards = nothing if rewards is None else rewards
    return Inputs(pictures, rewards, actions, (nothing > 0) if resets is None else resets)


def test_what_an_action_does():
    """Against the walker itself, at full speed where nothing is in its way."""
    env = MemoryVectorEnv("iga", "train", len(WALK_ACTIONS), seed=0, size=(36, 48), threads=1, side=40)
    env.reset()
    games, motion = env.batch.records, MOTIONS.double()
    for name in ("x", "z"):
        games[name] = games["cell"] * 3
    for _ in range(30):
        games["yaw"] = 30.0
        before = games[["x", "z", "yaw"]].copy()
        env.step(np.arange(len(WALK_ACTIONS)))
    way = on_map(torch.tensor(np.radians(before["yaw"])), motion).numpy() * SPEED / 15  # metres: 15 steps a second
    np.testing.assert_allclose(games["x"] - before["x"], way[:, 0], atol=0.01)
    np.testing.assert_allclose(games["z"] - before["z"], way[:, 1], atol=0.01)
    np.testing.assert_allclose(np.radians(games["yaw"] - before["yaw"]), motion[:, 2], atol=1e-5)
    assert pytest.approx(math.radians(4 * DEGREES_PER_FRAME)) == TURN


def test_what_lies_right_and_ahead():
    torch.testing.assert_close(seen_from(torch.tensor([1.0, 0]), torch.tensor([0, 2.0])), torch.tensor([-2.0, 0]))
    torch.testing.assert_close(seen_from(torch.tensor([0, -1.0]), torch.tensor([3.0, 2.0])), torch.tensor([-3.0, -2.0]))


def test_steps_are_counted_and_pictures_correct_the_count():
    """Against one walker at a time, with Kalman's equations as they are written down."""
    store = HomingStore(B, 8, 2, 2, 2, dtype=torch.float64)
    draw = torch.Generator().manual_seed(0)
    walkers = [Walker() for _ in range(B)]
    for t in range(60):
        reset = torch.rand(B, generator=draw) < (1 if t == 0 else 0.05)
        is_paid = (torch.rand(B, generator=draw) < 0.1) & ~reset
        actions = torch.randint(8, (B,), generator=draw)
        angle = 6 * torch.rand(B, generator=draw)
        seen = torch.cat([20 * torch.randn(B, 2, generator=draw), torch.rand(B, 2, generator=draw)], -1).double()
        pose = torch.cat([seen[:, :2], torch.stack([angle.sin(), angle.cos()], -1), seen[:, 2:]], -1)
        store.wipe(reset)
        sensed = store.note(pose, actions, is_paid)
        for b in range(B):
            walkers[b] = Walker() if reset[b] else walkers[b]
            told = *pose[b, :2].tolist(), float(angle[b]), *pose[b, 4:].exp().tolist()
            expected = walkers[b].note(told, actions[b], bool(is_paid[b]))
            np.testing.assert_allclose(sensed[b].numpy(), expected, atol=1e-5)


class Walker:
    """One who counts its steps."""

    def __init__(self):
        self.east = self.north = self.angle = 0.0
        self.variances, self.paid = list(ANYONE), []

    def note(self, told, action, is_paid):
        if self.variances != list(ANYONE):
            name = WALK_ACTIONS[action]
            turn = TURN * ("look right" in name) - TURN * ("look left" in name)
            ahead = 1.0 * name.startswith("forward") - 1.0 * name.startswith("backward")
            right = 1.0 * (name == "strafe right") - 1.0 * (name == "strafe left")
            sin, cos = math.sin(self.angle + turn / 2), math.cos(self.angle + turn / 2)
            self.east, self.north = self.east + ahead * sin + right * cos, self.north + ahead * cos - right * sin
            self.angle += turn
            self.variances = [before + slip for before, slip in zip(self.variances, SLIP, strict=True)]
        if is_paid:
            self.paid.append((self.east, self.north, 1 / (1 + self.variances[0])))
            self.variances = list(ANYONE)
        off = told[0] - self.east, told[1] - self.north, math.remainder(told[2] - self.angle, 2 * math.pi)
        gains = []
        for i in range(2):
            doubt = 20 * told[3 + i] ** 2
            gains.append(self.variances[i] / (self.variances[i] + doubt))
            self.variances[i] = 1 / (1 / self.variances[i] + 1 / doubt)
        self.east, self.north = self.east + gains[0] * off[0], self.north + gains[0] * off[1]
        self.angle += gains[1] * off[2]
        return [*self.way_to_goal(), self.east / 50, self.north / 50, math.sin(self.angle), math.cos(self.angle),
                1 / (1 + math.sqrt(self.variances[0]) / 10)]  # fmt: skip

    def way_to_goal(self):
        if not self.paid:
            return 0.0, 0.0, 0.0, 0.0
        total = sum(weight for *_, weight in self.paid)
        x, z = (sum(each[i] * each[2] for each in self.paid) / total for i in range(2))
        x, z = x - self.east, z - self.north
        sin, cos, far = math.sin(self.angle), math.cos(self.angle), math.hypot(x, z)
        return (x * cos - z * sin) / (far + 3), (x * sin + z * cos) / (far + 3), far / (far + 50), 1.0


ANYONE = ANYWHERE, ANYWHERE


def agent_of(**changes) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": 36, "width": 48, "embedding_size": 32, "hidden_size": 8, "key_size": 4, "capacity": 16}
    settings = {"memory": "homing", "encoder": "normalised", "actions": 8, "auxiliary": (), **sizes, **changes}
    return MemoryRecallAgent(AgentConfig(**settings))


def lesson_at(east: int, north: int, turn: int, shape: tuple[int, ...], weight: float = 0.5) -> Lesson:
    """Of a teacher that tells this place, in steps and 1024ths of a turn."""
    told = ((east + 2048) << 12 | (north + 2048)) << 10 | turn
    return Lesson(torch.full(shape, told << 16 | 1 << FORWARD), weight)


def pictures_of(T: int) -> Inputs:
    pictures = torch.randint(0, 256, (T, B, 36, 48, 3), generator=torch.Generator().manual_seed(T), dtype=torch.uint8)
    return inputs_of([[FORWARD] * B] * T, pictures=pictures)


def test_what_a_teacher_tells_is_learned_by_how_unlikely_it_is():
    poses, T = agent_of().auxiliary["homing"], 6
    inputs, output = pictures_of(T), SimpleNamespace(x=torch.zeros(T, B, 32))
    assert poses.loss(output, inputs) == (0, {})
    poses.lesson = Lesson(torch.full((T, B), 1 << FORWARD), 0.5)  # of a teacher that tells no place
    assert poses.loss(output, inputs) == (0, {})
    poses.lesson = lesson_at(100, -20, 256, (T, B))
    loss, told = poses.loss(output, inputs)
    kept = torch.randint(B, (DRAWN,), generator=torch.Generator().manual_seed(0))  # of every tenth step: the first
    guessed = poses(inputs.pictures[0, kept])
    error, (point, angle) = guessed[..., :4] - torch.tensor([100.0, -20, 1, 0]), guessed[..., 4:].exp().unbind(-1)
    steps, chord = error[..., :2].norm(dim=-1), error[..., 2:].norm(dim=-1)
    density = (-steps / point).exp() / point**2 * (-chord / angle).exp() / angle  # Laplace's, but for its constants
    torch.testing.assert_close(loss, -density.log().mean())
    torch.testing.assert_close(told["map_apart"], steps.median().detach())


def test_pictures_are_kept_with_their_poses_the_newest_in_place_of_the_oldest(monkeypatch):
    monkeypatch.setattr("memorylab.agent.homing.KEPT", 10)
    monkeypatch.setattr("memorylab.agent.homing.EVERY", 2)
    poses, seen = agent_of().auxiliary["homing"], []
    for turn in range(4):
        inputs = pictures_of(2 + turn)
        poses.lesson = lesson_at(turn, 0, 0, (2 + turn, B))
        poses.loss(SimpleNamespace(x=torch.zeros(1)), inputs)
        seen += [(turn, picture) for step in inputs.pictures[::2] for picture in step]
    for number, (turn, picture) in list(enumerate(seen))[-10:]:
        assert poses.told[number % 10].tolist() == [turn, 0, 0, 1]
        assert torch.equal(poses.pictures[number % 10], picture)


def test_a_map_is_learned_and_it_is_known_where_it_is_true():
    """Half of the pictures show the place as their brightness, half show nothing."""
    poses = agent_of().auxiliary["homing"]
    optimiser = torch.optim.Adam(poses.parameters(), 3e-3)
    draw, shows = torch.Generator().manual_seed(0), torch.arange(DRAWN) % 2 == 0
    for _ in range(150):
        east = torch.randint(-50, 50, (DRAWN,), generator=draw)
        grey = torch.where(shows, 120 + east, 10).to(torch.uint8)
        pictures = grey[:, None, None, None].expand(DRAWN, 36, 48, 3).contiguous()
        guessed = poses(pictures)
        facing = torch.tensor([0.0, 1.0]).expand(DRAWN, 2)
        off = off_by(guessed, torch.cat([east[:, None].float(), torch.zeros(DRAWN, 1), facing], -1))
        optimiser.zero_grad()
        unlikely(off, guessed[:, 4:]).mean().backward()
        optimiser.step()
    assert off[0, shows].median() < 5
    assert guessed[shows, 4].exp().median() < 5
    assert guessed[~shows, 4].exp().median() > 8


@pytest.mark.parametrize("memory", ["homing", "chart", "survey", "trail"])
def test_the_tape_is_the_trajectory_unrolled(memory):
    agent = agent_of(capacity=8, memory=memory).double()
    env = MemoryVectorEnv("igb", "train", 4, seed=1, size=(36, 48), threads=1, side=6)
    actor = Actor(env, agent, 12, seed=3, trajectories=taped_trajectory(agent, 12, 4, "none"))
    for _ in range(3):
        trajectory = actor.collect().trajectory
        assert trajectory.tape is not None
        kept = trajectory.tape.unroll(trajectory.inputs, trajectory.state)
        anew, _ = agent.unroll(trajectory.inputs, trajectory.state, trajectory.recalled)
        torch.testing.assert_close(kept.logits, anew.logits, atol=1e-9, rtol=1e-7)
        gradients = [
            torch.autograd.grad((each.logits**2).sum() + (each.x**3).sum(), [*agent.encoder.parameters()])
            for each in (kept, anew)
        ]
        torch.testing.assert_close(*gradients, atol=1e-9, rtol=1e-7)


@pytest.mark.parametrize(("memory", "number"), [("homing", 3), ("survey", 3), ("trail", 6)])
def test_a_learner_reads_what_an_actor_read(memory, number):
    """Step by step with a store, then all steps at once from what was found; over the end of an episode. The number of
    what is sensed says that something has paid."""
    agent, T = agent_of(memory=memory), 30
    draw = torch.Generator().manual_seed(1)
    pictures = torch.randint(0, 256, (T, B, 36, 48, 3), generator=draw, dtype=torch.uint8)
    resets = torch.rand(T, B, generator=draw) < 0.1
    rewards, actions = (torch.rand(T, B, generator=draw) < 0.3).float(), torch.randint(8, (T, B), generator=draw)
    inputs = Inputs(pictures, rewards, actions, resets)
    with torch.no_grad():
        acted, _ = agent.unroll(inputs, agent.initial_state(B), store=agent.new_store(B))
    learned, _ = agent.unroll(inputs, agent.initial_state(B), recalled=acted.recalled)
    torch.testing.assert_close(learned.logits, acted.logits, atol=1e-5, rtol=1e-4)
    assert acted.recalled.sensed[..., number].max() > 0
    other = acted.recalled._replace(sensed=acted.recalled.sensed + 1)
    changed, _ = agent.unroll(inputs, agent.initial_state(B), recalled=other)
    assert not torch.allclose(changed.logits, learned.logits)


def test_other_actions_are_refused():
    with pytest.raises(ValueError, match="memory homing needs the 8 actions of walked tasks, not 5"):
        agent_of(actions=5)


def test_a_teacher_tells_where_a_walker_stands():
    env = MemoryVectorEnv("igb", "train", 16, seed=2, size=(36, 48), threads=1)
    env.reset()
    actions, advice = np.zeros(16, np.int64), np.zeros(16, np.int64)
    for _ in range(40):
        env.act("forgetting", actions)
        env.step(actions)
    env.advise("skills", advice)
    east, north, sin, cos = told_poses(torch.from_numpy(advice)).numpy().T
    games = env.batch.records
    middle, yaw = games["cell"] * games["rows"] / 2, np.radians(games["yaw"])
    step = SPEED / 15  # metres: 15 steps a second
    np.testing.assert_allclose(east * step, games["x"] - middle, atol=1.01 * step)
    np.testing.assert_allclose(north * step, games["z"] - middle, atol=1.01 * step)
    np.testing.assert_allclose((sin, cos), (np.sin(yaw), np.cos(yaw)), atol=0.01)
    assert set(advice & 0xFF) <= {0b11000001, 0b00100000}


def test_a_teacher_in_two_rooms_tells_where_a_walker_stands_in_the_nearer_one():
    env = MemoryVectorEnv("sdmo", "train", 16, seed=2, size=(36, 48), threads=1)
    env.reset()
    actions, advice, rooms = np.zeros(16, np.int64), np.zeros(16, np.int64), set()
    for _ in range(250):
        env.act("forgetting", actions)
        env.step(actions)
        env.advise("skills", advice)
        east, north, _, cos = told_poses(torch.from_numpy(advice)).numpy().T
        games, step = env.batch.records, 2.0 / 15
        is_second = games["z"] > 1 + 16 + 3
        rooms |= set(is_second.tolist())
        np.testing.assert_allclose(1 + 8 + east * step, games["x"], atol=1.01 * step)
        np.testing.assert_allclose(1 + 8 + 22 * is_second + north * step, games["z"], atol=1.01 * step)
        np.testing.assert_allclose(cos, np.cos(np.radians(games["yaw"])), atol=0.01)
    assert rooms == {False, True}
    env.close()
