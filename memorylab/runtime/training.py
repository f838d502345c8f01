"""A run from its first step to its last: updates, curriculum, evaluation, records, checkpoints."""

import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from memorylab.learning.config import TrainConfig
from memorylab.learning.curriculum import Curriculum
from memorylab.learning.learner import Diverged, Metrics
from memorylab.runs import RunFolder, ScoreRow
from memorylab.runs.checkpoints import (
    check_empty,
    checkpoints,
    pass_over,
    readable_checkpoints,
    save_checkpoint,
    set_aside,
)
from memorylab.runs.lock import one_writer
from memorylab.runtime.interrupt import postponed_interrupt
from memorylab.runtime.protocol import (
    Checkpoint,
    Evaluated,
    Evaluator,
    GiveWay,
    LearnerLost,
    Progress,
    Runtime,
    Stage,
    Stuck,
    nobody_asks,
)
from memorylab.runtime.snapshots import Snapshots

REPORT_SECONDS = 5.0
CHECKPOINT_SECONDS = 120.0
RECENT_EPISODES = 200
LIVES = 3  # of the learner without a new checkpoint


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
    goal: float = float("inf")  # the score that ends the stage
    doing: str = ""  # what takes its time just now, before there is anything to report
    stage_number: int = 0


class Training:
    """One run. `run` goes on until its steps or minutes are spent; call it again, or anew, to go on."""

    def __init__(
        self,
        config: TrainConfig,
        folder: Path,
        runtime: Runtime,
        evaluator: Evaluator,
        tell: Callable[[Report], None] = lambda _: None,
    ):
        self.config, self.runtime, self.evaluator, self.tell = config, runtime, evaluator, tell
        self.folder = RunFolder(folder)
        self.stopwatch = runtime.stopwatch
        self.give_way: GiveWay = nobody_asks
        self.checkpoint_seconds = CHECKPOINT_SECONDS
        self.evaluating, self.told_of_delay = 0, False
        self.to_close = ExitStack()  # last of all the folder is free for another writer
        try:
            self.to_close.enter_context(one_writer(folder))
            self.folder.open(asdict(config), asdict(TrainConfig(config.task)))
            self.snapshots = Snapshots(self.folder, config.task)
            self.begin()
        except BaseException:
            self.close()
            raise

    def begin(self) -> None:
        """From the newest checkpoint that fits, or from the start; the records too."""
        found = self.begin_from_newest()
        if not found:
            check_empty(self.folder.checkpoints)
            self.begin_from(None)
        self.saved_step = self.step if found else None
        set_aside(self.folder.checkpoints, self.step)
        self.folder.cut_after(self.step if found else -1, self.evaluated)
        self.snapshots.begin(self.evaluated)

    def begin_from_newest(self) -> bool:
        """Whether there is one that fits; says so if it has to pass over another."""
        for path, tensors, facts in readable_checkpoints(self.folder.checkpoints):
            try:
                self.begin_from(Checkpoint(tensors, facts))
            except KeyError as problem:
                pass_over(path, f"it lacks {problem}: another version wrote it")
            except (ValueError, TypeError, IndexError) as problem:
                pass_over(path, problem)
            else:
                return True
        return False

    def begin_from(self, found: Checkpoint | None) -> None:
        """From here, or from the start."""
        self.step, self.seconds, self.episodes, self.evaluated = 0, 0.0, 0, -1
        self.levels: dict[str, float] = {}
        self.recent: deque[tuple[float, int]] = deque(maxlen=RECENT_EPISODES)
        curriculum = found.facts.get("curriculum", {}) if found else {}
        self.curriculum = Curriculum(self.config.game("train"), self.config.curriculum, **curriculum)
        if found:
            self.load_state_dict(found.facts)
        self.runtime.begin(self.stage(), found)

    def stage(self) -> Stage:
        """The games of the curriculum's stage."""
        return Stage(self.curriculum.keywords(), self.config.seed * 1000 + self.curriculum.stage)

    # --- the loop

    def run(self, minutes: float | None = None) -> None:
        """Train until `config.steps`, or until the run has trained for so many minutes in all. Goes back to the last
        checkpoint by itself when a learner dies."""
        lives, before, lost = LIVES, self.saved(), None
        while True:
            try:
                if lost is not None:
                    self.go_back(lost)
                with postponed_interrupt() as self.give_way:
                    return self.train(minutes)
            except LearnerLost as problem:
                self.give_way()  # whoever asked to end may have ended the learner too
                lives, before, lost = LIVES if self.saved() != before else lives - 1, self.saved(), problem
                if not lives:
                    raise RuntimeError(f"the learner died {LIVES} times without a checkpoint: {problem}") from None

    def go_back(self, problem: LearnerLost) -> None:
        """To the last checkpoint."""
        died_at = self.step
        self.evaluator.forget()
        self.begin()
        told = f"the learner died at step {died_at:,}; going on from step {self.step:,} ({problem})"
        print(f"memorylab: {told}", file=sys.stderr)
        self.tell(self.standing(doing="going on from the last checkpoint"))

    def train(self, minutes: float | None) -> None:
        """Update by update, with reports, evaluations and checkpoints between."""
        begun, before = time.perf_counter(), self.seconds
        reported = saved = begun
        reported_step, gathered = self.step, []

        try:
            self.evaluate_if_due()
            if self.share_done(minutes) < 1:
                self.tell(self.standing(doing="first update"))
            while (done := self.share_done(minutes)) < 1:
                self.give_way()
                progress = self.runtime.advance(done, self.give_way)
                gathered.append(progress.metrics)
                self.count(progress)
                self.evaluate_if_due()
                now = time.perf_counter()
                self.seconds = before + now - begun
                if now - reported > REPORT_SECONDS:
                    self.report(gathered, (self.step - reported_step) / (now - reported))
                    reported, reported_step, gathered = now, self.step, []
                if now - saved > self.checkpoint_seconds:
                    self.save()
                    saved = time.perf_counter()
            self.evaluate_last()
        except Diverged as problem:
            raise RuntimeError(f"{problem}; the last good checkpoint is in {self.folder.checkpoints}") from problem
        except KeyboardInterrupt:
            self.end(gathered, (self.step - reported_step) / (time.perf_counter() - reported))
            raise
        except Stuck as problem:
            self.save()
            raise RuntimeError(f"{problem}; what was learned until step {self.step:,} is saved") from problem
        except OSError as problem:  # a full disk, perhaps: the rows can wait, what was learned cannot
            self.save()
            raise OSError(f"{problem}; what was learned until step {self.step:,} is saved") from problem
        self.end(gathered, (self.step - reported_step) / (time.perf_counter() - reported))

    def share_done(self, minutes: float | None) -> float:
        """Of the steps or of the minutes, whichever end first; earlier minutes of the run count."""
        of_minutes = self.seconds / (60 * minutes) if minutes is not None else 0.0
        return max(self.step / self.config.steps, of_minutes)

    def end(self, gathered: list[Metrics], rate: float) -> None:
        """Nothing is lost, even where nobody can be told."""
        try:
            if gathered:
                self.report(gathered, rate)
        finally:
            self.save()

    def count(self, progress: Progress) -> None:
        """An update that was made; the curriculum may move on by its episodes."""
        self.step += progress.steps
        self.episodes += len(progress.episodes)
        self.recent.extend((episode.score, episode.length) for episode in progress.episodes)
        if self.curriculum.tell(progress.episodes, progress.steps):
            self.recent.clear()
            self.runtime.new_envs(self.stage())

    # --- evaluation on the true levels, whatever the curriculum's stage

    def evaluate_if_due(self) -> None:
        """Every so many steps; if one is still under way then, the next begins when it is done."""
        every = self.config.evaluate_every
        if not every:
            return
        with self.stopwatch("evaluation"):
            self.note_evaluation(wait=False)
            if self.step // every <= self.evaluated // every:
                return
            if self.evaluator.is_busy:
                return self.tell_of_delay()
            if self.evaluated < 0:
                self.tell(self.standing(doing=first_evaluation(self.config)))
            self.evaluating = self.step
            self.evaluator.start(self.step, self.give_way)
            self.note_evaluation(wait=False)

    def tell_of_delay(self) -> None:
        """Once in a run: evaluations come later than was asked for."""
        every = self.config.evaluate_every
        if not self.told_of_delay and self.step // every > self.evaluating // every:
            self.told_of_delay = True
            late = f"the evaluation of step {self.evaluating:,} still runs at step {self.step:,}, when the next is due"
            advice = "evaluations come when they can; fewer --evaluation-episodes or a larger --evaluate-every help"
            print(f"memorylab: {late}: {advice}", file=sys.stderr)

    def evaluate_last(self) -> None:
        """The weights that the run ends with."""
        with self.stopwatch("evaluation"):
            while self.config.evaluate_every and self.evaluated != self.step:
                if not self.evaluator.is_busy:
                    self.evaluator.start(self.step, self.give_way)
                self.note_evaluation(wait=True)

    def note_evaluation(self, wait: bool) -> None:
        """Record what is done."""
        done = self.evaluator.finished(wait, self.give_way)
        if done is not None:
            self.record(done)

    def record(self, done: Evaluated) -> None:
        """What an evaluation came to."""
        levels = self.config.evaluation_levels
        rows = []
        for level, episodes in zip(levels, done.played, strict=True):
            self.levels[level] = mean(episode.score for episode in episodes)
            rows += [ScoreRow(done.step, level, e.scale, e.score, e.length, e.seed) for e in episodes]
        self.folder.add_scores(rows)
        self.evaluated = done.step
        if "train" in levels:
            played = done.played[levels.index("train")]
            self.snapshots.offer(done.step, played, done.weights, {"levels": self.levels})

    # --- records and checkpoints

    def report(self, gathered: list[Metrics], rate: float) -> None:
        """To metrics.csv and whoever is told: the terminal, trackers."""
        metrics, actors = self.runtime.summed_up(gathered)
        now = self.standing(rate, metrics)
        row = {
            "step": self.step, "seconds": round(self.seconds, 1), "steps_per_second": round(rate),
            "stage": now.stage, "score": now.score, "length": now.length, "episodes": self.episodes,
        }  # fmt: skip
        self.folder.add_metrics(row | {name: f"{value:.6g}" for name, value in metrics.items()})
        self.folder.add_actors([{"step": self.step, **of_actor} for of_actor in actors])
        self.tell(now)

    def standing(self, rate: float = 0.0, metrics: Metrics | None = None, doing: str = "") -> Report:
        """How the run stands."""
        score, length = (mean(column) for column in zip(*self.recent, strict=True)) if self.recent else (0.0, 0.0)
        stage, levels, goal = self.curriculum.text(), dict(self.levels), self.curriculum.goal
        numbers = self.step, self.seconds, rate, stage, score, length, self.episodes
        return Report(*numbers, levels, metrics or {}, goal, doing, self.curriculum.stage)

    def save(self) -> None:
        """A checkpoint of now."""
        with self.stopwatch("checkpoints"):
            facts = self.state_dict() | self.runtime.facts()
            try:
                self.folder.sync()  # the checkpoint counts on the rows before it
            finally:
                save_checkpoint(self.folder.checkpoints, self.step, self.runtime.state_dict(), facts)
                self.saved_step = self.step
            self.snapshots.drop_beaten()

    def state_dict(self) -> dict[str, Any]:
        """All but the step and what the runtime has."""
        return {
            "seconds": self.seconds,
            "episodes": self.episodes,
            "levels": self.levels,
            "recent": list(self.recent),
            "evaluated": self.evaluated,
            "curriculum": self.curriculum.state_dict(),
        }

    def load_state_dict(self, facts: Mapping[str, Any]) -> None:
        """Go on as the run that had these; the curriculum has its own part of them."""
        self.step, self.seconds, self.episodes = facts["step"], facts["seconds"], facts["episodes"]
        self.levels, self.evaluated = facts["levels"], facts["evaluated"]
        self.recent.extend((score, length) for score, length in facts["recent"])

    def saved(self) -> list[Path]:
        """The checkpoints there are."""
        return checkpoints(self.folder.checkpoints)

    def close(self) -> None:
        """End whatever was begun for the run, and let others write to its folder."""
        with self.to_close:
            self.evaluator.close()
            self.runtime.close()


def first_evaluation(config: TrainConfig) -> str:
    """What it is, for who waits for it."""
    return f"first evaluation: {config.evaluation_episodes} episodes on each of {', '.join(config.evaluation_levels)}"
