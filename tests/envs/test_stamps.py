"""Files of games that somebody made: whatever they hold, compiled code sees none but games that can be."""

import numpy as np
import pytest

from memorylab.envs import stamps
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.tasks.task import TASKS

GAMES = 8
ANYTHING = {"draws", "hanging", "box_solid", "solid"}  # chance, and what is asked only whether it is 0
EXTREMES = (-1, 0, 1, 7, 63, 255, 10**5, 2**31 - 1, -(2**31))


def made(task: str) -> MemoryVectorEnv:
    env = MemoryVectorEnv(task, num_envs=GAMES, size=(16, 24), threads=1)
    env.reset(seed=3)
    return env


def played(env: MemoryVectorEnv, steps: int, player: str) -> None:
    actions = np.zeros(GAMES, np.int64)
    for _ in range(steps):
        env.act(player, actions)
        env.step(actions)


def forged(env: MemoryVectorEnv, records: np.ndarray) -> np.ndarray:
    """As a file of games that is in order, but for what it says."""
    genuine, env.batch.records = env.batch.records, records
    try:
        return stamps.stamped(env.batch)
    finally:
        env.batch.records = genuine


@pytest.mark.parametrize("task", TASKS)
def test_random_bytes_with_a_right_checksum_are_refused_in_one_sentence(task):
    env, chance = made(task), np.random.default_rng(0)
    before = env.batch.records.tobytes()
    for _ in range(3):
        bytes_ = chance.integers(0, 256, (GAMES, env.batch.records.dtype.itemsize), np.uint8)
        state = forged(env, bytes_.view(env.batch.records.dtype)[:, 0])
        with pytest.raises(ValueError, match=r"the state of the games is damaged: '.*' of game . cannot be so"):
            env.set_state(state)
    assert env.batch.records.tobytes() == before


@pytest.mark.parametrize("task", TASKS)
def test_a_game_with_one_forged_number_is_refused_or_can_be_played(task):
    env, chance = made(task), np.random.default_rng(1)
    played(env, 60, "remembering")
    genuine, refused = env.batch.records.copy(), 0
    for name in genuine.dtype.names:
        for extreme in (*EXTREMES, None):
            records = genuine.copy()
            field = records[name]
            noise = chance.integers(0, 256, field.nbytes, np.uint8).view(field.dtype.base).reshape(field.shape)
            field[:] = noise if extreme is None else np.int64(extreme).astype(field.dtype)
            try:
                env.set_state(forged(env, records))
            except ValueError:
                refused += 1
                continue
            for player in ("random", "remembering", "forgetting"):
                played(env, 3, player)
    assert refused > 3 * len(genuine.dtype.names)


@pytest.mark.parametrize("task", TASKS)
def test_genuine_games_are_never_refused(task):
    """At any step of several episodes, whoever plays; nor is any whole number left without a check."""
    env = made(task)
    for player in ("remembering", "random"):
        for seed in range(4):
            env.reset(seed=seed)
            for frames in (0, 1000, 5000):  # an episode's clock moves on
                env.batch.records["frame"] = np.minimum(env.batch.records["frame"] + frames, 6000)
                played(env, 40, player)
                env.set_state(env.get_state())
    fields = env.batch.task.game.fields
    assert {n for n in fields if fields[n][0].base.kind in "iu"} - env.batch.task.checks.keys() <= ANYTHING
