"""A run on this machine: its cores share the work, or a GPU has it; evaluations are played in between."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import torch

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.vector import vector_env
from memorylab.learning.config import TrainConfig
from memorylab.learning.evaluation import evaluate, evaluation_seed
from memorylab.learning.learner import Learner
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode
from memorylab.machine import usable_cores
from memorylab.runtime.crew import Crew, crew_size
from memorylab.runtime.one_process import OneProcess
from memorylab.runtime.protocol import Evaluated, GiveWay
from memorylab.runtime.training import Report, Training


class EvaluatorHere:
    """Plays at once, one level to a thread, while training waits."""

    is_busy = False

    def __init__(self, config: TrainConfig, agent: MemoryRecallAgent, threads: int):
        self.config, self.agent, self.threads = config, agent, threads
        self.done: Evaluated | None = None

    def start(self, step: int, give_way: GiveWay) -> None:
        """See Evaluator."""
        c = self.config
        seed = evaluation_seed(c.seed, step)

        def play(level: str) -> list[Episode]:
            return evaluate(self.agent, c.game(level), c.evaluation_episodes, seed, 1, give_way)

        with ThreadPoolExecutor(self.threads, "level", torch.set_num_threads, (1,)) as pool:
            self.done = Evaluated(step, list(pool.map(play, c.evaluation_levels)), self.agent.state_dict())

    def finished(self, wait: bool, give_way: GiveWay) -> Evaluated | None:
        """See Evaluator."""
        done, self.done = self.done, None
        return done

    def forget(self) -> None:
        """See Evaluator."""

    def close(self) -> None:
        """See Evaluator."""


def training_here(
    config: TrainConfig,
    folder: Path,
    device: str = "cpu",
    threads: int | None = None,
    tell: Callable[[Report], None] = lambda _: None,
) -> Training:
    """A run in this process."""
    threads = threads or usable_cores()
    runtime = (
        Crew(config, crew_size(config.num_envs, threads)) if takes_turns(device) else beside(config, device, threads)
    )
    return Training(config, folder, runtime, EvaluatorHere(config, runtime.learner.agent, threads), tell)


def takes_turns(device: str) -> bool:
    """Whether acting and learning do: on cores, which both need whole."""
    return device == "cpu"


def beside(config: TrainConfig, device: str, threads: int) -> OneProcess:
    """An actor that plays while a learner learns, both on this device."""
    torch.manual_seed(config.seed)
    torch.set_num_threads(threads)  # before the weights: their last bits depend on it
    learner = Learner(MemoryRecallAgent(config.agent).to(device), config.learner)
    make_env = partial(vector_env, config.game("train"), config.num_envs, threads=threads)
    sizes = config.num_envs, config.unroll, threads
    return OneProcess(make_env, learner, *sizes, Stopwatch(), teacher=config.teaching_player)
