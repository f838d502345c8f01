"""Does an agent hold Change Detection's array over the delay, and can it compare? Learning without reinforcement.

python studies/held_arrays.py [--unroll 200 --num-envs 8] [--told array] ...
python studies/held_arrays.py --model mra --told answer --unroll 50 --num-envs 16 --noise 0 --read-share 0.01

The forgetting player plays, some actions drawn at random. An agent watches, and may besides be told what lies in each
cell of the study array, or which answer is right. Printed for each stretch of steps: the cross-entropy, in
nats per cell, of linear readers of the array, from x while it is shown and from h while it is not (1.04: nothing is
known), and how often a linear reader of h finds the right answer.
"""

import sys
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from memorylab.agent import Inputs, MemoryRecallAgent
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.presets import preset_config
from memorylab.tasks.psychlab.change_detection import CELLS, DELAY, DISC, NUM_COLOURS, STUDY
from memorylab.tasks.psychlab.trial import CHOOSE

KINDS = 1 + NUM_COLOURS  # of a cell: empty, or one of the colours


@dataclass
class Settings:
    model: Literal["lstm", "lstm+cpc", "lstm+mem", "mra"] = "lstm+cpc"
    told: Literal["nothing", "array", "answer"] = "nothing"
    """What is learned from besides CPC; `array` includes the answer."""
    read_share: float = 0.01
    """The memory read's share of the learning rate."""
    steps: int = 1_000_000
    rows: int = 10
    """Lines to print."""
    unroll: int = 200
    num_envs: int = 8
    delays: tuple[int, ...] = (2, 4, 8)
    encoder: Literal["small", "normalised", "residual"] = "normalised"
    embedding_size: int = 256
    hidden_size: int = 256
    learning_rate: float = 5e-4
    noise: float = 0.1
    """How often the player acts at random."""


@dataclass
class Watched:
    """One trajectory and what only the game knows about it."""

    inputs: Inputs
    phases: Tensor
    cells: Tensor
    answers: Tensor


class Show:
    """The forgetting player, played on and on."""

    def __init__(self, settings: Settings, size: tuple[int, int]):
        self.settings = settings
        self.env = MemoryVectorEnv("cd", "train", settings.num_envs, seed=1, size=size, delays=settings.delays)
        self.chance = np.random.default_rng(0)
        pictures, _ = self.env.reset()
        nothing = np.zeros(settings.num_envs, np.int64)
        self.met = pictures.copy(), nothing.astype(np.float32), nothing, np.ones(settings.num_envs, np.bool_)

    def watch(self) -> Watched:
        steps = [self.step() for _ in range(self.settings.unroll)]
        *inputs, phases, cells, answers = (torch.from_numpy(np.stack(part)) for part in zip(*steps, strict=True))
        return Watched(Inputs(*inputs), phases, cells, answers)

    def step(self) -> tuple:
        games, met = self.env.batch.records, self.met
        known = games["phase"].copy(), study_cells(games), games["correct"].astype(np.int64)
        actions = np.zeros(len(games), np.int64)
        self.env.batch.act("forgetting", actions)
        by_chance = self.chance.random(len(games)) < self.settings.noise
        actions = np.where(by_chance, self.chance.integers(self.env.single_action_space.n, size=len(games)), actions)
        pictures, rewards, terminated, truncated, _ = self.env.step(actions)
        self.met = pictures.copy(), rewards.copy(), actions, terminated | truncated
        return *met, *known


def study_cells(games: np.ndarray) -> np.ndarray:
    """(games, cells): 0 for an empty cell of the study array, else its colour, from 1."""
    cells = np.zeros((len(games), len(CELLS)), np.int64)
    for i in range(games["cell"].shape[1]):
        shown = np.flatnonzero(games["objects"] > i)
        cells[shown, games["cell"][shown, i]] = 1 + games["colour"][shown, i]
    return cells


class Reader(nn.Module):
    """Linear readers of the array and of the answer."""

    def __init__(self, embedding_size: int, hidden_size: int):
        super().__init__()
        self.x_cells = nn.Linear(embedding_size, len(CELLS) * KINDS)
        self.h_cells = nn.Linear(hidden_size, len(CELLS) * KINDS)
        self.h_answer = nn.Linear(hidden_size, 2)

    def losses(self, x: Tensor, h: Tensor, watched: Watched, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor, float]:
        shown, choosing = watched.phases == STUDY, watched.phases == CHOOSE
        of_x = cross_entropy(self.x_cells(x[shown]).view(-1, KINDS), watched.cells[shown].flatten())
        of_h = cross_entropy(self.h_cells(h[hidden]).view(-1, KINDS), watched.cells[hidden].flatten())
        answers, right = self.h_answer(h[choosing]), watched.answers[choosing]
        return of_x, of_h, cross_entropy(answers, right), (answers.argmax(-1) == right).float().mean().item()


def main(settings: Settings) -> None:
    if settings.unroll * settings.num_envs < 800 or settings.steps < settings.unroll * settings.num_envs:
        print(
            "held_arrays: unroll x games must be at least 800, to hold every phase, and at most steps", file=sys.stderr
        )
        sys.exit(2)
    torch.manual_seed(0)
    config = replace(
        preset_config("cd", settings.model).agent,
        encoder=settings.encoder,
        embedding_size=settings.embedding_size,
        hidden_size=settings.hidden_size,
    )
    agent, show = MemoryRecallAgent(config), Show(settings, (config.height, config.width))
    teacher, reader = (Reader(settings.embedding_size, settings.hidden_size) for _ in range(2))
    rate = settings.learning_rate
    taught = [
        {"params": list(part.parameters()), "lr": rate * (settings.read_share if part is agent.read else 1)}
        for part in (*agent.children(), teacher)
    ]
    optimiser = torch.optim.Adam(taught)
    reading = torch.optim.Adam(reader.parameters(), 3e-3)
    state = agent.initial_state(settings.num_envs)
    updates = settings.steps // (settings.unroll * settings.num_envs)
    rows: list[tuple[float, ...]] = []
    print("steps      array in x  array in h  answer")
    for update in range(1, updates + 1):
        watched = show.watch()
        output, state = agent.unroll(watched.inputs, state, store=agent.new_store(settings.num_envs))
        state = tuple(part.detach() for part in state)
        loss = torch.zeros(())
        for auxiliary in agent.auxiliary.values():
            loss = loss + auxiliary.loss(output, watched.inputs)[0] / config.cpc_steps
        if settings.told != "nothing":
            _, of_array, of_answer, _ = teacher.losses(output.x, output.h, watched, watched.phases >= STUDY)
            loss = loss + of_answer + (3 * of_array if settings.told == "array" else 0)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([weight for part in taught for weight in part["params"]], 1.0)
        optimiser.step()

        blank = (watched.phases == DELAY) | (watched.phases == DISC)
        *losses, accuracy = reader.losses(output.x.detach(), output.h.detach(), watched, blank)
        reading.zero_grad()
        sum(losses).backward()
        reading.step()
        rows.append((losses[0].item(), losses[1].item(), accuracy))
        if update % max(1, updates // settings.rows) == 0:
            of_x, of_h, accuracy = np.mean(rows, axis=0)
            print(
                f"{update * settings.unroll * settings.num_envs:<9,}  {of_x:<10.3f}  {of_h:<10.3f}  {accuracy:.1%}",
                flush=True,
            )
            rows.clear()


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
