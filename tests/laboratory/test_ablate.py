"""Plans: expanded, skipped where finished, gone on with, reported."""

import pytest

from memorylab.cli import main
from memorylab.laboratory import ablate
from memorylab.laboratory.ablate import AblateOptions, hours, planned_runs
from memorylab.tasks.task import TASKS

TINY = [
    "--num-envs",
    "2",
    "--unroll",
    "10",
    "--height",
    "20",
    "--width",
    "24",
    "--embedding-size",
    "8",
    "--hidden-size",
    "8",
    "--key-size",
    "4",
    "--capacity",
    "16",
    "--neighbours",
    "3",
    "--cpc-steps",
    "3",
    "--threads",
    "1",
    "--evaluation-episodes",
    "1",
    "--evaluate-every",
    "20",
    "--evaluation-levels",
    "train",
]


def test_plans_are_ordered_by_seed_and_checked(tmp_path):
    options = AblateOptions(("avm", "cr"), ("mra", "lstm"), seeds=2, steps=100, out=tmp_path)
    plan = planned_runs(options, ["--learning-rate", "0.5"])
    assert [run.folder.name for run in plan[:4]] == ["avm-mra-seed0", "avm-lstm-seed0", "cr-mra-seed0", "cr-lstm-seed0"]
    assert len(plan) == 8
    assert all(run.config.learner.learning_rate == 0.5 and run.config.steps == 100 for run in plan)
    assert not any(run.is_finished(None) for run in plan)
    everything = AblateOptions(("all",), ("mra",), seeds=1, steps=100, out=tmp_path)
    assert [run.config.task for run in planned_runs(everything, [])] == list(TASKS)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name the tasks"),
        (["avm"], "--steps or --minutes"),
        (["avm", "--steps", "9", "--seeds", "0"], "--seeds must be 1 or more"),
        (["avm", "--steps", "9", "--models", "gpt"], "gpt"),
        (["chess", "--steps", "9"], "unknown task 'chess'"),
    ],
)
def test_bad_plans_are_told_before_anything_runs(capsys, tmp_path, arguments, said):
    with pytest.raises(SystemExit) as ended:
        main(["ablate", *arguments, "--out", str(tmp_path / "out")])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def in_this_process(run: ablate.Planned) -> bool:
    """Another process would wait for PyTorch; the test of a failing run does."""
    main(["train", *run.arguments])
    return True


def test_runs_are_made_reported_and_skipped_when_finished(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ablate, "PROBE_SECONDS", 0.05)
    monkeypatch.setattr(ablate, "carried_out", in_this_process)
    command = ["ablate", "avm", "--models", "ff", "lstm", "--seeds", "1", "--steps", "40", "--out", str(tmp_path)]
    command += TINY
    main([*command, "--plan"])
    assert not list(tmp_path.iterdir())
    main(command)
    text = (tmp_path / "report" / "report.html").read_text()
    assert "2 runs: 1 task, 2 models, 1 seed" in text
    started = []
    monkeypatch.setattr(ablate, "carried_out", lambda run: started.append(run.folder.name) or True)
    monkeypatch.setattr(ablate, "report", lambda *_, **__: "reported again")
    main(command)
    assert started == []
    assert "reported again" in capsys.readouterr().out
    longer = [text if text != "40" else "60" for text in command]
    main(longer)
    assert started == ["avm-ff-seed0", "avm-lstm-seed0"]
    assert "2 runs" in capsys.readouterr().out


def test_a_failing_run_leaves_the_others_alone(tmp_path, monkeypatch, capsys):
    """Each in a process of its own."""
    monkeypatch.setattr(ablate, "PROBE_SECONDS", 0.05)
    monkeypatch.setattr(ablate, "report", lambda paths, out, *_, **__: f"report in {out}")
    (tmp_path / "avm-ff-seed0").mkdir()
    (tmp_path / "avm-ff-seed0" / "config.json").write_text("{}")  # of another configuration
    with pytest.raises(SystemExit) as ended:
        main(
            ["ablate", "avm", "--models", "ff", "lstm", "--seeds", "1", "--steps", "20", "--out", str(tmp_path), *TINY]
        )
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert "1 of 2 runs failed" in told.err
    assert f"report in {tmp_path / 'report'}" in told.out
    assert (tmp_path / "avm-lstm-seed0" / "scores.csv").exists()


def test_runs_over_a_cluster(tmp_path, monkeypatch, capsys):
    pytest.importorskip("ray")
    from memorylab.runtime.on_ray import sweep

    given = []

    def run_many(command, arguments, cpus, gpus, address):
        given.extend(arguments)
        command(arguments[1])
        yield sweep.Ended(1, 0, "", "")
        yield sweep.Ended(0, 2, "", "memorylab: no luck")

    monkeypatch.setattr(sweep, "run_many", run_many)
    monkeypatch.setattr(ablate, "report", lambda paths, out, *_, **__: f"report in {out}")
    settings = [text for text in TINY if text != "--threads"]
    settings.remove("1")  # its value: a cluster's run has as many threads as --cpus
    command = ["ablate", "avm", "--models", "ff", "lstm", "--seeds", "1", "--minutes", "0.001", *settings]
    with pytest.raises(SystemExit) as ended:
        main([*command, "--out", str(tmp_path), "--runtime", "ray", "--cpus", "1"])
    assert ended.value.code == 2
    told = capsys.readouterr()
    assert "avm-ff-seed0 failed: ['memorylab: no luck']" in told.err
    assert "avm-lstm-seed0 finished" in told.err
    assert [command[-2:] for command in given] == [["--threads", "1"]] * 2
    assert f"report in {tmp_path / 'report'}" in told.out


def test_hours():
    assert [hours(s) for s in (10, 600, 3600, 5430)] == ["1 min", "10 min", "1 h 00 min", "1 h 30 min"]
