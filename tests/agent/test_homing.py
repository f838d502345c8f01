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
    SLIP,
    TURN,
    HomingStore,
    between,
    seen_from,
    told_poses,
    walked_poses,
    walks,
)
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.actor import Actor, taped_trajectory
from memorylab.tasks.navigation.arena import SPEED
from memorylab.world.gaze import DEGREES_PER_FRAME
from memorylab.world.walking import FORWARD, LOOK_LEFT, LOOK_RIGHT, STRAFE_RIGHT, WALK_ACTIONS

B = 3


def inputs_of(actions, rewards=None, resets=None, pictures=None) -> Inputs:
    actions = torch.tensor(actions)
    actions = actions[:, None] if actions.dim() == 1 else actions
    nothing = torch.zeros(actions.shape)
    pictures = torch.zeros(*actions.shape, 36, 48, 3, dtype=torch.uint8) if pictures is None else pictures
    rewards = nothing if rewards is None else rewards
    return Inputs(pictures, rewards, actions, (nothing > 0) if resets is None else resets)


def test_actions_add_up_to_a_way():
    """Against a walker who does one step after the other."""
    draw = np.random.default_rng(0)
    actions = draw.integers(0, len(WALK_ACTIONS), 60)
    x = z = angle = 0.0
    slow = []
    for action in actions:
        name = WALK_ACTIONS[action]
        turn = TURN * ("look right" in name) - TURN * ("look left" in name)
        ahead = 1.0 * name.startswith("forward") - 1.0 * name.startswith("backward")
        right = 1.0 * (name == "strafe right") - 1.0 * (name == "strafe left")
        middle = angle + turn / 2
        x += ahead * math.sin(middle) + right * math.cos(middle)
        z += ahead * math.cos(middle) - right * math.sin(middle)
        angle += turn
        slow.append((x, z, math.sin(angle), math.cos(angle)))
    np.testing.assert_allclose(walked_poses(inputs_of(actions))[:, 0].numpy(), slow, atol=1e-4)
    assert pytest.approx(math.radians(4 * DEGREES_PER_FRAME)) == TURN


def test_what_lies_right_and_ahead():
    actions = [FORWARD] * 5 + [LOOK_RIGHT] * 11 + [FORWARD] * 3 + [STRAFE_RIGHT]
    poses = walked_poses(inputs_of([LOOK_LEFT, *actions]))[:, 0]
    quarter = 11 * TURN
    right, ahead, sin, cos = between(poses[0], poses[-1]).tolist()
    assert right == pytest.approx(3 * math.sin(quarter) + math.cos(quarter), abs=1e-4)
    assert ahead == pytest.approx(5 + 3 * math.cos(quarter) - math.sin(quarter), abs=1e-4)
    assert (sin, cos) == pytest.approx((math.sin(quarter), math.cos(quarter)), abs=1e-4)
    torch.testing.assert_close(seen_from(torch.tensor([1.0, 0]), torch.tensor([0, 2.0])), torch.tensor([-2.0, 0]))


def test_a_reward_and_an_episode_begin_another_walk():
    rewards, resets = torch.zeros(6, 1), torch.zeros(6, 1, dtype=torch.bool)
    rewards[2], resets[4] = 1, True
    assert walks(inputs_of([0] * 6, rewards, resets))[:, 0].tolist() == [0, 0, 1, 1, 2, 2]


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
            way = walked_poses(inputs_of([action]))[0, 0].double()
            sin, cos = math.sin(self.angle), math.cos(self.angle)
            self.east, self.north = (
                self.east + float(way[0]) * cos + float(way[1]) * sin,
                self.north + float(way[1]) * cos - float(way[0]) * sin,
            )
            self.angle += math.atan2(way[2], way[3])
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


def test_a_walker_who_knows_the_way_ends_where_the_steps_lead():
    """Pictures that tell nothing after the first: the count alone."""
    store, draw = HomingStore(1, 8, 2, 2, 2, dtype=torch.float64), torch.Generator().manual_seed(0)
    actions = torch.randint(8, (50, 1), generator=draw)
    sure, unsure = ([5.0, 7.0, 0.0, 1.0, s, s] for s in (-5.0, 20.0))
    for t in range(50):
        sensed = store.note(torch.tensor([unsure if t else sure]), actions[t], torch.zeros(1, dtype=torch.bool))
    walked = walked_poses(inputs_of(actions[1:].tolist()))[-1, 0]
    expected = torch.cat([(walked[:2] + torch.tensor([5.0, 7.0])) / 50, walked[2:]])
    torch.testing.assert_close(sensed[0, 4:8].float(), expected, atol=1e-3, rtol=1e-3)


