"""The whole agent: acting is learning, gradients go where the paper lets them, what is wrong is said at the entry."""

import pytest
import torch
from small_agents import SMALL, at, random_inputs, small_agent
from torch.autograd import gradcheck
from torch.func import functional_call
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from memorylab.agent import MODELS, Inputs, MemoryRecallAgent, Output, model_config
from memorylab.agent.data import stacked
from memorylab.agent.episodic import EpisodicStore, Recalled

AGENTS = [(name, {}) for name in MODELS]
AGENTS += [("mra", {"controller": "gru"}), ("mra", {"controller": "lru"}), ("lstm", {"controller": "gru"})]
WINDOW = {"controller": "transformer", "settings": {"transformer.window": 4}}  # shorter than some episodes
AGENTS += [("mra", WINDOW), ("lstm", WINDOW), ("mra", {"auxiliary": ("cpc", "rec")})]
AGENTS += [("mra", {"encoder": "residual", "height": 9, "width": 11})]
GAMES, STEPS, BEFORE = 3, 14, 4
assert SMALL.capacity < STEPS


def made(name: str, **changes) -> MemoryRecallAgent:
    return small_agent(model_config(name, SMALL), **changes)


def copied(store: EpisodicStore | None, agent: MemoryRecallAgent) -> EpisodicStore | None:
    copy = agent.new_store(GAMES)
    if store is not None:
        copy.load_state_dict(store.state_dict())
    return copy


def acted(agent, inputs, state, store) -> tuple[Output, tuple]:
    """`step` for every t, stacked."""
    outputs = []
    for t in range(len(inputs.resets)):
        output, state = agent.step(at(inputs, t), state, store)
        outputs.append(output)
    parts = {
        name: [getattr(output, name) for output in outputs] for name in ("logits", "baseline", "x", "h", "weights")
    }
    tensors = {name: None if part[0] is None else torch.stack(part) for name, part in parts.items()}
    recalled = None if outputs[0].recalled is None else stacked([output.recalled for output in outputs])
    return Output(**tensors, recalled=recalled), state


def close(left, right) -> None:
    torch.testing.assert_close(left, right, atol=1e-5, rtol=1e-5)


def by_age(output: Output) -> tuple:
    """What was recalled, in an order that does not depend on the search."""
    if output.recalled is None:
        return ()
    recalled, w = output.recalled, output.weights
    age, order = torch.where(recalled.valid, recalled.age, 10**6).sort(-1)
    pv = recalled.pv.gather(-2, order[..., None].expand_as(recalled.pv)) * (age < 10**6)[..., None]
    return age, pv, w.gather(-1, order)


@pytest.mark.parametrize(("name", "changes"), AGENTS)
def test_steps_equal_an_unroll(name, changes):
    """Over episode boundaries, with a state and a memory from before, and a ring that wraps around."""
    agent = made(name, **changes)
    all_inputs = random_inputs(agent, BEFORE + STEPS, GAMES, reset_share=0.1)
    assert all_inputs.resets[BEFORE:].any()
    inputs = Inputs(*(part[BEFORE:] for part in all_inputs))
    store = agent.new_store(GAMES)
    _, state = acted(agent, Inputs(*(part[:BEFORE] for part in all_inputs)), agent.initial_state(GAMES), store)
    start, before = copied(store, agent), state
    steps, state = acted(agent, inputs, before, store)

    learned, learned_state = agent.unroll(inputs, before, recalled=steps.recalled)
    close(learned[:4], steps[:4])
    close(learned_state, state)
    close(by_age(learned), by_age(steps))

    own, own_state = agent.unroll(inputs, before, store=start)
    close(own[:4], steps[:4])
    close(own_state, state)
    close(by_age(own), by_age(steps))
    if store is not None:
        close(start.state_dict(), store.state_dict())
        check_contents(agent, start, own, inputs.resets)


