"""What tells a small network which block of Spot the Difference was altered? Learning without reinforcement.

python studies/what_is_new.py [--episodes 4000] [--level holdout_interpolate]

The forgetting player walks, some actions drawn at random. Of each episode one picture of Room 2 is kept, and from the
steps before it what an untrained agent makes of them: x, the p of the nearest moments that have rested, and how new
each patch is. A network of one hidden layer learns from one of these at a time which block is the altered one; it is
tested on other episodes, and on other colours.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from memorylab.agent import Inputs, MemoryRecallAgent
from memorylab.agent.familiarity import FamiliarityMemory
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.presets import preset_config
from memorylab.tasks.rooms.spot_difference import AFTER

NUM_ENVS = 64


@dataclass
class Settings:
    episodes: int = 4000
    """To learn from; half as many to test with."""
    room: int = 8
    """Metres across a room."""
    far: float = 0.3
    """How far into Room 2 the picture is taken."""
    noise: float = 0.05
    """How often the player acts at random."""
    epochs: int = 4
    detail: int = 1
    """As familiarity.detail."""
    brightness: float = 1.0
    """As familiarity.brightness."""
    task: str = "spot_diff_passive"
    """Or spot_diff_basic."""


def watch(agent: MemoryRecallAgent, settings: Settings, level: str, episodes: int) -> tuple[dict[str, Tensor], Tensor]:
    """What can be known of each episode's picture, by name, and which block was altered."""
    read = agent.read
    assert isinstance(read, FamiliarityMemory)
    env = MemoryVectorEnv(settings.task, level, NUM_ENVS, seed=1, size=(36, 48), threads=1, room=settings.room, delay=0)
    pictures, _ = env.reset()
    store, chance = agent.new_store(NUM_ENVS), np.random.default_rng(0)
    resets, waits = np.ones(NUM_ENVS, np.bool_), np.ones(NUM_ENVS, np.bool_)
    actions, h = np.zeros(NUM_ENVS, np.int64), torch.zeros(NUM_ENVS, agent.config.hidden_size)
    known: list[tuple[Tensor, ...]] = []
    altered: list[Tensor] = []
    while sum(map(len, altered)) < episodes:
        games = env.batch.records
        seen = torch.from_numpy(pictures)[None]
        x = agent.encode(seen)[0]
        store.wipe(torch.from_numpy(resets))
        nothing = torch.zeros(1, NUM_ENVS)
        inputs = Inputs(seen, nothing, nothing.long(), torch.from_numpy(resets)[None])
        found = read.search(store, read.embed(x), read.look(inputs, x.dtype)[0])
        read.write(store, x, h)
        _, w = read(read.embed(x), read.project(found))
        p = (w[:, None] @ found.pv[..., : x.shape[-1]])[:, 0]
        entrance = 1 + games["room"] + games["corridor"]
        now = waits & (games["gates"] == AFTER) & (games["z"] > entrance + settings.far * settings.room)
        known.append(tuple(part[now].clone() for part in (x, p, found.sensed)))
        altered.append(torch.from_numpy(games["altered"][now].astype(np.int64)))
        env.act("forgetting", actions)
        by_chance = chance.random(NUM_ENVS) < settings.noise
        drawn = np.where(by_chance, chance.integers(env.single_action_space.n, size=NUM_ENVS), actions)
        pictures, _, terminated, truncated, _ = env.step(drawn)
        resets = terminated | truncated
        waits = resets | (waits & ~now)
    x, p, novelty = (torch.cat(part) for part in zip(*known, strict=True))
    given = {
        "x and p": torch.cat([x, p], -1),
        "x, p and |x - p|": torch.cat([x, p, (x - p).abs()], -1),
        "novelty of patches": novelty,
    }
    return given, torch.cat(altered)


def main(settings: Settings) -> None:
    torch.manual_seed(0)
    own = {"familiarity.detail": settings.detail, "familiarity.brightness": settings.brightness}
    config = replace(preset_config(settings.task).agent, memory="familiarity", encoder="normalised", settings=own)
    agent = MemoryRecallAgent(config)
    with torch.no_grad():
        learned, answers = watch(agent, settings, "train", settings.episodes * 3 // 2)
        other, other_answers = watch(agent, settings, "holdout_interpolate", settings.episodes // 2)
    n = settings.episodes
    print(f"right after each of {settings.epochs} epochs: training colours / other colours")
    for name, given in learned.items():
        net = nn.Sequential(nn.Linear(given.shape[1], 128), nn.ReLU(), nn.Linear(128, 2))
        optimiser = torch.optim.Adam(net.parameters(), 1e-3)
        right = []
        for _ in range(settings.epochs):
            for i in torch.randperm(n).split(32):
                optimiser.zero_grad()
                cross_entropy(net(given[i]), answers[i]).backward()
                optimiser.step()
            pairs = (given[n:], answers[n:]), (other[name], other_answers)
            right.append(" / ".join(f"{(net(g).argmax(1) == a).float().mean():.2f}" for g, a in pairs))
        print(f"{name:20}  " + "   ".join(right), flush=True)


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
