"""examples/mra_in_one_file.py computes what the agent computes."""

import importlib.util
from pathlib import Path

import pytest
import torch
from small_agents import random_inputs, small_agent

FILE = Path(__file__).parents[2] / "examples" / "mra_in_one_file.py"
GAMES, STEPS = 3, 11
SIZES = {"encoder": "residual", "height": 9, "width": 11}


@pytest.fixture(scope="module")
def lesson():
    spec = importlib.util.spec_from_file_location("mra_in_one_file", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def taught(lesson, agent):
    """The lesson's agent with the weights of ours."""
    c, ours = agent.config, agent.state_dict()
    pupil = lesson.MRA(
        c.height, c.width, c.actions, c.embedding_size, c.hidden_size, c.key_size, c.neighbours, c.capacity, c.cpc_steps
    )
    layers = [name for name in ours if name.startswith("encoder.")]  # the same ones in the same order
    weights = {f"encoder.{name}": ours.pop(mine) for name, mine in zip(pupil.encoder.state_dict(), layers, strict=True)}
    weights |= {name: ours.pop(name) for name in list(ours) if name.split(".")[0] in ("policy", "baseline")}
    weights["key.weight"], weights["key.bias"] = ours.pop("read.key.weight"), ours.pop("read.key.bias")
    queries = [ours.pop("read.query_of_x.weight"), ours.pop("read.query_of_h.weight")]
    weights["query.weight"], weights["query.bias"] = torch.cat(queries, -1), ours.pop("read.query_of_x.bias")
    of_m, of_h = ours.pop("controller.of_past.weight").split(c.hidden_size, -1)
    weights["lstm.weight_ih"] = torch.cat([ours.pop("controller.of_input.weight"), of_m], -1)
    weights["lstm.weight_hh"], weights["lstm.bias_ih"] = of_h, ours.pop("controller.of_input.bias")
    weights["lstm.bias_hh"] = torch.zeros_like(weights["lstm.bias_ih"])
    for k, W_k in enumerate(ours.pop("contrastive.predict.weight").split(c.embedding_size)):
        weights[f"cpc.{k}.weight"] = W_k
    assert not ours
    pupil.load_state_dict(weights)
    return pupil


def games_of(lesson, pupil, inputs):
    T = len(inputs.resets) - 1
    for b in range(inputs.resets.shape[1]):
        yield lesson.Game(*(part[:, b] for part in inputs), torch.full((T,), -1.4), pupil.initial_state())


def test_logits_baseline_read_and_cpc_are_the_same(lesson):
    agent = small_agent(**SIZES)
    pupil = taught(lesson, agent)
    inputs = random_inputs(agent, STEPS, GAMES, reset_share=0.1)
    assert inputs.resets[1:].any()
    assert agent.config.capacity < STEPS - 1
    output, _ = agent.unroll(inputs, agent.initial_state(GAMES), store=agent.new_store(GAMES))
    games = list(games_of(lesson, pupil, inputs))
    logits, V, x, h = (
        torch.stack(part, 1) for part in zip(*(pupil.unroll(game) for game in games), strict=True)
    )  # (T, B, ...)
    close((logits, V, x, h), output[:4])
    seen = [(x[:, b], h[:, b], inputs.resets[:, b]) for b in range(GAMES)]
    close(lesson.cpc_loss(pupil, seen), agent.auxiliary["cpc"].loss(output, inputs)[0])


def close(left, right):
    torch.testing.assert_close(left, right, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("written", [0, 2, 9])
def test_a_read_is_the_same(lesson, written):
    agent = small_agent(**SIZES)
    pupil = taught(lesson, agent)
    store, memory = agent.new_store(1), []
    for _ in range(written):
        x_t, h_t = torch.randn(7), torch.randn(6)
        memory = pupil.write(memory, x_t, h_t)
        store.write(x_t[None], h_t[None], agent.read.keys_to_write(x_t[None], h_t[None]))
    assert len(memory) == min(written, agent.config.capacity)
    x_t, h_tm1 = torch.randn(7), torch.randn(6)
    past = agent.past(x_t[None, None], random_inputs(agent, 1, 1, reset_share=0.0), None, store)
    m_t, _ = past.recall(0, h_tm1[None])
    close(pupil.read(memory, x_t, h_tm1), m_t[0])


def test_gradients_are_the_same(lesson):
    """Of all that the outputs and CPC teach, through the memory as jumpy backpropagation lets them."""
    agent = small_agent(**SIZES)
    pupil = taught(lesson, agent)
    inputs = random_inputs(agent, STEPS, 1, reset_share=0.1)
    output, _ = agent.unroll(inputs, agent.initial_state(1), store=agent.new_store(1))
    cpc = agent.auxiliary["cpc"].loss(output, inputs)[0]
    (output.logits.square().sum() + output.baseline.square().sum() + cpc).backward()
    (game,) = games_of(lesson, pupil, inputs)
    logits, V, x, h = pupil.unroll(game)
    (logits.square().sum() + V.square().sum() + lesson.cpc_loss(pupil, [(x, h, game.resets)])).backward()
    read = agent.read
    assert read.key.weight.grad.abs().max() > 1e-4
    close(pupil.key.weight.grad, read.key.weight.grad)
    close(pupil.key.bias.grad, read.key.bias.grad)
    close(pupil.query.weight.grad, torch.cat([read.query_of_x.weight.grad, read.query_of_h.weight.grad], -1))
    close(pupil.lstm.bias_ih.grad, agent.controller.of_input.bias.grad)
    close(pupil.encoder.layer.weight.grad, agent.encoder.layer.weight.grad)


def slow_vtrace(V, r, gamma, rho, c):
    """Eq. 6, sum by sum and product by product; gamma_t is inside the product, as it is 0 where an episode ends."""
    v = []
    for s in range(len(r)):
        v_s = V[s]
        for t in range(s, len(r)):
            weight = 1.0
            for i in range(s, t):
                weight *= gamma[i] * c[i]
            v_s += weight * rho[t] * (r[t] + gamma[t] * V[t + 1] - V[t])
        v.append(v_s)
    return [*v, V[-1]]


@pytest.mark.parametrize("T", [1, 2, 15])
def test_vtrace_against_sums_and_products(lesson, T):
    draw = torch.Generator().manual_seed(T)
    V, r = torch.randn(T + 1, generator=draw).double(), torch.randn(T, generator=draw).double()
    gamma = 0.9 * (torch.rand(T, generator=draw) > 0.2).double()
    ratios = torch.randn(T, generator=draw).double().exp()
    rho, c = ratios.clamp(max=2), ratios.clamp(max=1)
    found = lesson.vtrace(V, r, gamma, rho, c)
    expected = slow_vtrace(*(part.tolist() for part in (V, r, gamma, rho, c)))
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_on_policy_vtrace_is_the_discounted_return(lesson):
    T, ones = 6, torch.ones(6)
    V, r = torch.randn(T + 1), torch.randn(T)
    v = lesson.vtrace(V, r, 0.5 * ones, ones, ones)
    returns = V[-1]
    for t in reversed(range(T)):
        returns = r[t] + 0.5 * returns
        assert v[t].item() == pytest.approx(returns.item(), abs=1e-5)


def test_the_actor_critic_loss_step_by_step(lesson):
    T, A = 7, 3
    draw = torch.Generator().manual_seed(0)
    logits, V = torch.randn(T + 1, A, generator=draw), torch.randn(T + 1, generator=draw)
    rewards, actions = torch.randn(T + 1, generator=draw), torch.randint(A, (T + 1,), generator=draw)
    resets, log_mu = torch.arange(T + 1) == 4, -torch.rand(T, generator=draw) - 0.5
    pictures = torch.zeros(T + 1, 1, 1, 3, dtype=torch.uint8)
    game = lesson.Game(pictures, rewards, actions, resets, log_mu, None)
    gamma = [0.0 if resets[t + 1] else lesson.DISCOUNT for t in range(T)]
    log_pi = [logits[t].log_softmax(0)[actions[t + 1]].item() for t in range(T)]
    rho = [min(1.0, 2.718281828459045 ** (log_pi[t] - log_mu[t].item())) for t in range(T)]
    r = rewards[1:].tolist()
    v = slow_vtrace(V.tolist(), r, gamma, rho, rho)
    expected = 0.0
    for t in range(T):
        advantage = rho[t] * (r[t] + gamma[t] * v[t + 1] - V[t].item())
        entropy = torch.distributions.Categorical(logits=logits[t]).entropy().item()
        expected += -advantage * log_pi[t] + 0.5 * (v[t] - V[t].item()) ** 2 / 2 - 0.0052 * entropy
    assert lesson.actor_critic_loss(game, logits, V).item() == pytest.approx(expected / T, abs=1e-5)


def test_the_whole_loss_reaches_every_weight(lesson):
    agent = small_agent(**SIZES)
    pupil = taught(lesson, agent)
    games = list(games_of(lesson, pupil, random_inputs(agent, STEPS, 2, reset_share=0.1)))
    lesson.loss(pupil, games).backward()
    assert all(parameter.grad.any() for parameter in pupil.parameters())


def test_the_example_runs_and_learns(lesson, capsys):
    lesson.main(updates=12)
    values = [float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()]
    assert len(values) == 12
    assert values[-1] < values[0]