def check_contents(agent, store: EpisodicStore, output: Output, resets) -> None:
    """The slots hold x, h and their keys; a slot counts if no episode has begun since it was written."""
    capacity = store.capacity
    for t in range(STEPS - capacity, STEPS):
        slot = (BEFORE + t) % capacity
        pv = torch.cat([output.x[t], output.h[t]], -1)
        close(store.pv[:, slot], pv)
        close(store.k[:, slot], agent.read.key(pv))
        assert torch.equal(store.filled()[:, slot], ~resets[t + 1 :].any(0))
    assert store.next_slot == (BEFORE + STEPS) % capacity


def test_an_episode_does_not_depend_on_what_was_before():
    agent = made("mra")
    inputs = random_inputs(agent, 8, GAMES, reset_share=0)
    inputs.resets[3] = True
    whole, _ = agent.unroll(inputs, agent.initial_state(GAMES), store=agent.new_store(GAMES))
    later = Inputs(*(part[3:].clone() for part in inputs))
    later.rewards[0], later.actions[0] = 99.0, 0  # do not count at a reset
    noise = tuple(torch.randn_like(part) for part in agent.initial_state(GAMES))
    store = agent.new_store(GAMES)
    for _ in range(7):
        store.write(torch.randn(GAMES, 7), torch.randn(GAMES, 6), torch.randn(GAMES, 4))
    alone, _ = agent.unroll(later, noise, store=store)
    close(alone[:4], tuple(part[3:] for part in whole[:4]))


def test_rewards_are_clipped_and_actions_one_hot():
    agent = made("lstm")
    inputs = random_inputs(agent, 2, GAMES, reset_share=0)
    inputs.rewards[0] = torch.tensor([-7.0, 0.25, 30.0])
    inputs.actions[0] = torch.tensor([0, 3, 1])
    inputs.resets[1] = True
    assert agent.previous(inputs)[0].tolist() == [[-1, 1, 0, 0, 0], [0.25, 0, 0, 0, 1], [1, 0, 1, 0, 0]]
    assert not agent.previous(inputs)[1].any()


def test_heads_are_linear_in_h():
    agent = made("mra")
    output, _ = agent.unroll(random_inputs(agent, 4, 2), agent.initial_state(2), store=agent.new_store(2))
    close(output.logits, output.h @ agent.policy.weight.T + agent.policy.bias)
    close(output.baseline, (output.h @ agent.baseline.weight.T + agent.baseline.bias)[..., 0])


# --- gradients


def own_unroll(agent, inputs):
    games = inputs.resets.shape[1]
    return agent.unroll(inputs, agent.initial_state(games), store=agent.new_store(games))[0]


def loss_at(output: Output, t: int):
    return output.logits[t].square().sum() + output.baseline[t].square().sum()


@pytest.mark.parametrize("controller", ["ff", "lstm", "gru", "lru"])
@pytest.mark.parametrize("jumpy", [True, False])
@pytest.mark.parametrize("replayed", [True, False])
def test_a_late_loss_reaches_queries_and_with_jumpy_keys(controller, jumpy, replayed):
    agent = made("mra", controller=controller, jumpy=jumpy)
    inputs = random_inputs(agent, 8, 2, reset_share=0)
    output = own_unroll(agent, inputs)
    if replayed:
        output, _ = agent.unroll(inputs, agent.initial_state(2), recalled=output.recalled)
    loss_at(output, 6).backward()
    read = agent.read
    for parameter in (read.query_of_x.weight, read.query_of_x.bias, read.query_of_h.weight):
        assert parameter.grad.abs().max() > 1e-8
    for parameter in (read.key.weight, read.key.bias):
        if jumpy:
            assert parameter.grad.abs().max() > 1e-8
        else:
            assert parameter.grad is None or not parameter.grad.any()


