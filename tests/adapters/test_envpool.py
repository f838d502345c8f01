"""EnvPool's face, as CleanRL's envpool scripts use it."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Categorical

import memorylab
from memorylab.adapters import envpool

SHORT = {"seconds": 1, "size": (36, 48)}  # 15 steps an episode


class Statistics:
    """What CleanRL's wrapper does: sums up the rewards as they were, until an episode is done."""

    def __init__(self, envs):
        self.envs, self.returns = envs, np.zeros(envs.num_envs, np.float32)
        envs.reset()
        self.has_lives = envs.step(np.zeros(envs.num_envs, dtype=int))[-1]["lives"].sum() > 0

    def step(self, actions):
        pictures, rewards, dones, infos = self.envs.step(actions)
        self.returns += infos["reward"]
        infos["r"] = self.returns.copy()
        self.returns *= 1 - dones
        return pictures, rewards, dones, infos


def test_a_loop_as_cleanrl_writes_it_learns():
    envs = envpool.make("avm", env_type="gym", num_envs=4, episodic_life=True, reward_clip=True, seed=1, **SHORT)
    envs.num_envs = 4
    envs.single_action_space, envs.single_observation_space = envs.action_space, envs.observation_space
    statistics = Statistics(envs)
    assert not statistics.has_lives
    torch.manual_seed(0)
    body = nn.Sequential(nn.Conv2d(3, 4, 8, stride=4), nn.ReLU(), nn.Flatten(), nn.LazyLinear(8), nn.ReLU())
    actor, critic = nn.Linear(8, int(envs.single_action_space.n)), nn.Linear(8, 1)
    seen = torch.Tensor(envs.reset())
    assert seen.shape == (4, *envs.single_observation_space.shape)
    body(seen)
    optimiser = torch.optim.Adam([*body.parameters(), *actor.parameters(), *critic.parameters()])
    before, finished = actor.weight.clone(), 0
    for _ in range(2):
        losses = []
        for _ in range(16):
            hidden = body(seen / 255.0)
            chances = Categorical(logits=actor(hidden))
            action = chances.sample()
            pictures, reward, done, info = statistics.step(action.cpu().numpy())
            advantage = torch.tensor(reward).view(-1) - critic(hidden).view(-1)
            losses.append((advantage**2 - advantage.detach() * chances.log_prob(action)).mean())
            seen = torch.Tensor(pictures)
            for game, is_done in enumerate(done):
                if is_done and info["lives"][game] == 0:
                    finished += 1
                    assert info["r"][game] == info["return"][game]
        optimiser.zero_grad()
        torch.stack(losses).mean().backward()
        optimiser.step()
    assert finished == 8
    assert not torch.equal(before, actor.weight)


def test_a_step_after_the_end_begins_the_next_episode_as_envpool_does():
    envs = envpool.make("avm", num_envs=2, seed=3, channels_first=False, **SHORT)
    ours = memorylab.make_vec("avm", num_envs=2, seed=3, autoreset_mode="NextStep", **SHORT)
    np.testing.assert_array_equal(envs.reset(), ours.reset()[0])
    lengths = []
    for step in range(1, 19):
        pictures, _, dones, info = envs.step(np.full(2, 1))
        np.testing.assert_array_equal(pictures, ours.step(np.full(2, 1))[0])
        assert dones.tolist() == [step == 15] * 2
        assert info["TimeLimit.truncated"].tolist() == dones.tolist()
        lengths.append(int(info["elapsed_step"][0]))
    assert lengths == [*range(1, 16), 0, 1, 2]
    assert info["env_id"].tolist() == [0, 1]


def test_gymnasiums_face_and_ids():
    name = "memorylab/arbitrary_visuomotor_mapping_holdout_small-v0"
    envs = envpool.make(name, "gymnasium", 2, seed=0, num_threads=1, **SHORT)
    assert (envs.envs.batch.task.short, envs.envs.batch.level, len(envs)) == ("avm", "holdout_small", 2)
    pictures, info = envs.reset()
    assert (pictures.shape, info["reward"].tolist()) == ((2, 3, 36, 48), [0, 0])
    assert envs.observation_space.contains(pictures[0])
    _, _, terminated, truncated, _ = envs.step(np.zeros(2, int))
    assert not (terminated | truncated).any()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"env_type": "dm"}, "unknown env_type 'dm'; the env_types are gym, gymnasium"),
        ({"num_envs": 4, "batch_size": 2}, "batch_size must be num_envs, 4"),
    ],
)
def test_what_it_cannot_be_is_refused(options, said):
    with pytest.raises(ValueError, match=said):
        envpool.make("avm", **options)


def test_all_games_are_stepped_at_once():
    envs = envpool.make("avm", num_envs=2, **SHORT)
    envs.reset()
    with pytest.raises(ValueError, match="all 2 games are stepped at once, not 1"):
        envs.step(np.zeros(1, int), env_id=np.zeros(1, int))
