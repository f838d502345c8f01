"""A learner and its helper: the actor's process, which learns from some of the games when it has played.

To learn from a step takes longer than to play it, so that the actor would wait. Both sides see the whole batch and have
the same weights; each makes the gradient of its games' share of the loss, and the learner adds the two. That is the
update of one learner on all games, but for the order of sums. The share is a rule and does not go by the clock, so that
a run can be repeated.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import NamedTuple

import torch
from torch import Tensor

from memorylab.agent.config import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.config import LearnerConfig
from memorylab.learning.learner import Learner, Metrics
from memorylab.learning.trajectory import Trajectory, some_games

GAMES_TO_ONE = 8  # of which the helper learns from one: then the laptop's LSTM and MRA keep two cores busy


class LearnerOfSome(Learner):
    """Learns from some games of a batch that it sees as a whole."""

    def __init__(self, agent: MemoryRecallAgent, config: LearnerConfig, games: slice, num_envs: int):
        super().__init__(agent, config)
        self.games = games
        self.share = len(range(num_envs)[games]) / num_envs

    def gradients(self, trajectory: Trajectory) -> Metrics:
        """See Learner: of its share of the loss."""
        for auxiliary in self.agent.auxiliary.values():
            auxiliary.over_batch = lambda count, _: self.share * count(trajectory.inputs)
        return super().gradients(some_games(trajectory, self.games))

    def beside_gradients(self, others: Sequence[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """The gradients that there are, and what others have for the same weights."""
        pairs = zip(self.agent.parameters(), others, strict=True)
        found = [(weight.grad, other) for weight, other in pairs if weight.grad is not None]
        return [mine for mine, _ in found], [other for _, other in found]


class Help(NamedTuple):
    """What a helper needs to know; weights and gradients lie in memory that it shares with the learner."""

    agent: AgentConfig
    learner: LearnerConfig
    games: slice
    num_envs: int
    weights: list[Tensor]
    gradients: list[Tensor]


class HelpedLearner(LearnerOfSome):
    """Leaves the last games to a helper, and waits for it before the weights change."""

    ask: Callable[[], Future[Metrics]]  # the helper, for the gradients of its games; set before the first update

    def __init__(self, agent: MemoryRecallAgent, config: LearnerConfig, num_envs: int):
        own = num_envs - max(num_envs // GAMES_TO_ONE, 1)
        super().__init__(agent, config, slice(0, own), num_envs)
        agent.share_memory()
        weights = [weight.data for weight in agent.parameters()]
        gradients = [torch.zeros_like(weight).share_memory_() for weight in weights]
        self.help = Help(agent.config, config, slice(own, num_envs), num_envs, weights, gradients)

    def gradients(self, trajectory: Trajectory) -> Metrics:
        """See Learner: its own and the helper's."""
        asked = self.ask()
        mine = super().gradients(trajectory)
        theirs = asked.result()
        torch._foreach_add_(*self.beside_gradients(self.help.gradients))
        metrics = {name: self.share * value + (1 - self.share) * theirs[name] for name, value in mine.items()}
        return metrics | {"loss": mine["loss"] + theirs["loss"]}


class Helper(LearnerOfSome):
    """In another process: has the learner's weights, and puts gradients where the learner finds them."""

    def __init__(self, help: Help):
        agent = MemoryRecallAgent(help.agent)
        for mine, shared in zip(agent.parameters(), help.weights, strict=True):
            mine.data = shared
        super().__init__(agent, help.learner, help.games, help.num_envs)
        self.shared = help.gradients

    def learn(self, trajectory: Trajectory, version: int, steps: int) -> Metrics:
        """As the learner does after so many updates and steps."""
        self.version, self.steps = version, steps
        metrics = self.gradients(trajectory)
        mine, shared = self.beside_gradients(self.shared)
        torch._foreach_copy_(shared, mine)
        return metrics
