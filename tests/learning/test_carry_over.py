"""What passes from step to step: nothing lost, nothing twice, nothing over the end of an episode."""

import numpy as np
import pytest
import torch
from torch import Tensor

from memorylab.agent import CONTROLLERS, MODELS, AgentConfig, Controller, MemoryRecallAgent, model_config
from memorylab.agent.controllers import State
from memorylab.envs.diagnostic_games import RecallByKey
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.actor import Actor
from memorylab.learning.evaluation import play_episodes
from memorylab.learning.trajectory import Trajectory, empty_trajectory

SIDE, ACTIONS, UNROLL = 20, 4, 6
LENGTHS = np.array([1, 2, 5, 6, 7, 17])  # of episodes, by game: shorter than a trajectory, as long, longer
GAMES = len(LENGTHS)


class Diary:
    """Games in which everything is told: a picture is its step of the episode, a reward the action and the game."""

    def __init__(self):
        self.num_envs = GAMES
        self.steps, self.played = np.zeros((2, GAMES), np.int64)

    def pictures(self) -> np.ndarray:
        return np.broadcast_to(self.steps[:, None, None, None], (GAMES, SIDE, SIDE, 3)).astype(np.uint8)

    def reset(self):
        return self.pictures(), {}

    def step(self, actions, *, out=None):
        self.steps += 1
        over = self.steps == LENGTHS
        info = {}
        if over.any():
            columns = {"score": self.played + 0.5, "length": self.steps.copy(), "scale": LENGTHS, "seed": self.played}
            info = {"final_info": {name: part.copy() for name, part in columns.items()}, "_final_info": over}
        self.steps[over] = 0
        self.played += over
        rewards = (10 * np.arange(GAMES) + actions).astype(np.float32)
        pictures = self.pictures()
        if out is not None:
            out[:] = pictures
        return pictures, rewards, over, np.zeros_like(over), info


class Counter(Controller):
    """h_t = h_(t-1) + 1: how many steps the working memory goes back."""

    def advance(self, embedded_t: Tensor, m_t: Tensor | None, state: State) -> State:
        return (state[0] + 1,)


@pytest.fixture
def counter(monkeypatch) -> MemoryRecallAgent:
    """An agent whose value is the count; its policy prefers some actions."""
    monkeypatch.setitem(CONTROLLERS, "counter", Counter)
    sizes = {"height": SIDE, "width": SIDE, "actions": ACTIONS, "embedding_size": 4, "hidden_size": 3}
    agent = MemoryRecallAgent(
        AgentConfig(controller="counter", memory=False, auxiliary="none", encoder="small", **sizes)
    )
    with torch.no_grad():
        agent.policy.weight.zero_()
        agent.policy.bias.copy_(torch.tensor([0.0, 1.0, 0.5, -0.5]))
        agent.baseline.weight.copy_(torch.tensor([[1.0, 0.0, 0.0]]))
        agent.baseline.bias.zero_()
    return agent


def copied(trajectory: Trajectory) -> dict[str, Tensor]:
    return {name: part.clone() for name, part in trajectory.state_dict().items()}


def step_of_episode(pictures: Tensor) -> Tensor:
    return pictures[..., 0, 0, 0].long()


def expected_step(t: int) -> np.ndarray:
    return t % LENGTHS


def test_actor_and_learner_count_alike_over_many_trajectories(counter):
    actor = Actor(Diary(), counter, UNROLL)
    for number in range(12):
        trajectory = actor.collect().trajectory
        inputs = trajectory.inputs
        with torch.no_grad():
            output, _ = counter.unroll(inputs, trajectory.state)
        for t in range(UNROLL + 1):
            steps = expected_step(number * UNROLL + t)
            assert (step_of_episode(inputs.pictures[t]).numpy() == steps).all()
            assert (inputs.resets[t].numpy() == (steps == 0)).all()
            assert (output.baseline[t].numpy() == steps + 1).all()
        before = LENGTHS if number == 0 else expected_step(number * UNROLL)
        known = inputs.resets[0] | (trajectory.state[0] == torch.tensor(before)[:, None]).all(-1)
        assert known.all()  # at a reset it does not matter what was before
    ends = {(t - 1) % UNROLL for length in LENGTHS for t in range(length, 12 * UNROLL, length)}
    assert ends == set(range(UNROLL)), "episodes should end at every place of a trajectory"


def test_trajectories_overlap_by_one_step(counter):
    actor = Actor(Diary(), counter, UNROLL)
    before = copied(actor.collect().trajectory)
    for _ in range(6):
        after = copied(actor.collect().trajectory)
        for name in before:
            if not name.startswith("state"):
                assert torch.equal(before[name][-1], after[name][0]), name
        t = step_of_episode(after["inputs_pictures"])
        assert ((t[1] == t[0] + 1) | after["inputs_resets"][1]).all()
        before = after


