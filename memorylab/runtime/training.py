"""A run from its first step to its last: updates, curriculum, evaluation, records, checkpoints."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.config import TrainConfig
from memorylab.learning.curriculum import Curriculum
from memorylab.learning.evaluation import evaluate
from memorylab.learning.learner import Diverged, Learner, Metrics
from memorylab.learning.scores import alpha_of, as_curve, best_step
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode
from memorylab.runs import RunFolder, ScoreRow
from memorylab.runs.checkpoints import (
    checkpoints,
    facts_of,
    keep_only,
    load_checkpoint,
    save_checkpoint,
    step_of,
)
from memorylab.runtime.in_process import InProcess, Progress, shares

REPORT_SECONDS = 5.0
CHECKPOINT_SECONDS = 120.0
RECENT_EPISODES = 200
EVALUATIONS = 1_000_003  # their branch of the seeds


@dataclass
class Report:
    """How a run stands, for the terminal."""

    step: int
    seconds: float
    rate: float
    stage: str
    score: float
    length: float
    episodes: int
    levels: dict[str, float] = field(default_factory=dict)
    metrics: Metrics = field(default_factory=dict)


class Runtime(Protocol):
    """Who calls actors and learner."""

    learner: Any  # what a Learner has: version, tensors, restore

    def new_games(self, games: Any, seed: int) -> None: ...

    def advance(self, share_done: float) -> Progress: ...

    def tensors(self) -> dict[str, Tensor]: ...

    def facts(self) -> dict[str, Any]: ...

    def restore(self, named: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None: ...

    def close(self) -> None: ...


class Training:
    """One run. `run` goes on until its steps or minutes are spent; call it again, or anew, to go on."""

    def __init__(
        self,
        config: TrainConfig,
        folder: Path,
        device: str = "cpu",
        threads: int | None = None,
        tell: Callable[[Report], None] = lambda _: None,
    ):
        self.config, self.device, self.tell = config, device, tell
        self.threads = threads or len(os.sched_getaffinity(0))
        self.folder = RunFolder(folder)
        self.folder.open(asdict(config), asdict(TrainConfig(config.task)))
        self.board = tensorboard(folder)
        self.stopwatch = Stopwatch()
        self.shares = shares(self.threads, config.in_turns)
        self.begin()

    def begin(self) -> None:
        """From the newest checkpoint, or from the start."""
        config = self.config
        self.step, self.seconds = 0, 0.0
        self.levels: dict[str, float] = {}
        self.recent: deque[tuple[float, int]] = deque(maxlen=RECENT_EPISODES)
        self.episodes, self.evaluated = 0, -1
        self.give_way: Callable[[], None] = lambda: None
        found = load_checkpoint(self.folder.checkpoints)
        facts = found[1] if found else {}
        curriculum = facts.get("curriculum", {"stage": 0, "scores": []})
        self.curriculum = Curriculum(config.task, config.curriculum, **curriculum)
        self.runtime = self.new_runtime()
        self.learner = self.runtime.learner
        if found:
            try:
                self.restore(*found)
            except KeyError as problem:
                raise ValueError(
                    f"the checkpoint in {self.folder.checkpoints} lacks {problem}: another version wrote it"
                ) from problem
        self.folder.cut_after(self.step if found else -1, self.evaluated)
        self.train_scores = self.folder.returns("train")
        self.drop_later_snapshots()

    def new_runtime(self) -> Runtime:
        c = self.config
        torch.manual_seed(c.seed)
        torch.set_num_threads(self.shares.learner)  # before the weights: their last bits depend on it
        self.agent = MemoryRecallAgent(c.agent).to(self.device)
        learner = Learner(self.agent, c.learner)
        return InProcess(
            self.new_games(), learner, c.unroll, self.games_seed(), self.threads, self.stopwatch, c.in_turns
        )

    # --- games of the curriculum's stage

    def new_games(self) -> Any:
        c = self.config
        size = c.agent.height, c.agent.width
        seed, threads = self.games_seed(), self.shares.actor
        keywords = self.curriculum.keywords()
        return MemoryVectorEnv(c.task, "train", c.games, seed=seed, size=size, threads=threads, **keywords)

    def games_seed(self) -> int:
        return self.config.seed * 1000 + self.curriculum.stage

    # --- the loop

    def run(self, minutes: float | None = None) -> None:
        """Train until `config.steps`, or until the run has trained for so many minutes in all."""
        with postponed_interrupt() as self.give_way:
            self.train(minutes)

    def train(self, minutes: float | None) -> None:
        begun, before = time.perf_counter(), self.seconds
        reported = saved = begun
        reported_step, gathered = self.step, []

        try:
            if self.evaluation_is_due():
                self.evaluate()
            while (done := self.share_done(minutes)) < 1:
                self.give_way()
                progress = self.runtime.advance(done)
                gathered.append(progress.metrics)
                self.count(progress)
                if self.evaluation_is_due():
                    self.evaluate()
                now = time.perf_counter()
                self.seconds = before + now - begun
                if now - reported > REPORT_SECONDS:
                    self.report(gathered, (self.step - reported_step) / (now - reported))
                    reported, reported_step, gathered = now, self.step, []
                if now - saved > CHECKPOINT_SECONDS:
                    self.save()
                    saved = time.perf_counter()
            self.last_evaluation()
        except Diverged as problem:
            raise RuntimeError(f"{problem}; the last good checkpoint is in {self.folder.checkpoints}") from problem
        except KeyboardInterrupt:
            self.end(gathered, (self.step - reported_step) / (time.perf_counter() - reported))
            raise
        self.end(gathered, (self.step - reported_step) / (time.perf_counter() - reported))

    def share_done(self, minutes: float | None) -> float:
        """Of the steps or of the minutes, whichever end first; earlier minutes of the run count."""
        of_minutes = self.seconds / (60 * minutes) if minutes is not None else 0.0
        return max(self.step / self.config.steps, of_minutes)

    def end(self, gathered: list[Metrics], rate: float) -> None:
        if gathered:
            self.report(gathered, rate)
        self.save()

    def count(self, progress: Progress) -> None:
        self.step += progress.steps
        self.episodes += len(progress.episodes)
        self.recent.extend((episode.score, episode.length) for episode in progress.episodes)
        if self.curriculum.tell(progress.episodes):
            self.recent.clear()
            self.runtime.new_games(self.new_games(), self.games_seed())

    def evaluation_is_due(self) -> bool:
        every = self.config.evaluate_every
        return every > 0 and self.step // every > self.evaluated // every

    def evaluate(self) -> None:
        """The true levels, whatever the curriculum's stage; one level to a thread, recorded when all are played."""
        c = self.config
        levels = c.evaluation_levels if c.evaluate_every else ()
        seed, episodes = evaluation_seed(c.seed, self.step), c.evaluation_episodes

        def play(level: str) -> list[Episode]:
            return evaluate(self.agent, c.task, level, episodes, seed, 1, self.give_way)

        with (
            self.stopwatch("evaluation"),
            ThreadPoolExecutor(self.threads, "level", torch.set_num_threads, (1,)) as pool,
        ):
            played = list(pool.map(play, levels))
        self.record(self.step, levels, played, self.agent.state_dict())

    def record(
        self, step: int, levels: Sequence[str], played: Sequence[list[Episode]], weights: Mapping[str, Tensor]
    ) -> None:
        """What an evaluation of the weights of that step came to."""
        rows = []
        for level, episodes in zip(levels, played, strict=True):
            self.levels[level] = mean(episode.score for episode in episodes)
            rows += [ScoreRow(step, level, e.scale, e.score, e.length, e.seed) for e in episodes]
        self.folder.add_scores(rows)
        self.evaluated = step
        if "train" in levels:
            self.keep_snapshot(step, played[levels.index("train")], weights)

    def keep_snapshot(self, step: int, played: list[Episode], weights: Mapping[str, Tensor]) -> None:
        """Save the weights if the training score has never been higher. Earlier ones stay until no checkpoint is older
        than this one: a run that goes on from there may find another best."""
        steps, scores = self.train_scores
        steps += [step] * len(played)
        scores += [episode.score for episode in played]
        if best_step(as_curve(np.array(steps), np.array(scores)), alpha_of(self.config.task)) == step:
            agent = {f"agent.{name}": part for name, part in weights.items()}
            save_checkpoint(self.folder.snapshot, step, agent, {"levels": self.levels}, keep=None)

    def drop_later_snapshots(self) -> None:
        """Those saved after the checkpoint from which a run goes on: their scores are gone."""
        kept = [path for path in checkpoints(self.folder.snapshot) if step_of(path) <= self.evaluated]
        keep_only(self.folder.snapshot, kept)

    def drop_beaten_snapshots(self) -> None:
        """All but the best that the oldest checkpoint knows, and those after it."""
        oldest = facts_of(checkpoints(self.folder.checkpoints)[0]).get("evaluated", -1)
        known = [path for path in checkpoints(self.folder.snapshot) if step_of(path) <= oldest]
        later = [path for path in checkpoints(self.folder.snapshot) if step_of(path) > oldest]
        keep_only(self.folder.snapshot, known[-1:] + later)

    def last_evaluation(self) -> None:
        if self.evaluated != self.step:
            self.evaluate()

    def report(self, gathered: list[Metrics], rate: float) -> None:
        metrics = {name: mean(m[name] for m in gathered) for name in gathered[0]} if gathered else {}
        score, length = (mean(column) for column in zip(*self.recent, strict=True)) if self.recent else (0.0, 0.0)
        report = Report(
            self.step,
            self.seconds,
            rate,
            self.curriculum.text(),
            score,
            length,
            self.episodes,
            dict(self.levels),
            metrics,
        )
        row = {
            "step": self.step, "seconds": round(self.seconds, 1), "steps_per_second": round(rate),
            "stage": report.stage, "score": score, "length": length, "episodes": self.episodes,
        }  # fmt: skip
        self.folder.add_metrics(row | {name: f"{value:.6g}" for name, value in metrics.items()})
        for name, value in {"score": score, "steps_per_second": rate, **metrics, **self.levels}.items():
            if self.board is not None:
                self.board.add_scalar(name, value, self.step)
        self.tell(report)

    # --- checkpoints

    def save(self) -> None:
        with self.stopwatch("checkpoints"):
            facts: dict[str, Any] = {
                "version": self.learner.version,
                "seconds": self.seconds,
                "episodes": self.episodes,
                "levels": self.levels,
                "recent": list(self.recent),
                "evaluated": self.evaluated,
                "curriculum": {"stage": self.curriculum.stage, "scores": list(self.curriculum.scores)},
                **self.runtime.facts(),
            }
            tensors = {**self.learner.tensors(), **self.runtime.tensors()}
            save_checkpoint(self.folder.checkpoints, self.step, tensors, facts)
            self.drop_beaten_snapshots()

    def restore(self, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
        self.step, self.seconds, self.episodes = facts["step"], facts["seconds"], facts["episodes"]
        self.levels, self.evaluated = facts["levels"], facts["evaluated"]
        self.recent.extend((score, length) for score, length in facts["recent"])
        self.learner.restore(tensors, facts["version"])
        self.runtime.restore(tensors, facts)

    def close(self) -> None:
        self.runtime.close()
        if self.board is not None:
            self.board.close()


def evaluation_seed(seed: int, step: int) -> int:
    """Other episodes at each evaluation, the same for all models of a comparison; none that training or the command
    `evaluate` plays."""
    return int(np.random.SeedSequence((EVALUATIONS, seed, step)).generate_state(1, np.uint64)[0] >> 2)


@contextmanager
def postponed_interrupt() -> Iterator[Callable[[], None]]:
    """Keeps Ctrl-C until the given function is called: an update is done whole, so that a checkpoint makes sense."""
    asked: list[int] = []

    def give_way() -> None:
        if asked:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # signals come to the main one
        yield give_way
        return
    before = signal.signal(signal.SIGINT, lambda number, _: asked.append(number))
    try:
        yield give_way
    finally:
        signal.signal(signal.SIGINT, before)


def tensorboard(folder: Path) -> Any:
    """A writer for TensorBoard, if that is installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "tensorboard"))
