"""The kernels of acting against their twins in PyTorch's operations."""

import pytest
import torch
from small_agents import SMALL, small_agent

from memorylab.agent import data, episodic
from memorylab.agent.data import Inputs
from memorylab.agent.encoders import as_floats, centred
from memorylab.agent.episodic import EpisodicStore, gather_slots

B, CAPACITY, X, H, D = 4, 9, 3, 2, 5


def written(steps: int, dtype: torch.dtype) -> EpisodicStore:
    """Games that were wiped at different times, one of them last of all."""
    draw = torch.Generator().manual_seed(0)
    store = EpisodicStore(B, CAPACITY, X, H, D, dtype=dtype)
    for t in range(steps):
        store.wipe(torch.tensor([t == 0, t == steps - 4, t == steps - 1, t == steps - 2]))
        store.write(*(torch.randn(B, size, generator=draw, dtype=dtype) for size in (X, H, D)))
    store.wipe(torch.tensor([False, False, False, True]))
    return store


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("steps", [6, 9, 31])
@pytest.mark.parametrize("number", [1, 3, 20])
def test_the_same_slots_are_recalled(steps, number, dtype):
    store = written(steps, dtype)
    q = torch.randn(B, D, generator=torch.Generator().manual_seed(1), dtype=dtype)
    found = store.recall(q, number)
    slots, valid = store.nearest(q, number)
    age = (store.next_slot - 1 - slots) % CAPACITY + 1
    age, order = torch.where(valid, age, 0).sort(-1)
    mine, my_order = found.age.sort(-1)
    assert torch.equal(mine, age)
    assert torch.equal(found.valid.gather(-1, my_order), valid.gather(-1, order))
    pv = (gather_slots(store.pv, slots) * valid[..., None]).gather(1, order[..., None].expand(-1, -1, X + H))
    assert torch.equal(found.pv.gather(1, my_order[..., None].expand_as(pv)), pv)
    assert valid[0].any()
    assert not valid[3].any()


def test_of_two_that_are_as_near_the_lower_slot_comes_first():
    store = EpisodicStore(1, 4, 1, 1, 1)
    for number in range(4):
        store.write(torch.full((1, 1), float(number)), torch.zeros(1, 1), torch.ones(1, 1))
    assert store.recall(torch.ones(1, 1), 2).pv[0, :, 0].tolist() == [0, 1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_read_without_gradient_is_one_with(dtype):
    memory = small_agent(SMALL).to(dtype).read
    recalled = memory.new_recalled((B,), dtype=dtype)
    recalled.pv.normal_()
    recalled.valid[:] = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 0, 0], [0, 1, 1]], dtype=torch.bool)
    q = torch.randn(B, memory.key_size, dtype=dtype)
    with torch.no_grad():
        without = memory(q, memory.project(recalled))
    torch.testing.assert_close(without, memory(q, memory.project(recalled)), atol=1e-6, rtol=1e-5)


def test_bytes_become_centred_floats_that_lie_channels_last():
    pictures = torch.arange(256, dtype=torch.uint8).view(2, 4, 32, 1).expand(-1, -1, -1, 3).contiguous()
    found = centred(pictures, torch.float32)
    torch.testing.assert_close(found, as_floats(pictures, torch.float32) - 0.5, atol=1e-7, rtol=0)
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert found.min() == -0.5


def by_its_twin(monkeypatch, module, function, *arguments):
    """What the same call gives where the kernels do not run."""
    with monkeypatch.context() as patch:
        patch.setattr(module, "suits", lambda *_: False)
        return function(*arguments)


def test_what_is_written_is_the_same(monkeypatch):
    mine, twin = written(31, torch.float32), by_its_twin(monkeypatch, episodic, written, 31, torch.float32)
    for name in ("pv", "k"):
        assert torch.equal(mine[name], twin[name])
    torch.testing.assert_close(mine.squared_norm, twin.squared_norm)


def test_what_was_before_is_the_same(monkeypatch):
    draw = torch.Generator().manual_seed(0)
    actions = torch.randint(0, 5, (7, B), generator=draw)
    inputs = Inputs(actions, 3 * torch.randn(7, B, generator=draw), actions, torch.rand(7, B, generator=draw) < 0.3)
    found = data.previous(inputs, 5, torch.float32)
    assert torch.equal(found, by_its_twin(monkeypatch, data, data.previous, inputs, 5, torch.float32))
    assert not found[inputs.resets].any()
    assert found[~inputs.resets].abs().amax() == 1
