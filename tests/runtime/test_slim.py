"""A small copy of a run goes on as the run does, with new games; and its command can be told."""

import shlex
import shutil
from dataclasses import asdict, replace

import pytest
import torch
from tiny_runs import UPDATE, make_hasty, tiny_config, trained

from memorylab.agent import model_config
from memorylab.cli import main
from memorylab.learning.presets import preset_config
from memorylab.runs.checkpoints import load_checkpoint
from memorylab.runs.slim import size
from memorylab.runtime.command import train_options
from memorylab.runtime.in_process import training_here
from memorylab.runtime.retold import train_command


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        make_hasty(patch.setattr)
        folder = tmp_path_factory.mktemp("runs") / "whole"
        trained(tiny_config(steps=20 * UPDATE), folder)
        yield folder


def test_a_slim_copy_goes_on_with_new_games(run, capsys):
    before = size(run)
    main(["slim", str(run)])
    copy = run.with_name("whole-slim")
    assert capsys.readouterr().out.strip() == str(copy)
    assert size(run) == before, "the run itself stays as it was"
    (tensors, facts), (small, _) = (load_checkpoint(folder / "checkpoints") for folder in (run, copy))
    assert {name.partition(".")[0] for name in small} == {"agent", "optimiser", "steps"}
    assert all(torch.equal(tensors[name], part) for name, part in small.items())
    training = training_here(tiny_config(steps=22 * UPDATE), copy, threads=1)
    assert (training.step, training.episodes) == (20 * UPDATE, facts["episodes"])
    assert training.runtime.learner.steps == 20 * UPDATE, "the teacher goes on where it was"
    assert training.curriculum.state_dict() == facts["curriculum"]
    training.run()
    training.close()
    assert training.step == 22 * UPDATE
    for name in ("scores.csv", "metrics.csv"):
        assert (copy / name).read_text().startswith((run / name).read_text())
    assert load_checkpoint(copy / "snapshot")


def test_what_cannot_be_slimmed(run, tmp_path, capsys):
    shutil.copytree(run, tmp_path / "empty", ignore=shutil.ignore_patterns("checkpoints"))
    for arguments, said in {
        ("slim", tmp_path / "nowhere"): "is not the folder of a run",
        ("slim", tmp_path / "empty"): "has no checkpoint to go on from",
        ("slim", run, "--out", tmp_path / "empty"): "is there already; give another --out",
    }.items():
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        assert ended.value.code == 2
        assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def odd_agent():
    config = preset_config("vgb", "lstm+mem", "paper")
    agent = replace(config.agent, controller="transformer", settings={"transformer.window": 16})
    return replace(config, agent=agent, scale=("side=15",), evaluation_levels=("train",))


@pytest.mark.parametrize(
    "config",
    [
        preset_config("cd", "lstm+cpc"),
        tiny_config(model="mra-njb", steps=3000),
        replace(preset_config("avm"), curriculum=replace(preset_config("avm").curriculum, stages=())),
        replace(preset_config("sdb", "ff"), teacher="skills", seed=7),
        replace(preset_config("avm"), agent=model_config("lstm", preset_config("avm").agent)),
        odd_agent(),
    ],
    ids=lambda config: config.model,
)
def test_the_command_that_is_told_trains_the_same(config):
    program, verb, *words = shlex.split(train_command(asdict(config), minutes=6.004))
    assert (program, verb) == ("memorylab", "train")
    options = train_options(words)
    assert options.config == config
    assert options.minutes == 6