def test_the_reward_of_an_action_is_beside_the_next_picture(counter):
    actor = Actor(Diary(), counter, UNROLL)
    for _ in range(4):
        trajectory = actor.collect().trajectory
        rewards, chosen = trajectory.inputs.rewards, trajectory.actions
        assert torch.equal(rewards[1:], 10.0 * torch.arange(GAMES) + chosen[:-1])
        assert torch.equal(trajectory.inputs.actions[1:], chosen[:-1])
        assert len(chosen.unique()) == ACTIONS
        log_policy = counter.policy.bias.log_softmax(-1)
        assert torch.equal(trajectory.log_mu, log_policy[chosen])


def test_every_tensor_of_a_trajectory_has_a_name_of_its_own():
    trajectory = empty_trajectory(agent_for("mra", SIDE, SIDE, 3), unroll=2, num_envs=2)
    parts = [*trajectory.inputs, trajectory.actions, trajectory.log_mu, *trajectory.recalled, *trajectory.state]
    assert sorted(map(id, parts)) == sorted(map(id, trajectory.state_dict().values()))


def test_each_episode_is_told_once(counter):
    actor = Actor(Diary(), counter, UNROLL)
    episodes = [episode for _ in range(10) for episode in actor.collect().episodes]
    for game, length in enumerate(LENGTHS):
        mine = [episode for episode in episodes if episode.game == game]
        assert [episode.seed for episode in mine] == list(range((10 * UNROLL + 1) // length))
        assert {episode.length for episode in mine} == {length}
        assert all(episode.score == episode.seed + 0.5 for episode in mine)


def test_the_trajectory_handed_over_stays_while_the_next_is_played(counter):
    actor = Actor(Diary(), counter, UNROLL)
    actor.collect()
    trajectory = actor.collect().trajectory
    before = copied(trajectory)
    actor.collect()
    for name, part in trajectory.state_dict().items():
        assert torch.equal(part, before[name]), name


def test_pictures_are_drawn_where_they_are_learned_from(counter, monkeypatch):
    """But for the first of a trajectory, which is carried over, and the second, which the last step left behind."""
    drawn, step = [], Diary.step

    def watched(self, actions, *, out=None):
        drawn.append(out.ctypes.data)
        return step(self, actions, out=out)

    monkeypatch.setattr(Diary, "step", watched)
    actor = Actor(Diary(), counter, UNROLL)
    actor.collect()
    for _ in range(3):
        drawn.clear()
        rows = [row.data_ptr() for row in actor.collect().trajectory.inputs.pictures]
        assert drawn[:-1] == rows[2:]
        assert drawn[-1] not in rows


def test_evaluation_counts_and_plays_as_many_in_each_game(counter, monkeypatch):
    counts = []
    step = MemoryRecallAgent.step

    def watched(self, inputs, *rest):
        output, state = step(self, inputs, *rest)
        counts.append((output.baseline - 1 == step_of_episode(inputs.pictures)).all().item())
        return output, state

    monkeypatch.setattr(MemoryRecallAgent, "step", watched)
    episodes = play_episodes(Diary(), counter, episodes=2 * GAMES + 1, seed=0)
    assert sorted(episode.game for episode in episodes) == sorted(3 * list(range(GAMES)))
    assert sorted(episode.seed for episode in episodes) == sorted([0, 1, 2] * GAMES)
    assert len(counts) == 3 * LENGTHS.max()
    assert all(counts)


# --- the ten models


def agent_for(name: str, height: int, width: int, actions: int) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"embedding_size": 12, "hidden_size": 10, "capacity": 12, "neighbours": 4, "key_size": 6, "cpc_steps": 2}
    base = AgentConfig(encoder="small", height=height, width=width, actions=actions, **sizes)
    agent = MemoryRecallAgent(model_config(name, base))
    with torch.no_grad():
        agent.policy.weight.mul_(5)  # far from uniform: an error would show
    return agent


def learner_repeats_actor(env, agent: MemoryRecallAgent, trajectories: int) -> None:
    actor = Actor(env, agent, unroll=9, seed=3)
    inside = edges = 0
    for _ in range(trajectories):
        trajectory = actor.collect().trajectory
        with torch.no_grad():
            output, _ = agent.unroll(trajectory.inputs, trajectory.state, trajectory.recalled)
        log_pi = output.logits.log_softmax(-1).gather(-1, trajectory.actions[..., None])[..., 0]
        torch.testing.assert_close(log_pi, trajectory.log_mu, atol=1e-5, rtol=1e-5)
        inside += int(trajectory.inputs.resets[1:-1].sum())
        edges += int(trajectory.inputs.resets[-1].sum())
    assert inside
    assert edges
    assert trajectory.log_mu.std() > 0.01


@pytest.mark.parametrize("name", MODELS)
def test_learner_repeats_the_log_probabilities_of_the_actor(name):
    env = RecallByKey(pairs=3, delay=2, num_envs=5, seed=1)
    learner_repeats_actor(env, agent_for(name, SIDE, SIDE, 3), 18)


@pytest.mark.parametrize("name", ["lstm", "mra", "mra-njb", "ff+mem+rec"])
def test_learner_repeats_the_actor_on_a_true_task(name):
    env = MemoryVectorEnv("avm", num_envs=6, seed=1, size=(36, 48), threads=1, trials=1, seconds=1)
    learner_repeats_actor(env, agent_for(name, 36, 48, 5), 12)
    env.close()
