"""Runs: interrupted and continued, refused, diverged, evaluated."""

import errno
import itertools
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev

import pytest
import torch
from tiny_runs import GAMES, UPDATE, assert_same_run, make_hasty, quick_evaluate, rows, tiny_config, trained

from memorylab.agent import MemoryRecallAgent
from memorylab.cli import main
from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.laboratory.find_runs import find_runs
from memorylab.laboratory.human_normalised import snapshot
from memorylab.learning.actor import Actor
from memorylab.learning.evaluation import evaluate, evaluation_seed
from memorylab.learning.learner import Learner
from memorylab.learning.presets import preset_config
from memorylab.learning.trained import load_trained
from memorylab.learning.trajectory import Episode
from memorylab.runs import checkpoints, scores, tables
from memorylab.runs import folder as folder_module
from memorylab.runtime import in_process
from memorylab.runtime import training as module
from memorylab.runtime.command import default_name, train_options
from memorylab.runtime.in_process import EvaluatorHere, training_here
from memorylab.runtime.training import Training

pytestmark = pytest.mark.usefixtures("hasty")


def at_update(monkeypatch, owner: type, name: str, number: int, act) -> None:
    """Call `act` in the call of that number, after it did its work."""
    plain, calls = getattr(owner, name), []

    def watched(self, *arguments):
        result = plain(self, *arguments)
        calls.append(None)
        if len(calls) == number:
            act()
        return result

    monkeypatch.setattr(owner, name, watched)


