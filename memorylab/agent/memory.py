"""What an episodic memory is: its contract, and how actor and learner read it."""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from memorylab.agent.auxiliary import AuxiliaryLoss
from memorylab.agent.data import Inputs, Output, stacked


class Store(dict[str, Tensor]):
    """What an actor remembers of B games: tensors (B, ...) by name; zeros where an episode begins."""

    @property
    def num_envs(self) -> int:
        """B."""
        return len(next(iter(self.values())))

    def wipe(self, reset: Tensor) -> None:
        """Forget everything in the games where an episode begins, reset (B,)."""
        for part in self.values():
            part[reset] = 0

    def state_dict(self) -> dict[str, Tensor]:
        """Everything, for a checkpoint."""
        return dict(self)

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """As it was."""
        for name, part in self.items():
            part.copy_(state[name])


class Memory(nn.Module):
    """Made as `cls(config, **settings)` from the AgentConfig, which has all sizes, and its own keyword-only arguments.

    At each step of B games it reads m_t, then writes x_t and h_t; writes carry no gradient. An actor searches a store
    and keeps what it found in the trajectory; a learner has no store, and reads what the actor found, with gradient:

        q_t = query(embed(x)_t, h_(t-1));  found_t = search(store, q_t)  or what the trajectory carries
        m_t, w_t = forward(q_t, project(found)_t);  write(store, x_t, h_t)

    `embed` and `project` take any number of steps at once, the others one. So a memory says what it writes
    (`new_store`, `write`), what a trajectory must carry for it (`new_recalled`, `search`) and how that is read.
    """

    size: int  # of m_t

    @property
    def query_has_h(self) -> bool:
        """Whether a read waits for h_(t-1), as it does with a `query` of its own; else a learner reads all at once."""
        return type(self).query is not Memory.query

    @property
    def own_loss(self) -> AuxiliaryLoss | None:
        """What it learns beside rewards, if anything."""
        return None

    def new_store(self, num_envs: int, **options: Any) -> Store:
        """An empty one; `options` are device and dtype."""
        raise NotImplementedError

    def new_recalled(self, lead: tuple[int, ...], **options: Any) -> Any:
        """Room for what `search` finds, a NamedTuple of tensors, with these leading axes."""
        raise NotImplementedError

    def look(self, inputs: Inputs, dtype: torch.dtype) -> Tensor | None:
        """What of the pictures (T, B, height, width, 3) and rewards themselves a search wants to know, as its third
        argument; nothing unless a memory says otherwise."""
        return None

    def search(self, store: Any, q_t: Tensor) -> Any:
        """What a learner will need to read as the actor does, whatever the store's size."""
        raise NotImplementedError

    def write(self, store: Any, x_t: Tensor, h_t: Tensor) -> None:
        """One more step."""
        raise NotImplementedError

    def embed(self, x: Tensor) -> Tensor:
        """What of the query comes from x."""
        return x

    def query(self, embedded_t: Tensor, h_tm1: Tensor) -> Tensor:
        """q_t; with nothing of h unless a memory says otherwise."""
        return embedded_t

    def project(self, recalled: Any) -> Any:
        """What of a read does not depend on the query."""
        return recalled

    def forward(self, q_t: Tensor, near: Any) -> tuple[Tensor, Tensor | None]:
        """m_t (B, size), and the weights w_t (B, K) for those who want to see them."""
        raise NotImplementedError

    def measures(self, output: Output) -> dict[str, Tensor]:
        """Scalars that a user wants to see when it does not learn."""
        return {}

    def looked_back(self, output: Output) -> tuple[Tensor, Tensor]:
        """How many steps ago was what a step of one game recalled, heaviest first, and its weights."""
        return torch.zeros(0, dtype=torch.int64), torch.zeros(0)


class Past:
    """What can be recalled along a trajectory x (T, B, X)."""

    def __init__(self, memory: Memory, x: Tensor):
        self.memory = memory
        self.embedded = memory.embed(x)

    @cached_property
    def steps(self) -> tuple[Tensor, ...]:
        """At once: gradients of each step one by one cost T times x."""
        return self.embedded.unbind()

    def recall(self, t: int, h_tm1: Tensor) -> tuple[Tensor, Tensor | None]:
        """(m_t, w_t)."""
        q_t = self.memory.query(self.steps[t], h_tm1)
        return self.memory(q_t, self.near(t, q_t))

    def near(self, t: int, q_t: Tensor) -> Any:
        """What was found at step t, projected."""
        raise NotImplementedError

    def write(self, x_t: Tensor, h_t: Tensor) -> None:
        """One more step."""
        raise NotImplementedError

    def recalled(self) -> Any:
        """What was found at all steps."""
        raise NotImplementedError


class SearchedPast(Past):
    """Searched in a store and written to it: acting."""

    def __init__(self, memory: Memory, x: Tensor, store: Store, resets: Tensor, looked: Tensor | None = None):
        super().__init__(memory, x)
        self.store, self.resets, self.looked = store, resets, looked
        self.found: list[Any] = []

    def near(self, t: int, q_t: Tensor) -> Any:
        """As the store has it now."""
        self.store.wipe(self.resets[t])
        looked_t = () if self.looked is None else (self.looked[t],)
        self.found.append(self.memory.search(self.store, q_t, *looked_t))
        return self.memory.project(self.found[-1])

    def write(self, x_t: Tensor, h_t: Tensor) -> None:
        """Into the store."""
        self.memory.write(self.store, x_t, h_t)

    def recalled(self) -> Any:
        """As a trajectory."""
        return stacked(self.found)


class ReplayedPast(Past):
    """As an actor found and wrote it: learning. What does not depend on the query comes for all steps at once."""

    def __init__(self, memory: Memory, x: Tensor, recalled: Any):
        super().__init__(memory, x)
        self.found = recalled
        self.projected = memory.project(recalled)

    @cached_property
    def near_by_step(self) -> list[Any]:
        """At once, as above."""
        parts = zip(*(part.unbind() for part in self.projected), strict=True)
        return [type(self.projected)(*step) for step in parts]

    def near(self, t: int, q_t: Tensor) -> Any:
        """As the actor found it."""
        return self.near_by_step[t]

    def recall_all(self) -> tuple[Tensor, Tensor | None]:
        """(m, w) of all steps, where queries have nothing of h."""
        return self.memory(self.embedded, self.projected)

    def write(self, x_t: Tensor, h_t: Tensor) -> None:
        """The actor has written."""

    def recalled(self) -> Any:
        """As it was given."""
        return self.found
