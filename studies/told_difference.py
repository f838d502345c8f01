"""Can an agent learn which block of Spot the Difference was altered, if it is told? Learning without reinforcement.

python studies/told_difference.py --task sdp --model lstm --scale room=8 corridor=3 delay=0 [--unroll 100] ...

The forgetting player plays, some actions drawn at random. An agent watches and is told, in Room 2, which block differs.
Printed for each stretch of steps: how many episodes have ended, and how often a linear reader of h names the altered
block in the last step before one is touched, and the colour that the first block had in Room 1 (chance is 20 %).
"""

from dataclasses import dataclass, field, replace
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
from memorylab.tasks.rooms.spot_difference import AFTER, COLOURS, TRAIN_COLOURS


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
    memory: str = ""
    """Another memory than the model's."""
    settings: dict[str, float] = field(default_factory=dict)
    """Of its parts."""
    neighbours: int = 10
    read_share: float = 0.01
    """The memory read's share of the learning rate."""
    cpc_weight: float = 0.01
    cpc_steps: int = 10
    cpc_every: int = 8
    told: bool = True
    """Or learn by CPC alone."""
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

    def watch(self) -> tuple[Inputs, list[torch.Tensor]]:
        """A trajectory; is it Room 2, which block differs, what was the first one's colour, is it an episode's last
        step?"""
        steps = [self.step() for _ in range(self.settings.unroll)]
        parts = [torch.from_numpy(np.stack(part)) for part in zip(*steps, strict=True)]
        return Inputs(*parts[:4]), parts[4:]

    def step(self) -> tuple:
        games, met = self.env.batch.records, self.met
        colour = (games["stimulus"][:, 0, 0, None] == COLOURS[0]).argmax(1)
        known = games["gates"] == AFTER, games["altered"].astype(np.int64), colour
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
        cpc_steps=settings.cpc_steps,
        epsilon=1e-5,
        settings=settings.settings,
        **({"memory": settings.memory} if settings.memory else {}),
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
    colour_reader = nn.Linear(settings.hidden_size, len(TRAIN_COLOURS))
    reading = torch.optim.Adam(colour_reader.parameters(), 3e-3)
    state, store = agent.initial_state(settings.num_envs), agent.new_store(settings.num_envs)
    batch = settings.unroll * settings.num_envs
    ended, total = 0, 0
    right: list[bool] = []
    held: list[bool] = []
    print("steps      episodes  altered  colour")
    for update in range(1, settings.steps // batch + 1):
        inputs, (in_room_2, altered, colour, is_last) = show.watch()
        recalled = None
        if store is not None:  # as an actor finds it, then as a learner reads it
            with torch.no_grad():
                recalled = agent.unroll(inputs, state, store=store)[0].recalled
        output, state = agent.unroll(inputs, state, recalled)
        state = tuple(part.detach() for part in state)
        answers = reader(output.h)
        loss = cross_entropy(answers[in_room_2], altered[in_room_2]) * settings.told
        for auxiliary in agent.auxiliary.values():
            auxiliary.every, auxiliary.turn = settings.cpc_every, update
            loss = loss + settings.cpc_weight * auxiliary.loss(output, inputs)[0]
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([weight for part in parts for weight in part["params"]], 1.0)
        optimiser.step()
        colours = colour_reader(output.h.detach())
        reading.zero_grad()
        cross_entropy(colours[in_room_2], colour[in_room_2]).backward()
        reading.step()
        ended += int(is_last.sum())
        held += (colours.argmax(-1) == colour)[is_last].tolist()
        right += (answers.argmax(-1) == altered)[is_last].tolist()
        total += batch
        if update % max(1, settings.steps // batch // settings.rows) == 0:
            print(f"{total:<9,}  {ended:<8,}  {np.mean(right):<7.1%}  {np.mean(held):.1%}", flush=True)
            right.clear()
            held.clear()


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
