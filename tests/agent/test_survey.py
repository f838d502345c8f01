"""Where one has not been: the ground between the walls."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, MemoryRecallAgent
from memorylab.agent.survey import CELLS, MARGIN, SurveyStore
from memorylab.agent.walls import ANYWHERE, LOWER, PLACE, UPPER
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.navigation.arena import STEP
from memorylab.world.walking import FORWARD

B, CELL = 3, 5.2
TOLD = SimpleNamespace(distances=lambda seen, facing: seen.split(4, -1))  # whose pictures say it in numbers


def store_of(east: float, west: float, north: float, south: float) -> SurveyStore:
    """Everyone stands where the episode began, looks north, and knows it, and where the walls are."""
    store = SurveyStore(B, 8, 2, 2, 2, cell=CELL, dtype=torch.float64)
    store.mean[..., UPPER], store.mean[..., LOWER] = torch.tensor([east, north]), torch.tensor([-west, -south])
    store.turn_variance.zero_()
    return store


def nothing_seen() -> list[torch.Tensor]:
    return list(torch.full((B, 12), -9.0).double().split(4, -1))


class SlowWalker:
    """One who remembers each cell by its name."""

    def __init__(self):
        self.been, self.weary = set(), {}

    def choose(self, place, angle, least, most):
        costs = {}
        for i in range(CELLS):
            for j in range(CELLS):
                east, north = (i + 0.5 - CELLS / 2) * CELL, (j + 0.5 - CELLS / 2) * CELL
                is_ground = least[0] <= east <= most[0] and least[1] <= north <= most[1]
                if (i, j) not in self.been and is_ground:
                    d, bearing = math.dist((east, north), place), math.atan2(east - place[0], north - place[1])
                    costs[i, j] = d + 18 * (1 - math.cos(bearing - angle)) + self.weary.get((i, j), 0)
        if not costs:
            return None
        best = min(costs, key=costs.__getitem__)
        self.weary[best] = self.weary.get(best, 0) + 0.5
        return [(each + 0.5 - CELLS / 2) * CELL for each in best], costs[best]


@pytest.mark.parametrize("by_kernel", [True, False])
def test_the_cell_that_costs_least_is_chosen(by_kernel, monkeypatch):
    """Against one who names the cells; games wiped each at its own time."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.survey.suits", lambda *tensors: False)
    walls = 40.0, 25.0, 60.0, 10.0
    store, slow, draw = store_of(*walls), [SlowWalker() for _ in range(B)], torch.Generator().manual_seed(0)
    margins = MARGIN * 65, MARGIN * 70
    least, most = (margins[0] - 25, margins[1] - 10), (40 - margins[0], 60 - margins[1])
    for t in range(60):
        reset = torch.rand(B, generator=draw) < (1 if t == 0 else 0.02)
        store.wipe(reset)
        known = store_of(*walls)
        store.mean.copy_(known.mean)
        store.mean[..., PLACE] = 10 * torch.randn(B, 2, generator=draw).double()
        store.angle.copy_(6 * torch.rand(B, generator=draw).double())
        store.covariance[..., PLACE, PLACE] = 0.01
        store.look_about(*nothing_seen())
        places, angles = store.mean[..., PLACE].tolist(), store.angle.tolist()
        for b in range(B):
            slow[b] = SlowWalker() if reset[b] else slow[b]
            slow[b].been.add(tuple(math.floor(each / CELL + CELLS / 2) for each in places[b]))
        where, is_aim = store.aim(torch.zeros(B, 2), torch.zeros(B, 1, dtype=torch.bool))
        for b in range(B):
            expected = slow[b].choose(places[b], angles[b], least, most)
            assert is_aim[b]
            np.testing.assert_allclose(where[b].numpy(), expected[0])


def test_who_does_not_know_where_he_is_has_been_nowhere():
    store = store_of(30, 30, 30, 30)
    store.covariance[1, 0, PLACE, PLACE] = ANYWHERE
    store.look_about(*nothing_seen())
    assert store.ground.isinf().flatten(1).sum(1).tolist() == [1, 0, 1]


def test_what_has_paid_is_the_place_to_go():
    store = store_of(30, 30, 30, 30)
    goal, is_known = torch.tensor([[1.0, 2], [3, 4], [5, 6]]).double(), torch.tensor([[True], [False], [True]])
    where, is_aim = store.aim(goal, is_known)
    assert is_aim.all()
    assert (where == goal).all(1).tolist() == [True, False, True]


def test_where_all_has_been_walked_over_there_is_no_place_to_go():
    store = store_of(30, 30, 30, 30)
    middles = (torch.arange(CELLS) + 0.5 - CELLS / 2) * CELL
    is_ground = (middles.abs() <= 30 - MARGIN * 60)[:, None] & (middles.abs() <= 30 - MARGIN * 60)
    store.ground[1, is_ground] = torch.inf
    where, is_aim = store.aim(torch.zeros(B, 2), torch.zeros(B, 1, dtype=torch.bool))
    assert is_aim[:, 0].tolist() == [True, False, True]
    assert where[is_aim[:, 0]].abs().amax() <= 30 - MARGIN * 60


def test_a_place_that_cannot_be_reached_is_given_up():
    """One stands still before it."""
    store, chosen = store_of(30, 30, 30, 30), []
    for _ in range(60):
        where, _ = store.aim(torch.zeros(B, 2), torch.zeros(B, 1, dtype=torch.bool))
        chosen.append(tuple(where[0].tolist()))
    assert len(set(chosen)) > 5


def test_who_walks_after_it_walks_over_the_ground():
    """In an arena of 10 m with true distances of all walls: nearly everywhere within an episode."""
    env = MemoryVectorEnv("iga", "train_small", B, seed=3, size=(36, 48), threads=1)
    env.reset()
    games, store = env.batch.records, SurveyStore(B, 8, 2, 2, 2, cell=CELL)
    games["goal_x"] = -9.0  # never found
    actions, been = np.zeros(B, np.int64), np.zeros((B, 20, 20), np.bool_)
    for _ in range(2900):
        near, far, yaw = games["cell"], 5 * games["cell"], np.radians(games["yaw"])
        walls = np.stack([far - games["x"], games["x"] - near, far - games["z"], games["z"] - near], -1) / STEP
        sure = np.full((B, 4), -3.0), np.full((B, 4), 9.0)
        seen = np.concatenate([walls, *sure, np.stack([np.sin(yaw), np.cos(yaw), np.full(B, -4.0)], -1)], -1)
        told = torch.from_numpy(seen).float()
        sensed = store.note(TOLD, told, torch.from_numpy(actions), torch.zeros(B, dtype=torch.bool))
        right, ahead, _, known = sensed[:, :4].T.numpy()
        assert not known.any()
        angle = np.arctan2(right, ahead)
        actions[:] = np.select([angle > 1.2, angle < -1.2, angle > 0.1, angle < -0.1], [5, 4, 7, 6], FORWARD)
        env.step(actions)
        half_metres = (2 * (np.stack([games["x"], games["z"]], -1) - games["cell"][:, None])).astype(int)
        been[np.arange(B), *half_metres.T] = True
    assert been[:, 2:-2, 2:-2].mean() > 0.9
    env.close()


def test_cells_have_a_size():
    with pytest.raises(ValueError, match=r"survey\.cell must be a number of steps above 0, not -3"):
        MemoryRecallAgent(AgentConfig(memory="survey", actions=8, settings={"survey.cell": -3}))
