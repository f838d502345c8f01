"""What threads share comes out as if one had done it."""

from threading import Event, Thread, current_thread

import pytest
import torch
from small_agents import SMALL, random_inputs, small_agent

from memorylab.agent import model_config
from memorylab.agent.sharing import Sharing


@pytest.fixture
def helped():
    """A Sharing with a second thread at its side."""
    sharing = Sharing()
    sharing.is_open = True
    helper = Thread(target=sharing.help_until_closed, name="helper")
    helper.start()
    yield sharing
    sharing.close()
    helper.join(10)
    assert not helper.is_alive()


def test_two_threads_work_and_results_keep_their_order(helped):
    both = [Event(), Event()]

    def task(number: int) -> tuple[int, str]:
        both[number].set()
        assert both[1 - number].wait(10)  # neither returns before the other has begun
        return number, current_thread().name

    (first, second) = helped.run([lambda: task(0), lambda: task(1)])
    assert (first[0], second[0]) == (0, 1)
    assert {first[1], second[1]} == {"helper", current_thread().name}


def test_an_error_comes_to_whoever_asked(helped):
    with pytest.raises(ZeroDivisionError):
        helped.run([lambda: 1 / 0] * 4)
    assert helped.run([lambda: 7]) == [7]


def test_a_trajectory_in_parts_has_the_same_losses_and_gradients(helped):
    agent = small_agent(model_config("lstm", SMALL))
    inputs = random_inputs(agent, 7, 3)
    found = []
    for agent.sharing in (None, helped):
        output, _ = agent.unroll(inputs, agent.initial_state(3))
        loss = output.logits.square().sum() + output.baseline.sum()
        found.append((output.x, loss, torch.autograd.grad(loss, list(agent.parameters()))))
    torch.testing.assert_close(*found, atol=1e-6, rtol=1e-5)
