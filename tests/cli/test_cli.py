"""The command as a user types it."""

import csv
import io
import json

import pytest
from PIL import Image, ImageSequence

import memorylab
from memorylab.cli import main
from memorylab.cli.main import VERBS


def run(capsys, *arguments: str) -> str:
    main(arguments)
    return capsys.readouterr().out


def test_list(capsys):
    text = run(capsys, "list")
    for word in ("change_detection", "cd", "holdout_extrapolate", "130 150 200 250", "delays"):
        assert word in text
    tasks = json.loads(run(capsys, "list", "--json"))
    assert tasks[2]["stimuli"]["holdout"] == "Violet, Lime, Pink, Sky, Yellow"
    assert all(task["stimuli"].keys() == {"train", "holdout"} for task in tasks)
    for words in ("goals in the northern half", "still, triangle, pentagon", "digits 5 to 9"):
        assert words in " ".join(text.split())
    assert tasks[2]["levels"]["holdout_large"] == {
        "stimuli": "holdout",
        "scales": [{"trials": 50, "seconds": 300, "delays": [64, 128]}],
    }


def test_one_task_is_listed_by_any_of_its_names(capsys):
    (task,) = json.loads(run(capsys, "list", "CD", "--json"))
    assert task["name"] == "change_detection"
    text = run(capsys, "list", "change_detection")
    assert "delays" in text
    assert "arbitrary_visuomotor_mapping" not in text


@pytest.mark.parametrize("word", ["--version", "-V"])
def test_version(capsys, word):
    assert run(capsys, word) == f"memorylab {memorylab.__version__}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_headings_for_people(capsys, verb):
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert f"memorylab {verb}" in text
    assert "noqa" not in text


def test_presets_are_the_papers_tables(capsys):
    rows = json.loads(run(capsys, "presets", "--json"))
    by_task = {(row["setting"], task): row["value"] for row in rows for task in row["tasks"].split()}
    assert by_task["agent.neighbours", "all"] == "10"
    assert by_task["agent.key_size", "all"] == "128"
    assert (by_task["learner.discount", "sdp"], by_task["learner.cpc_weight", "wtw"]) == ("0.999", "30")
    assert sum(row["setting"] == "learner.discount" for row in rows) == 3
    assert not {"task", "seed", "steps"} & {row["setting"] for row in rows}
    assert "preset laptop" in run(capsys, "presets", "avm", "cd", "--preset", "laptop")


def test_baseline_as_table_json_csv_and_file(capsys, tmp_path):
    question = ("baseline", "avm", "--levels", "train", "--episodes", "16")
    assert "remembering" in run(capsys, *question)
    rows = json.loads(run(capsys, *question, "--json"))
    assert [row["player"] for row in rows] == ["random", "forgetting", "remembering"]
    assert rows[2]["mean"] == 50
    assert (rows[0]["paper_random"], rows[0]["paper_human"], rows[0]["paper_best"]) == (0.06, 50, 50)
    printed = list(csv.DictReader(io.StringIO(run(capsys, *question, "--csv", "--out", str(tmp_path / "scores.csv")))))
    assert [float(row["mean"]) for row in printed] == [row["mean"] for row in rows]
    assert list(csv.DictReader((tmp_path / "scores.csv").read_text().splitlines())) == printed


def test_bench(capsys):
    (row,) = json.loads(run(capsys, "bench", "wtw", "--seconds", "0.1", "--num-envs", "8", "--json"))
    assert row["task"] == "what_then_where"
    assert row["random_steps_per_second"] > 1000
    assert row["share_of_copying"] == pytest.approx(row["random_steps_per_second"] / row["copies_per_second"])
    assert "random/copying" in run(capsys, "bench", "wtw", "--seconds", "0.1", "--num-envs", "8")


def test_snapshots(capsys, tmp_path):
    sheet, animation = tmp_path / "deep" / "sheet.png", tmp_path / "avm.gif"
    run(capsys, "snapshot", "avm", "wtw", "--frames", "4", "--columns", "2", "--zoom", "1", "--out", str(sheet))
    with Image.open(sheet) as image:
        assert image.size == (2 * 100 + 4, 2 * (2 * 76 + 14) + 4)
    run(capsys, "snapshot", "avm", "--frames", "5", "--player", "random", "--out", str(animation))
    with Image.open(animation) as image:  # equal pictures are stored once, with a longer duration
        assert sum(frame.info["duration"] for frame in ImageSequence.Iterator(image)) == pytest.approx(5 * 67, abs=40)
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["avm.gif", "sheet.png"]


def test_help_tells_every_verb(capsys):
    text = run(capsys, "--help")
    assert all(f"  {name} " in text for name in VERBS)
    assert {"train", "ablate", "list", "report", "watch"} <= VERBS.keys()
    for arguments in ((), ("dance",)):
        with pytest.raises(SystemExit):
            main(arguments)
        assert f"the verbs are {', '.join(VERBS)}" in capsys.readouterr().err
