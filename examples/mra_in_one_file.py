"""The Memory Recall Agent (Fortunato et al., NeurIPS 2019) in one file, to be read beside the paper.

One game at a time, one step at a time, nothing fast. Equation, section and appendix numbers are the paper's; t counts
from 0. `memorylab.agent` computes the same for many games at once, and a test holds the two together.
Run it to see a few updates on one made-up batch.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

DISCOUNT, BASELINE_COST, ENTROPY_COST, CPC_WEIGHT = 0.98, 0.5, 0.0052, 10.0  # as for Arbitrary Visuomotor Mapping


class Slot(NamedTuple):
    """One memory, of the step t_i: p_i = x_t, v_i = h_t and the key k_i."""

    p: Tensor
    v: Tensor
    k: Tensor


class State(NamedTuple):
    """What an agent keeps from step to step: the LSTM's h and c, and the episodic memory, oldest slot first."""

    h: Tensor
    c: Tensor
    memory: list[Slot]


class Game(NamedTuple):
    """T steps of one game and the picture after them; `reward` and `action` are those before each picture."""

    pictures: Tensor  # (T + 1, height, width, 3) bytes
    rewards: Tensor  # (T + 1)
    actions: Tensor  # (T + 1)
    resets: Tensor  # (T + 1): an episode begins
    log_mu: Tensor  # (T): log mu(a_t | x_t), of the policy that chose a_t = actions[t + 1]
    start: State


