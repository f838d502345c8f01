"""The whole loop on games with known answers: solved by the models that should, not by those that cannot."""

from dataclasses import replace
from statistics import mean

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, MemoryRecallAgent, model_config
from memorylab.envs.diagnostic_games import COST, SIDE, WAIT, RecallByKey, RememberBit, TinyGames
from memorylab.learning.config import LearnerConfig
from memorylab.learning.evaluation import play_episodes
from memorylab.learning.learner import Learner
from memorylab.learning.stopwatch import Stopwatch
from memorylab.runtime.one_process import OneProcess
from memorylab.runtime.protocol import Stage


@pytest.fixture(autouse=True)
def same_threads():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


# --- the games themselves


def played(env: TinyGames, steps: int, choose) -> tuple[list[float], list[np.ndarray]]:
    """Scores of the episodes, and all pictures."""
    scores, pictures = [], [env.reset()[0]]
    for _ in range(steps):
        picture, rewards, terminated, truncated, info = env.step(choose(env))
        assert rewards.shape == terminated.shape == truncated.shape == (env.num_envs,)
        assert picture.shape == (env.num_envs, SIDE, SIDE, 3)
        assert picture.dtype == np.uint8
        pictures.append(picture)
        if "final_info" in info:
            ended = info["_final_info"]
            assert (ended == terminated).all()
            assert (info["final_info"]["length"][ended] == env.length).all()
            scores += info["final_info"]["score"][ended].tolist()
    return scores, pictures


def right(env: TinyGames) -> np.ndarray:
    asked, button = env.questions()
    return np.where(asked, button, WAIT)


MADE = {"bit": lambda seed: RememberBit(4, 50, seed), "key": lambda seed: RecallByKey(3, 2, 50, seed)}


@pytest.mark.parametrize("name", MADE)
def test_right_answers_earn_all_and_early_presses_cost(name):
    env = MADE[name](0)
    asked = 1 if name == "bit" else 6
    scores, _ = played(env, 5 * env.length, right)
    assert scores == [asked] * 250
    scores, _ = played(MADE[name](0), env.length, lambda env: np.ones(50, np.int64))
    assert mean(scores) < asked - COST * (env.length - asked)


@pytest.mark.parametrize("name", MADE)
def test_seeds_decide_everything_and_a_state_goes_on(name):
    one, other, third = MADE[name](1), MADE[name](1), MADE[name](2)
    draw = np.random.default_rng(0)
    actions = iter(draw.integers(3, size=(1000, 50)))
    a, b, c = (played(env, 30, lambda _: next(actions))[1] for env in (one, other, third))
    assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    assert not all(np.array_equal(x, y) for x, y in zip(a, c, strict=True))
    third.set_state(one.get_state())
    for _ in range(30):
        row = next(actions)
        for x, y in zip(one.step(row)[:4], third.step(row)[:4], strict=True):
            assert np.array_equal(x, y)


def test_pictures_tell_what_they_should():
    env = RememberBit(4, 50)
    first, *_, last, after = played(env, 5, right)[1]
    assert len(np.unique(first.reshape(50, -1), axis=0)) == 2
    assert (last == 128).all()
    assert len(np.unique(after.reshape(50, -1), axis=0)) == 2
    env = RecallByKey(3, 2, 50)
    pictures = np.stack(played(env, env.length - 1, right)[1])
    patterns = pictures[:, :, :-4].reshape(env.length, 50, -1)
    for game in range(50):
        shown, asked = ({pattern.tobytes() for pattern in patterns[part, game]} for part in (slice(3), slice(5, 8)))
        assert shown == asked
        assert len(shown) == 3
    assert not pictures[3:5].any()
    assert (pictures[5:, :, -4:] == 128).all()
    orders = {tuple(np.argmax((patterns[5:, g, None] == patterns[None, :3, g]).all(-1), 1)) for g in range(50)}
    assert len(orders) == 6


# --- the whole loop


def score_after(
    env: TinyGames, model: str, updates: int, goal: float, fresh: TinyGames, seed: int = 0, **settings
) -> float:
    """Trained for so many updates at most, or until the last 200 episodes have the goal; evaluated on fresh ones."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    sizes = {"embedding_size": settings.pop("size"), "hidden_size": 32, "key_size": 16, "neighbours": 8}
    base = AgentConfig(encoder="small", height=SIDE, width=SIDE, actions=env.actions, capacity=env.length, **sizes)
    agent = MemoryRecallAgent(replace(model_config(model, base), **settings.pop("parts", {})))
    unroll = settings.pop("unroll")
    config = LearnerConfig(adam_epsilon=1e-8, gradient_norm=1.0, reduction="mean", **settings)
    runtime = OneProcess(
        lambda seed: env, Learner(agent, config), env.num_envs, unroll, threads=1, stopwatch=Stopwatch()
    )
    runtime.begin(Stage({}, seed=0))
    scores: list[float] = []
    for _ in range(updates):
        scores += [episode.score for episode in runtime.advance(0.0).episodes]
        if len(scores) > 200 and mean(scores[-200:]) >= goal:
            break
    runtime.close()
    return mean(episode.score for episode in play_episodes(fresh, agent, 400, seed=1))


BIT = {"size": 32, "unroll": 24, "learning_rate": 5e-3, "entropy_cost": 0.02, "discount": 0.9}


@pytest.mark.parametrize(("model", "updates", "least", "most"), [("lstm", 500, 0.9, 1.0), ("ff", 140, 0.3, 0.65)])
def test_a_bit_is_remembered_with_working_memory_only(model, updates, least, most):
    score = score_after(RememberBit(5, 16, seed=0), model, updates, 0.95, RememberBit(5, 100, seed=1), **BIT)
    assert least <= score <= most


def test_a_bit_is_remembered_with_a_transformer_s_window():
    window = {"controller": "transformer", "settings": {"transformer.window": 8}}
    score = score_after(RememberBit(5, 16, seed=0), "lstm", 500, 0.95, RememberBit(5, 100, seed=1), parts=window, **BIT)
    assert score >= 0.9


KEY = {"size": 32, "unroll": 14, "learning_rate": 5e-3, "entropy_cost": 0.05, "discount": 0.0}


def pair_score(model: str, updates: int, seed: int) -> float:
    fresh = RecallByKey(1, 6, 100, seed=1)
    return score_after(RecallByKey(1, 6, 32, seed=seed), model, updates, 1.7, fresh, seed=seed, **KEY)


def test_a_pair_is_recalled_with_episodic_memory():
    """One pair: the mark earns 1, the question another 1, a guess a quarter. With FF nothing but the episodic memory
    leads back. Two and four pairs take longer (studies/recall_by_key.py). Not every seed finds it: one of three
    must."""
    assert any(pair_score("ff+mem", 1000, seed) >= 1.55 for seed in (4, 0, 1))


def test_a_pair_is_not_recalled_without():
    assert 0.2 <= pair_score("ff", 300, seed=4) <= 1.4
