"""Can an agent learn which block of Spot the Difference was altered, if it is told? Learning without reinforcement.

python studies/told_difference.py --task sdp --model lstm --scale room=8 corridor=3 delay=0 [--unroll 100] ...

The forgetting player plays, some actions drawn at random. An agent watches and is told, in Room 2, which block differs.
Printed for each stretch of steps: how many episodes have ended, and how often a linear reader of h names the altered
block in the last step before one is touched.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
import tyro
from torch import nn
from torch.nn.functional import cross_entropy

from memorylab.agent import Inputs, MemoryRecallAgent
from memorylab.envs.spec import parse_scale
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.presets import preset_config
from memorylab.tasks.rooms.spot_difference import AFTER


@dataclass
class Settings:
    task: str = "sdp"
    model: Literal["lstm", "lstm+cpc", "lstm+mem", "mra"] = "lstm"
    scale: tuple[str, ...] = ("room=8", "corridor=3", "delay=0")
    steps: int = 3_000_000
    rows: int = 15
    """Lines to print."""
    unroll: int = 100
    num_envs: int = 16
    encoder: Literal["small", "normalised", "residual"] = "normalised"
    hidden_size: int = 128
    neighbours: int = 10
    read_share: float = 0.01
    """The memory read's share of the learning rate."""
    cpc_weight: float = 0.01
    learning_rate: float = 1e-3
    noise: float = 0.05
    """How often the player acts at random."""
    player: str = "forgetting"
    horizon: int = 0
    """Steps over which the slowest units of the LSTM remember at first; 0 for its own beginning."""


class Show:
    """A scripted player, played on and on."""

    def __init__(self, settings: Settings, size: tuple[int, int]):
        scale = parse_scale(settings.task, settings.scale)
        self.settings = settings
        self.env = MemoryVectorEnv(settings.task, "train", settings.num_envs, seed=1, size=size, threads=1, **scale)
        self.chance = np.random.default_rng(0)
        pictures, _ = self.env.reset()
        nothing = np.zeros(settings.num_envs, np.int64)
        self.met = pictures.copy(), nothing.astype(np.float32), nothing, np.ones(settings.num_envs, np.bool_)

    def watch(self) -> tuple[Inputs, torch.Tensor, torch.Tensor, torch.Tensor]:
        """A trajectory; whether it is Room 2, which block differs there, and whether the step is an episode's last."""
        steps = [self.step() for _ in range(self.settings.unroll)]
        *inputs, in_room_2, altered, is_last = (torch.from_numpy(np.stack(part)) for part in zip(*steps, strict=True))
        return Inputs(*inputs), in_room_2, altered, is_last

    def step(self) -> tuple:
        games, met = self.env.batch.records, self.met
        known = games["gates"] == AFTER, games["altered"].astype(np.int64)
        actions = np.zeros(len(games), np.int64)
        self.env.act(self.settings.player, actions)
        by_chance = self.chance.random(len(games)) < self.settings.noise
        actions = np.where(by_chance, self.chance.integers(self.env.single_action_space.n, size=len(games)), actions)
        pictures, rewards, terminated, truncated, _ = self.env.step(actions)
        self.met = pictures.copy(), rewards.copy(), actions, terminated | truncated
        return *met, *known, terminated.copy()


def main(settings: Settings) -> None:
    torch.manual_seed(0)
    config = replace(
        preset_config(settings.task, settings.model).agent,
        encoder=settings.encoder,
        hidden_size=settings.hidden_size,
        neighbours=settings.neighbours,
        epsilon=1e-5,
    )
    agent, show = MemoryRecallAgent(config), Show(settings, (config.height, config.width))
    if settings.horizon:
        H = settings.hidden_size
        paces = torch.log(torch.empty(H).uniform_(1, settings.horizon - 1))
        with torch.no_grad():
            agent.controller.of_input.bias[:H] = -paces
            agent.controller.of_input.bias[H : 2 * H] = paces
    reader = nn.Linear(settings.hidden_size, show.env.batch.records["home_x"].shape[1])
    parts = [
        {"params": list(part.parameters()), "lr": settings.learning_rate * share}
        for part, share in ((p, settings.read_share if p is agent.read else 1.0) for p in (*agent.children(), reader))
    ]
    optimiser = torch.optim.Adam(parts)
    state, store = agent.initial_state(settings.num_envs), agent.new_store(settings.num_envs)
    batch = settings.unroll * settings.num_envs
    ended, right, total = 0, [], 0
    print("steps      episodes  right")
    for update in range(1, settings.steps // batch + 1):
        inputs, in_room_2, altered, is_last = show.watch()
        output, state = agent.unroll(inputs, state, store=store)
        state = tuple(part.detach() for part in state)
        answers = reader(output.h)
        loss = cross_entropy(answers[in_room_2], altered[in_room_2]) if in_room_2.any() else answers.sum() * 0
        for auxiliary in agent.auxiliary.values():
            loss = loss + settings.cpc_weight * auxiliary.loss(output, inputs)[0]
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([weight for part in parts for weight in part["params"]], 1.0)
        optimiser.step()
        ended += int(is_last.sum())
        right += (answers.argmax(-1) == altered)[is_last].tolist()
        total += batch
        if update % max(1, settings.steps // batch // settings.rows) == 0:
            print(f"{total:<9,}  {ended:<8,}  {np.mean(right):.1%}", flush=True)
            right.clear()


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