@pytest.mark.parametrize("controller", ["ff", "lstm"])
def test_no_gradient_flows_through_what_was_written(controller, monkeypatch):
    """The gradients of an agent with its own store are those of one whose neighbours are constants."""
    agent = made("mra", controller=controller)
    inputs = random_inputs(agent, 9, 2, reset_share=0.05)
    x = agent.encode(inputs.pictures).detach().requires_grad_()
    monkeypatch.setattr(agent, "encode", lambda pictures: x)
    wanted = [x, *agent.read.parameters(), *agent.controller.parameters()]

    output = own_unroll(agent, inputs)
    own = torch.autograd.grad(loss_at(output, 7), wanted)
    found = output.recalled
    assert not found.pv.requires_grad
    constants = Recalled(found.pv.clone(), found.valid, found.age)
    output, _ = agent.unroll(inputs, agent.initial_state(2), recalled=constants)
    torch.testing.assert_close(own, torch.autograd.grad(loss_at(output, 7), wanted), atol=1e-7, rtol=1e-5)


def test_without_recurrence_nothing_reaches_earlier_steps_though_they_are_recalled(monkeypatch):
    """Feedforward and W_qh = 0: memory is the only way from an earlier x to a later output, and it has no gradient."""
    agent = made("ff+mem")
    with torch.no_grad():
        agent.read.query_of_h.weight.zero_()
    inputs = random_inputs(agent, 6, 2, reset_share=0)
    x = agent.encode(inputs.pictures).detach()
    outputs = []
    for change in (0.0, 0.5):
        x_t = x.clone()
        x_t[3] += change
        x_t.requires_grad_()
        monkeypatch.setattr(agent, "encode", lambda pictures, x_t=x_t: x_t)
        outputs.append(own_unroll(agent, inputs))
        (gradient,) = torch.autograd.grad(loss_at(outputs[-1], 4), [x_t])
        assert not gradient[:4].any()
        assert gradient[4].any()
    assert (outputs[0].logits[4] - outputs[1].logits[4]).abs().max() > 1e-4  # it does depend on x_3


@pytest.mark.parametrize("controller", ["lstm", "gru", "lru"])
def test_the_gradient_of_an_unroll_against_finite_differences(controller):
    agent = made("mra", controller=controller).double()
    inputs = random_inputs(agent, 6, 2)
    assert inputs.resets[1:].any()
    state = agent.initial_state(2)
    with torch.no_grad():
        recalled = own_unroll(agent, inputs).recalled
        x = agent.encode(inputs.pictures)
    names = ["key.weight", "key.bias", "query_of_x.weight", "query_of_x.bias", "query_of_h.weight"]

    class Unrolled(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.agent = agent

        def forward(self):
            return self.agent.unroll(inputs, state, recalled=recalled)[0][:2]

    def outputs(*parameters):
        given = {f"agent.read.{name}": parameter for name, parameter in zip(names, parameters, strict=True)}
        return functional_call(Unrolled(), given, ())

    agent.encode = lambda pictures: x  # does not depend on them
    parameters = [agent.read.get_parameter(name).detach().clone().requires_grad_() for name in names]
    assert gradcheck(outputs, parameters, atol=1e-8, rtol=1e-5)


def test_every_parameter_learns_from_the_whole_loss():
    for name in MODELS:
        agent = made(name)
        inputs = random_inputs(agent, 8, 2)
        output = own_unroll(agent, inputs)
        loss = output.logits.square().sum() + output.baseline.square().sum()
        loss = loss + sum(auxiliary.loss(output, inputs)[0] for auxiliary in agent.auxiliary.values())
        loss.backward()
        without = {name for name, p in agent.named_parameters() if p.grad is None or not p.grad.any()}
        assert without == ({"read.key.weight", "read.key.bias"} if name == "mra-njb" else set())


# --- what comes in


def wrong_inputs(agent, **changes):
    return random_inputs(agent, 4, 2)._replace(**changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"pictures": torch.zeros(4, 2, 24, 20, 3, dtype=torch.uint8)},
            "pictures must be uint8 of shape (4, 2, 20, 24, 3), not uint8 of shape (4, 2, 24, 20, 3)",
        ),
        (
            {"pictures": torch.zeros(4, 2, 20, 24, 3)},
            "pictures must be uint8 of shape (4, 2, 20, 24, 3), not float32 of shape (4, 2, 20, 24, 3)",
        ),
        ({"rewards": torch.zeros(4, 3)}, "rewards must be float32 of shape (4, 2), not float32 of shape (4, 3)"),
        (
            {"rewards": torch.zeros(4, 2, dtype=torch.int64)},
            "rewards must be float32 of shape (4, 2), not int64 of shape (4, 2)",
        ),
        (
            {"actions": torch.zeros(4, 2, dtype=torch.int32)},
            "actions must be int64 of shape (4, 2), not int32 of shape (4, 2)",
        ),
        ({"resets": torch.zeros(4, 2)}, "resets must be bool of shape (4, 2), not float32 of shape (4, 2)"),
        ({"resets": torch.zeros(4, dtype=torch.bool)}, "resets must have 2 axes ((T, B)), not 1"),
        ({"rewards": torch.zeros(4, 2, device="meta")}, "rewards are on meta, the agent is on cpu"),
    ],
)
def test_wrong_inputs_are_named(changes, sentence):
    agent = made("mra")
    with pytest.raises(ValueError, match=r"must|are on") as error:
        agent.unroll(wrong_inputs(agent, **changes), agent.initial_state(2), store=agent.new_store(2))
    assert str(error.value) == sentence


