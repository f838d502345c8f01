"""What moves otherwise than it did, by hues: a twin of dictionaries and lists, and scenes built by hand."""

import colorsys
import math
from collections import Counter
from functools import cache

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent
from memorylab.agent.familiarity import COLUMNS, ROWS
from memorylab.agent.motion import AWAY, DARK, DIRECTIONS, ENOUGH, HUES, LAG, PURE, STILL, MotionStore
from memorylab.world.gaze import DEGREES_PER_FRAME
from memorylab.world.walking import FORWARD, LOOK_LEFT, LOOK_RIGHT, WALK_ACTIONS

B, HEIGHT, WIDTH = 3, 36, 48
TURN = math.radians(4 * DEGREES_PER_FRAME)
GREY = 128, 128, 128


@cache
def hue_of(r: int, g: int, b: int) -> int | None:
    hue, saturation, value = colorsys.rgb_to_hsv(r / 255, g / 255, b / 255)
    return int(hue * HUES) if saturation >= PURE and 255 * value >= DARK else None


def colour_of(hue: int) -> list[int]:
    """In the middle of its bin."""
    return [round(255 * part) for part in colorsys.hsv_to_rgb((hue + 0.5) / HUES, 0.9, 0.8)]


class SlowMotion:
    """One game, as the module tells it."""

    def __init__(self):
        self.turned, self.seen, self.out_of_sight = 0.0, [], {}
        self.then, self.now = {}, {}

    def meet(self, picture, action):
        name = WALK_ACTIONS[action]
        self.turned += TURN * ("look right" in name) - TURN * ("look left" in name)
        hues = [[hue_of(*pixel) for pixel in row] for row in picture.tolist()]
        self.seen.append(self.look(hues))
        for hue in range(HUES):
            self.count(hue)
        return self.paint(hues)

    def look(self, hues):
        """Hue -> bearing, elevation, size, of those that have two pixels."""
        places = {}
        for y, row in enumerate(hues):
            for x, hue in enumerate(row):
                places.setdefault(hue, []).append((x + 0.5 - WIDTH / 2, HEIGHT / 2 - y - 0.5))
        found = {}
        for hue, of_hue in places.items():
            if hue is not None and len(of_hue) >= 2:
                right, up = np.mean(of_hue, axis=0) / (WIDTH / 2)
                found[hue] = math.atan(right) + self.turned, up, math.sqrt(len(of_hue)) / (WIDTH / 2)
        return found

    def count(self, hue):
        if hue not in self.seen[-1]:
            self.out_of_sight[hue] = self.out_of_sight.get(hue, 0) + 1
            return
        if self.out_of_sight.get(hue, 0) > AWAY:
            self.then[hue] = self.then.get(hue, Counter()) + self.now.pop(hue, Counter())
        self.out_of_sight[hue] = 0
        if len(self.seen) > LAG and hue in self.seen[-1 - LAG]:
            self.now.setdefault(hue, Counter())[self.motion(self.seen[-1 - LAG][hue], self.seen[-1][hue])] += 1

    def motion(self, before, after):
        size = math.sqrt((before[2] ** 2 + after[2] ** 2) / 2)
        right, up = (after[0] - before[0]) / size, (after[1] - before[1]) / size
        if math.hypot(right, up) < STILL:
            return "still"
        return round(math.degrees(math.atan2(up, right)) / 45) % 8

    def change(self, hue):
        then, now = self.then.get(hue, Counter()), self.now.get(hue, Counter())
        if min(then.total(), now.total()) < ENOUGH:
            return 0
        apart = sum(abs(then[each] / then.total() - now[each] / now.total()) for each in {*then, *now}) / 2
        return min(max((apart - 0.2) / 0.4, 0), 1)

    def paint(self, hues):
        changes = [self.change(hue) for hue in range(HUES)]
        patches = [[] for _ in range(ROWS * COLUMNS)]
        for y, row in enumerate(hues):
            for x, hue in enumerate(row):
                if hue is not None:
                    patches[y * ROWS // HEIGHT * COLUMNS + x * COLUMNS // WIDTH].append(changes[hue])
        return [np.mean(patch) if patch else 0 for patch in patches]


def comings_and_goings(steps: int, draw: np.random.Generator) -> np.ndarray:
    """Blobs of several hues; each moves for a while, is gone for a while, and returns, moving otherwise or as before.

    The background is grey with dark, pale and single coloured pixels; who leaves on one side comes in on the other.
    """
    pictures = np.full((steps, HEIGHT, WIDTH, 3), GREY, np.uint8)
    pictures[:, ::5, ::7] = 40, 0, 0
    pictures[:, ::7, ::5] = 250, 180, 160
    pictures[:, 3, 3] = colour_of(11)
    for hue in (0, 3, 8):
        t, end = 0, 0
        while t < steps:
            if t >= end:
                t += draw.choice([5, AWAY, AWAY + 1, AWAY + 10])
                end, side = t + draw.integers(25, 50), draw.choice([1, 3, 5])
                at, by = draw.uniform(0, 30, 2), draw.choice([-0.9, -0.45, 0, 0.45, 0.9], 2)
            elif t < steps:
                at = (at + by) % (HEIGHT, WIDTH)
                y, x = at.astype(int)
                pictures[t, y : y + side, x : x + side] = colour_of(hue)
                t += 1
    return pictures


@pytest.mark.parametrize("by_kernel", [True, False])
def test_changes_against_dictionaries(by_kernel, monkeypatch):
    """Things that return moving otherwise, that were gone for less, own turns, games wiped each at its own time."""
    if not by_kernel:
        monkeypatch.setattr("memorylab.agent.motion.suits", lambda *tensors: False)
    store, slow = MotionStore((HEIGHT, WIDTH), 2, B, 8, 2, 2, 2), [SlowMotion() for _ in range(B)]
    draw, steps = np.random.default_rng(0), 300
    pictures = np.stack([comings_and_goings(steps, draw) for _ in range(B)], 1)
    actions = draw.integers(0, len(WALK_ACTIONS), (steps, B))
    resets = np.zeros((steps, B), np.bool_)
    resets[(0, 0, 0, 40, 100), (0, 1, 2, 1, 2)] = True
    found = []
    for t in range(steps):
        store.wipe(torch.from_numpy(resets[t]))
        changes = store.meet(torch.from_numpy(pictures[t]).flatten(1, 2), torch.from_numpy(actions[t]))
        for b in range(B):
            if resets[t, b]:
                slow[b] = SlowMotion()
            np.testing.assert_allclose(changes[b], slow[b].meet(pictures[t, b], actions[t, b]), atol=1e-4)
        found.append(changes)
    assert (torch.stack(found).amax((0, 2)) > 0.3).all()


RIGHT, UP = (0, 1), (-1, 0)
RED, BLUE = 0, 8
LEFT, RETURNED = 40, 40 + AWAY + 5
STEPS = RETURNED + 30


def put(pictures, hue, side, begin, by):
    """A square that moves."""
    for t, picture in enumerate(pictures):
        y, x = (int(begin[axis] + by[axis] * t) for axis in (0, 1))
        picture[y : y + side, x : x + side] = torch.tensor(colour_of(hue), dtype=torch.uint8)


def two_that_return() -> torch.Tensor:
    """Both went to the right; red returns and goes up, blue goes to the right again, from twice as far away."""
    pictures = torch.tensor(GREY, dtype=torch.uint8).repeat(STEPS, HEIGHT, WIDTH, 1)
    put(pictures[:LEFT], RED, 6, (2, 0), RIGHT)
    put(pictures[:LEFT], BLUE, 6, (20, 0), RIGHT)
    put(pictures[RETURNED:], RED, 6, (30, 40), UP)
    put(pictures[RETURNED:], BLUE, 3, (20, 4), (0, 0.5))
    return pictures


def test_who_returns_moving_otherwise_has_changed_and_who_moves_as_before_has_not():
    store, pictures = MotionStore((HEIGHT, WIDTH), 2, 1, 8, 2, 2, 2), two_that_return()
    changes = torch.cat([store.meet(picture.flatten(0, 1)[None], torch.tensor([FORWARD])) for picture in pictures])
    assert not changes[: RETURNED + ENOUGH].any()  # too few counts
    assert changes[RETURNED + LAG + ENOUGH].any()
    last = changes[-1].view(ROWS, COLUMNS)
    assert last[0, 10] > 0.95  # red
    assert last[5, 4] < 0.05  # blue
    is_red = torch.zeros(ROWS, COLUMNS, dtype=torch.bool)
    is_red[:2, 10:] = True
    assert not last[~is_red].any()


def test_what_stands_still_is_still_while_one_turns():
    """Turned to and fro by 25 degrees, a thing is shown where a view of 90 degrees has it."""
    actions = [*[LOOK_RIGHT] * 3, *([LOOK_LEFT] * 6 + [LOOK_RIGHT] * 6) * 4]
    turns = torch.tensor([TURN if action == LOOK_RIGHT else -TURN for action in actions]).cumsum(0)
    columns = (WIDTH / 2 * (1 - turns.tan())).round().int().tolist()
    assert columns[0] - WIDTH // 2 == -4  # one turn, of 3.6 pixels
    store, unturned = (MotionStore((HEIGHT, WIDTH), 2, 1, 8, 2, 2, 2) for _ in range(2))
    for action, column in zip(actions, columns, strict=True):
        picture = torch.tensor(GREY, dtype=torch.uint8).repeat(HEIGHT, WIDTH, 1)
        picture[15:21, column - 3 : column + 3] = torch.tensor(colour_of(RED), dtype=torch.uint8)
        store.meet(picture.flatten(0, 1)[None], torch.tensor([action]))
        unturned.meet(picture.flatten(0, 1)[None], torch.tensor([FORWARD]))
    assert store.now.sum() == store.now[0, RED].sum() == len(actions) - LAG
    assert store.now[0, RED, DIRECTIONS] > 0.95 * store.now.sum()
    assert unturned.now[0, RED, DIRECTIONS] < 0.5 * unturned.now.sum()


def agent_of(actions=8) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = {"height": HEIGHT, "width": WIDTH, "embedding_size": 8, "hidden_size": 8, "key_size": 4, "capacity": 16}
    settings = {"memory": "motion", "encoder": "small", "auxiliary": (), "settings": {"motion.rest": 2}}
    return MemoryRecallAgent(AgentConfig(**settings, **sizes, actions=actions))


def test_a_learner_reads_what_an_actor_read():
    """Step by step with a store, then all steps at once from what was found; over the end of an episode."""
    agent = agent_of()
    pictures = two_that_return()[:, None].expand(-1, 2, -1, -1, -1)
    resets = torch.zeros(STEPS, 2, dtype=torch.bool)
    resets[0] = resets[RETURNED, 1] = True
    actions, store = torch.tensor([FORWARD, LOOK_RIGHT]).expand(STEPS, 2), agent.new_store(2)
    inputs = Inputs(pictures, torch.rand(STEPS, 2), actions, resets)
    with torch.no_grad():
        acted, _ = agent.unroll(inputs, agent.initial_state(2), store=store)
    learned, _ = agent.unroll(inputs, agent.initial_state(2), recalled=acted.recalled)
    torch.testing.assert_close(learned.logits, acted.logits, atol=1e-5, rtol=1e-4)
    assert acted.recalled.sensed[:, 0].max() > 0.95
    assert not acted.recalled.sensed[:, 1].any()
    torch.testing.assert_close(store.turned, torch.tensor([0, (STEPS - RETURNED) * TURN]))
    other = acted.recalled._replace(sensed=1 - acted.recalled.sensed)
    changed, _ = agent.unroll(inputs, agent.initial_state(2), recalled=other)
    assert not torch.allclose(changed.logits, learned.logits)


def test_other_actions_are_refused():
    with pytest.raises(ValueError, match=r"^memory motion needs the 8 actions of walked tasks, not 5$"):
        agent_of(actions=5)
