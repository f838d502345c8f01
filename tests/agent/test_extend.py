"""Parts that strangers add: each block of docs/extend.md and examples/my_loss.py plays, learns and is saved."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from small_agents import random_inputs, small_agent
from torch import nn

from memorylab.agent import (
    AUXILIARY_LOSSES,
    CONTROLLERS,
    ENCODERS,
    MEMORIES,
    AgentConfig,
    Inputs,
    MemoryRecallAgent,
    Output,
    model_config,
)
from memorylab.envs.diagnostic_games import SIDE, RecallByKey
from memorylab.learning.actor import Actor
from memorylab.learning.config import LearnerConfig
from memorylab.learning.learner import Learner
from memorylab.learning.trajectory import named_trajectory

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "extend.md").read_text(), re.DOTALL)
REGISTRIES = {"encoder": ENCODERS, "controller": CONTROLLERS, "memory": MEMORIES, "auxiliary": AUXILIARY_LOSSES}
SIZES = {"height": SIDE, "width": SIDE, "actions": 3, "embedding_size": 8, "hidden_size": 6, "cpc_steps": 3}
BASE = AgentConfig(encoder="small", **SIZES, key_size=4, neighbours=3, capacity=12)
CHOICES = {
    "leaky": {"controller": "leaky"},
    "fast_weights": {"controller": "fast_weights", "settings": {"fast_weights.decay": 0.5}},
    "gist": {"memory": "gist", "settings": {"gist.size": 5}},
    "gist with a window": {"memory": "gist", "controller": "transformer", "settings": {"transformer.window": 4}},
    "next_reward": {"auxiliary": ("cpc", "next_reward", "rec"), "settings": {"next_reward.weight": 2.0}},
    "patches": {"encoder": "patches"},
    "transformer": {"controller": "transformer", "memory": "none"},
    "all of them": {
        "controller": "fast_weights",
        "encoder": "patches",
        "memory": "gist",
        "auxiliary": ("next_reward",),
    },
}


@pytest.fixture(autouse=True)
def registered():
    """With what the page adds; as before afterwards."""
    kept = [(each, dict(each)) for each in REGISTRIES.values()]
    for block in BLOCKS:
        exec(block, {"__name__": "strangers"})
    yield
    for each, known in kept:
        each.clear()
        each.update(known)


def made(**changes) -> MemoryRecallAgent:
    return small_agent(model_config("mra", BASE), **changes)


def games() -> RecallByKey:
    return RecallByKey(pairs=3, delay=2, num_envs=5, seed=1)


@pytest.mark.parametrize("choice", CHOICES)
def test_learner_repeats_actor_and_everything_learns(choice):
    """Over episode boundaries, inside trajectories and at their edges; by way of the names in a message too."""
    agent = made(**CHOICES[choice])
    with torch.no_grad():
        agent.policy.weight.mul_(5)  # far from uniform: an error would show
    actor, learner = Actor(games(), agent, unroll=9, seed=3), Learner(agent, LearnerConfig(learning_rate=1e-3))
    edges = 0
    for _ in range(12):
        trajectory = actor.collect().trajectory
        trajectory = named_trajectory(agent, trajectory.state_dict())
        with torch.no_grad():
            output, _ = agent.unroll(trajectory.inputs, trajectory.state, trajectory.recalled)
        log_pi = output.logits.log_softmax(-1).gather(-1, trajectory.actions[..., None])[..., 0]
        torch.testing.assert_close(log_pi, trajectory.log_mu, atol=1e-5, rtol=1e-5)
        edges += int(trajectory.inputs.resets[-1].sum())
    assert edges
    before = {name: part.clone() for name, part in agent.named_parameters()}
    metrics = learner.update(trajectory)
    assert [name for name, part in agent.named_parameters() if torch.equal(part, before[name])] == []
    for name in agent.config.auxiliary:
        assert any(metric.startswith(name) for metric in metrics)


@pytest.mark.parametrize("choice", CHOICES)
def test_an_actor_goes_on_from_its_state_dict(choice):
    agent = made(**CHOICES[choice])
    env, other_env = games(), games()
    actor, other = Actor(env, agent, 7), Actor(other_env, agent, 7)
    for _ in range(3):
        actor.collect()
    other.load_state_dict({name: part.clone() for name, part in actor.state_dict().items()})
    other_env.set_state(env.get_state())
    mine, theirs = actor.collect().trajectory.state_dict(), other.collect().trajectory.state_dict()
    assert all(torch.equal(mine[name], theirs[name]) for name in mine)


@pytest.mark.parametrize("choice", CHOICES)
def test_an_episode_does_not_depend_on_what_was_before(choice):
    agent = made(**CHOICES[choice])
    inputs = random_inputs(agent, 9, 3, reset_share=0)
    inputs.resets[4] = True
    whole, _ = agent.unroll(inputs, agent.initial_state(3), store=agent.new_store(3))
    later = Inputs(*(part[4:] for part in inputs))
    alone, _ = agent.unroll(later, agent.initial_state(3), store=agent.new_store(3))
    torch.testing.assert_close(alone[:4], tuple(part[4:] for part in whole[:4]))


# --- auxiliary losses


def gradient(*auxiliary: str, weight: float = 1.0, **costs: float) -> torch.Tensor:
    """Of all losses of a trajectory, to what all agents have."""
    agent = made(auxiliary=auxiliary, settings={"next_reward.weight": weight} if "next_reward" in auxiliary else {})
    trajectory = Actor(games(), agent, unroll=9).collect().trajectory
    Learner(agent, LearnerConfig(**costs)).loss(trajectory)[0].backward()
    return torch.cat([p.grad.flatten() for part in (agent.encoder, agent.controller) for p in part.parameters()])


def test_losses_add_up():
    """Together they give the gradient of the sum of each alone."""
    rl, cpc, rec, reward = gradient(), gradient("cpc"), gradient("rec"), gradient("next_reward")
    close = partial(torch.testing.assert_close, rtol=1e-3, atol=1e-3 * cpc.abs().max().item())
    close(gradient("cpc", "rec"), cpc + rec - rl)
    close(gradient("rec", "cpc", "next_reward"), cpc + rec + reward - 2 * rl)


WEIGHTS = [("cpc", "cpc_weight", 10.0), ("rec", "rec_action_cost", 1.0), ("next_reward", "weight", 1.0)]


@pytest.mark.parametrize(("name", "setting", "default"), WEIGHTS)
def test_a_loss_has_its_weight(name, setting, default):
    nothing = {"rec_image_cost": 0.0, "rec_reward_cost": 0.0}
    rl, once, twice = gradient(), gradient(name, **nothing), gradient(name, **nothing, **{setting: 2 * default})
    assert (once - rl).abs().max() > 0.01
    torch.testing.assert_close(twice - rl, 2 * (once - rl), rtol=1e-3, atol=1e-3 * once.abs().max().item())


def test_the_next_reward_step_by_step():
    agent = made(auxiliary=("next_reward",))
    inputs = random_inputs(agent, 6, 3)
    output, _ = agent.unroll(inputs, agent.initial_state(3), store=agent.new_store(3))
    part = agent.auxiliary["next_reward"]
    errors = []
    for t, b in np.ndindex(5, 3):
        reward, action = inputs.rewards[t + 1, b].clamp(-1, 1), inputs.actions[t + 1, b]
        errors.append((reward - part.predict(output.h[t, b])[action]) ** 2 / 2)
    torch.testing.assert_close(part.loss(output, inputs)[0], torch.stack(errors).mean())


def test_the_page_shows_the_example():
    example = (ROOT / "examples" / "my_loss.py").read_text()
    (shown,) = (block for block in BLOCKS if "NextReward" in block)
    assert shown.strip() in example


# --- registries


def test_an_unknown_name_is_a_sentence_with_the_known_ones():
    for kind, each in REGISTRIES.items():
        given = ("mine",) if kind == "auxiliary" else "mine"
        with pytest.raises(ValueError, match=f"{kind} must be one of .*, not 'mine'") as error:
            AgentConfig(**{kind: given})
        assert all(name in str(error.value) for name in each)


def test_settings_have_the_type_of_their_default():
    agent = made(controller="transformer", settings={"transformer.window": 7.0})
    assert agent.initial_state(2)[1].shape == (2, 7, 6)


def test_earlier_configurations_are_understood():
    assert AgentConfig(memory=True, auxiliary="cpc") == AgentConfig()
    old = AgentConfig(memory=False, auxiliary="none")
    assert (old.memory, old.auxiliary) == ("none", ())
    assert AgentConfig(auxiliary=["cpc", "rec"]).auxiliary == ("cpc", "rec")  # from JSON


# --- the transformer's window


def slow_window(controller, e: torch.Tensor, resets: torch.Tensor) -> torch.Tensor:
    """Step by step, game by game, head by head: (T, B, H)."""
    T, B, H = e.shape
    size, h = H // controller.heads, torch.zeros(T, B, H)
    for b in range(B):
        for t in range(T):
            first = max([0, t - controller.window + 1, *(u for u in range(t + 1) if resets[u, b])])
            seen = controller.before_attention(e[first : t + 1, b])
            q = controller.query(seen[-1])
            k, v = controller.key_value(seen).chunk(2, -1)
            found = []
            for head in range(controller.heads):
                part = slice(head * size, (head + 1) * size)
                scores = k[:, part] @ q[part] / size**0.5 + controller.of_age[head, controller.window - len(seen) :]
                found.append(scores.softmax(0) @ v[:, part])
            u = e[t, b] + controller.out(torch.cat(found))
            h[t, b] = u + controller.mlp(controller.before_mlp(u))
    return h


def test_the_window_against_loops():
    torch.manual_seed(0)
    controller = CONTROLLERS["transformer"](5, 0, 6, window=4)
    nn.init.normal_(controller.of_age)
    inputs, resets = torch.randn(12, 3, 5), torch.rand(12, 3) < 0.15
    assert resets[1:].any()
    h, _ = controller.unroll(controller.embed(inputs), None, (~resets)[..., None].float(), controller.initial_state(3))
    torch.testing.assert_close(h, slow_window(controller, controller.embed(inputs), resets))


def test_a_window_that_does_not_fit_is_one_sentence():
    with pytest.raises(ValueError, match="a hidden_size that its heads divide, not 32, 6 and 4"):
        CONTROLLERS["transformer"](5, 0, 6, heads=4)


def test_all_steps_at_once_are_the_steps_one_by_one():
    """A memory whose queries have no h: the learner's controller unrolls; the actor's advances."""
    agent = made(memory="gist", controller="transformer", settings={"transformer.window": 4})
    inputs = random_inputs(agent, 12, 3, reset_share=0.1)
    calls = []
    advance = agent.controller.advance
    agent.controller.advance = lambda *given: calls.append(1) or advance(*given)
    own: Output = agent.unroll(inputs, agent.initial_state(3), store=agent.new_store(3))[0]
    assert len(calls) == 12
    replayed, _ = agent.unroll(inputs, agent.initial_state(3), recalled=own.recalled)
    assert len(calls) == 12
    torch.testing.assert_close(replayed.h, own.h)