def test_step_wants_one_axis_and_unroll_two():
    agent = made("mra")
    inputs, store = random_inputs(agent, 4, 2), agent.new_store(2)
    with pytest.raises(ValueError, match=r"resets must have 1 axes \(\(B,\)\), not 2"):
        agent.step(inputs, agent.initial_state(2), store)
    with pytest.raises(ValueError, match=r"resets must have 2 axes \(\(T, B\)\), not 1"):
        agent.unroll(at(inputs, 0), agent.initial_state(2), store=store)


def test_a_state_of_other_games_is_refused():
    agent = made("mra")
    with pytest.raises(ValueError, match=r"the state must be tensors of shapes \(2, 6\), \(2, 6\) on cpu"):
        agent.unroll(random_inputs(agent, 4, 2), agent.initial_state(3), store=agent.new_store(2))


def test_a_memory_needs_a_store_or_what_was_recalled_but_not_both():
    agent = made("mra")
    inputs, state, store = random_inputs(agent, 4, 2), agent.initial_state(2), agent.new_store(2)
    recalled = own_unroll(agent, inputs).recalled
    with pytest.raises(ValueError, match="an agent with episodic memory needs either a `store`"):
        agent.step(at(inputs, 0), state)
    with pytest.raises(ValueError, match="an agent with episodic memory needs either a `store`"):
        agent.unroll(inputs, state)
    with pytest.raises(ValueError, match="an agent with episodic memory needs either a `store`"):
        agent.unroll(inputs, state, recalled, store)


def test_an_agent_without_memory_has_no_store():
    agent = made("lstm")
    assert agent.new_store(2) is None
    output = own_unroll(agent, random_inputs(agent, 4, 2))
    assert output.recalled is None
    assert output.weights is None


def test_acting_keeps_no_graph():
    agent = made("mra")
    output, state = agent.step(at(random_inputs(agent, 4, 2), 0), agent.initial_state(2), agent.new_store(2))
    assert not output.logits.requires_grad
    assert not any(part.requires_grad for part in state)


# --- devices and dtypes