def agent_of(**changes) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": 36, "width": 48, "embedding_size": 32, "hidden_size": 8, "key_size": 4, "capacity": 16}
    settings = {"memory": "homing", "encoder": "normalised", "actions": 8, "auxiliary": (), **sizes, **changes}
    return MemoryRecallAgent(AgentConfig(**settings))


def test_one_map_of_many_walks_from_ones_own_steps():
    """Walks begin anywhere, facing anywhere, and nobody tells where: only differences are learned from."""
    poses = agent_of().auxiliary["homing"]
    optimiser = torch.optim.Adam(poses.parameters(), 3e-3)
    draw = torch.Generator().manual_seed(0)
    looks = torch.randn(4, 32, generator=draw)
    for _ in range(400):
        actions = torch.randint(0, len(WALK_ACTIONS), (40, 32), generator=draw)
        inputs = inputs_of(actions.tolist())
        angle = 2 * math.pi * torch.rand(32, generator=draw)
        begun = torch.cat([20 * torch.randn(32, 2, generator=draw), angle.sin()[:, None], angle.cos()[:, None]], -1)
        true = placed(begun, walked_poses(inputs))
        x = torch.tanh(true * torch.tensor([0.02, 0.02, 1, 1]) @ looks)
        loss, told = poses.loss(SimpleNamespace(x=x), inputs)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert told["pose_turn"] < 0.1
    facing = poses(x).detach()[..., 2:4].flatten(0, 1)
    u, _, v = torch.linalg.svd(facing.T @ true[..., 2:].flatten(0, 1))
    assert ((facing @ u @ v) * true[..., 2:].flatten(0, 1)).sum(-1).mean() > 0.9  # as directions of one map


def placed(begun: torch.Tensor, walked: torch.Tensor) -> torch.Tensor:
    """Walks, each from where it begun."""
    sin, cos = begun[:, 2], begun[:, 3]
    way_and_facing = []
    for x, z in (walked[..., :2].unbind(-1), walked[..., 2:].unbind(-1)):
        way_and_facing += [x * cos + z * sin, z * cos - x * sin]
    return torch.stack(way_and_facing, -1) + torch.cat([begun[:, :2], torch.zeros(len(begun), 2)], -1)


def test_what_a_teacher_tells_is_learned_from_while_it_teaches():
    poses = agent_of().auxiliary["homing"]
    inputs, x = inputs_of([[FORWARD] * B] * 6), torch.randn(6, B, 32, generator=torch.Generator().manual_seed(0))
    advice = torch.full((6, B), (2148 << 12 | 2028) << 10 | 256) << 16  # 100 steps east, 20 south, facing east
    alone, _ = poses.loss(SimpleNamespace(x=x), inputs)
    poses.lesson = Lesson(advice, 0.5)
    taught, told = poses.loss(SimpleNamespace(x=x), inputs)
    guessed = poses(x)
    error, (point, angle) = guessed[..., :4] - torch.tensor([100.0, -20, 1, 0]), guessed[..., 4:].exp().unbind(-1)
    steps, chord = error[..., :2].norm(dim=-1), error[..., 2:].norm(dim=-1)
    density = (-steps / point).exp() / point**2 * (-chord / angle).exp() / angle  # Laplace's, but for its constants
    torch.testing.assert_close(taught - alone, -density.log().mean())
    torch.testing.assert_close(told["map_apart"], steps.mean().detach())
    poses.lesson = Lesson(torch.full((6, B), 1 << FORWARD), 0.5)  # of a teacher that tells no place
    torch.testing.assert_close(poses.loss(SimpleNamespace(x=x), inputs)[0], alone)


def test_the_tape_is_the_trajectory_unrolled():
    agent = agent_of(capacity=8).double()
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


def test_a_learner_reads_what_an_actor_read():
    """Step by step with a store, then all steps at once from what was found; over the end of an episode."""
    agent, T = agent_of(), 12
    draw = torch.Generator().manual_seed(1)
    pictures = torch.randint(0, 256, (T, B, 36, 48, 3), generator=draw, dtype=torch.uint8)
    resets = torch.rand(T, B, generator=draw) < 0.1
    rewards, actions = (torch.rand(T, B, generator=draw) < 0.3).float(), torch.randint(8, (T, B), generator=draw)
    inputs = Inputs(pictures, rewards, actions, resets)
    with torch.no_grad():
        acted, _ = agent.unroll(inputs, agent.initial_state(B), store=agent.new_store(B))
    learned, _ = agent.unroll(inputs, agent.initial_state(B), recalled=acted.recalled)
    torch.testing.assert_close(learned.logits, acted.logits, atol=1e-5, rtol=1e-4)
    assert acted.recalled.sensed[..., 3].max() == 1
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
