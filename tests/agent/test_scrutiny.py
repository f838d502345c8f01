import numpy as np
import pytest
import torch
from small_agents import small_agent

from memorylab.agent import Inputs
from memorylab.agent.familiarity import COLUMNS, PATCHES, ROWS
from memorylab.agent.scrutiny import ScrutinyStore

B, CAPACITY, REST, K = 3, 6, 2, 3
HEIGHT, WIDTH = 18, 30


def slow_differences(now, moments, shift: int, sideways: int, alike: float) -> np.ndarray:
    """Pixel by pixel, as the module tells it; pictures (height, width, 3)."""
    now = now.astype(float)
    found, least = np.zeros((ROWS, COLUMNS)), np.full((HEIGHT, WIDTH), np.inf)
    for then in moments:
        if (np.linalg.norm(now - then, axis=-1) <= 8).mean() < alike:
            continue
        for y, x in np.ndindex(HEIGHT, WIDTH):
            around = slice(max(y - shift, 0), y + shift + 1), slice(max(x - sideways, 0), x + sideways + 1)
            here = np.linalg.norm(now[y, x] - then[around], axis=-1).min()
            there = np.linalg.norm(then[y, x] - now[around], axis=-1).min()
            least[y, x] = min(least[y, x], max(here, there))
    for y, x in np.ndindex(HEIGHT, WIDTH):
        patch = y * ROWS // HEIGHT, x * COLUMNS // WIDTH
        if 8 < least[y, x] < np.inf:
            found[patch] = max(found[patch], min(4 * least[y, x] / 255, 1))
    return found.reshape(-1)


@pytest.mark.parametrize(("shift", "sideways"), [(0, 0), (1, 3)])
@pytest.mark.parametrize("by_kernel", [True, False])
def test_differences_against_a_slow_twin(by_kernel, shift, sideways, monkeypatch):
    """From any slots of a ring that has gone round, some of them not filled and some not alike."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.scrutiny.suits", lambda *tensors: False)
    alike = 0.45
    store = ScrutinyStore((HEIGHT, WIDTH), shift, sideways, alike, REST, B, CAPACITY, 2, 2, 2, dtype=torch.float64)
    draw = torch.Generator().manual_seed(shift)
    ground = torch.randint(60, 200, (HEIGHT, WIDTH, 3), generator=draw)
    changed = torch.rand(9, B, HEIGHT, WIDTH, 1, generator=draw) < 0.3
    other = torch.randint(60, 200, (9, B, HEIGHT, WIDTH, 3), generator=draw)
    pictures = torch.where(changed, other, ground).to(torch.uint8)
    told = []
    for t, picture in enumerate(pictures):
        age = torch.randint(1, min(t, CAPACITY) + 1, (B, K), generator=draw) if t else torch.ones(B, K).long()
        valid = torch.rand(B, K, generator=draw) < (0.8 if t else 0)
        found = store.differences(picture, age, valid)
        for b in range(B):
            moments = [pictures[t - age[b, j], b].numpy() for j in range(K) if valid[b, j]]
            expected = slow_differences(picture[b].numpy(), moments, shift, sideways, alike)
            np.testing.assert_allclose(found[b].numpy(), expected, atol=1e-6)
            told.append(expected.mean())
        store.see(picture)
        store.write(*torch.rand(3, B, 2, generator=draw, dtype=torch.float64))
    assert min(told) == 0
    assert 0.1 < max(told) < 1


def seen_again(second: torch.Tensor) -> torch.Tensor:
    """The differences (9, 12) of a picture from one with a small red block and a small blue one, seen before some
    others."""
    sizes = {"height": 36, "width": 48, "capacity": 64, "neighbours": 4}
    agent = small_agent(memory="scrutiny", auxiliary=(), settings={"scrutiny.rest": 5}, **sizes)
    T = 9
    pictures = torch.randint(0, 256, (T, 1, 36, 48, 3), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    pictures[:4], pictures[8] = scene((17, 9), (17, 33)), second
    nothing = torch.zeros(T, 1)
    inputs = Inputs(pictures, nothing, nothing.long(), torch.arange(T)[:, None] == 0)
    output, _ = agent.unroll(inputs, agent.initial_state(1), store=agent.new_store(1))
    return output.recalled.novelty[8, 0, PATCHES:].view(ROWS, COLUMNS)


def scene(red: tuple[int, int], blue: tuple[int, int], colour=(0, 0, 255)) -> torch.Tensor:
    picture = torch.full((36, 48, 3), 128, dtype=torch.uint8)
    for (y, x), rgb in ((red, (255, 0, 0)), (blue, colour)):
        picture[y : y + 2, x : x + 2] = torch.tensor(rgb, dtype=torch.uint8)
    return picture


def test_what_moved_by_a_few_pixels_is_the_same_and_what_changed_is_not():
    assert seen_again(scene((17, 13), (18, 31))).max() == 0
    assert seen_again(scene((17, 13), (20, 31))).max() == 1
    difference = seen_again(scene((17, 13), (18, 31), colour=(0, 255, 0)))
    assert difference[4, 8] == 1
    assert difference[:, :7].max() == 0


def test_what_is_gone_has_changed():
    assert seen_again(scene((17, 9), (17, 9), colour=(255, 0, 0)))[4, 8] == 1


def test_nothing_is_alike():
    other = torch.full((36, 48, 3), 200, dtype=torch.uint8)
    assert seen_again(other).max() == 0
