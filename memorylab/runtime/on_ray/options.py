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
    envs_per_actor: int | None = None
    """Games that each of them plays at once; as many as --num-envs if not given."""
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
        for name in ("envs_per_actor", "max_lag"):
            if getattr(self, name) is not None:
                at_least(self, 1, name)

    def envs_of_actor(self, config: TrainConfig) -> int:
        """How many each plays at once."""
        return self.envs_per_actor or config.num_envs

    def trajectories_per_update(self, config: TrainConfig) -> int:
        """How many make a batch of `config.num_envs` games; whole ones for each learner."""
        share = self.envs_of_actor(config) * self.learners
        if config.num_envs % share:
            raise ValueError(
                f"num-envs must be a multiple of envs-per-actor x learners, {share}, not {config.num_envs}: "
                "each learner takes whole trajectories"
            )
        return config.num_envs // self.envs_of_actor(config)

    def lag_bound(self, config: TrainConfig) -> int:
        """In updates. Actors of equal speed lag by as many batches as they have in hand."""
        in_hand = -(-self.actors // self.trajectories_per_update(config))
        return self.max_lag or 4 * config.learner.updates * (in_hand + 1)
