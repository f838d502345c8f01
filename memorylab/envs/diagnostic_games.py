"""Diagnostic games with known answers, for the whole loop of actor and learner: seconds to play, seconds to learn.

They have the face of MemoryVectorEnv that an actor uses. Action 0 waits, the others press a button. A right press at a
question earns 1. A press at any other time costs a little, so that it does not pay to note an answer in one's own last
action for longer than four steps: without memory no agent does better than to guess.
"""

from typing import Any

import numpy as np

WAIT = 0
COST = 0.25
CELLS, CELL = 5, 4
SIDE = CELLS * CELL  # of a picture: the least that the small encoder takes
GAME = np.dtype([("seed", np.uint64), ("step", np.int64), ("score", np.float64)])


def mixed(numbers: np.ndarray | np.uint64) -> np.ndarray:
    """64 random bits for each number (splitmix64)."""
    z = np.asarray(numbers, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class TinyGames:
    """All of an episode follows from its seed, so that a game is its seed, its step and its score."""

    actions: int
    length: int  # of an episode, in steps
    scale: int  # what makes it hard

    def __init__(self, num_envs: int, seed: int):
        self.num_envs = num_envs
        self.records = np.zeros(num_envs, GAME)
        self.records["seed"] = mixed(mixed(np.full(1, seed)) + np.arange(num_envs, dtype=np.uint64))

    def questions(self) -> tuple[np.ndarray, np.ndarray]:
        """(B,) whether this step is a question, and the button that answers it."""
        raise NotImplementedError

    def cells(self) -> np.ndarray:
        """(B, 5, 5, 3) uint8: the picture of this step, coarsely."""
        raise NotImplementedError

    def pictures(self) -> np.ndarray:
        """(B, 20, 20, 3) uint8."""
        return self.cells().repeat(CELL, 1).repeat(CELL, 2)

    def reset(self) -> tuple[np.ndarray, dict[str, Any]]:
        """As MemoryVectorEnv has it."""
        self.records[["step", "score"]] = 0
        return self.pictures(), {}

    def step(self, actions: np.ndarray, *, out: np.ndarray | None = None) -> tuple:
        """As MemoryVectorEnv has it."""
        games = self.records
        asked, button = self.questions()
        rewards = np.where(asked, actions == button, -COST * (actions != WAIT))
        games["score"] += rewards
        games["step"] += 1
        over = games["step"] == self.length
        info: dict[str, Any] = {}
        if over.any():
            columns = {name: games[name].astype(kind) for name, kind in (("score", float), ("seed", np.int64))}
            steps = {name: np.full(self.num_envs, getattr(self, name)) for name in ("length", "scale")}
            info = {"final_info": columns | steps, "_final_info": over}
            games["seed"][over] = mixed(games["seed"][over])
            games["step"][over] = 0
            games["score"][over] = 0
        pictures = self.pictures()
        if out is not None:
            out[:] = pictures
        return pictures, rewards, over, np.zeros_like(over), info

    def act(self, player: str, actions: np.ndarray) -> None:
        """As MemoryVectorEnv has it: both players wait for a question, and the forgetting one guesses there."""
        asked, button = self.questions()
        if player == "forgetting":
            button = 1 + (
                mixed(self.records["seed"] + self.records["step"].astype(np.uint64)) % (self.actions - 1)
            ).astype(np.int64)
        actions[:] = np.where(asked, button, WAIT)

    def advise(self, teacher: str, advice: np.ndarray) -> None:
        """The same as bits."""
        self.act(teacher, advice)
        np.left_shift(1, advice, out=advice)

    def get_state(self) -> np.ndarray:
        """(B, n) uint8."""
        return self.records.view(np.uint8).reshape(self.num_envs, -1).copy()

    def set_state(self, state: np.ndarray) -> None:
        """Go on from a state."""
        self.records.view(np.uint8).reshape(self.num_envs, -1)[:] = state


class RememberBit(TinyGames):
    """The first picture is white on the left or on the right; n steps later, at the grey picture: which was it?"""

    actions = 3

    def __init__(self, n: int, num_envs: int = 1, seed: int = 0):
        super().__init__(num_envs, seed)
        self.length, self.scale = n + 1, n

    def bit(self) -> np.ndarray:
        """(B,) what is to be remembered."""
        return (mixed(self.records["seed"]) & np.uint64(1)).astype(np.int64)

    def questions(self) -> tuple[np.ndarray, np.ndarray]:
        """One, at the end."""
        return self.records["step"] == self.scale, 1 + self.bit()

    def cells(self) -> np.ndarray:
        """White on one side, then nothing, then grey."""
        step, side = self.records["step"], np.arange(CELLS) // 3  # columns 0 .. 2 left, 3 and 4 right
        white = (step == 0)[:, None] & (side == self.bit()[:, None])
        row = 255 * white + 128 * (step == self.scale)[:, None]
        return np.broadcast_to(row[:, None, :, None], (self.num_envs, CELLS, CELLS, 3)).astype(np.uint8)


MARKS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 0]], np.uint8)  # one a button
GREY = 128


class RecallByKey(TinyGames):
    """Patterns, new in each episode, are shown one by one above the mark of the button to press; after a delay each
    comes again without its mark, in another order: which button was it? Guessing earns a quarter a question.
    """

    actions = 1 + len(MARKS)

    def __init__(self, pairs: int, delay: int, num_envs: int = 1, seed: int = 0):
        super().__init__(num_envs, seed)
        self.scale, self.first_question = pairs, pairs + delay
        self.length = self.first_question + pairs

    def pair(self) -> np.ndarray:
        """(B,) 64 bits that make the pair of this step; the lowest two are its button."""
        step, seeds = self.records["step"], self.records["seed"]
        of_pairs = mixed(seeds[:, None] + np.arange(1, 1 + self.scale, dtype=np.uint64))
        order = np.concatenate([np.tile(np.arange(self.scale), (self.num_envs, 1)), mixed(of_pairs).argsort(1)], 1)
        place = np.where(step < self.scale, step, np.maximum(step - self.first_question, 0) + self.scale)
        games = np.arange(self.num_envs)
        return of_pairs[games, order[games, place]]

    def questions(self) -> tuple[np.ndarray, np.ndarray]:
        """Each pair twice."""
        step, button = self.records["step"], (self.pair() & np.uint64(3)).astype(np.int64)
        return (step < self.scale) | (step >= self.first_question), 1 + button

    def cells(self) -> np.ndarray:
        """A pattern above its mark; nothing in the delay."""
        step, pair = self.records["step"], self.pair()
        cells = np.full((self.num_envs, CELLS, CELLS, 3), GREY, np.uint8)
        bits = pair[:, None] >> np.arange(2, 2 + (CELLS - 1) * CELLS, dtype=np.uint64) & np.uint64(1)
        cells[:, :-1] = 255 * bits.reshape(self.num_envs, CELLS - 1, CELLS, 1)
        marked = step < self.scale
        cells[marked, -1] = MARKS[(pair[marked] & np.uint64(3)).astype(np.int64), None]
        cells[~marked & (step < self.first_question)] = 0
        return cells