class OnlyMeta(TorchDispatchMode):
    """No operation may make a tensor anywhere else."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        assert all(leaf.is_meta for leaf in tree_leaves(made) if isinstance(leaf, torch.Tensor)), func
        return made


@pytest.mark.parametrize(("name", "changes"), AGENTS)
def test_everything_runs_on_another_device(name, changes):
    """`meta` stands in for a GPU."""
    agent = made(name, **changes).to("meta")
    inputs = Inputs(*(part.to("meta") for part in random_inputs(agent, 5, 2)))
    with OnlyMeta():
        store = agent.new_store(2)
        step, state = agent.step(at(inputs, 0), agent.initial_state(2), store)
        own, _ = agent.unroll(inputs, state, store=store)
        replayed, state = agent.unroll(inputs, state, recalled=own.recalled)
        loss = replayed.logits.sum() + replayed.baseline.sum()
        for auxiliary in agent.auxiliary.values():
            loss = loss + auxiliary.loss(replayed, inputs)[0]
        loss.backward()
    c = agent.config
    for output, lead in ((step, (2,)), (own, (5, 2)), (replayed, (5, 2))):
        shapes = [(*lead, c.actions), lead, (*lead, c.embedding_size), (*lead, c.hidden_size)]
        assert [part.shape for part in output[:4]] == shapes
        assert all(part.is_meta for part in output[:4])
        if c.memory == "episodic":
            assert output.weights.shape == output.recalled.valid.shape == output.recalled.age.shape == (*lead, 3)
            assert output.recalled.pv.shape == (*lead, 3, c.embedding_size + c.hidden_size)
    assert [part.shape for part in state] == [part.shape for part in agent.initial_state(2)]
    assert all(part.is_meta for part in state)
    assert agent.policy.weight.grad.is_meta


@pytest.mark.parametrize("name", MODELS)
def test_double_precision_gives_the_same(name):
    agent = made(name)
    inputs = random_inputs(agent, 6, 2)
    single = own_unroll(agent, inputs)
    double = own_unroll(agent.double(), inputs)
    assert double.logits.dtype == double.x.dtype == torch.float64
    torch.testing.assert_close(double[:4], single[:4], atol=1e-5, rtol=1e-5, check_dtype=False)


def losses(agent, inputs: Inputs) -> list[float]:
    """Policy gradient with made-up advantages, baseline, entropy and CPC on one batch."""
    T, B = inputs.resets.shape
    draw = torch.Generator().manual_seed(5)
    taken, advantages = torch.randint(agent.config.actions, (T, B), generator=draw), torch.rand(T, B, generator=draw)
    with torch.no_grad():
        output = own_unroll(agent, inputs)
        log_pi = output.logits.log_softmax(-1)
        policy = F.nll_loss(log_pi.flatten(0, 1), taken.flatten(), reduction="none") @ advantages.flatten()
        baseline = (1 - output.baseline).square().sum() / 2
        entropy = (log_pi.exp() * log_pi).sum()
        return [loss.item() for loss in (policy, baseline, entropy, agent.auxiliary["cpc"].loss(output, inputs)[0])]


@pytest.mark.parametrize("encoder", ["residual", "small", "normalised"])
def test_a_bfloat16_encoder_changes_losses_by_at_most_one_percent(encoder):
    sizes = {"height": 36, "width": 48, "embedding_size": 64, "hidden_size": 64, "key_size": 16, "capacity": 16}
    agent = made("mra", encoder=encoder, **sizes)
    half = made("mra", encoder=encoder, encoder_bfloat16=True, **sizes)
    half.load_state_dict(agent.state_dict())
    inputs = random_inputs(agent, 12, 3)
    single = losses(agent, inputs)
    assert losses(half, inputs) == pytest.approx(single, rel=0.01)
    assert losses(half, inputs) != single
    x, rounded = agent.encode(inputs.pictures), half.encode(inputs.pictures)
    assert rounded.dtype == torch.float32
    assert torch.equal(rounded, rounded.bfloat16().float())
    assert (rounded - x).norm() < 0.01 * x.norm()


def test_what_does_not_fit_is_refused_in_one_sentence():
    agent = made("mra")
    state = agent.initial_state(2)
    inputs = random_inputs(agent, 4, 2)
    with pytest.raises(ValueError, match="the store is for 3 games, not 2"):
        agent.unroll(inputs, state, store=agent.new_store(3))
    output, _ = agent.unroll(inputs, state, store=agent.new_store(2))
    with pytest.raises(ValueError, match=r"recalled is for \(4, 2\) steps and games, not \(3, 2\)"):
        agent.unroll(Inputs(*(part[:3] for part in inputs)), state, output.recalled)


def test_the_action_before_an_episode_may_be_anything():
    agent = made("lstm")
    inputs = random_inputs(agent, 4, 2)
    inputs = inputs._replace(actions=inputs.actions.masked_fill(inputs.resets, -1))
    output, _ = agent.unroll(inputs, agent.initial_state(2))
    assert output.logits.isfinite().all()
