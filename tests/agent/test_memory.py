import numpy as np
import pytest
import torch
from small_agents import doubles
from torch.autograd import gradcheck
from torch.func import functional_call

from memorylab.agent import AgentConfig
from memorylab.agent.data import stacked
from memorylab.agent.episodic import EpisodicMemory, EpisodicStore, Recalled
from memorylab.agent.memory import ReplayedPast, SearchedPast

P, H, D, EPSILON = 5, 4, 3, 1e-3


class SlowMemory:
    """One game's memory as the paper tells it (section 3): a list of (p, v, k), the oldest first."""

    def __init__(self, read: EpisodicMemory, capacity: int):
        self.W_k, self.b_k = doubles(read.key.weight), doubles(read.key.bias)
        self.W_q = np.concatenate([doubles(read.query_of_x.weight), doubles(read.query_of_h.weight)], axis=1)
        self.b_q = doubles(read.query_of_x.bias)
        self.capacity = capacity
        self.slots: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []

    def key(self, p, v):  # eq. 1
        return self.W_k @ np.concatenate([p, v]) + self.b_k

    def query(self, x_t, h_tm1):  # eq. 2
        return self.W_q @ np.concatenate([x_t, h_tm1]) + self.b_q

    def write(self, x_t, h_t):
        if len(self.slots) == self.capacity:
            self.slots.pop(0)
        self.slots.append((x_t, h_t, self.key(x_t, h_t)))

    def read(self, q_t, K):
        """Eq. 3: m_t, and the weight of each neighbour by its age."""
        by_distance = sorted(range(len(self.slots)), key=lambda i: ((q_t - self.slots[i][2]) ** 2).sum())
        closeness = {}
        for j in by_distance[:K]:
            p_j, v_j, _ = self.slots[j]
            closeness[j] = 1 / (EPSILON + ((q_t - self.W_k @ np.concatenate([p_j, v_j]) - self.b_k) ** 2).sum())
        m_t = np.zeros(H)
        weights = {}
        for j, w_j in closeness.items():
            w_j /= sum(closeness.values())
            m_t += w_j * self.slots[j][1]
            weights[len(self.slots) - j] = w_j
        return m_t, weights


def made_read(jumpy=True, K=3) -> EpisodicMemory:
    torch.manual_seed(0)
    sizes = {"embedding_size": P, "hidden_size": H, "key_size": D, "neighbours": K}
    return EpisodicMemory(AgentConfig(**sizes, epsilon=EPSILON, jumpy=jumpy))


@pytest.mark.parametrize("jumpy", [True, False])
@pytest.mark.parametrize(("capacity", "K"), [(7, 3), (4, 4), (3, 5), (1, 1), (50, 10)])
def test_writing_and_reading_against_a_list(capacity, K, jumpy):
    """Rings that wrap around, fewer than K entries, nothing at all, and games wiped each at its own time."""
    T, B = 30, 4
    read, store = made_read(jumpy, K), EpisodicStore(B, capacity, P, H, D)
    slow = [SlowMemory(read, capacity) for _ in range(B)]
    draw = torch.Generator().manual_seed(1)
    x, h = torch.randn(T, B, P, generator=draw), torch.randn(T + 1, B, H, generator=draw)
    resets = torch.rand(T, B, generator=draw) < 0.12
    past = SearchedPast(read, x, store, resets)
    for t in range(T):
        m_t, w_t = past.recall(t, h[t])
        for b in range(B):
            if resets[t, b]:
                slow[b].slots = []
            q = slow[b].query(doubles(x[t, b]), doubles(h[t, b]))
            m, weights = slow[b].read(q, K)
            np.testing.assert_allclose(doubles(m_t[b]), m, atol=1e-5)
            found = past.found[-1]
            valid = found.valid[b]
            assert valid.sum() == len(weights) == min(K, len(slow[b].slots))
            assert set(found.age[b, valid].tolist()) == set(weights)
            for age, w_j, is_valid in zip(found.age[b].tolist(), w_t[b].tolist(), valid.tolist(), strict=True):
                assert w_j == pytest.approx(weights[age] if is_valid else 0, abs=1e-5)
        past.write(x[t], h[t + 1])
        for b in range(B):
            slow[b].write(doubles(x[t, b]), doubles(h[t + 1, b]))
            check_slots(store, b, slow[b])


