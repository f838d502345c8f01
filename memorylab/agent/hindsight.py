"""Hindsight: the paper's episodic memory, and beside it what was done where one stood so before, and paid.

When a moment is written, nobody knows yet what it was good for. So a reward goes back over the slots that led to it:
a slot n steps before a reward r has the outcome o = r discount^n; of several rewards the next one counts. At each step
the moments most like now among those that led somewhere say what was done then, and how well that went:

    u_j ~ o_j / (epsilon + |q_t - k_j|^2),    a hint for each action a: sum_j u_j [a_j = a],
    and  sum_j u_j o_j  and  log(0.001 + |q_t - k_j|^2) / 5,    j the nearest.

It is episodic control (Blundell et al. 2016, Pritzel et al. 2017) as an input and not as the policy: the agent learns
when to follow it. Nothing of a hint is learned, so it knows places that no agent was trained on as well as any other.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicMemory, EpisodicStore, Neighbours, Recalled
from memorylab.agent.kernels import array, credit_slots, hint_at, suits
from memorylab.agent.memory import Memory

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

WORTH = 0.02  # what led to less is not hinted at


class Hinted(NamedTuple):
    """What a read found, and the hints."""

    pv: Tensor  # as in Recalled
    valid: Tensor
    age: Tensor
    hints: Tensor  # (..., A + 2)


class Near(NamedTuple):
    """The same as a read needs it."""

    keys: Tensor  # as in Neighbours
    pv: Tensor
    valid: Tensor
    hints: Tensor


class HindsightStore(EpisodicStore):
    """With the action that followed each moment, and what came of it."""

    def __init__(self, discount: float, actions: int, num_envs: int, capacity: int, *sizes: int, **options: Any):
        super().__init__(num_envs, capacity, *sizes, **options)
        self.discount, self.actions = discount, actions
        self.outcome = self.k.new_zeros(num_envs, capacity)
        whole: dict[str, Any] = {"device": self.k.device, "dtype": torch.int64}
        self.done = torch.zeros(num_envs, capacity, **whole)
        self.on_the_way = torch.zeros(num_envs, **whole)  # slots written since the last reward
        self.update(outcome=self.outcome, done=self.done, on_the_way=self.on_the_way)

    def wipe(self, reset: Tensor) -> None:
        """Outcomes, too."""
        super().wipe(reset)
        self.outcome.masked_fill_(reset[:, None], 0)
        self.on_the_way.masked_fill_(reset, 0)

    def credit(self, rewards: Tensor, actions: Tensor) -> None:
        """What was done after the last slot, and what that brought, for all slots on the way; then one more is on its
        way."""
        given = rewards, actions, self.outcome, self.done, self.on_the_way
        if suits(rewards, self.outcome):
            credit_slots(*map(array, given), self.next_slot, self.discount)
            return
        ages = self.ages(torch.arange(self.capacity, device=self.k.device))
        is_last = (ages == 1) & (self.on_the_way > 0)[:, None]
        self.done.copy_(torch.where(is_last, actions[:, None], self.done))
        led_here = (ages <= self.on_the_way[:, None]) & (rewards > 0)[:, None]
        paid = rewards.to(self.k.dtype)[:, None] * self.discount ** (ages - 1).to(self.k.dtype)
        self.outcome.copy_(torch.where(led_here, paid, self.outcome))
        self.on_the_way.copy_(torch.where(rewards > 0, 0, self.on_the_way.clamp_max(self.capacity - 1)) + 1)

    def write(self, p: Tensor, v: Tensor, k: Tensor) -> None:
        """One more slot, which has led nowhere yet."""
        self.outcome[:, self.next_slot] = 0
        super().write(p, v, k)

    def hints(self, q: Tensor, number: int, epsilon: float) -> Tensor:
        """(B, A + 2) for queries (B, D), from the `number` nearest slots that led somewhere; zeros without any."""
        found = q.new_zeros(len(q), self.actions + 2)
        if suits(q, self.k):
            given = q.contiguous(), self.k, self.squared_norm, self.outcome, self.done
            hint_at(*map(array, given), WORTH, number, epsilon, array(found))
            return found
        distance = (q.detach()[:, None] - self.k).square().sum(-1)
        distance = distance.masked_fill(~self.filled() | (self.outcome < WORTH), torch.inf)
        near, slots = distance.topk(min(number, self.capacity), largest=False)
        outcome, done = self.outcome.gather(1, slots), self.done.gather(1, slots)
        u = torch.where(near < torch.inf, outcome / (epsilon + near), 0)
        total = u.sum(-1, keepdim=True)
        u = u / torch.where(total > 0, total, 1)
        found[:, : self.actions].scatter_add_(1, done, u)
        found[:, -2] = (u * outcome).sum(-1)
        found[:, -1] = torch.where(near[:, 0] < torch.inf, torch.log(0.001 + near[:, 0]) / 5, 0)
        return found


class HindsightMemory(EpisodicMemory):
    """m_t = [the paper's, hints]. Queries have nothing of h, so that a learner reads all steps at once."""

    def __init__(self, config: "AgentConfig", *, discount: float = 0.98, hinting: int = 4):
        super().__init__(config)
        if not 0 < discount < 1:
            raise ValueError(f"hindsight.discount must be above 0 and below 1, not {discount}")
        if not 1 <= hinting <= self.capacity:
            raise ValueError(f"hindsight.hinting must be from 1 to the capacity, not {hinting}")
        self.discount, self.hinting, self.actions = discount, hinting, config.actions
        self.noticed = config.actions + 2
        self.size = self.hidden_size + self.noticed

    query = Memory.query

    def new_store(self, num_envs: int, **options: Any) -> HindsightStore:
        """Rings of `capacity` slots, none of which led anywhere yet."""
        sizes = self.capacity, self.input_size, self.hidden_size, self.key_size
        return HindsightStore(self.discount, self.actions, num_envs, *sizes, **options)

    def new_recalled(self, lead: tuple[int, ...], **options: Any) -> Hinted:  # type: ignore[override]
        """K slots and the hints, a step."""
        return Hinted(*super().new_recalled(lead, **options), torch.zeros(*lead, self.noticed, **options))

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The reward, clipped as the agent sees it, and the action before each picture: (T, B, 2)."""
        return torch.stack([inputs.rewards.to(dtype).clamp(-1, 1), inputs.actions.to(dtype)], -1)

    def search(self, store: Any, q_t: Tensor, looked_t: Tensor) -> Hinted:  # type: ignore[override]
        """The K nearest slots, and hints from those that led somewhere."""
        store.credit(looked_t[:, 0].contiguous(), looked_t[:, 1].long())
        return Hinted(*super().search(store, q_t), store.hints(q_t, self.hinting, self.epsilon))

    def project(self, recalled: Hinted) -> Near:  # type: ignore[override]
        """Keys anew, as in the episodic memory."""
        return Near(*super().project(Recalled(*recalled[:3])), recalled.hints)

    def forward(self, q_t: Tensor, near: Near) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        """(m_t, w_t)."""
        m_t, w_t = self.read_slots(q_t, Neighbours(*near[:3]))
        return torch.cat([m_t, near.hints], -1), w_t
