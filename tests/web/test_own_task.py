"""examples/my_task.py, a task of a user's own, in every part of the house; nothing of the package knows of it."""

import csv
import json
import sys
from pathlib import Path
from urllib.request import urlopen

import gymnasium
import numpy as np
import pytest
from serving import begin, served, until

import memorylab
from memorylab.cli import main
from memorylab.extensions import load_extensions
from memorylab.tasks import task as registry
from memorylab.web import play
from memorylab.web.store import EpisodeStore

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_task.py"
TASK = "two_doors"


@pytest.fixture(scope="module", autouse=True)
def _named_by_the_environment():
    known = dict(gymnasium.registry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORYLAB_EXTENSIONS", str(EXAMPLE))
        patch.setattr(registry, "added", {})
        patch.setattr(sys, "path", list(sys.path))
        load_extensions.cache_clear()
        yield
    load_extensions.cache_clear()
    sys.modules.pop("my_task", None)
    gymnasium.registry.clear()
    gymnasium.registry.update(known)


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "run"
    tiny = ["--num-envs", "2", "--steps", "200", "--evaluation-episodes", "2"]
    main(["train", TASK, "--model", "mra", *tiny, "--out", str(folder)])
    return folder


def test_it_can_be_made_and_memory_pays():
    env = memorylab.make_vec("doors", "holdout_small", num_envs=40, seed=0, size=(24, 32))
    pictures, _ = env.reset()
    assert pictures.std() > 0
    scores = {}
    for player in ("remembering", "forgetting"):
        env.reset(seed=0)
        actions, ended, score = np.zeros(40, np.int64), np.zeros(40, bool), np.zeros(40)
        while not ended.all():
            env.batch.act(player, actions)
            _, rewards, terminated, truncated, _ = env.step(actions)
            score += rewards * ~ended
            ended |= terminated | truncated
        scores[player] = score.mean()
    assert scores["remembering"] == 1
    assert 0.2 < scores["forgetting"] < 0.8
    single = memorylab.make(TASK, seed=0, delay=3)
    assert single.reset()[1]["scale"] == 3


def test_players_have_scores_but_no_references(capsys):
    main(["baseline", "doors", "--levels", "train", "--episodes", "4", "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert [row["player"] for row in rows] == ["random", "forgetting", "remembering"]
    assert {row["paper_human"] for row in rows} == {None}


def test_it_is_trained_evaluated_and_reported(run, tmp_path, capsys):
    config = json.loads((run / "config.json").read_text())
    assert config["task"] == TASK
    main(["evaluate", str(run), "--levels", "train", "--sweep", "delay=1", "--episodes", "2", "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["human_normalised"], row["memory_score"]) == (None, None)
    main(["report", str(run), "--out", str(tmp_path)])
    assert "Scores are percent: no reference." in (tmp_path / "report.html").read_text()
    with (tmp_path / "tables" / "scores.csv").open() as lines:
        assert {row["task"] for row in csv.DictReader(lines)} == {TASK}


def test_its_agent_is_watched(run, tmp_path):
    main(["watch", str(run), "--export", str(tmp_path / "watched.html")])
    assert TASK in (tmp_path / "watched.html").read_text()


def test_people_play_it(tmp_path, monkeypatch):
    monkeypatch.setattr(play, "STEP_SECONDS", 1 / 300)
    monkeypatch.setattr(play, "MAX_MESSAGES_PER_SECOND", 2000)
    store = EpisodeStore(tmp_path / "scores.db")
    with served(play.play_app(store)) as place:
        (described,) = (task for task in json.load(urlopen(f"http://{place}/tasks")) if task["name"] == TASK)
        assert described["instructions"]
        assert urlopen(f"http://{place}/picture/{TASK}").read().startswith(b"\x89PNG")
        with begin(place, task=TASK) as socket:
            until(socket, "over")
    (score,) = store.human_scores()
    assert (score.task, score.n) == (TASK, 1)


def test_paper_preset_is_that_of_its_engine():
    from memorylab.learning.presets import preset_config

    config = preset_config(TASK, preset="paper")
    assert (config.agent.capacity, config.unroll, config.learner.optimiser) == (2048, 200, "rmsprop")
