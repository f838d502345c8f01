"""An episode recorded step by step, in pieces that a browser can unpack: what was seen, done, thought and recalled."""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memorylab.envs.batch import EnvBatch
from memorylab.envs.plan import Colour, plan_of
from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import vector_env
from memorylab.tasks.task import find_task
from memorylab.web.game import actions_of, replay
from memorylab.web.store import Played

STEPS_PER_PIECE = 64


@dataclass
class Moment:
    """One step. What only an agent has is left out for other players."""

    picture: np.ndarray
    action: int
    reward: float  # for that action
    probabilities: list[float] | None = None
    value: float | None = None
    ages: list[int] = field(default_factory=list)  # how many steps ago each recalled moment was, heaviest first
    weights: list[float] = field(default_factory=list)
    place: dict[str, float] | None = None  # where a walker stood
    plan: dict[str, Any] | None = None  # what lies around, seen from above


@dataclass(frozen=True)
class Performer:
    """Someone who can be recorded: a name to show, and an episode for each seed."""

    facts: dict[str, Any]
    play: Callable[[int], Iterator[Moment]]


class Recording:
    """An episode that grows while it is played. Pieces are whole once they are in `pieces`."""

    def __init__(self, player: Performer, seed: int):
        self.facts = {**player.facts, "seed": str(seed)}  # as text: a browser would round a large number
        self.moments = player.play(seed)
        self.pieces: list[bytes] = []
        self.is_done = self.is_stopped = False
        self.problem = ""  # why it broke off, if it did

    def record(self, on_step: Callable[[], None] = lambda: None) -> None:
        """To the end of the episode, or until it is stopped."""
        waiting: list[Moment] = []
        last_plan = None
        for moment in self.moments:
            if self.is_stopped:
                return
            if moment.plan == last_plan:
                moment.plan = None  # said only where it changes
            else:
                last_plan = moment.plan
            waiting.append(moment)
            if len(waiting) == STEPS_PER_PIECE:
                self.pieces.append(packed(waiting))
                waiting = []
            on_step()
        if waiting:
            self.pieces.append(packed(waiting))
        self.is_done = True


def packed(moments: list[Moment]) -> bytes:
    """Facts as JSON, pictures as differences to the one before, all deflated: what stands still costs nothing."""
    facts = json.dumps([facts_of(moment) for moment in moments], separators=(",", ":")).encode()
    pictures = np.stack([moment.picture for moment in moments])
    changes = np.diff(pictures, axis=0, prepend=np.zeros_like(pictures[:1]))
    return zlib.compress(struct.pack("<I", len(facts)) + facts + changes.tobytes(), 6)


def unpacked(piece: bytes, height: int, width: int) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Facts and pictures of a piece."""
    content = zlib.decompress(piece)
    length = struct.unpack_from("<I", content)[0]
    facts = json.loads(content[4 : 4 + length])
    changes = np.frombuffer(content, np.uint8, offset=4 + length).reshape(-1, height, width, 3)
    return facts, changes.cumsum(axis=0, dtype=np.uint8)


def facts_of(moment: Moment) -> dict[str, Any]:
    """What a browser needs of a moment, rounded."""
    facts = {
        "action": moment.action,
        "reward": round(moment.reward, 4),
        "probabilities": moment.probabilities and [round(p, 4) for p in moment.probabilities],
        "value": moment.value and round(moment.value, 4),
        "ages": moment.ages,
        "weights": [round(weight, 5) for weight in moment.weights],
        "place": moment.place,
        "plan": moment.plan,
    }
    return {name: value for name, value in facts.items() if value is not None}


# --- the world seen from above


def place_of(batch: EnvBatch) -> dict[str, float] | None:
    """Where a walker stands; None in tasks that are not walked through."""
    game = batch.records[0]
    if "solid" not in game.dtype.names:
        return None
    return {name: round(float(game[name]), 2) for name in ("x", "z", "yaw")}


def plan_facts(batch: EnvBatch) -> dict[str, Any] | None:
    """Walls, blocks and ovals, and where the goal is, as the page draws them."""
    plan = plan_of(batch)
    if plan is None:
        return None
    facts: dict[str, Any] = {
        "cell": plan.cell,
        "solid": ["".join(".#"[is_solid] for is_solid in row) for row in plan.solid.astype(int)],
        "boxes": [[*rounded(*edges), hexadecimal(colour)] for *edges, colour in plan.blocks],
        "ovals": [[*rounded(*place), hexadecimal(colour)] for *place, colour in plan.ovals],
    }
    return {**facts, "goal": rounded(*plan.goal)} if plan.goal else facts


def rounded(*values: float) -> list[float]:
    """To centimetres."""
    return [round(value, 2) for value in values]


def hexadecimal(colour: Colour) -> str:
    """As a browser reads it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


# --- players without a mind to look into


def described(game: GameSpec, player: str, actions: tuple[str, ...] | None = None) -> dict[str, Any]:
    """What stands above a recording."""
    found = find_task(game.task)
    return {
        "player": player,
        "task": found.name,
        "title": found.title,
        "rule": found.rule,
        "level": f"{game.level} {game.own}".strip(),
        "actions": actions or found.actions,
        "height": game.size[0],
        "width": game.size[1],
    }


def scripted_player(game: GameSpec, name: str) -> Performer:
    """One that comes with the task."""

    def play(seed: int) -> Iterator[Moment]:
        env = vector_env(game, 1, threads=1, seed=seed)
        pictures, _ = env.reset()
        action = np.zeros(1, np.int64)
        is_over = False
        while not is_over:
            env.batch.act(name, action)
            moment = Moment(
                pictures[0].copy(), int(action[0]), 0.0, place=place_of(env.batch), plan=plan_facts(env.batch)
            )
            pictures, rewards, terminated, truncated, _ = env.step(action)
            moment.reward, is_over = float(rewards[0]), bool(terminated[0] or truncated[0])
            yield moment

    return Performer(described(game, f"{name} player"), play)


def human_player(played: Played) -> Performer:
    """A person, whose one episode is always the same."""
    episode = played.episode

    def play(seed: int) -> Iterator[Moment]:
        steps = zip(replay(episode), episode.actions, episode.rewards, strict=False)
        for game, action, reward in steps:
            place, plan = place_of(game.batch), plan_facts(game.batch)
            yield Moment(game.picture.copy(), action, float(reward), place=place, plan=plan)

    name = f"{played.player or 'someone'}, episode {played.id}"
    facts = described(episode.game, name, actions_of(find_task(episode.game.task)))
    return Performer({**facts, "is_only": True}, play)
