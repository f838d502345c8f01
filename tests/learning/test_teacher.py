"""A teacher: what it says belongs to the picture that the agent sees, and only its weight makes it heard."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from memorylab.agent import AgentConfig, MemoryRecallAgent, model_config
from memorylab.agent.homing import told_poses
from memorylab.envs.diagnostic_games import GREY, SIDE, WAIT, RememberBit
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.actor import Actor
from memorylab.learning.config import LearnerConfig, TrainConfig
from memorylab.learning.learner import Learner
from memorylab.learning.losses import teaching
from memorylab.learning.trajectory import named_trajectory
from memorylab.tasks.task import TASKS, find_task
from memorylab.world.walking import LOOK_RIGHT

SIZES = {"height": SIDE, "width": SIDE, "embedding_size": 8, "hidden_size": 8, "key_size": 4, "capacity": 16}


def small_agent(actions: int, **sizes) -> MemoryRecallAgent:
    torch.manual_seed(0)
    sizes = SIZES | {"neighbours": 3, "cpc_steps": 2} | sizes
    return MemoryRecallAgent(model_config("mra", AgentConfig(encoder="small", actions=actions, **sizes)))


@pytest.mark.parametrize("length", [1, 4, 7])
def test_advice_is_for_the_picture_beside_it(length):
    """The bit is in an episode's first picture and asked for at the grey one, perhaps in another trajectory."""
    actor = Actor(RememberBit(length, num_envs=6, seed=3), small_agent(3), unroll=5, teacher="remembering")
    bit, asked = np.zeros(6, int), 0
    for _ in range(8):
        trajectory = actor.collect().trajectory
        for t in range(5):  # the sixth is the first of the next
            picture = trajectory.inputs.pictures[t, :, 0].numpy()  # (B, width, 3)
            begins = trajectory.inputs.resets[t].numpy()
            bit[begins] = (picture[begins, -1, 0] == 255).astype(int)
            is_question = picture[:, 0, 0] == GREY
            expected = np.where(is_question, 1 + bit, WAIT)
            assert (trajectory.advice[t].numpy() == 1 << expected).all()
            asked += is_question.sum()
    assert asked > 20


@pytest.mark.parametrize("task", ["avm", "spot_diff_passive"])
def test_advice_is_the_scripted_player_s_for_the_state_of_the_picture(task):
    """Another batch of the same games, moved by the agent's actions, is asked in each state."""
    settings = {"seed": 5, "size": (SIDE, 24), "seconds": 1}
    env, twin = (MemoryVectorEnv(task, num_envs=4, **settings) for _ in range(2))
    actor = Actor(env, small_agent(env.single_action_space.n, width=24), unroll=6, teacher="forgetting")
    twin.reset()
    advised, ended = np.zeros(4, np.int64), 0
    for _ in range(6):
        trajectory = actor.collect().trajectory
        for t in range(6):
            twin.act("forgetting", advised)
            assert (trajectory.advice[t].numpy() == 1 << advised).all()
            _, _, terminated, truncated, _ = twin.step(trajectory.actions[t].numpy())
            ended += (terminated | truncated).sum()
    assert ended >= 4


def test_the_lesson_against_a_slow_twin():
    logits = torch.randn(3, 2, 4, generator=torch.Generator().manual_seed(1))
    good = [[{0}, {3}], [{1, 2}, {1}], [{0, 1, 2, 3}, {0, 3}]]
    advice = torch.tensor([[sum(1 << action for action in actions) for actions in row] for row in good])
    lesson = teaching(logits, advice)
    losses, hits = [], []
    for t in range(3):
        for b in range(2):
            weights = np.exp(logits[t, b].numpy().astype(np.float64))
            losses.append(-np.log(sum(weights[action] for action in good[t][b]) / weights.sum()))
            hits.append(weights.argmax() in good[t][b])
    assert lesson.loss.item() == pytest.approx(np.mean(losses), rel=1e-6)
    assert lesson.agreement.item() == pytest.approx(np.mean(hits))


def test_a_lesson_has_no_opinion_between_what_is_good():
    logits = torch.zeros(1, 1, 4, requires_grad=True)
    teaching(logits, torch.tensor([[0b0110]])).loss.backward()
    given = logits.grad[0, 0]
    assert given[1] == given[2] < 0 < given[0] == given[3]


@pytest.mark.parametrize("task", ["sdp", "sdmo", "ti"])
def test_who_follows_advice_gets_there(task):
    """Whichever of the good actions it takes, anew at each step."""
    env = MemoryVectorEnv(task, num_envs=8, seed=2, size=(SIDE, 24))
    env.reset()
    advice, rng, lengths = np.zeros(8, np.int64), np.random.default_rng(0), []
    for _ in range(900):
        env.advise("skills", advice)
        good = [[action for action in range(8) if bits >> action & 1] for bits in advice.tolist()]
        _, _, terminated, truncated, info = env.step(np.array([rng.choice(actions) for actions in good]))
        assert not truncated.any()
        if terminated.any():
            lengths += info["final_info"]["length"][terminated].tolist()
    assert len(lengths) >= 8
    env.close()


@pytest.mark.parametrize("task", ["igb", "iga"])
def test_advice_in_an_arena_leads_about_and_knows_nothing_of_the_goal(task):
    """Who takes any good action comes by goals at last, if they are as wide as with buildings."""
    env = MemoryVectorEnv(task, num_envs=16, seed=2, size=(SIDE, 24), side=10, reach=1.35)
    env.reset()
    advice, elsewhere, rng, goals = *np.zeros((2, 16), np.int64), np.random.default_rng(0), 0.0
    for _ in range(600):
        env.advise("skills", advice)
        good = [[action for action in range(8) if bits >> action & 1] for bits in advice.tolist()]
        _, rewards, *_ = env.step(np.array([rng.choice(actions) for actions in good]))
        goals += rewards.sum()
    assert goals >= 8
    env.advise("skills", advice)
    games = env.batch.records
    games["goal_x"], games["goal_z"] = games["goal_z"].copy(), games["goal_x"].copy()
    games["goals"] += games["goals"] > 0
    env.advise("skills", elsewhere)
    assert advice.tolist() == elsewhere.tolist()
    env.close()


