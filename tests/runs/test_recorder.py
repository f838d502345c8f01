"""Other people's loops, recorded as runs."""

import csv
import json
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

import memorylab
from memorylab.envs.dm import DmMemoryEnv
from memorylab.laboratory.find_runs import find_runs
from memorylab.laboratory.human_normalised import snapshot
from memorylab.runs import FORMAT, ScoreRecorder
from memorylab.tasks.task import find_task

SHORT = {"seconds": 1}  # 15 steps an episode


def rows(folder) -> list[dict[str, str]]:
    with (folder / "scores.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_gymnasium_training_counts_and_holdouts_do_not(tmp_path):
    recorder = ScoreRecorder(tmp_path, "avm", "mine", seed=3)
    train = recorder.gymnasium(memorylab.make("avm", seed=0, **SHORT))
    holdout = recorder.gymnasium(memorylab.make("avm", "holdout_extrapolate", seed=0, **SHORT), counts=False)
    for env in (train, train, holdout, train):
        env.reset()
        while not any(env.step(0)[2:4]):
            pass
    found = rows(tmp_path)
    assert [(row["step"], row["level"], row["length"]) for row in found] == [
        ("15", "train", "15"), ("30", "train", "15"), ("30", "holdout_extrapolate", "15"), ("45", "train", "15"),
    ]  # fmt: skip
    config = json.loads((tmp_path / "config.json").read_text())
    assert config.pop("history").keys() == {"begun"}
    assert config == {
        "format": FORMAT, "task": "arbitrary_visuomotor_mapping", "model": "mine", "seed": 3,
    }  # fmt: skip
    env.reset(seed=int(found[0]["seed"]))  # the recorded seed plays that episode again
    assert str(env.unwrapped.facts()["seed"]) == found[0]["seed"]


@pytest.mark.parametrize("task", ["avm", "sdb"])  # smoothed by the paper's two alphas
@pytest.mark.parametrize("evaluations", [9, 30])
def test_a_recorded_plateau_is_scored_as_such(tmp_path, task, evaluations):
    """An episode a row; 100 from a quarter of the training on."""

    class Game:
        def __init__(self, score: float):
            self.batch = SimpleNamespace(level="train", task=find_task(task))
            self.facts = lambda: {"scale": 0, "score": score, "length": 15, "seed": 1}

    recorder = ScoreRecorder(tmp_path, task, "mine")
    recorder.begin(Game(0.0))
    number = 64 * evaluations
    for episode in range(number):
        recorder.step += 15
        recorder.add(Game(100.0 if episode >= number / 4 else 0.0))
    (run,) = find_runs([tmp_path], lambda text: pytest.fail(text))
    assert snapshot(run).scores["train"] >= 97


def test_dm_env(tmp_path):
    recorder = ScoreRecorder(tmp_path, "cr", "mine")
    env = recorder.dm_env(DmMemoryEnv("cr", seed=0, **SHORT))
    assert env.reset().first()
    for _ in range(40):
        env.step(0)
    assert [row["step"] for row in rows(tmp_path)] == ["15", "30"]  # the steps that begin an episode do not count
    assert env.action_spec().num_values == 5


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@pytest.mark.parametrize("copies", [True, False])
def test_many_games_are_recorded_alike_in_every_autoreset_mode(tmp_path, mode, copies):
    """In NextStep the step that only begins an episode counts for nothing."""
    recorder = ScoreRecorder(tmp_path, "avm", "mine")
    made = memorylab.make_vec("avm", num_envs=3, seed=0, autoreset_mode=mode, copy=copies, size=(24, 32), **SHORT)
    envs = recorder.vector(made)
    holdout = memorylab.make_vec("avm", "holdout_small", num_envs=2, seed=0, size=(24, 32), **SHORT)
    holdout = recorder.vector(holdout, counts=False)
    envs.reset()
    for _ in range(2):
        over = np.zeros(3, bool)
        while not over.any():
            _, _, terminated, truncated, _ = envs.step(np.full(3, 1))
            over = terminated | truncated
        if mode == "NextStep":
            envs.step(np.full(3, 1))
        if mode == "Disabled":
            envs.reset(options={"reset_mask": over})
    holdout.reset()
    for _ in range(15):
        holdout.step(np.zeros(2, int))
    found = rows(tmp_path)
    assert [(row["step"], row["level"], row["length"]) for row in found] == [
        *[("45", "train", "15")] * 3, *[("90", "train", "15")] * 3, *[("90", "holdout_small", "15")] * 2,
    ]  # fmt: skip
    assert len({row["seed"] for row in found}) >= 6
    assert found[0]["seed"] == "0"  # of the episode that ended, not of the next one


def test_what_cannot_be_recorded(tmp_path):
    recorder = ScoreRecorder(tmp_path, "avm", "mine")
    with pytest.raises(ValueError, match="only environments of memorylab"):
        recorder.gymnasium(gymnasium.make("CartPole-v1"))
    with pytest.raises(ValueError, match="only environments of memorylab"):
        recorder.vector(gymnasium.make_vec("CartPole-v1", num_envs=2))
    for record, make in ((recorder.gymnasium, memorylab.make), (recorder.vector, memorylab.make_vec)):
        with pytest.raises(ValueError, match="for avm, not continuous_recognition"):
            record(make("cr"))
    with pytest.raises(ValueError, match="for avm, not continuous_recognition"):
        recorder.dm_env(DmMemoryEnv("cr"))
    assert not list(tmp_path.iterdir())


def test_stable_baselines3(tmp_path):
    stable_baselines3 = pytest.importorskip("stable_baselines3")
    # The example of docs/laboratory.md, with fewer steps.
    recorder = ScoreRecorder(tmp_path, "avm", "sb3-ppo", seed=0)
    train = recorder.gymnasium(memorylab.make("avm", size=(36, 48), **SHORT))
    holdout = recorder.gymnasium(memorylab.make("avm", "holdout_interpolate", size=(36, 48), **SHORT), counts=False)
    model = stable_baselines3.PPO("CnnPolicy", train, n_steps=64, batch_size=32, n_epochs=1, seed=0, device="cpu")
    for _ in range(2):
        model.learn(64, reset_num_timesteps=False)
        stable_baselines3.common.evaluation.evaluate_policy(model, holdout, n_eval_episodes=2, warn=False)
    (run,) = find_runs([tmp_path], lambda text: pytest.fail(text))
    assert run.curves["holdout_interpolate"].episodes.tolist() == [2, 2]
    assert run.curves["train"].steps.tolist() == [15, 30, 45, 60, 75, 90, 105, 120]
    assert run.curves["holdout_interpolate"].steps.tolist() == [64, 128]


def test_a_loop_as_cleanrl_writes_it(tmp_path):
    """Its files build environments with `make_env` and step a SyncVectorEnv; its package on the registry asks for
    Python below 3.11 and the old gym, so the loop is repeated here."""
    recorder = ScoreRecorder(tmp_path, "avm", "cleanrl-ppo")

    def make_env(seed):
        def thunk():
            env = recorder.gymnasium(memorylab.make("avm", size=(36, 48), seed=seed, **SHORT))
            return gymnasium.wrappers.RecordEpisodeStatistics(env)

        return thunk

    envs = gymnasium.vector.SyncVectorEnv([make_env(seed) for seed in range(4)])
    envs.reset(seed=1)
    for _ in range(32):
        envs.step(np.array([envs.single_action_space.sample() for _ in range(4)]))
    (run,) = find_runs([tmp_path], lambda text: pytest.fail(text))
    assert run.curves["train"].episodes.sum() == 8
    assert 57 <= run.curves["train"].steps[0] <= 60  # four games, fifteen steps