def crash() -> None:
    raise SystemError("the lights went out")


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def whole_run(tmp_path_factory) -> Path:
    """A run without interruption."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        make_hasty(patch.setattr)
        training = trained(tiny_config(), folder)
    assert training.curriculum.stage == 2, "the run should pass through the curriculum"
    return folder


def test_records_of_a_run(whole_run):
    metrics, scores = rows(whole_run / "metrics.csv"), rows(whole_run / "scores.csv")
    assert [int(row["step"]) for row in metrics] == list(range(UPDATE, 40 * UPDATE + 1, UPDATE))
    assert list(dict.fromkeys(row["stage"] for row in metrics)) == ["seconds 1", "seconds 2", "true level"]
    assert {row["policy_lag"] for row in metrics} == {"0"}
    expected = [(step, level) for step in range(0, 40 * UPDATE + 1, 10 * UPDATE)
                for level in ("train", "holdout_extrapolate") for _ in range(2)]  # fmt: skip
    assert [(int(row["step"]), row["level"]) for row in scores] == expected
    assert list(scores[0]) == ["step", "level", "scale", "return", "length", "seed"]


@pytest.mark.parametrize("number", [3, 14, 27, 40])
def test_ctrl_c_in_an_update_and_going_on_is_the_same_run(whole_run, tmp_path, monkeypatch, number):
    with monkeypatch.context() as patch:
        at_update(patch, Learner, "update", number, ctrl_c)
        if number < 40:
            with pytest.raises(KeyboardInterrupt):
                trained(tiny_config(), tmp_path)
            assert int(rows(tmp_path / "metrics.csv")[-1]["step"]) == number * UPDATE
    trained(tiny_config(), tmp_path)
    assert_same_run(whole_run, tmp_path)


@pytest.mark.parametrize("evaluation", [1, 3, 10])
def test_ctrl_c_in_an_evaluation_and_going_on_is_the_same_run(whole_run, tmp_path, monkeypatch, evaluation):
    """At the beginning, in the middle, and at the end of a run."""
    calls = []

    def interrupted(*arguments, **options):
        calls.append(None)
        if len(calls) == evaluation:
            ctrl_c()
        return quick_evaluate(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(in_process, "evaluate", interrupted)
        with pytest.raises(KeyboardInterrupt):
            trained(tiny_config(), tmp_path)
    trained(tiny_config(), tmp_path)
    assert_same_run(whole_run, tmp_path)


@pytest.mark.parametrize("number", [2, 13, 26])
def test_a_crash_after_a_checkpoint_and_going_on_is_the_same_run(whole_run, tmp_path, monkeypatch, number):
    """Checkpoints at every seventh update; the crash comes between, or before the first."""
    save = Training.save

    def seldom(self):
        if self.step % (7 * UPDATE) == 0 or self.step == self.config.steps:
            save(self)

    monkeypatch.setattr(Training, "save", seldom)
    monkeypatch.setattr(module, "CHECKPOINT_SECONDS", -1.0)
    with monkeypatch.context() as patch:
        at_update(patch, Learner, "update", number, crash)
        with pytest.raises(SystemError):
            trained(tiny_config(), tmp_path)
    trained(tiny_config(), tmp_path)
    assert_same_run(whole_run, tmp_path)


@pytest.mark.parametrize(
    ("model", "in_turns"), [("ff", False), ("lstm+mem+rec", True), ("mra-njb", False), ("mra", True)]
)
def test_a_longer_run_is_the_same_run(tmp_path, monkeypatch, model, in_turns):
    monkeypatch.setattr(in_process, "takes_turns", lambda device: in_turns)
    settings = {
        "evaluate_every": 0,
        "learner": replace(tiny_config().learner, optimiser="rmsprop", updates=2),
    }
    trained(tiny_config(model, steps=11 * UPDATE, **settings), tmp_path / "two")
    trained(tiny_config(model, steps=20 * UPDATE, **settings), tmp_path / "two")
    trained(tiny_config(model, steps=20 * UPDATE, **settings), tmp_path / "one")
    assert_same_run(tmp_path / "one", tmp_path / "two")
    lag = max(float(row["policy_lag"]) for row in rows(tmp_path / "one" / "metrics.csv"))
    assert lag == (0 if in_turns else 2)  # in updates, of which a trajectory has two


def test_a_run_says_what_it_does_before_there_is_anything_to_report(tmp_path):
    """And a finished one, of which nothing is left to do, says nothing."""
    for doing in (["first evaluation: 2 episodes on each of train, holdout_extrapolate", "first update"], []):
        told = []
        training = training_here(tiny_config(steps=UPDATE), tmp_path, threads=1, tell=told.append)
        training.run()
        training.close()
        assert [report.doing for report in told if report.doing] == doing


def test_a_finished_run_stays_as_it_is(whole_run, tmp_path):
    before = rows(whole_run / "scores.csv")
    trained(tiny_config(), whole_run)
    assert rows(whole_run / "scores.csv") == before


# --- minutes


def timed_run(folder: Path, monkeypatch, minutes: float) -> list[float]:
    """Learning rates of a run in which every look at the clock finds it a second later."""
    ticks = itertools.count()
    with monkeypatch.context() as patch:
        patch.setattr(module.time, "perf_counter", lambda: float(next(ticks)))
        config = tiny_config(evaluate_every=0, steps=10**9)
        training = training_here(replace(config, learner=replace(config.learner, schedule="linear")), folder, threads=1)
        training.run(minutes)
        training.close()
    rate = config.learner.learning_rate
    return [float(row["learning_rate"]) / rate for row in rows(folder / "metrics.csv")]


def test_the_rate_falls_to_zero_over_the_minutes_asked_for(tmp_path, monkeypatch):
    shares = timed_run(tmp_path, monkeypatch, 1.0)
    assert len(shares) > 10
    assert shares[0] == 1.0
    assert shares == sorted(shares, reverse=True)
    steps = [a - b for a, b in pairwise(shares)]
    assert max(steps) == pytest.approx(min(steps), abs=1e-3)  # in a line
    assert shares[-1] <= max(steps) + 1e-3  # one update later it would be zero


def test_minutes_of_earlier_calls_count_when_a_run_is_made_longer(tmp_path, monkeypatch):
    before = timed_run(tmp_path, monkeypatch, 1.0)
    assert timed_run(tmp_path, monkeypatch, 1.0) == before  # spent
    longer = timed_run(tmp_path, monkeypatch, 4.0)[len(before) :]
    assert longer[0] == pytest.approx(0.75, abs=0.02)  # one minute of four is over
    assert longer[-1] < 0.03


def test_steps_end_a_run_that_has_minutes_left(tmp_path):
    training = training_here(tiny_config(evaluate_every=0), tmp_path, threads=1)
    training.seconds = 30.0
    training.step = 30 * UPDATE
    assert training.share_done(None) == training.share_done(1.0) == 0.75
    assert training.share_done(0.5) == 1.0
    training.close()


# --- what goes wrong


def weights(folder: Path) -> dict[str, torch.Tensor]:
    tensors, _ = checkpoints.load_checkpoint(folder / "checkpoints")
    return tensors


def test_nan_stops_the_run_and_leaves_the_last_good_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHECKPOINT_SECONDS", -1.0)
    training = training_here(tiny_config(), tmp_path, threads=1)

    def poison() -> None:
        with torch.no_grad():
            training.runtime.learner.agent.baseline.weight[0, 0] = float("nan")

    at_update(monkeypatch, Training, "save", 12, poison)
    with pytest.raises(RuntimeError, match="the loss became nan at update 13; the last good checkpoint is in"):
        training.run()
    training.close()
    found = weights(tmp_path)
    assert all(part.isfinite().all() for name, part in found.items() if name.startswith("agent."))
    assert checkpoints.checkpoints(tmp_path / "checkpoints")[-1].stem == f"step-{12 * UPDATE:012d}"
    assert trained(tiny_config(), tmp_path).step == 40 * UPDATE


def test_weights_that_break_actor_and_learner_are_told_as_divergence(tmp_path):
    config = tiny_config(learner=replace(tiny_config().learner, learning_rate=1e30))
    with pytest.raises(RuntimeError, match=r"the (loss|gradient) became (nan|inf) at update \d+; the last good"):
        trained(config, tmp_path)


def test_a_full_disk_ends_the_run_and_loses_nothing(tmp_path, monkeypatch):
    trained(tiny_config(steps=10 * UPDATE), tmp_path)
    before = weights(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "save_file", full)
        with pytest.raises(OSError, match=r"could not be written: .*No space left on device"):
            trained(tiny_config(), tmp_path)
    after = weights(tmp_path)
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert trained(tiny_config(), tmp_path).step == 40 * UPDATE


def command(capsys, *arguments: object) -> tuple[int, str]:
    """Exit code of `memorylab train` and what it said."""
    try:
        main(["train", *map(str, arguments)])
    except SystemExit as end:
        return int(end.code or 0), capsys.readouterr().err
    return 0, capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuch"], "unknown task 'nosuch'"),
        (["avm", "--model", "nosuch"], "unknown model 'nosuch'"),
        (["avm", "--preset", "nosuch"], "unknown preset 'nosuch'"),
        (["avm", "--num-envs", "-3"], "num_envs must be at least 1, not -3"),
        (["avm", "--steps", "0"], "steps must be at least 1, not 0"),
        (["avm", "--learning-rate", "-1"], "learning_rate must be above 0"),
        (["avm", "--minutes", "-1"], "--minutes must be more than 0, not -1"),
        (["avm", "--checkpoint-minutes", "-1"], "--checkpoint-minutes must be 0 or more, not -1"),
        (["avm", "--threads", "0"], "--threads must be 1 or more, not 0"),
        (["avm", "--hidden-size", "0"], "hidden_size must be at least 1, not 0"),
        (["avm", "--device", "nosuch"], "the device 'nosuch' cannot be used"),
        (["avm", "--nosuch", "3"], "--nosuch"),
    ],
)
def test_bad_input_is_told_in_a_sentence(capsys, tmp_path, arguments, said):
    code, error = command(capsys, *arguments, "--out", tmp_path / "run")
    assert code == 2
    assert said in " ".join(error.split())
    assert "Traceback" not in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("wrong", [("--stimuli", "nowhere"), ("--evaluation-levels", "nosuch")])
def test_games_that_cannot_be_played_are_told_before_anything_is_written(wrong, tmp_path, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["train", "avm", *wrong, "--out", str(tmp_path / "run")])
    assert exit.value.code == 2
    assert wrong[1] in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_stage_that_cannot_be_played_is_told_before_anything_is_written(tmp_path, capsys):
    """There are not so many pictures; only who makes the game finds that out."""
    code, said = command(capsys, "cr", "--stages", "trials=99999", "--out", tmp_path / "run")
    assert (code, len(said.splitlines())) == (2, 1)
    assert "99999" in said or "99,999" in said
    assert not (tmp_path / "run").exists()


def test_a_changed_model_gives_the_folder_its_name():
    options = train_options(["AVM", "--model", "lstm", "--memory", "episodic"])
    assert default_name(options.config) == "avm-lstm+mem-laptop-seed0"


TINY = ("avm", "--num-envs", GAMES, "--unroll", 10, "--steps", 80, "--evaluate-every", 0, "--threads", 1)


def test_the_command_trains_goes_on_and_refuses_another_configuration(capsys, tmp_path):
    out = tmp_path / "run"
    code, said = command(capsys, *TINY, "--out", out)
    assert code == 0
    assert "learning" in said, "the tree of times"
    assert said.splitlines()[0].startswith("making the games and the agent; what is new is compiled")
    assert said.splitlines()[1] == "first update ..."
    code, said = command(capsys, *TINY, "--steps", 120, "--out", out)
    assert code == 0
    assert f"going on with {out} at step 80" in said
    code, said = command(capsys, *TINY, "--seed", 5, "--discount", 0.5, "--out", out)
    assert code == 2
    discount = preset_config("avm").learner.discount
    assert f"seed is 0 there, not 5; learner.discount is {discount} there, not 0.5" in said
    assert len(said.splitlines()) == 1
    for path in out.glob("checkpoints/*.safetensors"):
        path.write_bytes(path.read_bytes()[:100])
    code, said = command(capsys, *TINY, "--out", out)
    assert code == 2
    assert "none of the checkpoints" in said.splitlines()[-1]


def test_the_command_trains_with_the_loss_of_a_user_s_own_file(tmp_path):
    """Beside CPC and REC. Without that file the run is refused."""
    file, out = Path(__file__).parents[2] / "examples" / "my_loss.py", tmp_path / "run"
    parts = ["--auxiliary", "cpc", "rec", "next_reward", "--settings", "next_reward.weight", "0.5"]
    call = [sys.executable, "-m", "memorylab", "train", *map(str, TINY), *parts, "--out", str(out)]
    subprocess.run(call, check=True, capture_output=True, env={**os.environ, "MEMORYLAB_EXTENSIONS": str(file)})
    agent = json.loads((out / "config.json").read_text())["agent"]
    assert agent["auxiliary"] == ["cpc", "rec", "next_reward"]
    assert agent["settings"] == {"next_reward.weight": 0.5}
    for name in ("cpc", "rec_image", "next_reward", "gradient_next_reward"):
        assert float(rows(out / "metrics.csv")[-1][name]) > 0
    with pytest.raises(ValueError, match="auxiliary must be one of cpc, rec, recollection, not 'next_reward'"):
        load_trained(out, "last")


def test_the_command_in_a_place_that_cannot_be(capsys, tmp_path):
    (tmp_path / "file").touch()
    code, said = command(capsys, *TINY, "--out", tmp_path / "file" / "run")
    assert code == 2
    assert len(said.splitlines()) == 1
    assert "file" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_the_command_in_a_folder_that_is_read_only(capsys, tmp_path):
    tmp_path.chmod(0o500)
    code, said = command(capsys, *TINY, "--out", tmp_path / "run")
    assert code == 2
    assert "Permission denied" in said


def test_the_command_says_how_to_go_on_after_ctrl_c(capsys, tmp_path, monkeypatch):
    at_update(monkeypatch, Learner, "update", 1, ctrl_c)
    code, said = command(capsys, *TINY, "--out", tmp_path / "run")
    assert code == 130
    assert f"saved in {tmp_path / 'run'}; the same command goes on" in said
    assert weights(tmp_path / "run")


@pytest.fixture
def heard(number):
    """A signal that whoever runs the tests may have ignored, as nohup does."""
    before = signal.signal(number, signal.SIG_DFL)
    yield signal.SIG_DFL
    signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_a_process_saves_first(capsys, tmp_path, monkeypatch, number, heard):
    at_update(monkeypatch, Learner, "update", 1, lambda: os.kill(os.getpid(), number))
    code, said = command(capsys, *TINY, "--out", tmp_path / "run")
    assert code == 128 + number
    assert f"saved in {tmp_path / 'run'}; the same command goes on" in said
    assert checkpoints.load_checkpoint(tmp_path / "run" / "checkpoints")[1]["step"] == 40
    assert signal.getsignal(number) == heard


def test_what_nohup_ignores_stays_ignored(capsys, tmp_path, monkeypatch):
    at_update(monkeypatch, Learner, "update", 1, lambda: os.kill(os.getpid(), signal.SIGHUP))
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        code, _ = command(capsys, *TINY, "--out", tmp_path / "run")
    finally:
        signal.signal(signal.SIGHUP, before)
    assert code == 0
    assert checkpoints.load_checkpoint(tmp_path / "run" / "checkpoints")[1]["step"] == 80


@pytest.mark.parametrize(("given", "saved"), [((), [80]), (("--checkpoint-minutes", 0), [40, 80, 80])])
def test_minutes_between_checkpoints(capsys, tmp_path, monkeypatch, given, saved):
    save, steps = Training.save, []
    monkeypatch.setattr(Training, "save", lambda self: [steps.append(self.step), save(self)])
    assert command(capsys, *TINY, *given, "--out", tmp_path / "run")[0] == 0
    assert steps == saved


def test_a_second_training_in_the_same_folder_is_refused_also_in_one_script(tmp_path):
    config = tiny_config(steps=UPDATE, evaluate_every=0)
    first = training_here(config, tmp_path / "run", threads=1)
    with pytest.raises(ValueError, match=rf"process {os.getpid()} on .* is training in .*run"):
        training_here(config, tmp_path / "run", threads=1)
    first.run()
    first.close()
    with pytest.raises(ValueError, match="holds a run of another configuration"):
        training_here(replace(config, seed=5), tmp_path / "run", threads=1)
    training_here(config, tmp_path / "run", threads=1).close()  # whoever was refused holds no lock


def test_a_second_command_in_the_same_folder_is_refused(capsys, tmp_path, monkeypatch):
    told = []
    at_update(monkeypatch, Learner, "update", 1, lambda: told.append(command(capsys, *TINY, "--out", tmp_path / "run")))
    assert command(capsys, *TINY, "--out", tmp_path / "run")[0] == 0
    [(code, said)] = told
    assert code == 2
    assert f"is training in {tmp_path / 'run'}; wait until it ends" in said.splitlines()[-1]
    assert [int(row["step"]) for row in rows(tmp_path / "run" / "metrics.csv")] == [40, 80]


def test_a_run_of_before_a_setting_existed_goes_on_with_its_default(tmp_path):
    trained(tiny_config(steps=UPDATE), tmp_path)
    file = tmp_path / "config.json"
    config = json.loads(file.read_text())
    del config["learner"]["reward_clipping"]
    del config["format"]
    file.write_text(json.dumps(config))
    other = replace(tiny_config().learner, reward_clipping="abs_one")
    with pytest.raises(ValueError, match=r"learner\.reward_clipping is 'none' there, not 'abs_one'"):
        trained(tiny_config(learner=other), tmp_path)
    assert trained(tiny_config(steps=2 * UPDATE), tmp_path).step == 2 * UPDATE


def test_a_run_of_before_losses_and_memories_had_names_goes_on(tmp_path):
    trained(tiny_config("lstm+cpc", steps=UPDATE), tmp_path)
    file = tmp_path / "config.json"
    config = json.loads(file.read_text())
    config["agent"] |= {"auxiliary": "cpc", "memory": False}
    del config["agent"]["settings"]
    file.write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"agent\.auxiliary is \['cpc'\] there, not \[\]"):
        trained(tiny_config("lstm"), tmp_path)
    assert load_trained(tmp_path, "last").agent.config == tiny_config("lstm+cpc").agent
    assert trained(tiny_config("lstm+cpc", steps=2 * UPDATE), tmp_path).step == 2 * UPDATE


def without(name: str):
    def damage(tensors, facts):
        for each in [each for each in tensors if each.startswith(name)]:
            del tensors[each]

    return damage


def of_another_shape(name: str):
    return lambda tensors, facts: tensors.update({name: tensors[name][..., :-1].contiguous()})


UNFIT = [
    (without("actor.now.log_mu"), "it lacks 'now.log_mu': another version wrote it"),
    (without("agent.policy.bias"), "Missing key"),
    (without("optimiser."), "it lacks the optimiser's moments"),
    (without("optimiser.1.exp_avg_sq"), "it lacks some of the optimiser's moments"),
    (of_another_shape("agent.policy.bias"), "size mismatch"),
    (of_another_shape("optimiser.1.exp_avg"), "'1.exp_avg' is torch.float32 of"),
    (of_another_shape("actor.player.inputs.rewards"), "'player.inputs.rewards' is torch.float32 of (3,)"),
    (lambda tensors, facts: tensors["games"].random_(), "the state of the games is damaged"),
    (lambda tensors, facts: facts.pop("evaluated"), "it lacks 'evaluated': another version wrote it"),
    (lambda tensors, facts: facts.update(recent=5), "is not iterable"),
]


@pytest.mark.parametrize(("damage", "said"), UNFIT)
def test_a_checkpoint_that_does_not_fit_is_told_and_the_one_before_taken(
    two_checkpoints, capsys, tmp_path, damage, said
):
    shutil.copytree(two_checkpoints, tmp_path / "run")
    folder = tmp_path / "run" / "checkpoints"
    tensors, facts = checkpoints.load_checkpoint(folder)
    damage(tensors, facts)
    checkpoints.save_checkpoint(folder, facts.pop("step"), tensors, facts)
    capsys.readouterr()
    training = training_here(tiny_config(evaluate_every=0), tmp_path / "run", threads=1)
    training.close()
    assert training.step == UPDATE
    [line] = capsys.readouterr().err.splitlines()
    assert said in line
    assert line.endswith("trying the one before")
    assert [checkpoints.step_of(path) for path in checkpoints.checkpoints(folder)] == [UPDATE]


@pytest.fixture(scope="module")
def two_checkpoints(tmp_path_factory) -> Path:
    """After one update and after two."""
    folder = tmp_path_factory.mktemp("two")
    for updates in (1, 2):
        trained(tiny_config(steps=updates * UPDATE, evaluate_every=0), folder)
    return folder


def test_weights_and_moments_go_on_where_the_games_are_of_another_version(two_checkpoints, capsys, tmp_path):
    shutil.copytree(two_checkpoints, tmp_path / "run")
    folder = tmp_path / "run" / "checkpoints"
    tensors, facts = checkpoints.load_checkpoint(folder)
    tensors["games"] = tensors["games"][:, :-24].contiguous()  # as they were before they had a stamp
    checkpoints.save_checkpoint(folder, facts.pop("step"), tensors, facts)
    training = trained(tiny_config(steps=4 * UPDATE, evaluate_every=0), tmp_path / "run")
    assert "new games begin (the state must be uint8 of shape" in capsys.readouterr().err
    assert training.step == 4 * UPDATE
    assert training.runtime.learner.version == facts["version"] + 2


def test_a_config_of_a_version_with_fewer_or_more_settings_goes_on(two_checkpoints, tmp_path):
    """What is missing has its default; what is unknown and off says nothing; what is unknown and on is named."""
    shutil.copytree(two_checkpoints, tmp_path / "run")
    file = tmp_path / "run" / "config.json"
    config = json.loads(file.read_text())
    for name in ("scale", "stimuli"):
        del config[name]
    del config["learner"]["reward_clipping"]
    config |= {"priorities": "none", "rehearsal": 0, "learner": config["learner"] | {"replay": False}}
    config["agent"] |= {"dreams": []}
    file.write_text(json.dumps(config))
    assert load_trained(tmp_path / "run", "last").step == 2 * UPDATE
    assert trained(tiny_config(steps=3 * UPDATE, evaluate_every=0), tmp_path / "run").step == 3 * UPDATE
    config["learner"]["replay"] = 4
    file.write_text(json.dumps(config))
    with pytest.raises(ValueError, match=r"learner\.replay is 4 there, not 'missing'"):
        trained(tiny_config(steps=3 * UPDATE, evaluate_every=0), tmp_path / "run")


def test_rows_are_on_the_disk_before_the_checkpoint_that_counts_on_them(tmp_path, monkeypatch):
    events, fsync = [], os.fsync

    def watched(descriptor: int) -> None:
        events.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    trained(tiny_config(steps=UPDATE), tmp_path)
    assert events.index(".config.json.part") < events.index("metrics.csv")
    last = f"step-{UPDATE:012d}.unfinished"
    assert events.index("metrics.csv") < events.index("scores.csv") < len(events) - events[::-1].index(last)


@pytest.mark.parametrize("name", ["metrics.csv", "scores.csv"])
def test_a_full_disk_at_a_row_saves_first_and_names_the_file(tmp_path, monkeypatch, name):
    """At the second row: the system lets the file grow no further."""
    plain = tables.append_rows
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def full(file: Path, rows) -> None:
        if file.name == name and file.exists():
            resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size, hard))
        try:
            plain(file, rows)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    monkeypatch.setattr(scores, "append_rows", full)
    monkeypatch.setattr(folder_module, "append_rows", full)
    with pytest.raises(OSError, match=rf"{tmp_path / name} could not be written: .*File too large; what was learned"):
        trained(tiny_config(), tmp_path)
    step = checkpoints.load_checkpoint(tmp_path / "checkpoints")[1]["step"]
    assert step == (2 * UPDATE if name == "metrics.csv" else 10 * UPDATE)


# --- the snapshot and fresh episodes


def scripted_scores(monkeypatch, train: list[float]) -> None:
    """Evaluations on `train` come to these scores, one after the other; on any other level to 0."""
    left = iter(train)

    def play(agent, game, episodes, seed, *_, **__) -> list[Episode]:
        score = next(left) if game.level == "train" else 0.0
        return [Episode(number, score, 1, 1.0, seed) for number in range(16)]

    monkeypatch.setattr(in_process, "evaluate", play)


def test_the_weights_of_the_best_evaluation_are_kept(tmp_path, monkeypatch):
    """The best comes third; the weights of later ones are not it, and holdouts have no say."""
    scripted_scores(monkeypatch, [1.0, 5.0, 9.0, 3.0, 8.0])
    seen = []
    before = Training.record
    monkeypatch.setattr(
        Training, "record",
        lambda self, done: [seen.append(done.weights["policy.bias"].clone()), before(self, done)],
    )  # fmt: skip
    training = trained(tiny_config(), tmp_path)
    tensors, facts = checkpoints.load_checkpoint(tmp_path / "snapshot")
    assert facts["step"] == 20 * UPDATE
    assert facts["levels"]["train"] == 9.0
    assert torch.equal(tensors["agent.policy.bias"], seen[2])
    assert not torch.equal(seen[2], seen[-1])
    assert load_trained(tmp_path).step == 20 * UPDATE
    assert load_trained(tmp_path, "last").step == training.step
    (run,) = find_runs([tmp_path], pytest.fail)
    assert snapshot(run).step == 20 * UPDATE  # the laboratory's rule names the same


def test_the_best_before_a_checkpoint_outlives_better_ones_that_a_crash_undoes(tmp_path, monkeypatch):
    """Evaluated at 0, 10, 20 and 30 updates, each better than the last; the only checkpoint is at 15. Gone on with, the
    run finds nothing as good again."""
    save = Training.save
    monkeypatch.setattr(module, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(Training, "save", lambda self: save(self) if self.step in (15 * UPDATE, 40 * UPDATE) else None)
    scripted_scores(monkeypatch, [1.0, 5.0, 8.0, 9.0])
    with monkeypatch.context() as patch:
        at_update(patch, Learner, "update", 35, crash)
        with pytest.raises(SystemError):
            trained(tiny_config(), tmp_path)
    assert load_trained(tmp_path).step == 30 * UPDATE
    scripted_scores(monkeypatch, [2.0, 3.0, 4.0])
    trained(tiny_config(), tmp_path)
    (run,) = find_runs([tmp_path], pytest.fail)
    kept = [checkpoints.step_of(path) for path in checkpoints.checkpoints(tmp_path / "snapshot")]
    assert kept == [10 * UPDATE] == [snapshot(run).step]


class SlowEvaluator(EvaluatorHere):
    """Done when it is waited for, or at the 35th look."""

    looks = 0

    def start(self, step, give_way):
        self.step = step
        self.is_under_way = True

    @property
    def is_busy(self):
        return self.is_under_way

    is_under_way = False

    def finished(self, wait, give_way):
        self.looks += 1
        if not self.is_under_way or not (wait or self.looks % 35 == 0):
            return None
        self.is_under_way = False
        super().start(self.step, give_way)
        return super().finished(wait, give_way)


def test_an_evaluation_that_is_late_is_told_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(in_process, "EvaluatorHere", SlowEvaluator)
    trained(tiny_config(), tmp_path)
    said = [line for line in capsys.readouterr().err.splitlines() if "still runs" in line]
    assert said == [
        "memorylab: the evaluation of step 0 still runs at step 200, when the next is due: evaluations come when they "
        "can; fewer --evaluation-episodes or a larger --evaluate-every help"
    ]


def test_every_evaluation_plays_episodes_of_its_own(whole_run):
    by_step: dict[str, set[str]] = {}
    for row in rows(whole_run / "scores.csv"):
        if row["level"] == "train":
            by_step.setdefault(row["step"], set()).add(row["seed"])
    assert len(by_step) == 5
    assert len(set.union(*by_step.values())) == sum(map(len, by_step.values()))


def test_all_models_meet_the_same_episodes_at_the_same_step():
    seeds = {(seed, step): evaluation_seed(seed, step) for seed in range(3) for step in (0, 1000, 2000)}
    assert len(set(seeds.values())) == 9
    assert all(0 <= seed < 2**62 for seed in seeds.values())
    assert evaluation_seed(0, 1000) == seeds[0, 1000]


# --- evaluation is training without learning


def test_evaluation_on_the_training_level_scores_as_training_does():
    torch.manual_seed(1)
    agent = MemoryRecallAgent(preset_config("avm", "ff").agent)
    games, unroll, seconds = 32, 50, 20
    env = MemoryVectorEnv("avm", num_envs=games, seed=5, size=(36, 48), threads=1, trials=1, seconds=seconds)
    actor, training = Actor(env, agent, unroll), []
    for _ in range(24):
        training += actor.collect().episodes
    quota = min(sum(episode.game == game for episode in training) for game in range(games))
    counted = [[e for e in training if e.game == game][:quota] for game in range(games)]  # no favour to short ones
    scores = [episode.score for of_game in counted for episode in of_game]
    spec = GameSpec("avm", "train", (36, 48), scale={"trials": 1, "seconds": seconds})
    evaluated = [e.score for e in evaluate(agent, spec, 128, seed=9, threads=1)]
    assert min(len(scores), len(evaluated)) >= 96
    assert stdev(scores) > 0
    noise = (stdev(scores) ** 2 / len(scores) + stdev(evaluated) ** 2 / len(evaluated)) ** 0.5
    assert abs(mean(scores) - mean(evaluated)) < 4 * noise
