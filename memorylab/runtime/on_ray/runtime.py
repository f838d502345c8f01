"""Who calls whom on a cluster: many actors play, the learner takes their trajectories as they come.

An actor plays its next trajectory when the learner takes up its last one, or at once while the learner has less than a
batch. So a slow actor holds up nobody, and what waits is never more than a batch and one trajectory an actor. With one
actor this is the order of the runtime in one process, and so is the outcome.
"""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import ray
from torch import Tensor

from memorylab.learning.learner import Metrics
from memorylab.learning.stopwatch import Stopwatch
from memorylab.learning.trajectory import Episode
from memorylab.runtime.on_ray.actor_pool import ActorPool, Arrival
from memorylab.runtime.on_ray.learners import Learners
from memorylab.runtime.on_ray.trouble import LOOK_SECONDS, Room
from memorylab.runtime.protocol import Checkpoint, GiveWay, Progress, Stage, averaged, nobody_asks

LAGS = (0, 1, 2, 4, 8, 16, 32, 64)  # where the histogram's columns begin


class RayRuntime:
    """The Runtime of a cluster. With `owns_cluster` the connection to it ends with the run."""

    def __init__(
        self,
        learner: Learners,
        pool: ActorPool,
        trajectories: int,
        stopwatch: Stopwatch,
        max_lag: int = 10**9,
        owns_cluster: bool = False,
        room: Room | None = None,
    ):
        self.learner, self.pool, self.trajectories = learner, pool, trajectories
        self.stopwatch, self.max_lag = stopwatch, max_lag
        self.owns_cluster, self.room = owns_cluster, room or Room(0)
        self.ready: list[Arrival] = []
        self.dropped = 0
        self.reported = perf_counter()

    def begin(self, stage: Stage, checkpoint: Checkpoint | None = None) -> None:
        """See Runtime. Games are not kept in a checkpoint: a run that goes on begins new ones."""
        self.pool.close()  # after the loss of a node the learner has the first choice of what is left
        self.learner.start()
        if checkpoint is not None:
            named, facts = checkpoint
            self.learner.load_state_dict(named, facts["version"])
            self.pool.made = max(self.pool.made, facts.get("actors_made", 0))
            self.pool.replaced = max(self.pool.replaced, facts.get("actors_replaced", 0))
        self.pool.renew_seeds()
        self.new_envs(stage)

    def new_envs(self, stage: Stage) -> None:
        """See Runtime."""
        self.pool.new_envs(stage)
        self.ready.clear()

    def advance(self, share_done: float, give_way: GiveWay = nobody_asks) -> Progress:
        """See Runtime."""
        while True:
            with self.stopwatch("waiting for actors"):
                self.await_batch(give_way)
            waiting = len(self.ready)
            batch, self.ready = self.ready[: self.trajectories], self.ready[self.trajectories :]
            lags = [self.learner.version - arrival.note.version for arrival in batch]
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

    def await_batch(self, give_way: GiveWay) -> None:
        """Until `ready` holds a batch, and whatever else has come."""
        wait = 0.0
        while True:
            self.let_play()
            arrivals = self.pool.arrivals(wait)
            if not arrivals and wait:
                self.learner.check()  # if it died, nobody will get weights
                self.check_actors()
            self.ready += arrivals
            self.drop_old()
            if len(self.ready) >= self.trajectories:
                return
            give_way()
            wait = LOOK_SECONDS

    def check_actors(self) -> None:
        """Stuck if there is no room for any of them."""
        if self.pool.is_there():
            self.room.begun()
        else:
            self.room.look("any actor")

    def let_play(self) -> None:
        """Whoever is idle and has nothing waiting, or everyone idle while the learner is short of a batch."""
        waiting = {arrival.actor for arrival in self.ready}
        hungry = len(self.ready) < self.trajectories
        for index in self.pool.idle():
            if hungry or index not in waiting:
                self.pool.play(index, self.learner.weights, self.learner.version)

    def drop_old(self) -> None:
        """Those that were played with weights of too long ago."""
        fresh = [a for a in self.ready if self.learner.version - a.note.version <= self.max_lag]
        self.dropped += len(self.ready) - len(fresh)
        self.ready = fresh

    def state_dict(self) -> dict[str, Tensor]:
        """See Runtime."""
        return self.learner.state_dict()

    def facts(self) -> dict[str, Any]:
        """See Runtime."""
        pool = self.pool
        return {"version": self.learner.version, "actors_made": pool.made, "actors_replaced": pool.replaced}

    def summed_up(self, gathered: Sequence[Metrics]) -> tuple[Metrics, list[dict[str, Any]]]:
        """See Runtime."""
        now = perf_counter()
        actors = self.pool.rates(now - self.reported)
        self.reported = now
        rates = [row["steps_per_second"] for row in actors]
        whole = {
            "policy_lag_max": max(metrics["policy_lag_max"] for metrics in gathered),
            "actors_replaced": self.pool.replaced,
            "trajectories_dropped": self.dropped,
            "actor_rate_least": min(rates),
            "actor_rate_most": max(rates),
        }
        return averaged(gathered) | whole, actors

    def close(self) -> None:
        """See Runtime."""
        self.learner.close()
        self.pool.close()
        if self.owns_cluster:
            ray.shutdown()


def histogram(lags: list[int]) -> dict[str, float]:
    """Share of the trajectories by lag: lag_4 counts those of 4 ... 7 updates."""
    columns = dict.fromkeys((f"lag_{least}" for least in LAGS), 0.0)
    for lag in lags:
        columns[f"lag_{max(least for least in LAGS if least <= lag)}"] += 1 / len(lags)
    return columns