def check_slots(store: EpisodicStore, b: int, slow: SlowMemory) -> None:
    assert store.filled()[b].sum() == len(slow.slots)
    for age, (p, v, k) in enumerate(reversed(slow.slots), 1):
        i = (store.next_slot - age) % store.capacity
        assert store.filled()[b, i]
        np.testing.assert_allclose(doubles(store.pv[b, i]), np.concatenate([p, v]), atol=1e-6)
        np.testing.assert_allclose(doubles(store.k[b, i]), k, atol=1e-5)


def test_the_ring_writes_over_the_oldest_slot():
    store = EpisodicStore(2, 3, 1, 1, 1)
    for t in range(5):
        number = torch.full((2, 1), float(t))
        store.write(number, -number, 10 * number)
    assert store.pv[0].tolist() == [[3, -3], [4, -4], [2, -2]]
    assert store.k[0, :, 0].tolist() == [30, 40, 20]
    assert store.next_slot == 2
    found = store.recall(torch.tensor([[31.0], [24.0]]), 2)
    ages = [set(ages) for ages in found.age.tolist()]
    assert ages == [{1, 2}, {2, 3}]


def test_a_wipe_empties_some_games_only():
    store = EpisodicStore(3, 4, P, H, D)
    for _ in range(6):
        store.write(torch.randn(3, P), torch.randn(3, H), torch.randn(3, D))
    store.wipe(torch.tensor([False, True, False]))
    assert store.filled().tolist() == [[True] * 4, [False] * 4, [True] * 4]
    store.write(torch.randn(3, P), torch.randn(3, H), torch.randn(3, D))
    assert store.filled()[1].tolist() == [False, False, True, False]  # at the slot of the others
    assert store.recall(torch.randn(3, D), 4).valid.sum(-1).tolist() == [4, 1, 4]


@pytest.mark.parametrize("size", [0, 1, 1e30])
@pytest.mark.parametrize("jumpy", [True, False])
def test_reading_an_empty_memory_gives_zeros_and_zero_gradients(jumpy, size):
    """What was there before a wipe does not count, whatever it was, and a large loss makes no NaN of it."""
    read, store = made_read(jumpy), EpisodicStore(2, 4, P, H, D)
    store.write(torch.full((2, P), size), torch.full((2, H), size), torch.randn(2, D))
    store.wipe(torch.ones(2, dtype=torch.bool))
    past = SearchedPast(read, torch.randn(1, 2, P), store, torch.zeros(1, 2, dtype=torch.bool))
    m_t, w_t = past.recall(0, torch.randn(2, H))
    assert not m_t.any()
    assert not w_t.any()
    (1000 * m_t).sum().backward()
    assert all((parameter.grad == 0).all() for parameter in read.parameters() if parameter.grad is not None)


def test_a_perfect_match_takes_nearly_everything():
    read, store = made_read(), EpisodicStore(1, 4, P, H, D)
    p, v = torch.randn(4, 1, P), torch.randn(4, 1, H)
    for p_i, v_i in zip(p, v, strict=True):
        store.write(p_i, v_i, read.keys_to_write(p_i, v_i))
    q_t = read.keys_to_write(p[2], v[2])
    m_t, w_t = read(q_t, read.project(store.recall(q_t, 4)))
    assert w_t.max() > 0.98
    torch.testing.assert_close(m_t, v[2], atol=0.05, rtol=0)
    assert w_t.sum().item() == pytest.approx(1)


