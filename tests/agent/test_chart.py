"""What stands where: the places of coloured things, and whether they are as they were."""

import math

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.chart import EYES, NEAR, STRIPS, ChartStore, things_in
from memorylab.envs.vector import MemoryVectorEnv

B, WIDTH = 3, 48


def store_of() -> ChartStore:
    """Everyone stands in the middle of the map and looks north, and knows it."""
    store = ChartStore(B, 8, 2, 2, 2)
    store.variance.fill_(0.01)
    return store


def drawn_things(draw, colours=4) -> torch.Tensor:
    """Things of several columns each, of few colours."""
    shape = B, WIDTH // 4, 1
    rows = torch.randint(0, 3, shape, generator=draw) * torch.randint(2, 9, shape, generator=draw)
    colour = 1.5 * torch.randint(colours, shape, generator=draw).expand(-1, -1, 3)
    return torch.cat([rows, colour], -1).repeat_interleave(4, 1).to(torch.float32)


class SlowChart:
    """One who writes down all that he saw."""

    def __init__(self):
        self.clock, self.written = 0, []

    def meet(self, things, place, angle):
        self.clock += 1
        told = [([], []) for _ in range(STRIPS)]
        for column, (rows, *colour) in enumerate(things):
            if not rows:
                continue
            ahead = EYES * WIDTH / 2 / rows
            right = ahead * ((column + 0.5) * 2 / WIDTH - 1)
            x = place[0] + ahead * math.sin(angle) + right * math.cos(angle)
            z = place[1] + ahead * math.cos(angle) - right * math.sin(angle)
            off, t_p, t_c, is_new = ahead / rows / 2, self.clock, self.clock, True
            for x_i, z_i, off_i, colour_i, t_i in self.written:
                away, is_alike = math.dist((x, z), (x_i, z_i)), math.dist(colour, colour_i) < 1
                t_p = min(t_p, t_i) if away < 7.5 else t_p
                t_c = min(t_c, t_i) if is_alike and away < 7.5 + off + off_i else t_c
                is_new = is_new and not (is_alike and away < 4)
            if is_new:
                self.written.append((x, z, off, colour, self.clock))
            changed, new = told[column * STRIPS // WIDTH]
            changed.append((max(t_c, t_p) - t_p) / self.clock)
            new.append(t_p / self.clock)
        return [[np.mean(each[i]) if each[i] else 0 for each in told] for i in range(2)]


@pytest.mark.parametrize("by_kernel", [True, False])
def test_sightings_against_a_list(by_kernel, monkeypatch):
    """Of walkers that know where they are; games wiped each at its own time."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.chart.suits", lambda *tensors: False)
    store, slow, draw = store_of(), [SlowChart() for _ in range(B)], torch.Generator().manual_seed(0)
    told = []
    for t in range(12):
        reset = torch.rand(B, generator=draw) < (1 if t == 0 else 0.1)
        store.wipe(reset)
        store.place.copy_(10 * torch.randn(B, 2, generator=draw))
        store.angle.copy_(6 * torch.rand(B, generator=draw))
        store.variance.fill_(0.01)
        things = drawn_things(draw)
        found = store.meet(things).view(B, 2, STRIPS)
        for b in range(B):
            slow[b] = SlowChart() if reset[b] else slow[b]
            expected = slow[b].meet(things[b].tolist(), store.place[b].tolist(), float(store.angle[b]))
            np.testing.assert_allclose(found[b].numpy(), expected, atol=1e-5)
        told.append(found)
    changed, new = torch.stack(told).movedim(2, 0)
    assert 0.02 < changed.mean() < 0.5 < changed.max()
    assert 0.1 < new.mean() < 0.9


def test_another_colour_at_the_same_place_is_a_change_and_the_same_colour_elsewhere_is_new():
    store = store_of()
    things = torch.zeros(B, WIDTH, 4)
    things[:, 10:14], things[:, 30:34] = torch.tensor([6.0, 1, 1, 1]), torch.tensor([6.0, 5, 5, 5])
    for _ in range(4):
        store.meet(things)
    things[:, 10:14], things[:, 20:24] = torch.tensor([6.0, 5, 5, 5]), torch.tensor([6.0, 1, 1, 1])
    for t in range(5, 8):
        changed, new = store.meet(things).view(B, 2, STRIPS)[0]
        torch.testing.assert_close(changed[[5, 6, 10, 11, 15, 16]], torch.tensor([4 / t, 4 / t, 0, 0, 0, 0]))
        torch.testing.assert_close(new[[5, 6, 10, 11, 15, 16]], torch.tensor([1, 1, 5, 5, 1, 1]) / t)
        assert changed.count_nonzero() == 2


def test_who_does_not_know_where_he_is_notes_nothing():
    store, draw = store_of(), torch.Generator().manual_seed(0)
    store.variance[1, 0], store.variance[2, 1] = 50, 0.1
    assert (store.meet(drawn_things(draw)).view(B, -1).sum(1) > 0).tolist() == [True, False, False]
    assert (store.kept > 0).tolist() == [True, False, False]


def test_who_finds_himself_elsewhere_believes_it_at_once():
    store = store_of()
    pose = torch.tensor([[0.0, 6, 0, 1, 0, -2], [0, 40, 0, 1, 0, -2], [0, 40, 0, 1, 3, -2]])
    store.variance[:, 0] = 1
    store.correct(pose)
    north = store.place[:, 1]
    assert north[1] > 39.9  # far, by a picture that is sure
    assert 0 < north[0] < 1  # nearer, and so it is a mean of both
    assert 0 < north[2] < 1  # by a picture that is not


def test_things_are_seen_where_they_are():
    """In Multi-Object: blocks stand where their columns end, to the half of a row."""
    env = MemoryVectorEnv("sdmo", "train_large", 8, seed=1, size=(36, WIDTH), threads=1)
    pictures, _ = env.reset()
    actions, near = np.zeros(8, np.int64), []
    for _ in range(30):
        env.act("remembering", actions)
        pictures, *_ = env.step(actions)
        games = env.batch.records
        store = ChartStore(8, 8, 2, 2, 2)
        store.place.copy_(torch.from_numpy(np.stack([games["x"], games["z"]], -1) * 7.5))
        store.angle.copy_(torch.from_numpy(np.radians(games["yaw"])))
        things = things_in(torch.from_numpy(np.asarray(pictures)))
        placed = store.placed(things).numpy()
        for b, column in zip(*np.nonzero(things[..., 0].numpy() > 0), strict=True):
            x, z, off = placed[b, column, :3]
            game = games[b]
            blocks = game["boxes"][: 2 * game["blocks"]]
            middles = np.stack([blocks[:, :2].mean(1), blocks[:, 4:6].mean(1)], -1) * 7.5
            near.append(np.hypot(*(middles - (x, z)).T).min() < NEAR + off)
    assert len(near) > 200
    assert np.mean(near) > 0.7  # the rest are edges of walls and gates
    env.close()


def agent_of() -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": 36, "width": WIDTH, "embedding_size": 32, "hidden_size": 8, "key_size": 4, "capacity": 16}
    return MemoryRecallAgent(AgentConfig(memory="chart", encoder="normalised", actions=8, auxiliary=(), **sizes))


def test_a_learner_reads_what_an_actor_read(monkeypatch):
    """Step by step with a store, then all steps at once from what was found; over the end of an episode."""
    monkeypatch.setattr("memorylab.agent.chart.SURE", (1e6, 1e6))
    agent, T = agent_of(), 12
    draw = torch.Generator().manual_seed(1)
    pictures = torch.randint(0, 256, (T, B, 36, WIDTH, 3), generator=draw, dtype=torch.uint8)
    resets = torch.rand(T, B, generator=draw) < 0.1
    actions = torch.randint(8, (T, B), generator=draw)
    inputs = Inputs(pictures, torch.rand(T, B), actions, resets)
    with torch.no_grad():
        acted, _ = agent.unroll(inputs, agent.initial_state(B), store=agent.new_store(B))
    learned, _ = agent.unroll(inputs, agent.initial_state(B), recalled=acted.recalled)
    torch.testing.assert_close(learned.logits, acted.logits, atol=1e-5, rtol=1e-4)
    assert acted.recalled.sensed[..., 9:].max() == 1
    other = acted.recalled._replace(sensed=acted.recalled.sensed + 1)
    changed, _ = agent.unroll(inputs, agent.initial_state(B), recalled=other)
    assert not torch.allclose(changed.logits, learned.logits)
