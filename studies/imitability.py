"""How well a scripted player can be imitated: is what it does a function of what can be seen or remembered?

A small recurrent network plays by itself and learns, step by step, what the player would do in its place. Printed is
how often the two agree; `most common` is how often the player's most frequent action would.

    python studies/imitability.py spot_diff_passive visible_goal_procedural_maze:skilled --steps 200000
"""

import argparse

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy, one_hot

from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.task import find_task

GAMES, UNROLL, HEIGHT, WIDTH, UNITS = 32, 25, 36, 48, 128
REPORTS = 4


class Imitator(nn.Module):
    """Picture and latest action in, logits of the next action out."""

    def __init__(self, actions: int):
        super().__init__()
        self.actions = actions
        self.look = nn.Sequential(
            nn.Conv2d(3, 16, 6, 3), nn.ReLU(), nn.Conv2d(16, 32, 3, 2), nn.ReLU(), nn.Flatten(), nn.LazyLinear(UNITS)
        )
        self.remember = nn.GRUCell(UNITS + actions, UNITS)
        self.choose = nn.Linear(UNITS, actions)

    def forward(self, pictures: torch.Tensor, latest: torch.Tensor, state: torch.Tensor) -> tuple:
        seen = self.look(pictures.permute(0, 3, 1, 2).float() / 255).relu()
        state = self.remember(torch.cat([seen, one_hot(latest, self.actions).float()], 1), state)
        return self.choose(state), state


def imitate(task: str, player: str, steps: int) -> None:
    """Print the agreement of each quarter of the steps."""
    torch.manual_seed(0)
    env = MemoryVectorEnv(task, "train", GAMES, seed=0, size=(HEIGHT, WIDTH))
    network = Imitator(len(find_task(task).actions))
    pictures, _ = env.reset()
    latest, advice = np.zeros(GAMES, np.int64), np.zeros(GAMES, np.int64)
    state = torch.zeros(GAMES, UNITS)
    network(torch.from_numpy(pictures), torch.from_numpy(latest), state)  # the lazy layer learns its size
    optimiser = torch.optim.Adam(network.parameters(), 1e-3)
    agreed, counts = [], np.zeros(network.actions)
    updates = steps // (GAMES * UNROLL)
    for update in range(1, updates + 1):
        loss, state = torch.zeros(()), state.detach()
        for _ in range(UNROLL):
            env.batch.act(player, advice)
            logits, state = network(torch.from_numpy(pictures.copy()), torch.from_numpy(latest), state)
            loss = loss + cross_entropy(logits, torch.from_numpy(advice.copy()))
            agreed.append(float((logits.argmax(1).numpy() == advice).mean()))
            counts += np.bincount(advice, minlength=network.actions)
            latest = torch.distributions.Categorical(logits=logits.detach()).sample().numpy()
            pictures, _, terminated, truncated, _ = env.step(latest)
            state = state * torch.from_numpy(~(terminated | truncated)).float()[:, None]
        optimiser.zero_grad()
        (loss / UNROLL).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        if update % (updates // REPORTS) == 0:
            told = f"agreement {np.mean(agreed):.3f}, most common {counts.max() / counts.sum():.3f}"
            print(f"{task} {player} {update * GAMES * UNROLL:,} steps: {told}", flush=True)
            agreed, counts = [], np.zeros(network.actions)
    env.close()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("players", nargs="+", help="TASK, for its usual teacher, or TASK:PLAYER")
    parser.add_argument("--steps", type=int, default=200_000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for text in options.players:
        name, _, player = text.partition(":")
        task = find_task(name)
        imitate(task.name, player or task.teacher, options.steps)


if __name__ == "__main__":
    main()