def test_advice_in_the_maze_is_the_skilled_players_action_and_the_place():
    env = MemoryVectorEnv("vgm", num_envs=16, seed=2, size=(SIDE, 24))
    env.reset()
    actions, advice = np.zeros((2, 16), np.int64)
    for _ in range(100):
        env.act("skilled", actions)
        env.advise("skills", advice)
        assert (advice & 0xFFFF == 1 << actions).all()
        east, north, sin, cos = told_poses(torch.from_numpy(advice)).numpy().T
        games, step = env.batch.records, 3.07 / 15  # cells: 15 steps a second
        np.testing.assert_allclose(east * step, games["x"] - games["rows"] / 2, atol=1.01 * step)
        np.testing.assert_allclose(north * step, games["z"] - games["rows"] / 2, atol=1.01 * step)
        yaw = np.radians(games["yaw"])
        np.testing.assert_allclose((sin, cos), (np.sin(yaw), np.cos(yaw)), atol=0.01)
        env.step(actions)
    env.close()


SKILLED_TASKS = [task for task in TASKS if TrainConfig(task, teacher="skills").teaching_player == "skills"]
ROOMS = [task for task in SKILLED_TASKS if find_task(task).family == "rooms"]


@pytest.mark.parametrize("task", ROOMS)
def test_advice_holds_what_both_players_do_and_cannot_tell_them_apart(task):
    """Who remembers and who guesses both follow it, but for turning to a thing that is not in view."""
    assert (len(SKILLED_TASKS), len(ROOMS)) == (8, 5)
    for player in ("remembering", "forgetting"):
        env = MemoryVectorEnv(task, num_envs=8, seed=2, size=(SIDE, 24), seconds=60)
        env.reset()
        actions, advice = np.zeros((2, 8), np.int64)
        open_steps = 0
        for _ in range(300):
            env.advise("skills", advice)
            env.act(player, actions)
            assert ((advice >> actions) & 1 | (actions == LOOK_RIGHT)).all()
            open_steps += (np.bitwise_count(advice) > 1).sum()
            env.step(actions)
        assert open_steps > 20
        env.close()


def updated(teacher: str, updates: int = 3, length: int = 4, **changes) -> tuple[Learner, list[dict[str, float]]]:
    config = LearnerConfig(learning_rate=1e-2, reduction="mean", cpc_weight=0.01, **changes)
    learner = Learner(small_agent(3), config)
    actor = Actor(RememberBit(length, num_envs=6), small_agent(3), unroll=5, teacher=teacher)
    return learner, [learner.update(actor.collect().trajectory) for _ in range(updates)]


def test_a_teacher_of_no_weight_leaves_every_bit_as_it_was():
    alone, _ = updated("none")
    unheard, told = updated("forgetting", teacher_weight=0.0)
    heard, _ = updated("forgetting")
    assert all(map(torch.equal, alone.agent.parameters(), unheard.agent.parameters()))
    assert not all(map(torch.equal, alone.agent.parameters(), heard.agent.parameters()))
    assert told[0]["teacher_weight"] == 0.0
    assert 0.0 <= told[0]["teacher_agreement"] <= 1.0


def test_the_weight_falls_in_a_line_to_zero_and_is_remembered():
    learner, told = updated("forgetting", updates=5, teacher_weight=2.0, teacher_steps=90)
    assert [row["teacher_weight"] for row in told] == pytest.approx([2.0, 4 / 3, 2 / 3, 0.0, 0.0])
    other = Learner(small_agent(3), learner.config)
    other.load_state_dict(learner.state_dict(), learner.version)
    assert (other.steps, other.teacher_weight()) == (150, 0.0)


def test_the_weight_falls_to_its_floor():
    _, told = updated("forgetting", updates=5, teacher_weight=2.0, teacher_steps=90, teacher_floor=0.5)
    assert [row["teacher_weight"] for row in told] == pytest.approx([2.0, 1.5, 1.0, 0.5, 0.5])


def test_a_teacher_is_imitated():
    """In an episode of two steps every other one is a question, and the answer is in the picture before."""
    _, told = updated("remembering", updates=60, length=1)
    assert told[-1]["teacher_agreement"] > 0.9 > 0.7 > told[0]["teacher_agreement"]


def test_advice_travels_with_a_trajectory():
    actor = Actor(RememberBit(4, num_envs=6), small_agent(3), unroll=5, teacher="forgetting")
    trajectory = actor.collect().trajectory
    assert torch.equal(named_trajectory(actor.agent, trajectory.state_dict()).advice, trajectory.advice)


def test_who_teaches_the_skills_of_a_task():
    players = {task: TrainConfig(task, teacher="skills").teaching_player for task in ("avm", "vgm", "sdp", "vgb")}
    assert players == {"avm": "forgetting", "vgm": "skills", "sdp": "skills", "vgb": "forgetting"}
    assert TrainConfig("avm").teaching_player == "none"


def test_an_unknown_teacher_is_told_in_a_sentence():
    with pytest.raises(ValueError, match="unknown teacher 'plato'; the teachers of avm are none, skills, random"):
        replace(TrainConfig("avm"), teacher="plato")
