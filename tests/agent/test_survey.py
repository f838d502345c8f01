"""Where one has not been: the ground, and the walls that end it."""

import math

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, MemoryRecallAgent
from memorylab.agent.survey import ABOVE_POSES, CELLS, MARGIN, Grounds, SurveyStore
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.navigation.arena import STEP
from memorylab.world.walking import FORWARD

B = 3


def store_of(steps_to_walls: float) -> SurveyStore:
    """Everyone stands in the middle, looks north, and knows it."""
    store = SurveyStore(B, 8, 2, 2, 2, dtype=torch.float64)
    store.walls.copy_(torch.tensor([math.log(steps_to_walls), 1.0]))
    return store


class SlowWalker:
    """One who remembers each cell by its name."""

    def __init__(self):
        self.been, self.weary = set(), {}

    def choose(self, place, angle, reach):
        costs = {}
        for i in range(CELLS):
            for j in range(CELLS):
                east, north = (i + 0.5 - CELLS / 2) * 5.2, (j + 0.5 - CELLS / 2) * 5.2
                if (i, j) not in self.been and max(abs(east), abs(north)) <= reach:
                    d, bearing = math.dist((east, north), place), math.atan2(east - place[0], north - place[1])
                    costs[i, j] = d + 18 * (1 - math.cos(bearing - angle)) + self.weary.get((i, j), 0)
        if not costs:
            return None
        best = min(costs, key=costs.__getitem__)
        self.weary[best] = self.weary.get(best, 0) + 0.5
        return [(each + 0.5 - CELLS / 2) * 5.2 for each in best], costs[best]


