"""The paper's episodic memory (MEM): the store of one game's past, nearest-neighbour reads, jumpy backpropagation.

Paper, section 3. Slot i keeps p_i = x_t, v_i = h_t and the key k_i = W_k [p_i, v_i] + b_k (eq. 1). The query
q_t = W_q [x_t, h_(t-1)] + b_q (eq. 2) finds the K nearest keys, and m_t = sum_j w_j v_j with
w_j ~ 1 / (epsilon + |q_t - W_k [p_j, v_j] - b_k|^2) (eq. 3).
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from memorylab.agent.data import Output
from memorylab.agent.kernels import array, read, recall, suits, write_slot
from memorylab.agent.memory import Memory, Store
from memorylab.agent.recurrence import Reads

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig


class Recalled(NamedTuple):
    """The K slots that a read found: all that a learner needs to repeat it, whatever the capacity."""

    pv: Tensor  # (..., K, P + H): [p_j, v_j]
    valid: Tensor  # (..., K) bool: False where fewer than K slots are filled
    age: Tensor  # (..., K) int64: how many steps ago it was written; for diagnostics


class Neighbours(NamedTuple):
    """The K slots as a read needs them."""

    keys: Tensor  # (..., K, D)
    pv: Tensor  # (..., K, P + H): the values are the last H
    valid: Tensor  # (..., K)


class EpisodicStore(Store):
    """First-in-first-out rings of (p, v, k), one per game, all written at the same slot of their rings.

    An empty slot has an infinite squared norm, hence an infinite distance: a search needs no mask, and a game is wiped
    by one row of infinities. A moment is found only when it is `rest` steps old.
    """

    rest = 0

    def __init__(
        self, num_envs: int, capacity: int, input_size: int, hidden_size: int, key_size: int, device="cpu", dtype=None
    ):
        if capacity < 1:
            raise ValueError(f"a memory needs a capacity of at least 1 slot, not {capacity}")
        options = {"device": device, "dtype": dtype or torch.get_default_dtype()}
        self.capacity, self.input_size = capacity, input_size
        self.pv = torch.zeros(num_envs, capacity, input_size + hidden_size, **options)
        self.k = torch.zeros(num_envs, capacity, key_size, **options)
        self.squared_norm = torch.full((num_envs, 1, capacity), torch.inf, **options)
        self.next_slot = 0
        super().__init__(pv=self.pv, k=self.k, squared_norm=self.squared_norm)

    def wipe(self, reset: Tensor) -> None:
        """Forget everything in the games where an episode begins."""
        if not suits(self.k) or reset.any():  # to look would make another device wait
            self.squared_norm.masked_fill_(reset[:, None, None], torch.inf)

    def write(self, p: Tensor, v: Tensor, k: Tensor) -> None:
        """One more slot in every game, over the oldest one when the ring is full. No gradient enters."""
        i = self.next_slot
        if suits(p, v, k, self.k):
            write_slot(i, *map(array, (p, v, k, self.pv, self.k, self.squared_norm)))
        else:
            self.pv[:, i, : self.input_size] = p.detach()
            self.pv[:, i, self.input_size :] = v.detach()
            self.k[:, i] = k.detach()
            self.squared_norm[:, 0, i] = k.detach().square().sum(-1)
        self.next_slot = (i + 1) % self.capacity

    def nearest(self, q: Tensor, number: int) -> tuple[Tensor, Tensor]:
        """The slots (B, K) of the keys nearest to the queries (B, D), nearest first, and which of them are filled.

        |q - k|^2 = |k|^2 - 2 q.k + |q|^2, whose last term is the same for all keys.
        """
        distance = torch.baddbmm(self.squared_norm, q.detach()[:, None], self.k.mT, alpha=-2)[:, 0]
        if self.rest:
            is_young = self.ages(torch.arange(self.capacity, device=q.device)) < self.rest
            distance = distance.masked_fill(is_young, torch.inf)
        near, slots = distance.topk(min(number, self.capacity), largest=False)
        return slots, near < torch.inf

    def recall(self, q: Tensor, number: int) -> Recalled:
        """The contents of those slots."""
        if suits(q, self.k):
            return self.recall_here(q, min(number, self.capacity))
        slots, valid = self.nearest(q, number)
        return Recalled(gather_slots(self.pv, slots), valid, self.ages(slots))

    def ages(self, slots: Tensor) -> Tensor:
        """How many steps ago each was written: 1 is the step before."""
        return (self.next_slot - 1 - slots) % self.capacity + 1

    def recall_here(self, q: Tensor, number: int) -> Recalled:
        """The same in one call, where the kernels run."""
        lead = len(q), number
        pv, valid = self.pv.new_empty(*lead, self.pv.shape[-1]), torch.empty(lead, dtype=torch.bool)
        return self.recall_into(q.contiguous(), Recalled(pv, valid, torch.empty(lead, dtype=torch.int64)))

    def recall_into(self, q: Tensor, found: Recalled) -> Recalled:
        """The same into tensors that are there."""
        given = q, self.k, self.squared_norm, self.pv
        recall(*map(array, given), self.next_slot, self.rest, *map(array, found))
        return found

    def filled(self) -> Tensor:
        """(B, capacity) bool."""
        return self.squared_norm[:, 0] < torch.inf

    def state_dict(self) -> dict[str, Tensor]:
        """Everything, for a checkpoint."""
        return {**self, "next_slot": torch.tensor(self.next_slot)}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """As it was."""
        super().load_state_dict(state)
        self.next_slot = int(state["next_slot"])


def gather_slots(table: Tensor, slots: Tensor) -> Tensor:
    """Rows `slots` (B, K) of each game's `table` (B, capacity, size): (B, K, size)."""
    num_envs, capacity, size = table.shape
    rows = slots + capacity * torch.arange(num_envs, device=table.device)[:, None]
    return table.view(num_envs * capacity, size).index_select(0, rows.flatten()).view(*slots.shape, size)


