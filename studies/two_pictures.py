"""How many trials does a network need to tell same from changed, given Change Detection's two pictures at once?

python studies/two_pictures.py [--given pair] [--given difference] ...

No memory is needed here: the last picture of the study array and the first that shows the buttons go through one
encoder, and a hidden layer gets both codes side by side (`pair`) or one less the other (`difference`).
"""

import sys
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
import tyro
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from memorylab.agent import ENCODERS
from memorylab.agent.encoders import as_floats
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.psychlab.change_detection import STUDY
from memorylab.tasks.psychlab.trial import CHOOSE

SIZE, CODE, GAMES = (36, 48), 256, 256


@dataclass
class Settings:
    given: Literal["pair", "difference"] = "pair"
    trials: int = 115_200
    rows: int = 9
    """Lines to print."""
    batch: int = 64
    learning_rate: float = 5e-4


def seen_trials(number: int) -> tuple[Tensor, Tensor, Tensor]:
    """Study pictures, test pictures and right answers, as the forgetting player meets them."""
    env = MemoryVectorEnv("cd", "train", GAMES, seed=5, size=SIZE, delays=(2,))
    pictures, _ = env.reset()
    games, actions = env.batch.records, np.zeros(GAMES, np.int64)
    studied, is_new = pictures.copy(), np.zeros(GAMES, np.bool_)
    parts: list[tuple[np.ndarray, ...]] = []
    while sum(len(answers) for *_, answers in parts) < number:
        shown = games["phase"] == STUDY
        studied[shown], is_new[shown] = pictures[shown], True
        asked = (games["phase"] == CHOOSE) & is_new
        parts.append((studied[asked], pictures[asked], games["correct"][asked].astype(np.int64)))
        is_new[asked] = False
        env.batch.act("forgetting", actions)
        pictures, *_ = env.step(actions)
    study, test, answers = (torch.from_numpy(np.concatenate(part)[:number]) for part in zip(*parts, strict=True))
    return study, test, answers


def main(settings: Settings) -> None:
    if not 1 <= settings.batch <= settings.trials:
        print("two_pictures: batch must be at least 1 and at most trials", file=sys.stderr)
        sys.exit(2)
    torch.manual_seed(0)
    encoder = ENCODERS["normalised"](*SIZE, CODE)
    inputs = 2 * CODE if settings.given == "pair" else CODE
    judge = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 2))
    optimiser = torch.optim.Adam([*encoder.parameters(), *judge.parameters()], settings.learning_rate)
    hits: list[float] = []
    print(f"trials     right, given the {settings.given}")
    batches = zip(*(part.split(settings.batch) for part in seen_trials(settings.trials)), strict=True)
    for number, (study, test, answers) in enumerate(batches, 1):
        x_study, x_test = (encoder(as_floats(part, torch.float32) - 0.5) for part in (study, test))
        judged = judge(torch.cat([x_study, x_test], -1) if settings.given == "pair" else x_study - x_test)
        optimiser.zero_grad()
        cross_entropy(judged, answers).backward()
        optimiser.step()
        hits.append((judged.argmax(-1) == answers).float().mean().item())
        if number % max(1, settings.trials // settings.batch // settings.rows) == 0:
            print(f"{number * settings.batch:<9,}  {np.mean(hits):.1%}", flush=True)
            hits.clear()


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
