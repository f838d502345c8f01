import numpy as np
import pytest
import torch
from small_agents import small_agent

from memorylab.agent import Inputs
from memorylab.agent.comparison import ComparisonStore
from memorylab.agent.familiarity import COLUMNS, PATCHES, ROWS

B, CAPACITY, REST = 3, 6, 2


def slow_differences(now, then, shift: int) -> np.ndarray:
    """Patch by patch, as the module tells it; pictures (rows, columns, 3)."""
    found = np.zeros((ROWS, COLUMNS))
    for row, column in np.ndindex(ROWS, COLUMNS):
        around = then[max(row - shift, 0) : row + shift + 1, max(column - shift, 0) : column + shift + 1]
        found[row, column] = min(10 * np.sqrt(((now[row, column] - around) ** 2).sum(-1)).min(), 1)
    return found.reshape(-1)


@pytest.mark.parametrize("shift", [0, 1, 2])
@pytest.mark.parametrize("by_kernel", [True, False])
def test_differences_against_a_slow_twin(by_kernel, shift, monkeypatch):
    """From any slot of a ring that has gone round, and from none."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.comparison.suits", lambda *tensors: False)
    store = ComparisonStore(shift, REST, B, CAPACITY, 2, 2, 2)
    draw = torch.Generator().manual_seed(shift)
    pictures = 0.2 * torch.rand(20, B, PATCHES, 3, generator=draw)
    for t, picture in enumerate(pictures):
        age = torch.randint(1, min(t, CAPACITY) + 1, (B,), generator=draw) if t else torch.ones(B).long()
        valid = torch.tensor([t > 0, t > 3, t > 0])
        found = store.differences(picture, age, valid)
        for b in range(B):
            then = pictures[t - age[b], b].view(ROWS, COLUMNS, 3).numpy()
            expected = slow_differences(picture[b].view(ROWS, COLUMNS, 3).numpy(), then, shift) if valid[b] else 0
            np.testing.assert_allclose(found[b].numpy(), expected, atol=1e-5)
        store.see(picture)
        store.write(*torch.rand(3, B, 2, generator=draw))
    assert 0.01 < found.mean() < 0.99


def test_colours_that_change_places_are_familiar_and_yet_differ():
    """A red and a blue block; after a while of grey both are there again, or each in the other's place."""
    sizes = {"height": 36, "width": 48, "capacity": 64}
    agent = small_agent(memory="comparison", auxiliary=(), settings={"comparison.rest": 4}, **sizes)
    T = 16
    pictures = torch.full((T, 2, 36, 48, 3), 128, dtype=torch.uint8)
    colours = torch.tensor([[255, 0, 0], [0, 0, 255]], dtype=torch.uint8)
    for game, swapped in enumerate((False, True)):
        for place, column in enumerate((8, 32)):  # the patches from 2 and from 8
            pictures[:4, game, 16:20, column : column + 4] = colours[place]
            pictures[12:, game, 16:20, column : column + 4] = colours[place ^ swapped]
    nothing = torch.zeros(T, 2)
    inputs = Inputs(pictures, nothing, nothing.long(), torch.arange(T)[:, None].expand(T, 2) == 0)
    output, _ = agent.unroll(inputs, agent.initial_state(2), store=agent.new_store(2))
    novelty, difference = output.recalled.sensed[12].view(2, 2, ROWS, COLUMNS).unbind(1)
    assert novelty.max() < 0.01
    assert difference[0].max() < 0.01
    assert difference[1, 4, 2] > 0.99
    assert difference[1, 4, 8] > 0.99
    assert difference[1, :, 4:7].max() < 0.01