THOUGHT = 0.03  # the share at which the h part of W_k begins: not 0, or keys would lack h where W_k does not learn


class EpisodicMemory(Memory):
    """W_k, b_k, W_q, b_q and the read."""

    def __init__(self, config: "AgentConfig"):
        super().__init__()
        self.capacity, self.neighbours = config.capacity, min(config.neighbours, config.capacity)
        self.epsilon, self.jumpy = config.epsilon, config.jumpy
        X, H, D = config.embedding_size, config.hidden_size, config.key_size
        self.input_size, self.hidden_size, self.key_size = X, H, D
        self.size = H
        self.key = nn.Linear(X + H, D)
        self.query_of_x = nn.Linear(X, D)  # W_q [x, h] = W_qx x + W_qh h: the first for all t at once
        self.query_of_h = nn.Linear(H, D, bias=False)
        with torch.no_grad():  # what looks like now is near from the start; what was thought then has a small say
            self.query_of_x.weight.copy_(self.key.weight[:, :X])
            self.query_of_x.bias.copy_(self.key.bias)
            self.key.weight[:, X:] *= THOUGHT
            self.query_of_h.weight.zero_()

    def new_store(self, num_envs: int, **options: Any) -> EpisodicStore:
        """Rings of `capacity` slots."""
        return EpisodicStore(num_envs, self.capacity, self.input_size, self.hidden_size, self.key_size, **options)

    def new_recalled(self, lead: tuple[int, ...], **options: Any) -> Recalled:
        """K slots a step."""
        lead, device = (*lead, self.neighbours), options.get("device")
        return Recalled(
            pv=torch.zeros(*lead, self.input_size + self.hidden_size, **options),
            valid=torch.zeros(*lead, dtype=torch.bool, device=device),
            age=torch.zeros(*lead, dtype=torch.int64, device=device),
        )

    def embed(self, x: Tensor) -> Tensor:
        """W_qx x + b_q."""
        return self.query_of_x(x)

    def query(self, embedded_t: Tensor, h_tm1: Tensor) -> Tensor:
        """Eq. 2: q_t = W_q [x_t, h_(t-1)] + b_q."""
        return embedded_t + self.query_of_h(h_tm1)

    def search(self, store: EpisodicStore, q_t: Tensor) -> Recalled:
        """The K slots whose cached keys are nearest."""
        return store.recall(q_t, self.neighbours)

    def write(self, store: EpisodicStore, x_t: Tensor, h_t: Tensor) -> None:
        """Eq. 1: p_i, v_i and k_i into the next slot."""
        store.write(x_t, h_t, self.keys_to_write(x_t, h_t))

    def keys_to_write(self, x_t: Tensor, h_t: Tensor) -> Tensor:
        """Eq. 1 and 4: k_i = W_k [SG(p_i), SG(v_i)] + b_k."""
        return self.key(torch.cat([x_t.detach(), h_t.detach()], -1))

    def project(self, recalled: Recalled) -> Neighbours:
        """Keys anew from the p_j and v_j of then through the W_k and b_k of now: jumpy backpropagation.

        Without it these get no gradient, so they never change and the keys are those that were cached.
        """
        keys = self.key(recalled.pv)
        return Neighbours(keys if self.jumpy else keys.detach(), recalled.pv, recalled.valid)

    def forward(self, q_t: Tensor, near: Neighbours) -> tuple[Tensor, Tensor]:
        """(m_t, w_t)."""
        return self.read_slots(q_t, near)

    def read_slots(self, q_t: Tensor, near: Neighbours) -> tuple[Tensor, Tensor]:
        """Eq. 3: the mean of the values, and its weights; zeros where nothing is filled."""
        if not torch.is_grad_enabled() and q_t.dim() == 2 and suits(q_t):
            return self.read_here(q_t, near)
        squared_distance = (q_t[..., None, :] - near.keys).square().sum(-1)
        w = near.valid / (self.epsilon + squared_distance)
        total = w.sum(-1, keepdim=True)
        w = w / torch.where(total > 0, total, 1)  # not a tiny number: its gradient would overflow to NaN
        m_t = (w[..., None, :] @ near.pv[..., self.input_size :])[..., 0, :]
        return m_t, w

    def read_here(self, q_t: Tensor, near: Neighbours) -> tuple[Tensor, Tensor]:
        """The same in one call, without gradient, where the kernels run."""
        w, m_t = q_t.new_empty(near.valid.shape), q_t.new_empty(len(q_t), self.hidden_size)
        given = (array(part)[None] for part in (q_t, near.keys, near.pv, near.valid))
        read(0, *given, self.epsilon, array(w)[None], array(m_t)[None], self.hidden_size)
        return m_t, w

    def reads(self, embedded: Tensor, near: Neighbours) -> Reads:
        """All that the reads of a trajectory need, for the operation that has them and the LSTM in one."""
        pv = near.pv.detach().contiguous()
        return Reads(embedded, self.query_of_h.weight, near.keys, pv, near.valid, self.epsilon)

    def measures(self, output: Output) -> dict[str, Tensor]:
        """Whether reads are sharp or flat, and how old what they recall is."""
        w, age = output.weights, output.recalled.age
        assert w is not None
        return {
            "read_entropy": -(w * w.clamp_min(1e-12).log()).sum(-1).mean(),
            "recalled_age": (w * age).sum(-1).mean(),
        }

    def looked_back(self, output: Output) -> tuple[Tensor, Tensor]:
        """Filled slots alone."""
        assert output.weights is not None
        order = output.weights.argsort(descending=True)
        order = order[output.recalled.valid[order]]
        return output.recalled.age[order], output.weights[order]
