import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.familiarity import APART, COLUMNS, KEPT, PATCHES, ROWS, FamiliarityStore

B, REST = 3, 4


class SlowFamiliarity:
    """One game's colours, as the module tells it: a list of (step, colour)."""

    def __init__(self):
        self.step, self.met = 0, []

    def meet(self, patches):
        self.step += 1
        rested = [colour for born, colour in self.met if born <= self.step - REST]
        novelty = []
        for patch in patches:
            distances = [float(np.sqrt(((patch - colour) ** 2).sum())) for colour in rested]
            novelty.append(min(10 * min(distances), 1) if rested else 0)
            apart = [float(np.sqrt(((patch - colour) ** 2).sum())) for _, colour in self.met]
            if len(self.met) < KEPT and min(apart, default=1) > APART:
                self.met.append((self.step, patch))
        return novelty


@pytest.mark.parametrize("by_kernel", [True, False])
def test_novelty_against_a_list(by_kernel, monkeypatch):
    """Colours that return, colours too young to be familiar, games wiped each at its own time, no room for more."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.familiarity.suits", lambda *tensors: False)
    store, slow = FamiliarityStore(REST, B, 8, 2, 2, 2), [SlowFamiliarity() for _ in range(B)]
    draw = torch.Generator().manual_seed(0)
    found = []
    for t in range(30):
        reset = torch.rand(B, generator=draw) < (1 if t == 0 else 0.05)
        patches = torch.randint(0, 9, (B, 40, 3), generator=draw) / 8 + 0.02 * torch.rand(B, 40, 3, generator=draw)
        store.wipe(reset)
        novelty = store.meet(patches)
        for b in range(B):
            if reset[b]:
                slow[b] = SlowFamiliarity()
            np.testing.assert_allclose(novelty[b].numpy(), slow[b].meet(patches[b].numpy()), atol=2e-3)
            assert store.kept[b] == len(slow[b].met)
        found.append(novelty)
    assert 0 < torch.stack(found).mean() < 1
    assert store.kept.max() == KEPT


def agent_of(size=(36, 48), memory="familiarity", **settings) -> MemoryRecallAgent:
    torch.manual_seed(0)
    config = AgentConfig(
        memory=memory,
        encoder="small",
        height=size[0],
        width=size[1],
        embedding_size=8,
        hidden_size=8,
        key_size=4,
        capacity=64,
        auxiliary=(),
        settings={f"{memory}.{name}": value for name, value in {"rest": REST, **settings}.items()},
    )
    return MemoryRecallAgent(config)


def grey(*lead: int, size=(36, 48)) -> torch.Tensor:
    return torch.full((*lead, *size, 3), 128, dtype=torch.uint8)


@pytest.mark.parametrize("size", [(36, 48), (72, 96), (40, 50)])
def test_a_thing_that_was_never_seen_is_new_where_it_stands(size):
    agent = agent_of(size)
    T, red = 12, torch.tensor([255, 0, 0], dtype=torch.uint8)
    pictures = grey(T, 1, size=size)
    rows, columns = size[0] // ROWS, size[1] // COLUMNS
    row, column = 5 * size[0] // ROWS, 2 * size[1] // COLUMNS
    pictures[8:, 0, row : row + rows, column : column + columns] = red
    nothing = torch.zeros(T, 1)
    inputs = Inputs(pictures, nothing, nothing.long(), torch.arange(T)[:, None] == 0)
    output, _ = agent.unroll(inputs, agent.initial_state(1), store=agent.new_store(1))
    novelty = output.recalled.sensed[:, 0].view(T, ROWS, COLUMNS)
    assert novelty[:8].sum() == 0
    assert novelty[8, 5, 2] > 0.99
    assert novelty[8, :, 4:].sum() == 0
    assert novelty[8 + REST - 1, 5, 2] > 0.99


@pytest.mark.parametrize(("memory", "noticed"), [("familiarity", PATCHES), ("comparison", 2 * PATCHES)])
def test_a_learner_reads_what_an_actor_read(memory, noticed):
    """Step by step with a store, then all steps at once from what was found; over the end of an episode."""
    agent = agent_of(memory=memory)
    T = 10
    draw = torch.Generator().manual_seed(1)
    pictures = torch.randint(0, 256, (T, B, 1, 1, 3), generator=draw, dtype=torch.uint8).expand(T, B, 36, 48, 3)
    resets = torch.rand(T, B, generator=draw) < 0.2
    inputs = Inputs(pictures, torch.rand(T, B), torch.zeros(T, B, dtype=torch.int64), resets)
    with torch.no_grad():
        acted, _ = agent.unroll(inputs, agent.initial_state(B), store=agent.new_store(B))
    learned, _ = agent.unroll(inputs, agent.initial_state(B), recalled=acted.recalled)
    torch.testing.assert_close(learned.logits, acted.logits, atol=1e-5, rtol=1e-4)
    assert acted.recalled.sensed.shape == (T, B, noticed)
    assert acted.recalled.sensed[..., -PATCHES:].any()
    other = acted.recalled._replace(sensed=1 - acted.recalled.sensed)
    changed, _ = agent.unroll(inputs, agent.initial_state(B), recalled=other)
    assert not torch.allclose(changed.logits, learned.logits)


def test_with_detail_a_patch_is_its_middle_and_with_less_brightness_shade_counts_less():
    pictures = grey(1, 1)
    pictures[0, 0, 4:6] = 0  # the upper half of the second row of patches
    pictures[0, 0, :, 24:] //= 2  # in the shade
    nothing = torch.zeros(1, 1)
    inputs = Inputs(pictures, nothing, nothing.long(), nothing == 0)
    plain = agent_of().read.look(inputs, torch.float32)[0, 0].view(ROWS, COLUMNS, 3)
    fine = agent_of(detail=2, brightness=0.25).read.look(inputs, torch.float32)[0, 0].view(ROWS, COLUMNS, 3)
    assert plain[1, 0, 0] == pytest.approx(plain[0, 0, 0] / 2)
    torch.testing.assert_close(fine[1, 0], fine[0, 0])
    assert plain[0, 0, 0] - plain[0, 11, 0] == pytest.approx(64 / 255)
    assert fine[0, 0, 0] - fine[0, 11, 0] == pytest.approx(16 / 255)


@pytest.mark.parametrize(
    ("memory", "setting", "said"),
    [
        ("familiarity", "detail", "from 1 to the pixels across a patch, not 9"),
        ("comparison", "brightness", "from 0 to 1, not 9"),
        ("comparison", "shift", "at least 0 and below 9 patches, not 9"),
    ],
)
def test_settings_that_cannot_be(memory, setting, said):
    with pytest.raises(ValueError, match=f"{memory}.{setting} must be {said}"):
        agent_of(memory=memory, **{setting: 9})