def test_cached_keys_grow_stale_and_weights_do_not_use_them():
    """The search uses the keys of then; the weights of a read come from W_k, b_k of now."""
    read, store = made_read(), EpisodicStore(1, 2, P, H, D)
    p, v = torch.randn(2, 1, P), torch.randn(2, 1, H)
    for p_i, v_i in zip(p, v, strict=True):
        store.write(p_i, v_i, read.keys_to_write(p_i, v_i))
    then = store.k.clone()
    with torch.no_grad():
        read.key.weight.add_(0.5)
    near = read.project(store.recall(torch.randn(1, D), 1))
    assert torch.equal(store.k, then)
    keys = read.key(torch.cat([p, v], -1)[:, 0])
    assert (near.keys[0, 0] - keys).abs().sum(-1).min() < 1e-5


@pytest.mark.parametrize("jumpy", [True, False])
def test_only_a_jumpy_read_gives_gradient_to_the_key_projection(jumpy):
    read, store = made_read(jumpy), EpisodicStore(2, 6, P, H, D)
    for _ in range(6):
        p, v = torch.randn(2, P, requires_grad=True), torch.randn(2, H, requires_grad=True)
        store.write(p, v, read.keys_to_write(p, v))
    assert not store.pv.requires_grad
    assert not store.k.requires_grad
    past = SearchedPast(read, torch.randn(1, 2, P), store, torch.zeros(1, 2, dtype=torch.bool))
    m_t, _ = past.recall(0, torch.randn(2, H))
    m_t.square().sum().backward()
    for reached in (read.query_of_x.weight, read.query_of_x.bias, read.query_of_h.weight):
        assert reached.grad.abs().max() > 1e-6
    for parameter in (read.key.weight, read.key.bias):
        if jumpy:
            assert parameter.grad.abs().max() > 1e-6
        else:
            assert parameter.grad is None


def test_the_gradient_of_a_read_against_finite_differences():
    read = made_read().double()
    draw = torch.Generator().manual_seed(2)
    B, K = 2, 4
    pv = torch.randn(B, K, P + H, generator=draw, dtype=torch.double)
    valid = torch.tensor([[True] * K, [True, True, False, False]])
    recalled = Recalled(pv, valid, torch.ones(B, K, dtype=torch.int64))
    x_t, h_tm1 = torch.randn(1, B, P, generator=draw).double(), torch.randn(B, H, generator=draw).double()
    names, values = zip(*read.named_parameters(), strict=True)

    class Reader(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.read = read

        def forward(self, x_t, h_tm1):
            return ReplayedPast(self.read, x_t, stacked([recalled])).recall(0, h_tm1)

    def m_and_w(*tensors):
        given = {f"read.{name}": tensor for name, tensor in zip(names, tensors[2:], strict=True)}
        return functional_call(Reader(), given, tensors[:2])

    inputs = [tensor.detach().clone().requires_grad_() for tensor in (x_t, h_tm1, *values)]
    assert names == ("key.weight", "key.bias", "query_of_x.weight", "query_of_x.bias", "query_of_h.weight")
    assert gradcheck(m_and_w, inputs, atol=1e-8, rtol=1e-5)


def test_a_store_comes_back_from_its_state():
    store, other = EpisodicStore(2, 3, P, H, D), EpisodicStore(2, 3, P, H, D)
    for _ in range(5):
        store.write(torch.randn(2, P), torch.randn(2, H), torch.randn(2, D))
    store.wipe(torch.tensor([True, False]))
    other.load_state_dict(store.state_dict())
    q = torch.randn(2, D)
    torch.testing.assert_close(other.recall(q, 2), store.recall(q, 2))
    for each in (store, other):
        each.write(torch.ones(2, P), torch.ones(2, H), torch.ones(2, D))
    torch.testing.assert_close(other.state_dict(), store.state_dict())


def test_a_store_needs_a_slot():
    with pytest.raises(ValueError, match="a capacity of at least 1 slot, not 0"):
        EpisodicStore(2, 0, P, H, D)
