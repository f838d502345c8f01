"""PPO with an LSTM as CleanRL's `ppo_atari_lstm.py` does it, on AVM: `ppo_lstm_learner.py GAMES EPOCHS`.

Prints after each update from how many steps it has learned. 128 steps, 4 minibatches of whole games, one process.
"""

import sys
from typing import NamedTuple

import numpy as np
import torch
from small_network import HEIGHT, HIDDEN, WIDTH, SmallEncoder
from torch import Tensor, nn
from torch.distributions import Categorical

import memorylab

STEPS, MINIBATCHES = 128, 4
LEARNING_RATE, GRADIENT_NORM = 2.5e-4, 0.5
DISCOUNT, GAE_LAMBDA, CLIP, ENTROPY_COST, VALUE_COST = 0.99, 0.95, 0.1, 0.01, 0.5
State = tuple[Tensor, Tensor]


class Rollout(NamedTuple):
    """Each has axes (STEPS, games)."""

    pictures: Tensor
    begins: Tensor  # 1 where the picture begins an episode
    actions: Tensor
    log_mu: Tensor
    values: Tensor
    rewards: Tensor


class Agent(nn.Module):
    """Encoder, LSTM, policy and value."""

    def __init__(self, actions: int):
        super().__init__()
        self.encoder = SmallEncoder().to(memory_format=torch.channels_last)
        self.lstm = nn.LSTM(HIDDEN, HIDDEN)
        self.policy, self.value = nn.Linear(HIDDEN, actions), nn.Linear(HIDDEN, 1)

    def forward(self, pictures: Tensor, begins: Tensor, state: State) -> tuple[Categorical, Tensor, State]:
        """Of T steps of B games; the LSTM goes step by step, since an episode may begin at any."""
        x = self.encoder(pictures.flatten(0, 1).float() / 255 - 0.5).unflatten(0, begins.shape)
        hs = []
        for x_t, begins_t in zip(x, begins, strict=True):
            keep = (1 - begins_t)[None, :, None]
            h_t, state = self.lstm(x_t[None], (keep * state[0], keep * state[1]))
            hs.append(h_t)
        h = torch.cat(hs)
        return Categorical(logits=self.policy(h)), self.value(h)[..., 0], state


class Player:
    """An agent in the middle of its games."""

    def __init__(self, games: int):
        self.envs = memorylab.make_vec("avm", num_envs=games, size=(HEIGHT, WIDTH), seed=0)
        self.agent = Agent(int(self.envs.single_action_space.n))
        self.pictures = torch.from_numpy(self.envs.reset()[0].copy())
        self.begins = torch.ones(games)
        self.state: State = (torch.zeros(1, games, HIDDEN), torch.zeros(1, games, HIDDEN))

    @torch.no_grad()
    def look(self) -> tuple[Categorical, Tensor, State]:
        """What the agent makes of the present pictures."""
        return self.agent(self.pictures[None], self.begins[None], self.state)

    def step(self) -> tuple[Tensor, ...]:
        """One step of all games: a row of a rollout."""
        pi, values, self.state = self.look()
        actions = pi.sample()
        row = self.pictures, self.begins, actions[0], pi.log_prob(actions)[0], values[0]
        pictures, rewards, terminated, truncated, _ = self.envs.step(actions[0].numpy())
        self.pictures = torch.from_numpy(pictures.copy())
        self.begins = torch.from_numpy(terminated | truncated).float()
        return (*row, torch.from_numpy(rewards.copy()))

    def collect(self) -> Rollout:
        """The next steps."""
        return Rollout(*map(torch.stack, zip(*(self.step() for _ in range(STEPS)), strict=True)))


def advantages_of(rollout: Rollout, value_after: Tensor, begins_after: Tensor) -> Tensor:
    """Generalised advantage estimation."""
    advantages, advantage = [], torch.zeros_like(value_after)
    for t in reversed(range(STEPS)):
        discount = DISCOUNT * (1 - begins_after)
        advantage = rollout.rewards[t] + discount * value_after - rollout.values[t] + GAE_LAMBDA * discount * advantage
        advantages.append(advantage)
        value_after, begins_after = rollout.values[t], rollout.begins[t]
    return torch.stack(advantages[::-1])


def loss_of(agent: Agent, part: Rollout, state: State, advantages: Tensor) -> Tensor:
    """PPO's, with clipped values."""
    pi, values, _ = agent(part.pictures, part.begins, state)
    ratio = (pi.log_prob(part.actions) - part.log_mu).exp()
    normalised = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    gain = torch.minimum(ratio * normalised, ratio.clamp(1 - CLIP, 1 + CLIP) * normalised)
    returns = advantages + part.values
    near = part.values + (values - part.values).clamp(-CLIP, CLIP)
    error = torch.maximum((values - returns) ** 2, (near - returns) ** 2)
    return -gain.mean() + 0.5 * VALUE_COST * error.mean() - ENTROPY_COST * pi.entropy().mean()


def main(games: int, epochs: int) -> None:
    player, steps = Player(games), 0
    agent = player.agent
    optimiser = torch.optim.Adam(agent.parameters(), LEARNING_RATE, eps=1e-5)
    while True:
        before = player.state
        rollout = player.collect()
        advantages = advantages_of(rollout, player.look()[1][0], player.begins)
        for _ in range(epochs):
            for chosen in np.array_split(np.random.permutation(games), MINIBATCHES):
                part = Rollout(*(each[:, chosen] for each in rollout))
                state = before[0][:, chosen], before[1][:, chosen]
                loss = loss_of(agent, part, state, advantages[:, chosen])
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), GRADIENT_NORM)
                optimiser.step()
        steps += STEPS * games
        print(steps, flush=True)


main(*map(int, sys.argv[1:]))
