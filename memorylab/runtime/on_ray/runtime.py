"""Who calls whom on a cluster: many actors play, the learner takes their trajectories as they come.

An actor plays its next trajectory when the learner takes up its last one, or at once while the learner has less than a
batch. So a slow actor holds up nobody, and what waits is never more than a batch and one trajectory an actor. With one
actor this is the order of the runtime in one process, and so is the outcome.
"""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from memorylab.learning.learner import Metrics
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode
from memorylab.runtime.in_process import Progress
from memorylab.runtime.on_ray.crew import Arrival, Crew, MakeGames
from memorylab.runtime.on_ray.learners import Learners

LAGS = (0, 1, 2, 4, 8, 16, 32, 64)  # where the histogram's columns begin
LOOK_SECONDS = 1.0  # between looks at whether the learner lives and whether to stop


class RayRuntime:
    def __init__(
        self,
        learner: Learners,
        crew: Crew,
        trajectories: int,
        stopwatch: Stopwatch,
        in_turns: bool = False,
        max_lag: int = 10**9,
        give_way: Callable[[], None] = lambda: None,
    ):
        self.learner, self.crew, self.trajectories = learner, crew, trajectories
        self.stopwatch, self.in_turns, self.max_lag = stopwatch, in_turns, max_lag
        self.give_way = give_way
        self.ready: list[Arrival] = []
        self.dropped = 0

    def new_games(self, games: MakeGames, seed: int) -> None:
        self.crew.new_games(games, seed)
        self.ready.clear()

    def advance(self, share_done: float) -> Progress:
        """The next update."""
        while True:
            with self.stopwatch("waiting for actors"):
                self.await_batch()
            waiting = len(self.ready)
            batch, self.ready = self.ready[: self.trajectories], self.ready[self.trajectories :]
            lags = [self.learner.version - arrival.note.version for arrival in batch]
            if not self.in_turns:
                self.let_play()
            with self.stopwatch("learning"):
                metrics = self.learner.update([arrival.trajectory for arrival in batch], share_done)
            if metrics is not None:
                break
        episodes: list[Episode] = [episode for arrival in batch for episode in arrival.note.episodes]
        metrics |= {"policy_lag": sum(lags) / len(lags), "policy_lag_max": max(lags), "queue_depth": waiting}
        metrics |= histogram(lags)
        metrics["bytes_per_step"] = sum(a.note.bytes for a in batch) / sum(a.note.steps for a in batch)
        return Progress(sum(arrival.note.steps for arrival in batch), metrics, episodes)

    def await_batch(self) -> None:
        """Until `ready` holds a batch, and whatever else has come."""
        wait = 0.0
        while True:
            self.let_play()
            arrivals = self.crew.arrivals(wait)
            if not arrivals and wait:
                self.learner.check()  # if it died, nobody will get weights
            self.ready += arrivals
            self.drop_old()
            if len(self.ready) >= self.trajectories:
                return
            self.give_way()
            wait = LOOK_SECONDS

    def let_play(self) -> None:
        """Whoever is idle and has nothing waiting, or everyone idle while the learner is short of a batch."""
        waiting = {arrival.actor for arrival in self.ready}
        hungry = len(self.ready) < self.trajectories
        for index in self.crew.idle():
            if hungry or index not in waiting:
                self.crew.play(index, self.learner.weights, self.learner.version)

    def drop_old(self) -> None:
        fresh = [a for a in self.ready if self.learner.version - a.note.version <= self.max_lag]
        self.dropped += len(self.ready) - len(fresh)
        self.ready = fresh

    def counters(self) -> Metrics:
        return {"actors_replaced": self.crew.replaced, "trajectories_dropped": self.dropped}

    def tensors(self) -> dict[str, Tensor]:
        """Games are not kept: a run that goes on begins new ones."""
        return {}

    def facts(self) -> dict[str, Any]:
        return {"actors_made": self.crew.made, "actors_replaced": self.crew.replaced}

    def restore(self, named: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
        self.crew.made = max(self.crew.made, facts.get("actors_made", 0))
        self.crew.replaced = max(self.crew.replaced, facts.get("actors_replaced", 0))

    def close(self) -> None:
        self.learner.close()
        self.crew.close()


def histogram(lags: list[int]) -> dict[str, float]:
    """Share of the trajectories by lag: lag_4 counts those of 4 ... 7 updates."""
    columns = dict.fromkeys((f"lag_{least}" for least in LAGS), 0.0)
    for lag in lags:
        columns[f"lag_{max(least for least in LAGS if least <= lag)}"] += 1 / len(lags)
    return columns
