import math

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.hindsight import WORTH, HindsightStore

B, A, D, CAPACITY, NUMBER, DISCOUNT, EPSILON = 3, 4, 2, 12, 3, 0.8, 0.01


class SlowHindsight:
    """One game's past, as the module tells it: a list of moments."""

    def __init__(self):
        self.moments = []

    def credit(self, reward, action):
        if not self.moments:
            return
        self.moments[-1]["done"] = action
        if reward > 0:
            for n, moment in enumerate(reversed(self.moments)):
                if moment["outcome"] is not None:
                    break
                moment["outcome"] = reward * DISCOUNT**n

    def write(self, key):
        self.moments = [*self.moments, {"key": key, "outcome": None, "done": None}][-CAPACITY:]

    def hints(self, q):
        found = np.zeros(A + 2)
        led = [m for m in self.moments if (m["outcome"] or 0) >= WORTH]
        led.sort(key=lambda m: float(((m["key"] - q) ** 2).sum()))
        if not led:
            return found
        distance = [float(((m["key"] - q) ** 2).sum()) for m in led[:NUMBER]]
        u = np.array([m["outcome"] / (EPSILON + d) for m, d in zip(led, distance, strict=False)])
        for share, m in zip(u / u.sum(), led, strict=False):
            found[m["done"]] += share
            found[A] += share * m["outcome"]
        found[A + 1] = math.log(0.001 + distance[0]) / 5
        return found


@pytest.mark.parametrize("by_kernel", [True, False])
def test_hints_against_a_list(by_kernel, monkeypatch):
    """Rewards that go back over their way, rings that are full, games wiped each at its own time."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.hindsight.suits", lambda *tensors: False)
    store, slow = HindsightStore(DISCOUNT, A, B, CAPACITY, 2, 2, D), [SlowHindsight() for _ in range(B)]
    draw = torch.Generator().manual_seed(0)
    hinted = 0
    for t in range(200):
        reset = torch.rand(B, generator=draw) < (1 if t == 0 else 0.03)
        rewards = (torch.rand(B, generator=draw) < 0.1).float()
        actions = torch.randint(A, (B,), generator=draw)
        q, key = torch.randn(2, B, D, generator=draw)
        store.wipe(reset)
        store.credit(rewards, actions)
        hints = store.hints(q, NUMBER, EPSILON)
        store.write(torch.zeros(B, 2), torch.zeros(B, 2), key)
        for b in range(B):
            if reset[b]:
                slow[b] = SlowHindsight()
            slow[b].credit(float(rewards[b]), int(actions[b]))
            np.testing.assert_allclose(hints[b].numpy(), slow[b].hints(q[b].numpy()), atol=1e-5)
            slow[b].write(key[b].numpy())
        hinted += int((hints[:, :A].sum(-1) > 0).sum())
    assert hinted > 100


def agent_of(**settings) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": 36, "width": 48, "embedding_size": 8, "hidden_size": 8, "key_size": 4, "capacity": 16}
    settings = {f"hindsight.{name}": value for name, value in settings.items()}
    return MemoryRecallAgent(
        AgentConfig(memory="hindsight", encoder="normalised", actions=A, auxiliary=(), settings=settings, **sizes)
    )


def test_a_picture_from_the_way_to_a_reward_hints_at_what_was_done_there():
    agent, T = agent_of(discount=0.9), 5
    pictures = torch.randint(0, 256, (T, 1, 36, 48, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(2))
    pictures[4] = pictures[1]  # met again after the reward that came two steps after it
    rewards = torch.tensor([0.0, 0, 0, 1, 0])[:, None]
    actions = torch.tensor([0, 1, 3, 2, 1])[:, None]  # each the one before its picture
    inputs = Inputs(pictures, rewards, actions, torch.arange(T)[:, None] == 0)
    output, _ = agent.unroll(inputs, agent.initial_state(1), store=agent.new_store(1))
    hints = output.recalled.hints[:, 0]
    assert hints[:3].abs().sum() == 0
    assert hints[4, :A].argmax() == 3
    assert hints[4, 3] > 0.9
    assert hints[4, A] == pytest.approx(0.9, abs=0.05)


def test_a_learner_reads_what_an_actor_read():
    """Step by step with a store, then all steps at once from what was found; over the end of an episode."""
    agent, T = agent_of(), 12
    draw = torch.Generator().manual_seed(1)
    pictures = torch.randint(0, 256, (T, B, 36, 48, 3), generator=draw, dtype=torch.uint8)
    resets = torch.rand(T, B, generator=draw) < 0.1
    rewards, actions = (torch.rand(T, B, generator=draw) < 0.3).float(), torch.randint(A, (T, B), generator=draw)
    inputs = Inputs(pictures, rewards, actions, resets)
    with torch.no_grad():
        acted, _ = agent.unroll(inputs, agent.initial_state(B), store=agent.new_store(B))
    learned, _ = agent.unroll(inputs, agent.initial_state(B), recalled=acted.recalled)
    torch.testing.assert_close(learned.logits, acted.logits, atol=1e-5, rtol=1e-4)
    other = acted.recalled._replace(hints=1 - acted.recalled.hints)
    changed, _ = agent.unroll(inputs, agent.initial_state(B), recalled=other)
    assert not torch.allclose(changed.logits, learned.logits)


@pytest.mark.parametrize(("setting", "said"), [("discount", "above 0 and below 1"), ("hinting", "from 1 to")])
def test_settings_that_cannot_be(setting, said):
    with pytest.raises(ValueError, match=f"hindsight.{setting} must be {said}"):
        agent_of(**{setting: 99})