class SubBlock(nn.Module):
    def __init__(self, maps: int):
        super().__init__()
        self.first = nn.Conv2d(maps, maps, 3, padding=1)
        self.second = nn.Conv2d(maps, maps, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.second(F.relu(self.first(F.relu(x))))


class Encoder(nn.Module):
    """Section 3, pixel input; appendix A.2."""

    def __init__(self, height: int, width: int, X: int):
        super().__init__()
        layers: list[nn.Module] = []
        for before, maps in [(3, 16), (16, 32), (32, 32)]:
            layers += [nn.Conv2d(before, maps, 3, padding=1), nn.MaxPool2d(3, stride=2, padding=1)]
            layers += [SubBlock(maps), SubBlock(maps)]
            height, width = (height + 1) // 2, (width + 1) // 2
        self.convolutions = nn.Sequential(*layers, nn.ReLU(), nn.Flatten())
        self.layer = nn.Linear(32 * height * width, X)

    def forward(self, picture: Tensor) -> Tensor:
        floats = picture.permute(2, 0, 1)[None] / 255 - 0.5
        return F.relu(self.layer(self.convolutions(floats)))[0]


class MRA(nn.Module):
    """Section 3. X, H, D: sizes of x_t, h_t and keys. K neighbours of so many slots are read. CPC predicts N steps."""

    def __init__(self, height, width, actions, X=256, H=512, D=128, K=10, slots=1024, N=10, epsilon=1e-3):
        super().__init__()
        self.actions, self.H, self.K, self.slots, self.epsilon = actions, H, K, slots, epsilon
        self.encoder = Encoder(height, width, X)
        self.lstm = nn.LSTMCell(X + 1 + actions + H, H)  # x_t, previous reward and action, m_t
        self.policy = nn.Linear(H, actions)
        self.baseline = nn.Linear(H, 1)
        self.key = nn.Linear(X + H, D)  # W_k, b_k
        self.query = nn.Linear(X + H, D)  # W_q, b_q
        self.cpc = nn.ModuleList(nn.Linear(H, X, bias=False) for _ in range(N))  # W_1 ... W_N of appendix A.3

    def initial_state(self) -> State:
        return State(torch.zeros(self.H), torch.zeros(self.H), [])

    def write(self, memory: list[Slot], x_t: Tensor, h_t: Tensor) -> list[Slot]:
        """Eq. 1, with the stop-gradient of eq. 4; the oldest slot makes room."""
        p_i, v_i = x_t.detach(), h_t.detach()
        k_i = self.key(torch.cat([p_i, v_i])).detach()  # only finds neighbours; eq. 3 computes it anew
        return [*memory, Slot(p_i, v_i, k_i)][-self.slots :]

    def read(self, memory: list[Slot], x_t: Tensor, h_tm1: Tensor) -> Tensor:
        """Eq. 2 and 3. Jumpy backpropagation: the gradient reaches W_k and b_k here, p_j and v_j are constants."""
        q_t = self.query(torch.cat([x_t, h_tm1]))
        nearest = sorted(memory, key=lambda slot: (q_t - slot.k).square().sum().item())[: self.K]
        m_t, total = torch.zeros(self.H), 0.0
        for p_j, v_j, _ in nearest:
            distance = (q_t - self.key(torch.cat([p_j, v_j]))).square().sum()
            w_j = 1 / (self.epsilon + distance)
            m_t, total = m_t + w_j * v_j, total + w_j
        return m_t / total if nearest else m_t

    def step(self, picture, reward, action, reset, state: State) -> tuple[Tensor, Tensor, Tensor, State]:
        """logits of pi, V, x_t and the state with h_t."""
        if reset:  # the memory is wiped with the rest
            state = self.initial_state()
        x_t = self.encoder(picture)
        before = torch.cat([reward.clamp(-1, 1)[None], F.one_hot(action, self.actions)]) * ~reset
        m_t = self.read(state.memory, x_t, state.h)
        h_t, c_t = self.lstm(torch.cat([x_t, before, m_t]), (state.h, state.c))
        memory = self.write(state.memory, x_t, h_t)
        return self.policy(h_t), self.baseline(h_t)[0], x_t, State(h_t, c_t, memory)

    def unroll(self, game: Game) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """logits, V, x and h at each of the T + 1 pictures."""
        state, steps = game.start, []
        for picture, reward, action, reset in zip(*game[:4], strict=True):
            logits_t, V_t, x_t, state = self.step(picture, reward, action, reset, state)
            steps.append((logits_t, V_t, x_t, state.h))
        logits, V, x, h = (torch.stack(part) for part in zip(*steps, strict=True))
        return logits, V, x, h


def vtrace(V: Tensor, r: Tensor, gamma: Tensor, rho: Tensor, c: Tensor) -> Tensor:
    """Eq. 6 as a recursion from the end: v_0 ... v_T, where v_T = V_T. V has T + 1 entries, the others T."""
    v = [V[-1]]
    for s in reversed(range(len(r))):
        delta_s = rho[s] * (r[s] + gamma[s] * V[s + 1] - V[s])
        v.insert(0, V[s] + delta_s + gamma[s] * c[s] * (v[0] - V[s + 1]))
    return torch.stack(v)


def actor_critic_loss(game: Game, logits: Tensor, V: Tensor) -> Tensor:
    """IMPALA's: policy gradient, baseline and entropy, as means over T steps (appendix A.1)."""
    T = len(game.log_mu)
    a, r, gamma = game.actions[1:], game.rewards[1:], DISCOUNT * ~game.resets[1:]
    log_policy = logits[:-1].log_softmax(-1)
    log_pi = log_policy[torch.arange(T), a]
    with torch.no_grad():  # targets and advantages are constants
        rho = c = (log_pi - game.log_mu).exp().clamp(max=1)
        v = vtrace(V, r, gamma, rho, c)
        advantage = rho * (r + gamma * v[1:] - V[:-1])
    policy_gradient = -(advantage * log_pi).mean()
    baseline = (v[:-1] - V[:-1]).square().mean() / 2
    entropy = -(log_policy.exp() * log_policy).sum(-1).mean()
    return policy_gradient + BASELINE_COST * baseline - ENTROPY_COST * entropy


def cpc_loss(agent: MRA, games: list[tuple[Tensor, Tensor, Tensor]]) -> Tensor:
    """Eq. 5 by eq. 8 and 9 for the x, h and resets of each game: tell x_(t+k) from the other x by h_t.

    The sum over k of the mean over all t and games; pairs that an episode's end divides do not count.
    """
    total = torch.zeros(())
    for k, W_k in enumerate(agent.cpc, 1):
        losses = []
        for x, h, resets in games:
            for t in range(len(x) - k):
                if resets[t + 1 : t + k + 1].any():
                    continue
                p = (x[k:] @ W_k(h[t])).softmax(-1)  # f_k(x_j, h_t) / sum_i f_k(x_i, h_t) for j = k, k + 1, ...
                is_negative = torch.arange(len(p)) != t  # p[t] is that of x_(t+k)
                log_not_p = torch.log1p(-p[is_negative].clamp(max=1 - 1e-6))
                losses.append(-p[t].log() - (log_not_p.mean() if is_negative.any() else 0))
        if losses:
            total = total + torch.stack(losses).mean()
    return total


def loss(agent: MRA, games: list[Game]) -> Tensor:
    """Everything that the agent learns from in a batch."""
    outputs = [agent.unroll(game) for game in games]
    each = [actor_critic_loss(game, logits, V) for game, (logits, V, _, _) in zip(games, outputs, strict=True)]
    seen = [(x, h, game.resets) for game, (_, _, x, h) in zip(games, outputs, strict=True)]
    return torch.stack(each).mean() + CPC_WEIGHT * cpc_loss(agent, seen)


def main(updates: int = 20) -> None:
    torch.manual_seed(0)
    T, height, width, actions = 12, 18, 24, 3
    agent = MRA(height, width, actions, X=32, H=32, D=8, K=3, slots=8, N=3)
    games = []
    for _ in range(2):
        pictures = torch.randint(256, (T + 1, height, width, 3), dtype=torch.uint8)
        a, resets = torch.randint(actions, (T + 1,)), torch.arange(T + 1) % 7 == 0
        games.append(Game(pictures, (a == 1).float(), a, resets, torch.full((T,), -1.1), agent.initial_state()))
    optimiser = torch.optim.Adam(agent.parameters(), 1e-3)
    for update in range(updates):
        value = loss(agent, games)
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
        print(f"update {update:3d}  loss {value.item():.3f}")


if __name__ == "__main__":
    main()
