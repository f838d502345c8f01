"""A learner and its helper make the update of one learner on all games."""

from concurrent.futures import Future
from dataclasses import replace

import pytest
import torch
from data_parallel_updates import CASES, UPDATES, batch
from tiny_runs import tiny_config

from memorylab.agent import MemoryRecallAgent
from memorylab.learning.learner import Diverged, Learner
from memorylab.learning.trajectory import some_games
from memorylab.runtime import helped
from memorylab.runtime.helped import HelpedLearner, Helper

GAMES = 6


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def new_agent(model: str) -> MemoryRecallAgent:
    torch.manual_seed(0)
    return MemoryRecallAgent(tiny_config(model).agent)


def taught_batch(agent, seed):
    trajectory = batch(agent, seed)
    return trajectory._replace(advice=torch.randint(0, 3, trajectory.actions.shape, generator=torch.Generator()))


class Pair:
    """A learner and a helper in one process, one after the other."""

    def __init__(self, model, config):
        self.learner = HelpedLearner(new_agent(model), config, GAMES)
        self.helper = Helper(self.learner.help)
        self.learner.ask = self.ask

    def ask(self) -> Future:
        asked: Future = Future()
        try:
            asked.set_result(self.helper.learn(self.trajectory, self.learner.version, self.learner.steps))
        except Diverged as problem:
            asked.set_exception(problem)
        return asked

    def update(self, trajectory):
        self.trajectory = trajectory
        return self.learner.update(trajectory)


@pytest.mark.parametrize(("games_to_one", "own"), [(8, 5), (2, 3)])
@pytest.mark.parametrize(("model", "changes"), CASES)
def test_learner_and_helper_are_as_one_learner_on_all_games(monkeypatch, model, changes, games_to_one, own):
    monkeypatch.setattr(helped, "GAMES_TO_ONE", games_to_one)
    config = replace(tiny_config().learner, gradient_norm=0.05, cpc_every=2, teacher_steps=100, **changes, updates=2)
    pair, one = Pair(model, config), Learner(new_agent(model), config)
    assert (pair.learner.games, pair.learner.help.games) == (slice(0, own), slice(own, GAMES))
    for seed in range(UPDATES):
        trajectory = taught_batch(one.agent, seed)
        found, expected = pair.update(trajectory), one.update(trajectory)
        assert found.keys() == expected.keys()
        for name in ("loss", "gradient", "policy_gradient", "baseline", "entropy", "teacher_agreement"):
            assert found[name] == pytest.approx(expected[name], rel=1e-4, abs=1e-5), name
        assert expected["gradient"] > 0.05, "clipping was not tested"
    for (name, mine), theirs in zip(
        pair.learner.agent.state_dict().items(), one.agent.state_dict().values(), strict=True
    ):
        assert (mine - theirs).abs().max() <= 1e-5, name
    assert (pair.learner.version, pair.learner.steps) == (one.version, one.steps)


def test_what_diverges_in_the_helpers_games_is_told():
    pair = Pair("lstm", tiny_config().learner)
    trajectory = batch(pair.learner.agent, 0)
    trajectory.inputs.rewards[:, -1] = float("nan")
    with pytest.raises(Diverged, match="update 1"):
        pair.update(trajectory)


def test_some_games_are_the_same_memory():
    agent = new_agent("mra")
    whole = batch(agent, 0)
    part = some_games(whole, slice(4, 6))
    for name, tensor in part.state_dict().items():
        of_whole = whole.state_dict()[name]
        expected = of_whole[4:6] if name.startswith("state") else of_whole[:, 4:6]
        assert torch.equal(tensor, expected), name
        assert tensor.untyped_storage().data_ptr() == of_whole.untyped_storage().data_ptr()
