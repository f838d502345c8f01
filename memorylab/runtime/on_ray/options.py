"""How a run is spread over a cluster. Nothing of this changes what a run is, so it is no part of its configuration."""

from dataclasses import dataclass

from memorylab.learning.config import TrainConfig, at_least


@dataclass(frozen=True)
class ClusterOptions:
    """Settings of --runtime ray."""

    address: str | None = None
    """Ray cluster to join: auto or HOST:PORT; if not given, a cluster of this machine alone is begun."""
    actors: int = 1
    """Processes that play, each with a core of its own."""
    games_per_actor: int | None = None
    """Games that each of them plays at once; as many as --games if not given."""
    learners: int = 1
    """Processes that learn, each from its share of a batch's games."""
    learner_gpus: float = 0
    """GPUs of each learner; with 0 it computes on --threads cores."""
    max_lag: int | None = None
    """Trajectories whose weights are more updates old than this are dropped; four times what actors of equal speed
    come to if not given."""

    def __post_init__(self):
        at_least(self, 1, "actors", "learners")
        at_least(self, 0, "learner_gpus")
        for name in ("games_per_actor", "max_lag"):
            if getattr(self, name) is not None:
                at_least(self, 1, name)

    def games_of_actor(self, config: TrainConfig) -> int:
        """How many each plays at once."""
        return self.games_per_actor or config.games

    def trajectories_per_update(self, config: TrainConfig) -> int:
        """How many make a batch of `config.games` games; whole ones for each learner."""
        share = self.games_of_actor(config) * self.learners
        if config.games % share:
            raise ValueError(
                f"games must be a multiple of games-per-actor x learners, {share}, not {config.games}: "
                "each learner takes whole trajectories"
            )
        return config.games // self.games_of_actor(config)

    def lag_bound(self, config: TrainConfig) -> int:
        """In updates. Actors of equal speed lag by as many batches as they have in hand."""
        in_hand = -(-self.actors // self.trajectories_per_update(config))
        return self.max_lag or 4 * config.learner.updates * (in_hand + 1)
