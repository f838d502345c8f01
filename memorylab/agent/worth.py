"""A sense of worth: the paper's episodic memory, and beside it how many things each patch of the picture stands above.

Whoever is rewarded for going to a thing has preferred it to what else there was to go to. When a reward comes, the
winner is what has come nearer since the way began: it fills more of the view. Its rivals are what fills less of it, or
is out of sight. What can be seen every time is neither. From an episode's comparisons follows an order, whichever came
first:

    worth of a winner = 1 + the greatest worth of its rivals        (0 for what has never won)

so that two things are compared that were never met together. m_t has the worth of each of 9 x 12 patches, by colour:

    m_t = [sum_j w_j v_j, n_0, worth_1 / 4 ... worth_108 / 4]

and n_0 as in `familiarity`. Nothing of it is learned: what to do with it is.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from memorylab.agent.data import Inputs
from memorylab.agent.episodic import EpisodicStore
from memorylab.agent.familiarity import COLUMNS, PATCHES, ROWS, FamiliarityMemory
from memorylab.agent.kernels import array, compiled

if TYPE_CHECKING:
    from memorylab.agent.config import AgentConfig

FINE = 4 * PATCHES  # each patch is looked at in quarters: things are small when the way begins
EVENTS = 16  # comparisons of an episode
SIGHT = 64  # colours that are kept of a view
APART = 0.04  # from one another; channels go from 0 to 1
SAME = 0.05  # colours nearer than this are one
ALIKE = 0.07  # the same, in another light


class WorthStore(EpisodicStore):
    """With what each game saw when its way began, what it saw last, and its comparisons."""

    def __init__(self, rest: int, num_envs: int, *sizes: int, **options: Any):
        super().__init__(num_envs, *sizes, **options)
        self.rest = rest
        self.began = self.k.new_zeros(num_envs, FINE, 3)
        self.last = self.k.new_zeros(num_envs, FINE, 3)
        self.sights = self.k.new_full((num_envs, EVENTS, SIGHT, 3), torch.inf)
        self.growth = self.k.new_zeros(num_envs, EVENTS, SIGHT)  # of each colour: how many quarters more it fills
        self.winners = self.k.new_full((num_envs, EVENTS, SIGHT, 3), torch.inf)
        self.worth = self.k.new_zeros(num_envs, EVENTS)
        self.events = torch.full((num_envs,), -1, dtype=torch.int64, device=self.k.device)  # before the first picture
        self.update(began=self.began, last=self.last, sights=self.sights, growth=self.growth)
        self.update(winners=self.winners, worth=self.worth, events=self.events)

    def wipe(self, reset: Tensor) -> None:
        """Forget the comparisons, too."""
        super().wipe(reset)
        self.events.masked_fill_(reset, -1)

    def meet(self, looked: Tensor) -> Tensor:
        """The worth of patches (B, patches); looked (B, FINE + 1, 3) are their quarters, then the reward before."""
        quarters = self.k.new_zeros(len(looked), FINE)
        state = self.began, self.last, self.sights, self.growth, self.winners, self.worth, self.events
        here = [part.cpu() for part in (looked, *state, quarters)]
        note_worth(*map(array, here))
        for part, found in zip((*state, quarters), here[1:], strict=True):
            if part is not found:  # another device
                part.copy_(found)
        return quarters.view(-1, ROWS, 2, COLUMNS, 2).mean((2, 4)).view(-1, PATCHES) / 4


class WorthMemory(FamiliarityMemory):
    """Reads as `familiarity` does; what it tells of patches is their worth."""

    def __init__(self, config: "AgentConfig", *, rest: int = 64):
        super().__init__(config, rest=rest)

    def new_store(self, num_envs: int, **options: Any) -> WorthStore:  # type: ignore[override]
        """Rings of `capacity` slots, and no comparisons yet."""
        sizes = self.capacity, self.input_size, self.hidden_size, self.key_size
        return WorthStore(self.rest, num_envs, *sizes, **options)

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor:
        """The mean colour of each quarter of a patch, channels from 0 to 1, and the reward: (T, B, FINE + 1, 3)."""
        flat = inputs.pictures.flatten(0, 1).permute(0, 3, 1, 2).to(dtype)
        quarters = adaptive_avg_pool2d(flat, (2 * ROWS, 2 * COLUMNS)).div_(255).flatten(2).mT
        reward = inputs.rewards.to(dtype).view(-1, 1, 1).expand(-1, 1, 3)
        return torch.cat([quarters, reward], 1).view(*inputs.resets.shape, FINE + 1, 3)


@compiled
def note_worth(looked, began, last, sights, growth, winners, worth, events, found):
    """See WorthStore.meet."""
    for b in range(len(looked)):
        if 0 <= events[b] < EVENTS and looked[b, FINE, 0] > 0:
            note_sight(began[b], last[b], sights[b, events[b]], growth[b, events[b]])
            events[b] += 1
            put_in_order(sights[b, : events[b]], growth[b], winners[b], worth[b])
        if events[b] < 0 or looked[b, FINE, 0] > 0:
            began[b] = looked[b, :FINE]
            events[b] = max(events[b], 0)
        last[b] = looked[b, :FINE]
        for i in range(FINE):
            for e in range(events[b]):
                if worth[b, e] > found[b, i] and is_among(looked[b, i], winners[b, e], SAME):
                    found[b, i] = worth[b, e]


@compiled
def note_sight(began, last, sight, growth):
    """The colours of the view when the way began that lie apart, infinities after them, and how much each has grown."""
    sight[:] = np.inf
    number = 0
    for colour in began:
        if number < len(sight) and not is_among(colour, sight, APART):
            sight[number] = colour
            growth[number] = how_much(colour, last) - how_much(colour, began)
            number += 1


@compiled
def how_much(colour, view):
    """How many quarters of a view are of that colour."""
    number = 0
    for other in view:
        number += is_near(colour, other, ALIKE)
    return number


@compiled
def is_near(colour, other, apart):
    """Whether they are nearer than that."""
    return (colour[0] - other[0]) ** 2 + (colour[1] - other[1]) ** 2 + (colour[2] - other[2]) ** 2 < apart * apart


@compiled
def is_among(colour, colours, apart):
    """Whether one of those is nearer than that; they end with infinities."""
    for other in colours:
        if other[0] == np.inf:
            return False
        if is_near(colour, other, apart):
            return True
    return False


@compiled
def put_in_order(sights, growth, winners, worth):
    """Winners and their worth, from all comparisons: as often as there are such, for one may follow from another."""
    n = len(sights)
    rivals = np.full_like(sights, np.inf)
    for e in range(n):
        tell_apart(e, sights, growth[e], winners[e], rivals[e])
    for e in range(n):
        worth[e] = winners[e, 0, 0] < np.inf
    for _ in range(n):
        for e in range(n):
            for f in range(n):
                if worth[e] > 0 and worth[f] >= worth[e] and is_mostly_among(winners[f], rivals[e]):
                    worth[e] = min(worth[f] + 1, n)


@compiled
def tell_apart(e, sights, growth, winners, rivals):
    """What has grown and what has not, of what cannot be seen every time."""
    winners[:] = np.inf
    won = lost = 0
    for i in range(len(sights[e])):
        colour = sights[e, i]
        if colour[0] == np.inf:
            break
        is_everywhere = True
        for other in range(len(sights)):
            is_everywhere &= is_among(colour, sights[other], SAME)
        if not is_everywhere and growth[i] > 0:
            winners[won] = colour
            won += 1
        elif not is_everywhere and growth[i] < 0:
            rivals[lost] = colour
            lost += 1


@compiled
def is_mostly_among(colours, others):
    """Whether more than half of them are."""
    number = hits = 0
    for colour in colours:
        if colour[0] < np.inf:
            number += 1
            hits += is_among(colour, others, ALIKE)
    return 2 * hits > number
