"""How many pairs can an agent learn to recall by reinforcement, in the tiny game of patterns and marks?

    python studies/recall_by_key.py [--pairs 1 2 4] [--reads flat sharp] [--model ff+mem] [--seeds 3]

Patterns, new in each episode, are shown above the mark of a button; after a few empty steps they come again without
their marks. A right press earns 1 whenever a pattern is there. Without memory an agent that reads marks has 1.25 a
pair; one that knows which buttons occurred, but not with which pattern, has 1.63 with two pairs, 1.53 with four.
`flat` has the paper's read as it comes (K = 8, epsilon 1e-3), `sharp` that of the presets: pictures normalised, epsilon
1e-5, a read that learns at a hundredth of the rate, K as given by --neighbours.
"""

from dataclasses import dataclass, replace

import torch
import tyro

from memorylab.agent import AgentConfig, MemoryRecallAgent, model_config
from memorylab.envs.diagnostic_games import SIDE, RecallByKey
from memorylab.learning.config import LearnerConfig
from memorylab.learning.evaluation import play_episodes
from memorylab.learning.learner import Learner
from memorylab.learning.stopwatch import Stopwatch
from memorylab.runtime.one_process import OneProcess
from memorylab.runtime.protocol import Stage

DELAY, NUM_ENVS = 6, 32
SOLVED = 0.95  # of all answers


@dataclass
class Settings:
    pairs: tuple[int, ...] = (1, 2, 4)
    reads: tuple[str, ...] = ("flat", "sharp")
    model: str = "ff+mem"
    seeds: int = 3
    neighbours: int = 2
    updates: int = 3000
    entropy_cost: float = 0.05
    learning_rate: float = 5e-3


def agent_of(settings: Settings, env: RecallByKey, is_sharp: bool) -> MemoryRecallAgent:
    sizes = {"embedding_size": 32, "hidden_size": 32, "key_size": 16, "neighbours": 8, "capacity": env.length}
    base = AgentConfig(encoder="small", height=SIDE, width=SIDE, actions=env.actions, cpc_steps=4, **sizes)
    if is_sharp:
        base = replace(base, encoder="normalised", epsilon=1e-5, neighbours=settings.neighbours)
    return MemoryRecallAgent(model_config(settings.model, base))


def trained(settings: Settings, pairs: int, is_sharp: bool, seed: int) -> tuple[float, int]:
    """Score of fresh episodes a pair, and after how many steps training ended."""
    torch.manual_seed(seed)
    env = RecallByKey(pairs, DELAY, NUM_ENVS, seed=seed)
    agent = agent_of(settings, env, is_sharp)
    config = LearnerConfig(
        adam_epsilon=1e-8,
        gradient_norm=1.0,
        reduction="mean",
        cpc_weight=0.01,
        learning_rate=settings.learning_rate,
        entropy_cost=settings.entropy_cost,
        discount=0.0,
        read_share=0.01 if is_sharp else 1.0,
    )
    runtime = OneProcess(
        lambda seed: env, Learner(agent, config), NUM_ENVS, env.length, threads=1, stopwatch=Stopwatch()
    )
    runtime.begin(Stage({}, seed=0))
    scores: list[float] = []
    updates = 0
    while updates < settings.updates:
        updates += 1
        scores += [episode.score for episode in runtime.advance(0.0).episodes]
        if len(scores) > 400 and sum(scores[-400:]) / 400 >= SOLVED * 2 * pairs:
            break
    runtime.close()
    fresh = play_episodes(RecallByKey(pairs, DELAY, 100, seed=1000), agent, 400, seed=1)
    return sum(episode.score for episode in fresh) / len(fresh) / pairs, updates * NUM_ENVS * env.length


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    for pairs in settings.pairs:
        for read in settings.reads:
            for seed in range(settings.seeds):
                score, steps = trained(settings, pairs, read == "sharp", seed)
                print(f"{settings.model} {pairs} pairs, {read} read, seed {seed}: {score:.2f} of 2 a pair after "
                      f"{steps / 1e6:.2f} M steps", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