@pytest.mark.parametrize("by_kernel", [True, False])
def test_the_cell_that_costs_least_is_chosen(by_kernel, monkeypatch):
    """Against one who names the cells; games wiped each at its own time."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.survey.suits", lambda *tensors: False)
    store, slow, draw = store_of(30), [SlowWalker() for _ in range(B)], torch.Generator().manual_seed(0)
    for t in range(60):
        reset = torch.rand(B, generator=draw) < (1 if t == 0 else 0.02)
        store.wipe(reset)
        place, angle = 10 * torch.randn(B, 2, generator=draw).double(), 6 * torch.rand(B, generator=draw).double()
        pose = torch.cat([place, angle.sin()[:, None], angle.cos()[:, None], torch.zeros(B, 4)], -1)
        pose[:, 6] = math.log(30)
        store.place.copy_(place)
        store.variance.fill_(0.01)
        store.correct(pose)
        for b in range(B):
            slow[b] = SlowWalker() if reset[b] else slow[b]
            i, j = (math.floor(each / 5.2 + CELLS / 2) for each in store.place[b].tolist())
            slow[b].been.add((i, j))
        where, is_aim = store.aim(torch.zeros(B, 2), torch.zeros(B, 1, dtype=torch.bool))
        for b in range(B):
            expected = slow[b].choose(store.place[b].tolist(), float(store.angle[b]), MARGIN * 30)
            assert is_aim[b]
            np.testing.assert_allclose(where[b].numpy(), expected[0])


def test_who_does_not_know_where_he_is_has_been_nowhere():
    store = store_of(30)
    store.variance.fill_(1e9)
    pose = torch.zeros(B, 8).double()
    pose[:, 3], pose[:, 4] = 1, torch.tensor([10.0, 0.1, 10]).log()  # as far off as a picture says that this may be
    store.correct(pose)
    assert store.ground.isinf().flatten(1).sum(1).tolist() == [0, 1, 0]


def test_how_far_the_walls_are_is_a_mean_of_what_pictures_say_by_how_sure_they_are():
    store, pose = SurveyStore(B, 8, 2, 2, 2, dtype=torch.float64), torch.zeros(B, 8).double()
    pose[:, 3] = 1
    for walls, off in ((200.0, 1.0), (40.0, 0.01), (5.0, 0.5)):
        pose[:, 6], pose[:, 7] = math.log(walls), math.log(off)
        store.correct(pose)
    log_walls = (math.log(200) / 1 + math.log(40) / 0.01**2 + math.log(5) / 0.5**2) / (1 + 1 / 0.01**2 + 1 / 0.5**2)
    torch.testing.assert_close(store.walls[:, 0] / store.walls[:, 1], torch.full((B,), log_walls).double())


def test_what_has_paid_is_the_place_to_go():
    store = store_of(30)
    goal, is_known = torch.tensor([[1.0, 2], [3, 4], [5, 6]]).double(), torch.tensor([[True], [False], [True]])
    where, is_aim = store.aim(goal, is_known)
    assert is_aim.all()
    assert (where == goal).all(1).tolist() == [True, False, True]


def test_where_all_has_been_walked_over_there_is_no_place_to_go():
    store = store_of(30)
    store.ground[1] = torch.inf
    where, is_aim = store.aim(torch.zeros(B, 2), torch.zeros(B, 1, dtype=torch.bool))
    assert is_aim[:, 0].tolist() == [True, False, True]
    assert where[is_aim[:, 0]].abs().amax() <= MARGIN * 30


def test_a_place_that_cannot_be_reached_is_given_up():
    """One stands still before it."""
    store, chosen = store_of(30), []
    for _ in range(60):
        where, _ = store.aim(torch.zeros(B, 2), torch.zeros(B, 1, dtype=torch.bool))
        chosen.append(tuple(where[0].tolist()))
    assert len(set(chosen)) > 5


def test_who_walks_after_it_walks_over_the_ground():
    """In an arena of 10 m with true poses: nearly everywhere within an episode."""
    env = MemoryVectorEnv("iga", "train_small", B, seed=3, size=(36, 48), threads=1)
    env.reset()
    games, store = env.batch.records, SurveyStore(B, 8, 2, 2, 2)
    games["goal_x"] = -9.0  # never found
    actions, been = np.zeros(B, np.int64), np.zeros((B, 20, 20), np.bool_)
    for _ in range(2900):
        middle, yaw = games["cell"] * games["rows"] / 2, np.radians(games["yaw"])
        place = np.stack([games["x"] - middle, games["z"] - middle], -1) / STEP
        told = np.concatenate([place, np.sin(yaw)[:, None], np.cos(yaw)[:, None], np.zeros((B, 4))], -1)
        told[:, 6] = np.log(5 / STEP)
        store.variance.fill_(1e9)
        told[:, 4:6] = -3
        sensed = store.note(torch.from_numpy(told).float(), torch.from_numpy(actions), torch.zeros(B, dtype=torch.bool))
        right, ahead, _, known = sensed[:, :4].T.numpy()
        assert not known.any()
        angle = np.arctan2(right, ahead)
        actions[:] = np.select([angle > 1.2, angle < -1.2, angle > 0.1, angle < -0.1], [5, 4, 7, 6], FORWARD)
        env.step(actions)
        half_metres = (2 * (np.stack([games["x"], games["z"]], -1) - games["cell"][:, None])).astype(int)
        been[np.arange(B), *half_metres.T] = True
    assert been[:, 2:-2, 2:-2].mean() > 0.9
    env.close()


def agent_of() -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": 36, "width": 48, "embedding_size": 32, "hidden_size": 8, "key_size": 4, "capacity": 16}
    return MemoryRecallAgent(AgentConfig(memory="survey", encoder="normalised", actions=8, auxiliary=(), **sizes))


def test_a_teacher_tells_how_far_the_walls_are():
    env = MemoryVectorEnv("iga", "train", 16, seed=2, size=(36, 48), threads=1)
    env.reset()
    advice = np.zeros(16, np.int64)
    env.advise("skills", advice)
    walls = agent_of().read.poses.lessons(torch.from_numpy(advice))[:, 4].exp().numpy()
    np.testing.assert_allclose(walls, env.batch.records["cell"] * 2 / STEP, atol=1)
    assert len(set(walls.round())) == 2  # arenas of 10 and of 20 m
    assert ((advice >> ABOVE_POSES) < 2**12).all()
    env.close()


def test_walls_are_learned_by_how_unlikely_what_was_told_is():
    poses = agent_of().auxiliary["survey"]
    assert isinstance(poses, Grounds)
    guess, told = torch.randn(5, 8), torch.randn(5, 5)
    loss, told_of = poses.judge(poses.shaped(guess), told)
    plain, _ = super(Grounds, poses).judge(poses.shaped(guess), told)
    off, spread = (guess[:, 6] + 4 - told[:, 4]).abs(), guess[:, 7].clamp_min(math.log(0.02)).exp()
    density = (-off / spread).exp() / spread
    torch.testing.assert_close(loss - plain, -density.log().mean())
    torch.testing.assert_close(told_of["walls_apart"], off.median())
