import itertools

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.worth import EVENTS, FINE, PATCHES, WorthMemory, WorthStore
from memorylab.envs.vector import MemoryVectorEnv

CONFIG = AgentConfig(embedding_size=4, hidden_size=4, key_size=4, capacity=128)
FLOOR = (0.4, 0.3, 0.2)
COLOURS = [(r, g, b) for r, g, b in itertools.product((0.1, 0.5, 0.9), repeat=3) if (r, g, b) != (0.5, 0.5, 0.5)]


def store(num_envs=1):
    return WorthStore(64, num_envs, 128, 4, 4, 4)


def view(left=None, right=None, middle=None, reward=0.0):
    """Things to either side and in the middle, on the floor, and the reward before."""
    looked = np.tile(np.array(FLOOR, np.float32), (FINE + 1, 1))
    rows = np.arange(6, 10)[:, None] * 24
    if left:
        looked[rows + np.arange(2, 6)] = left
    if right:
        looked[rows + np.arange(18, 22)] = right
    if middle:  # near
        looked[np.arange(4, 12)[:, None] * 24 + np.arange(8, 16)] = middle
    looked[FINE] = reward
    return torch.from_numpy(looked)


def compare(kept, winner, loser, reward, swap=False):
    """The pair comes into view, with the reward for the one before, then one goes to the winner."""
    kept.meet(view(*((loser, winner) if swap else (winner, loser)), reward=reward)[None])
    kept.meet(view(middle=winner)[None])


def worths(kept, left, right, reward=1.0):
    """What it tells of both, in the middle of each."""
    found = kept.meet(view(left, right, reward=reward)[None])[0].view(9, 12)
    return found[4, 2].item() * 4, found[4, 10].item() * 4


def slow_worth(pairs):
    """One more than the greatest worth of those that were beaten."""

    def of(thing):
        return max((1 + of(loser) for winner, loser in pairs if winner == thing), default=0)

    return of


@pytest.mark.parametrize("seed", range(6))
def test_an_order_follows_from_pairs_in_any_sequence(seed):
    chance = np.random.default_rng(seed)
    length = int(chance.integers(4, 9))
    chain = [COLOURS[i] for i in chance.permutation(len(COLOURS))[:length]]
    pairs = [(chain[i + 1], chain[i]) for i in chance.permutation(length - 1)]
    kept, of = store(), slow_worth(pairs)
    for number, (winner, loser) in enumerate(pairs):
        compare(kept, winner, loser, float(number > 0), swap=bool(chance.integers(2)))
    for left, right in itertools.permutations(chain, 2):
        reward = float(kept.events.item() < length - 1)  # for the last pair
        assert worths(kept, left, right, reward) == pytest.approx((of(left), of(right)), abs=1e-5)


def test_nothing_is_worth_anything_before_there_are_two_rewards_and_in_another_episode():
    """With one, nothing can be told from what is there every time."""
    kept = store()
    compare(kept, COLOURS[0], COLOURS[1], 0.0)
    assert worths(kept, COLOURS[2], COLOURS[3]) == (0, 0)
    kept.meet(view(middle=COLOURS[2])[None])
    assert worths(kept, COLOURS[0], COLOURS[1]) == (1, 0)
    assert worths(kept, COLOURS[3], COLOURS[2], reward=0.0) == (0, 1)
    kept.wipe(torch.tensor([True]))
    assert worths(kept, COLOURS[0], COLOURS[1]) == (0, 0)


def test_more_comparisons_than_there_is_room_for():
    kept = store()
    for number in range(EVENTS + 5):
        compare(kept, COLOURS[number % 20 + 1], COLOURS[number % 20], float(number > 0))
    assert kept.events.item() == EVENTS


def test_games_do_not_mix():
    two, one = store(2), store(1)
    for number in range(4):
        pair = COLOURS[number + 1], COLOURS[number]
        looked = view(*pair, reward=float(number > 0)), view(middle=pair[0])
        for step in looked:
            found = two.meet(torch.stack([view(COLOURS[9], COLOURS[3], reward=step[FINE, 0].item()), step]))
            assert torch.equal(found[1:], one.meet(step[None]))


@pytest.mark.parametrize(("level", "least"), [("train", 0.85), ("holdout_extrapolate", 0.9)])
def test_what_has_more_worth_is_right_in_the_challenge(level, least):
    """Before anything is learned, from pictures alone, in new colours too; the forgetting player plays."""
    env = MemoryVectorEnv("ti", level, 48, seed=11, size=(36, 48))
    memory = WorthMemory(CONFIG)
    kept, rights = store(48), []
    pictures, _ = env.reset()
    rewards, resets, actions = np.zeros(48, np.float32), np.ones(48, bool), np.zeros(48, np.int64)
    for _ in range(500):
        inputs = Inputs(*(torch.from_numpy(p.copy())[None] for p in (pictures, rewards, actions, resets)))
        kept.wipe(inputs.resets[0])
        found = kept.meet(memory.look(inputs, torch.float32)[0]).view(48, 9, 12)[:, 2:6]
        left, right = (half.flatten(1).topk(2).values.sum(1) for half in (found[..., :6], found[..., 6:]))
        games = env.batch.records
        begun = np.flatnonzero((games["challenge"] == 1) & (rewards > 0) & ~resets)
        rights += [((right > left).numpy() == games["correct"])[i] and bool(left[i] != right[i]) for i in begun]
        env.act("forgetting", actions)
        pictures, rewards, terminated, truncated, _ = env.step(actions)
        resets = terminated | truncated
    assert len(rights) > 60
    assert np.mean(rights) > least


def test_an_agent_reads_the_same_when_it_acts_and_when_it_learns():
    torch.manual_seed(0)
    sizes = {"encoder": "small", "height": 36, "width": 48, "embedding_size": 8, "hidden_size": 8, "actions": 8}
    agent = MemoryRecallAgent(AgentConfig(memory="worth", auxiliary=(), capacity=128, **sizes))
    a, b, c, d = COLOURS[:4]
    views = [view(a, b), view(middle=a), view(c, d), view(middle=c), view(b, a), view()]
    small = torch.stack([(255 * each[:FINE]).byte().view(18, 24, 3) for each in views])[:, None].expand(
        -1, 3, -1, -1, -1
    )
    pictures = small.repeat_interleave(2, 2).repeat_interleave(2, 3)
    rewards = torch.zeros(6, 3)
    rewards[[2, 4]] = 1
    resets = torch.zeros(6, 3, dtype=torch.bool)
    resets[0] = True
    inputs = Inputs(pictures, rewards, torch.zeros(6, 3, dtype=torch.int64), resets)
    state = agent.initial_state(3)
    acted, _ = agent.unroll(inputs, state, store=agent.new_store(3))
    learned, _ = agent.unroll(inputs, state, acted.recalled)
    assert torch.allclose(acted.h, learned.h, atol=1e-6)
    assert acted.recalled.novelty.shape == (6, 3, PATCHES)
    assert acted.recalled.novelty.max() > 0
