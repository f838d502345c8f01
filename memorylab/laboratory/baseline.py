"""What the scripted players score: oracles for the rules, and the proof that memory pays."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from memorylab.envs.scripted import play_episodes
from memorylab.laboratory.references import best_agent, paper_scores
from memorylab.runs.scores import standard_error
from memorylab.tasks.task import find_task

ScriptedPlayer = Literal["random", "forgetting", "remembering"]
PLAYERS: tuple[ScriptedPlayer, ...] = ("random", "forgetting", "remembering")


@dataclass(frozen=True)
class Baseline:
    """What a scripted player scores on a level, beside the paper."""

    task: str
    level: str
    player: str
    episodes: int
    mean: float
    standard_error: float
    mean_length: float
    paper_random: float | None
    paper_human: float | None
    paper_best: float | None  # the best of its trained agents


def baselines(
    tasks: Iterable[str],
    levels: Iterable[str],
    players: Iterable[str],
    episodes: int,
    seed: int,
    on_episodes: Callable[[int], None] = lambda _: None,
) -> Iterator[Baseline]:
    """One row for each task, level and player, as it is played."""
    paper = paper_scores()
    for name in tasks:
        task = find_task(name).name
        for level in levels:
            random, human = (paper.get((task, model, level)) for model in ("random", "human"))
            best = best_agent(task, level)
            for player in players:
                scores, lengths = play_episodes(task, level, player, episodes, seed, on_episodes)
                yield Baseline(
                    task=task,
                    level=level,
                    player=player,
                    episodes=len(scores),
                    mean=float(scores.mean()),
                    standard_error=standard_error(scores),
                    mean_length=float(lengths.mean()),
                    paper_random=random and random.mean,
                    paper_human=human and human.mean,
                    paper_best=best and best.mean,
                )
