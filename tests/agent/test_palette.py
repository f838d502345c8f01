import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.familiarity import COLUMNS, ROWS
from memorylab.agent.palette import GRAIN, PaletteStore

B, HEIGHT, WIDTH = 3, 20, 30


class SlowPalette:
    """One game's colours, as the module tells it: the step at which each bin was met."""

    def __init__(self):
        self.step, self.met = 0, {}

    def meet(self, picture):
        self.step += 1
        patches = [[] for _ in range(ROWS * COLUMNS)]
        bins = {}
        for y in range(HEIGHT):
            for x in range(WIDTH):
                r, g, b = map(int, picture[y, x])
                place = (r - g + 255) // GRAIN, (r + g - 2 * b + 510) // (2 * GRAIN), (r + g + b) // (3 * GRAIN)
                if place not in bins:
                    beside = [step for met, step in self.met.items() if all(abs(np.subtract(met, place)) <= 1)]
                    bins[place] = min(beside, default=self.step) / self.step
                patches[y * ROWS // HEIGHT * COLUMNS + x * COLUMNS // WIDTH].append(bins[place])
        self.met = {**dict.fromkeys(bins, self.step), **self.met}
        return [np.mean(patch) for patch in patches]


@pytest.mark.parametrize("by_kernel", [True, False])
def test_novelty_against_a_dictionary(by_kernel, monkeypatch):
    """Colours that return, colours beside others, games wiped each at its own time."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.palette.suits", lambda *tensors: False)
    store, slow = PaletteStore(2, B, 8, 2, 2, 2), [SlowPalette() for _ in range(B)]
    draw = torch.Generator().manual_seed(0)
    found = []
    for t in range(40):
        reset = torch.rand(B, generator=draw) < (1 if t == 0 else 0.1)
        few = torch.randint(0, 160, (B, 6, 3), generator=draw)
        drawn = torch.randint(0, 6, (B, HEIGHT * WIDTH, 1), generator=draw).expand(-1, -1, 3)
        pictures = few.gather(1, drawn).view(B, HEIGHT, WIDTH, 3).to(torch.uint8)
        store.wipe(reset)
        novelty = store.meet(pictures)
        for b in range(B):
            if reset[b]:
                slow[b] = SlowPalette()
            np.testing.assert_allclose(novelty[b].numpy(), slow[b].meet(pictures[b].numpy()), atol=1e-5)
        found.append(novelty)
    assert 0.1 < torch.stack(found).mean() < 1


def agent_of(size=(36, 48)) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": size[0], "width": size[1], "embedding_size": 8, "hidden_size": 8, "key_size": 4, "capacity": 16}
    settings = {"palette.rest": 2}
    return MemoryRecallAgent(AgentConfig(memory="palette", encoder="small", auxiliary=(), settings=settings, **sizes))


@pytest.mark.parametrize("size", [(36, 48), (40, 50)])
def test_what_comes_late_is_newer_than_what_was_there_and_smaller_than_a_patch_is_enough(size):
    agent, T = agent_of(size), 8
    pictures = torch.full((T, 1, *size, 3), 128, dtype=torch.uint8)
    pictures[5:, 0, size[0] // 2, size[1] // 2] = torch.tensor([250, 10, 10], dtype=torch.uint8)
    nothing = torch.zeros(T, 1)
    inputs = Inputs(pictures, nothing, nothing.long(), torch.arange(T)[:, None] == 0)
    output, _ = agent.unroll(inputs, agent.initial_state(1), store=agent.new_store(1))
    novelty = output.recalled.sensed[:, 0].view(T, ROWS, COLUMNS)
    grey = novelty[:, 0, 0].numpy()
    np.testing.assert_allclose(grey, 1 / np.arange(1, T + 1), rtol=1e-6)
    has_red = novelty[5] > 1.01 * grey[5]
    assert has_red.sum() == 1
    assert has_red[ROWS // 2, COLUMNS // 2]
    assert novelty[7, ROWS // 2, COLUMNS // 2] > 1.01 * grey[7]


def test_a_learner_reads_what_an_actor_read():
    """Step by step with a store, then all steps at once from what was found; over the end of an episode."""
    agent, T = agent_of(), 10
    draw = torch.Generator().manual_seed(1)
    pictures = torch.randint(0, 256, (T, B, 1, 1, 3), generator=draw, dtype=torch.uint8).expand(T, B, 36, 48, 3)
    resets = torch.rand(T, B, generator=draw) < 0.2
    inputs = Inputs(pictures, torch.rand(T, B), torch.zeros(T, B, dtype=torch.int64), resets)
    with torch.no_grad():
        acted, _ = agent.unroll(inputs, agent.initial_state(B), store=agent.new_store(B))
    learned, _ = agent.unroll(inputs, agent.initial_state(B), recalled=acted.recalled)
    torch.testing.assert_close(learned.logits, acted.logits, atol=1e-5, rtol=1e-4)
    other = acted.recalled._replace(sensed=1 - acted.recalled.sensed)
    changed, _ = agent.unroll(inputs, agent.initial_state(B), recalled=other)
    assert not torch.allclose(changed.logits, learned.logits)
