"""Models that should differ in one thing do: the same seed gives all that they share the same weights."""

from itertools import combinations

import pytest
import torch
from small_agents import SMALL, random_inputs

from memorylab.agent import MODELS, MemoryRecallAgent, model_config

SWITCHES = ("controller", "memory", "auxiliary", "jumpy")
OF_SWITCH = {  # the weights that only one of a pair has, or has in another form
    "controller": ("controller.",),
    "memory": ("read.", "controller.of_past."),
    "auxiliary": ("contrastive.", "reconstruction."),
    "jumpy": (),
}
CONFIGS = {name: model_config(name, SMALL) for name in MODELS}


def differing(a: str, b: str) -> list[str]:
    return [switch for switch in SWITCHES if getattr(CONFIGS[a], switch) != getattr(CONFIGS[b], switch)]


PAIRS = {(a, b): differing(a, b)[0] for a, b in combinations(MODELS, 2) if len(differing(a, b)) == 1}


def begun(name: str, seed: int = 3) -> MemoryRecallAgent:
    torch.manual_seed(seed)
    return MemoryRecallAgent(CONFIGS[name])


def unrolled(agent: MemoryRecallAgent):
    inputs = random_inputs(agent, 12, 3, reset_share=0.1)
    output, _ = agent.unroll(inputs, agent.initial_state(3), store=agent.new_store(3))
    return output


def test_the_pairs_are_these():
    assert {(a, b, switch) for (a, b), switch in PAIRS.items()} == {
        ("ff", "lstm", "controller"),
        ("ff+mem", "lstm+mem", "controller"),
        ("ff+mem+cpc", "mra", "controller"),
        ("ff+mem+rec", "lstm+mem+rec", "controller"),
        ("ff", "ff+mem", "memory"),
        ("lstm", "lstm+mem", "memory"),
        ("lstm+cpc", "mra", "memory"),
        ("ff+mem", "ff+mem+cpc", "auxiliary"),
        ("ff+mem", "ff+mem+rec", "auxiliary"),
        ("ff+mem+cpc", "ff+mem+rec", "auxiliary"),
        ("lstm", "lstm+cpc", "auxiliary"),
        ("lstm+mem", "lstm+mem+rec", "auxiliary"),
        ("lstm+mem", "mra", "auxiliary"),
        ("lstm+mem+rec", "mra", "auxiliary"),
        ("mra", "mra-njb", "jumpy"),
    }


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_what_a_pair_shares_begins_with_the_same_weights(a, b):
    weights, others = (begun(name).state_dict() for name in (a, b))
    for name in weights.keys() | others.keys():
        if not name.startswith(OF_SWITCH[PAIRS[a, b]]):
            assert torch.equal(weights[name], others[name]), name


@pytest.mark.parametrize(("without", "with_memory"), [("lstm", "lstm+mem"), ("lstm+cpc", "mra")])
def test_with_a_memory_the_lstm_has_the_same_weights_of_h(without, with_memory):
    of_h, of_both = (begun(name).controller.of_past.weight for name in (without, with_memory))
    of_m, same_h = of_both.split(SMALL.hidden_size, -1)
    assert torch.equal(of_h, same_h)
    assert not torch.isclose(of_m, of_h).any()


@pytest.mark.parametrize(("a", "b"), [pair for pair, switch in PAIRS.items() if switch in ("auxiliary", "jumpy")])
def test_an_auxiliary_loss_and_jumpy_backpropagation_change_gradients_only(a, b):
    output, other = unrolled(begun(a)), unrolled(begun(b))
    assert torch.equal(output.logits, other.logits)
    assert torch.equal(output.baseline, other.baseline)


def test_jumpy_backpropagation_is_the_gradient_to_the_keys_and_nothing_else():
    gradients = {}
    for name in ("mra", "mra-njb"):
        agent = begun(name)
        output = unrolled(agent)
        (output.logits.square().sum() + output.baseline.square().sum()).backward()
        gradients[name] = {part: p.grad for part, p in agent.named_parameters() if p.grad is not None}
    keys = {part: gradients["mra"].pop(part) for part in ("read.key.weight", "read.key.bias")}
    assert all(part.any() for part in keys.values())
    assert gradients["mra"].keys() == gradients["mra-njb"].keys()
    for part, gradient in gradients["mra"].items():
        assert torch.equal(gradient, gradients["mra-njb"][part]), part


@pytest.mark.parametrize("name", ["mra", "mra-njb"])
def test_keys_begin_with_something_of_h(name):
    agent = begun(name)
    x, h = torch.zeros(1, SMALL.embedding_size), torch.ones(1, SMALL.hidden_size)
    assert (agent.read.keys_to_write(x, h) - agent.read.keys_to_write(x, 0 * h)).abs().max() > 1e-3


def test_parts_of_an_agent_have_different_draws():
    agent = begun("mra")
    assert not torch.equal(agent.policy.weight[0], agent.baseline.weight[0])


def test_another_seed_and_another_agent_of_the_same_seed_begin_otherwise():
    first = begun("mra")
    second = MemoryRecallAgent(CONFIGS["mra"])  # drawn on
    for other in (second, begun("mra", seed=4)):
        assert not torch.equal(first.policy.weight, other.policy.weight)
        assert not torch.equal(first.encoder.layer.weight, other.encoder.layer.weight)
