"""What won, and over what: a twin of dictionaries and lists, and chains built by hand."""

from collections import Counter
from functools import cache
from itertools import chain, product

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.familiarity import COLUMNS, ROWS
from memorylab.agent.palette import GRAIN, bins_of
from memorylab.agent.worth import EVENTS, LOSERS, WorthStore

B, HEIGHT, WIDTH = 3, 27, 36
GREY = 128, 128, 128


@cache
def bin_of(r: int, g: int, b: int) -> tuple[int, int, int]:
    return (r - g + 255) // GRAIN, (r + g - 2 * b + 510) // (2 * GRAIN), (r + g + b) // (3 * GRAIN)


@cache
def are_beside(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    return all(abs(a - b) <= 1 for a, b in zip(one, other, strict=True))


class SlowWorth:
    """One game, as the module tells it."""

    def __init__(self):
        self.view, self.middle, self.most = {}, None, {}
        self.number, self.events = 0, {}  # which of the last rewards -> what won, what lost
        self.worth = {}

    def meet(self, picture, paid):
        if paid and self.middle is not None:
            self.events[self.number % EVENTS] = self.middle, self.losers()
            self.number, self.most = self.number + 1, {}
            self.judge()
        bins = [[bin_of(*pixel) for pixel in row] for row in picture.tolist()]
        self.view = Counter(chain(*bins))
        for place, pixels in self.view.items():
            self.most[place] = max(self.most.get(place, 0), pixels)
        self.middle = self.most_frequent(bins)
        return self.paint(bins)

    def most_frequent(self, bins):
        """Of several, the one of which all pixels come first."""
        rows = bins[HEIGHT * 13 // 36 : HEIGHT * 21 // 36]
        inner = list(chain(*(row[WIDTH * 19 // 48 : WIDTH * 29 // 48] for row in rows)))
        last = {place: number for number, place in enumerate(inner)}
        return max(last, key=lambda place: (inner.count(place), -last[place]))

    def losers(self):
        """The largest that are out of view, a single pixel aside."""
        in_view = [place for place, pixels in self.view.items() if pixels > 1]
        gone = [
            place
            for place, pixels in self.most.items()
            if pixels >= 12 and not any(are_beside(place, seen) for seen in in_view)
        ]
        return sorted(gone, key=lambda place: (-self.most[place], place))[:LOSERS]

    def part(self, place, event):
        won, lost = event
        if are_beside(place, won):
            return 1
        return -1 if any(are_beside(place, each) for each in lost) else 0

    def record(self, place):
        parts = [part for event in self.events.values() if (part := self.part(place, event))]
        return sum(parts) / len(parts)

    def value(self, place):
        partners = []
        for won, lost in self.events.values():
            part = self.part(place, (won, lost))
            if part == 1 and lost:
                partners.append(np.mean([self.record(each) for each in lost]))
            if part == -1:
                partners.append(self.record(won))
        return self.record(place), np.mean(partners) if partners else 0

    def judge(self):
        """Of two that are not far apart, what is beside both is worth what the later one is."""
        self.worth = {}
        for won, lost in self.events.values():
            for place in (won, *lost):
                value = self.value(place)
                for by in product((-1, 0, 1), repeat=3):
                    self.worth[tuple(np.add(place, by).tolist())] = value

    def paint(self, bins):
        patches = [[] for _ in range(ROWS * COLUMNS)]
        for y, row in enumerate(bins):
            for x, place in enumerate(row):
                if any(value := self.worth.get(place, (0, 0))):
                    patches[y * ROWS // HEIGHT * COLUMNS + x * COLUMNS // WIDTH].append(value)
        return np.array([np.mean(patch, 0) if patch else (0, 0) for patch in patches]).T.ravel()


def comings_and_goings(steps: int, draw: np.random.Generator) -> np.ndarray:
    """Plain blocks on grey, some of one pixel and some that hide all else; each colour has others beside it."""
    pictures = np.full((steps, HEIGHT, WIDTH, 3), GREY, np.uint8)
    colours = draw.integers(15, 240, (7, 3))
    colours = np.concatenate([colours, colours + draw.integers(-15, 16, (7, 3))])
    for t in range(steps):
        for _ in range(draw.integers(1, 5)):
            y, x = draw.integers(0, (HEIGHT - 1, WIDTH - 1))
            size = draw.choice([1, 3, 4, 9, 16])
            block = slice(t, t + draw.integers(1, 4)), slice(y, y + size), slice(x, x + size)
            pictures[block] = draw.choice(colours)
        if draw.random() < 0.1:
            pictures[t] = draw.choice(colours)
    return pictures


def test_worth_against_dictionaries():
    """More rewards than are kept and more losers, colours beside others, games wiped each at its own time."""
    store, slow = WorthStore((HEIGHT, WIDTH), 2, B, 8, 2, 2, 2), [SlowWorth() for _ in range(B)]
    draw, steps = np.random.default_rng(0), 120
    pictures = np.stack([comings_and_goings(steps, draw) for _ in range(B)], 1)
    rewards = (draw.random((steps, B)) < (0.25, 0.1, 0.1)) - 0.5 * (draw.random((steps, B)) < 0.2)
    resets = np.zeros((steps, B), np.bool_)
    resets[(0, 0, 0, 40, 70), (0, 1, 2, 1, 2)] = True
    found = []
    for t in range(steps):
        store.wipe(torch.from_numpy(resets[t]))
        worth = store.meet(torch.from_numpy(pictures[t]).flatten(1, 2), torch.from_numpy(rewards[t]))
        for b in range(B):
            if resets[t, b]:
                slow[b] = SlowWorth()
            np.testing.assert_allclose(worth[b], slow[b].meet(pictures[t, b], rewards[t, b] > 0), atol=1e-5)
        found.append(worth)
    assert store.rewards[0] > EVENTS
    assert store.lost[..., -1].any()
    assert (torch.stack(found).amax((0, 2)) > 0.2).all()
    assert (torch.stack(found).amin((0, 2)) < -0.2).all()


CHAIN = [(200, 30, 30), (30, 180, 40), (40, 50, 210), (220, 210, 40), (210, 60, 200), (60, 200, 210), (20, 20, 20)]
ORDERS = {"up": (0, 1, 2, 3), "down": (3, 2, 1, 0), "mixed": (2, 0, 3, 1)}


def side_by_side(picture, left, right):
    """Two things, each in patches of its own: row 4, columns 2 and 9."""
    height, width = picture.shape[:2]
    for column, colour in ((2, left), (9, right)):
        rows, columns = (
            slice(height * 4 // ROWS, height * 6 // ROWS),
            (width * column // 12, width * (column + 2) // 12),
        )
        picture[rows, slice(*columns)] = torch.tensor(colour, dtype=torch.uint8)


def met_in(order, size, last) -> tuple[torch.Tensor, torch.Tensor]:
    """Pictures and rewards: each pair, walked up to its higher one, paid with the next; at last these two."""
    pictures = torch.tensor(GREY, dtype=torch.uint8).repeat(2 * len(order) + 1, *size, 1)
    rewards = torch.zeros(len(pictures))
    rewards[2::2] = 1
    middle = tuple(slice(part // 4, part * 3 // 4) for part in size)
    for number, lower in enumerate(order):
        pair = CHAIN[lower], CHAIN[lower + 1]
        side_by_side(pictures[2 * number], *(pair if number % 2 else pair[::-1]))
        pictures[2 * number + 1, *middle] = torch.tensor(CHAIN[lower + 1], dtype=torch.uint8)
    side_by_side(pictures[-1], *(CHAIN[each] for each in last))
    return pictures, rewards


def worth_after(order, last, store=None) -> list[tuple[float, float]]:
    """v and u of these two things, left and right."""
    size = 36, 48
    store = WorthStore(size, 2, 1, 8, 2, 2, 2) if store is None else store
    for picture, reward in zip(*met_in(order, size, last), strict=True):
        worth = store.meet(picture.flatten(0, 1)[None], reward[None])[0].view(2, ROWS, COLUMNS)
    left, right = worth[:, 4:6, 2:4], worth[:, 4:6, 9:11]
    assert (left == left[:, :1, :1]).all()
    assert (right == right[:, :1, :1]).all()
    assert worth.count_nonzero() == left.count_nonzero() + right.count_nonzero()  # grey is worth nothing
    return [tuple(side[:, 0, 0].tolist()) for side in (left, right)]


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("last", [(1, 3), (3, 1)])
def test_of_two_that_won_as_often_the_one_that_lost_to_a_higher_one_is_worth_more(order, last):
    store = WorthStore((36, 48), 2, 1, 8, 2, 2, 2)
    worth = dict(zip(last, worth_after(order, last, store), strict=True))
    assert worth == {1: (0, -0.5), 3: (0, 0.5)}
    for each in bins_of(torch.tensor(CHAIN)[[1, 3]]):
        assert (store.won == each).sum() == (store.lost == each).sum() == 1


@pytest.mark.parametrize("last", [(0, 6), (1, 5), (2, 4), (3, 2)])
def test_of_seven_only_the_ends_and_what_is_next_to_them_have_any(last):
    v, u = (-1, 0, 0, 0, 0, 0, 1), (0, -0.5, 0, 0, 0, 0.5, 0)
    assert worth_after(range(6), last) == [(v[each], u[each]) for each in last]


def test_a_reward_that_comes_with_an_episode_s_first_picture_is_not_for_anything():
    pictures, rewards = met_in((0,), (36, 48), (0, 1))
    store = WorthStore((36, 48), 2, 1, 8, 2, 2, 2)
    for picture, reward in zip(pictures, rewards, strict=True):
        store.wipe(reward[None] > 0)
        assert not store.meet(picture.flatten(0, 1)[None], reward[None]).any()
    assert not store.rewards.any()


def agent_of(size=(36, 48), dtype=torch.float32) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": size[0], "width": size[1], "embedding_size": 8, "hidden_size": 8, "key_size": 4, "capacity": 16}
    settings = {"memory": "worth", "encoder": "small", "auxiliary": (), "settings": {"worth.rest": 2}}
    return MemoryRecallAgent(AgentConfig(**settings, **sizes)).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [(36, 48), (40, 50)])
def test_a_learner_reads_what_an_actor_read(size, dtype):
    """Step by step with a store, then all steps at once from what was found; over the end of an episode."""
    agent = agent_of(size, dtype)
    pictures, rewards = met_in(ORDERS["down"], size, (1, 3))
    T = len(pictures)
    resets = torch.zeros(T, 2, dtype=torch.bool)
    resets[0] = resets[-1, 1] = True
    nothing = torch.zeros(T, 2, dtype=torch.int64)
    paid = rewards[:, None].expand(T, 2).to(dtype)
    inputs = Inputs(pictures[:, None].expand(-1, 2, -1, -1, -1), paid, nothing, resets)
    with torch.no_grad():
        acted, _ = agent.unroll(inputs, agent.initial_state(2), store=agent.new_store(2))
    learned, _ = agent.unroll(inputs, agent.initial_state(2), recalled=acted.recalled)
    torch.testing.assert_close(learned.logits, acted.logits, atol=1e-5, rtol=1e-4)
    worth = acted.recalled.sensed.view(T, 2, 2, ROWS, COLUMNS)
    assert worth.dtype == dtype
    torch.testing.assert_close(worth[-1, 0, 1, 4, [2, 10]], torch.tensor([-0.5, 0.5], dtype=dtype))
    assert worth[-2, 1].any()
    assert not worth[-1, 1].any()  # another episode
    other = acted.recalled._replace(sensed=1 - acted.recalled.sensed)
    changed, _ = agent.unroll(inputs, agent.initial_state(2), recalled=other)
    assert not torch.allclose(changed.logits, learned.logits)
