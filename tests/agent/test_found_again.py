"""Same or changed: what a memory read finds when Change Detection shows its array a second time."""

import numpy as np
import torch

from memorylab.agent import Inputs, MemoryRecallAgent
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning.presets import preset_config
from memorylab.tasks.psychlab.change_detection import STUDY, TEST

GAMES, STEPS = 32, 150


def test_a_picture_that_comes_back_is_found_and_a_changed_one_finds_itself():
    """At the test array's second step the memory has its first: nearest to an array that changed is that one."""
    torch.manual_seed(0)
    config = preset_config("cd", "mra").agent
    agent = MemoryRecallAgent(config)
    env = MemoryVectorEnv("cd", "train", GAMES, seed=1, size=(config.height, config.width), delays=(2,))
    pictures, _ = env.reset()
    games, actions, state = env.batch.records, np.zeros(GAMES, np.int64), agent.initial_state(GAMES)
    store, reset, nothing = agent.new_store(GAMES), torch.ones(GAMES, dtype=torch.bool), torch.zeros(GAMES)
    phases = np.full((STEPS, GAMES), -1)
    on_study: dict[bool, list[float]] = {True: [], False: []}
    for t in range(STEPS):
        phases[t] = games["phase"]
        inputs = Inputs(torch.from_numpy(pictures.copy()), nothing, torch.from_numpy(actions), reset)
        output, state = agent.step(inputs, state, store)
        for game in np.flatnonzero((phases[t] == TEST) & (phases[t - 1] == TEST)):
            then = np.maximum(t - output.recalled.age[game].numpy(), 0)
            is_study = torch.from_numpy(phases[then, game] == STUDY)
            on_study[bool(games["correct"][game])].append(output.weights[game][is_study].sum().item())
        env.batch.act("forgetting", actions)
        pictures, _, terminated, truncated, _ = env.step(actions)
        reset = torch.from_numpy(terminated | truncated)
    same, changed = (np.array(on_study[right]) for right in (True, False))
    assert min(len(same), len(changed)) > 50
    assert np.mean(same > 0.8) > 0.9
    assert np.mean(changed > 0.8) < 0.3
