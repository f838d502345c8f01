"""A game that a person plays, and the episode that is left of it."""

import secrets
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memorylab.envs.batch import EnvBatch
from memorylab.envs.spec import GameSpec
from memorylab.tasks.psychlab.trial import OFF_PANEL_FRAMES
from memorylab.tasks.stepping import FRAMES_PER_SECOND
from memorylab.tasks.task import Task
from memorylab.web.shelf import Shelf
from memorylab.world.rng import SEED_BITS
from memorylab.world.walking import STICKS

VIEWS = {"agent": (72, 96), "sharper": (144, 192)}
NOTHING = "nothing"
WARNING_FRAMES = FRAMES_PER_SECOND  # a glance past a button is shorter
EVERYONE = np.ones(1, np.bool_)


@dataclass(frozen=True)
class PlayedEpisode:
    """All that is needed to see it again, bit for bit."""

    game: GameSpec
    seed: int
    actions: bytes  # one byte a step: places in `actions_of(task)`
    rewards: np.ndarray  # float32, one a step

    @property
    def score(self) -> float:
        """The sum of its rewards."""
        return float(self.rewards.sum(dtype=np.float64))


def actions_of(task: Task) -> tuple[str, ...]:
    """What a person can do: the agent's actions, and nothing where the agent must always move."""
    return task.actions if NOTHING in task.actions else (*task.actions, NOTHING)


def new_seed() -> int:
    """Nobody can foretell it."""
    return secrets.randbits(SEED_BITS)


def load(game: GameSpec) -> EnvBatch:
    """A game that others are copied from: compiled, with its stimuli, which take seconds to load."""
    batch = EnvBatch(game, 1, threads=1)
    batch.begin(batch.seed([0]), EVERYONE, batch.pictures)
    batch.step(np.zeros(1, np.int64), batch.pictures, autoreset=False)
    return batch


shelf = Shelf(load)


def new_batch(game: GameSpec) -> EnvBatch:
    """One game that nobody else plays."""
    batch = shelf.take(game)
    return deepcopy(batch, {id(batch.stimuli): batch.stimuli})  # stimuli are only read: all copies share them


class PlayedGame:
    """One episode, from a seed."""

    def __init__(self, game: GameSpec, seed: int):
        self.batch = new_batch(game)
        self.spec, self.seed = replace(game, task=self.batch.task.name), seed
        self.nothing = actions_of(self.batch.task).index(NOTHING)
        self.action = np.zeros(1, np.int64)
        self.actions = bytearray()
        self.rewards: list[float] = []
        self.batch.begin(self.batch.seed([seed]), EVERYONE, self.batch.pictures)
        self.record = self.batch.records[0]

    def step(self, action: int) -> None:
        """Do an action, by its place in `actions_of(task)`."""
        if self.is_over or not 0 <= action < len(actions_of(self.batch.task)):
            raise ValueError(f"{self.batch.task.name} cannot do action {action} now")
        # Where the agent has no way to stand still, a person lets go of the sticks.
        stands_still = action == self.nothing and self.nothing >= len(self.batch.task.actions)
        self.action[0] = STICKS if stands_still else action
        self.batch.step(self.action, self.batch.pictures, autoreset=False)
        self.actions.append(action)
        self.rewards.append(float(self.batch.rewards[0]))

    @property
    def is_over(self) -> bool:
        """By the rules or by the clock."""
        return bool(self.batch.terminated[0] or self.batch.truncated[0])

    @property
    def picture(self) -> np.ndarray:
        """The game's own buffer, rewritten at the next step."""
        return self.batch.pictures[0]

    @property
    def score(self) -> float:
        """So far."""
        return float(self.record["score"])

    @property
    def count(self) -> int:
        """Of what `counted` names."""
        counter = self.batch.task.counter
        return int(self.record[counter[0]]) if counter else 0

    @property
    def scale(self) -> Any:
        """As it was drawn for this episode."""
        return self.batch.scale_records[self.record["scale_number"]]

    @property
    def seconds(self) -> float:
        """How long the episode may last."""
        return float(self.scale["frames"]) / FRAMES_PER_SECOND

    @property
    def seconds_left(self) -> float:
        """By the clock of the game."""
        return self.seconds - float(self.record["frame"]) / FRAMES_PER_SECOND

    @property
    def seconds_away_left(self) -> float:
        """How long a gaze that has left the panel may stay away before that ends the episode; 0 while there is nothing
        to warn of."""
        away = int(self.record["off_panel"]) if "off_panel" in self.record.dtype.names else 0
        return 0.0 if away < WARNING_FRAMES else max(OFF_PANEL_FRAMES + 1 - away, 1) / FRAMES_PER_SECOND

    @property
    def looked_away(self) -> bool:
        """Whether that ended the episode."""
        return "off_panel" in self.record.dtype.names and bool(self.record["off_panel"] > OFF_PANEL_FRAMES)

    def counted(self) -> dict[str, Any] | None:
        """What is counted, and up to how many."""
        if self.batch.task.counter is None:
            return None
        field, label = self.batch.task.counter
        return {"label": label, "of": int(self.scale["trials"]) if field == "trial" else None}

    def episode(self) -> PlayedEpisode:
        """What has been played so far."""
        return PlayedEpisode(self.spec, self.seed, bytes(self.actions), np.array(self.rewards, np.float32))


def replay(episode: PlayedEpisode) -> Iterator[PlayedGame]:
    """The game before its first step, then after each; the same pictures and rewards as when it was played."""
    game = PlayedGame(episode.game, episode.seed)
    yield game
    for action in episode.actions:
        game.step(action)
        yield game
