"""Episodes are kept as they were played, and played again bit for bit."""

import csv
import hashlib
import json
import math
from datetime import UTC, datetime

import numpy as np
import pytest

import memorylab
from memorylab.cli import main
from memorylab.envs.spec import GameSpec
from memorylab.laboratory.references import recorded_humans
from memorylab.tasks.task import find_task
from memorylab.web import store as module
from memorylab.web.game import VIEWS, PlayedGame, actions_of, replay
from memorylab.web.store import SCHEMA, EpisodeStore

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def played_game(task: str, steps: int, seed: int = 7, view: str = "agent", **changes) -> tuple[PlayedGame, str]:
    """A game with actions drawn at random, standing still among them, and a digest of its pictures."""
    game = PlayedGame(GameSpec(task, size=VIEWS[view], **changes), seed)
    digest = hashlib.sha256(game.picture.tobytes())
    chance = np.random.default_rng(seed)
    while not game.is_over and len(game.actions) < steps:
        game.step(int(chance.integers(len(actions_of(game.batch.task)))))
        digest.update(game.picture.tobytes())
    return game, digest.hexdigest()


@pytest.mark.parametrize(
    ("task", "view", "changes"),
    [
        ("avm", "agent", {}),
        ("cd", "sharper", {"scale": {"delays": (30,), "seconds": 12.5}}),
        ("ti", "agent", {}),
        ("vgm", "sharper", {}),
    ],
)
def test_an_episode_from_the_file_is_played_again_bit_for_bit(tmp_path, task, view, changes):
    game, digest = played_game(task, 200, view=view, **changes)
    store = EpisodeStore(tmp_path / "scores.db")
    number = store.add(game.episode(), "finished", "Ada", NOON, 13.5)
    kept = EpisodeStore(tmp_path / "scores.db", create=False).get(number)
    assert (kept.player, kept.began, kept.seconds, kept.outcome) == ("Ada", NOON, 13.5, "finished")
    again = hashlib.sha256()
    for moment in replay(kept.episode):
        again.update(moment.picture.tobytes())
    assert again.hexdigest() == digest
    np.testing.assert_array_equal(moment.rewards, kept.episode.rewards)
    assert moment.score == pytest.approx(kept.episode.score)


def test_a_person_sees_what_an_agent_sees():
    game, _ = played_game("avm", 100)
    env = memorylab.make("avm")
    picture, _ = env.batch.begin(env.batch.seed([7]), np.ones(1, np.bool_), env.batch.pictures), None
    env.state = "playing"
    for action in game.actions:
        picture, *_ = env.step(action)
    np.testing.assert_array_equal(picture, game.picture)


def test_who_does_nothing_stands_still_where_an_agent_must_move():
    assert "nothing" not in find_task("vgb").actions
    game = PlayedGame(GameSpec("vgb"), 1)
    before = game.picture.copy()
    for _ in range(5):
        game.step(game.nothing)
    np.testing.assert_array_equal(game.picture, before)
    game.step(actions_of(game.batch.task).index("forward"))
    assert (game.picture != before).any()


def test_games_of_one_level_share_nothing_but_their_stimuli():
    one, other = (PlayedGame(GameSpec("avm"), seed) for seed in (1, 2))
    before = other.picture.copy()
    for _ in range(20):
        one.step(0)
    np.testing.assert_array_equal(other.picture, before)
    assert one.batch.stimuli is other.batch.stimuli


def test_an_action_that_is_none_is_refused():
    game = PlayedGame(GameSpec("avm"), 1)
    with pytest.raises(ValueError, match="cannot do action 5"):
        game.step(5)


@pytest.fixture
def filled(tmp_path):
    """Three plays of one level, one aborted, one with sharper pictures."""
    store = EpisodeStore(tmp_path / "scores.db")
    game, _ = played_game("ti", 150)
    for outcome, changes in (("finished", 1.0), ("finished", 2.0), ("finished", 6.0), ("aborted", 100.0)):
        episode = game.episode()
        episode.rewards[:] = 0
        episode.rewards[-1] = changes
        store.add(episode, outcome, None, NOON, 10.0)
    store.add(played_game("ti", 10, view="sharper")[0].episode(), "finished", "Eve", NOON, 1.0)
    return store


def test_human_scores_have_mean_standard_error_and_n_and_leave_the_aborted_out(filled, capsys, tmp_path):
    main(("human-scores", str(filled.path), "--csv", "--out", str(tmp_path / "human.csv")))
    text = capsys.readouterr().out
    assert (tmp_path / "human.csv").read_text() == text
    agent, sharper = csv.DictReader(text.splitlines())
    assert list(agent) == ["task", "level", "mean", "standard_error", "n", "source", "own", "aborted"]
    assert (agent["task"], agent["level"], agent["n"]) == ("transitive_inference", "train", "3")
    assert float(agent["mean"]) == 3.0
    assert float(agent["standard_error"]) == pytest.approx(np.std([1, 2, 6], ddof=1) / 3**0.5)
    assert agent["source"] == "people, 72 x 96 pictures"
    assert (agent["aborted"], sharper["aborted"]) == ("1", "0")
    assert (sharper["n"], sharper["source"]) == ("1", "people, 144 x 192 pictures")
    assert math.isnan(float(sharper["standard_error"]))
    main(("human-scores", str(filled.path)))
    assert "3.000" in capsys.readouterr().out
    main(("human-scores", str(filled.path), "--json"))
    assert json.loads(capsys.readouterr().out)[0]["n"] == 3


def test_what_was_played_at_another_scale_is_no_score_of_the_level(filled, capsys, tmp_path):
    file = tmp_path / "human.csv"
    main(("human-scores", str(filled.path), "--out", str(file)))
    before = recorded_humans(file)
    filled.add(played_game("ti", 5, scale={"objects": 4})[0].episode(), "finished", None, NOON, 1.0)
    capsys.readouterr()
    main(("human-scores", str(filled.path), "--out", str(file)))
    assert "train objects=4" in " ".join(capsys.readouterr().out.split())
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [(row["n"], row["own"]) for row in rows] == [("3", ""), ("1", ""), ("1", "objects=4")]
    assert recorded_humans(file) == before
    file.write_text(f"task,level,mean,standard_error,own\n{rows[2]['task']},train,9,,objects=4\n")
    assert recorded_humans(file) == {}


def test_a_file_of_before_levels_could_be_changed_is_gone_on_with(tmp_path, monkeypatch):
    head, _, tail = SCHEMA.partition("    version TEXT")
    with monkeypatch.context() as before:
        before.setattr(
            module, "SCHEMA", f"{head}    version TEXT NOT NULL  -- of memorylab\n{tail[tail.index(');') :]}"
        )
        before.setattr(module, "add_columns", lambda _: None)
        old = EpisodeStore(tmp_path / "scores.db")
        with old.open() as database:
            row = (
                1,
                "finished",
                None,
                "transitive_inference",
                "train",
                7,
                72,
                96,
                3.0,
                0,
                b"",
                b"",
                NOON.isoformat(),
                1,
                "",
            )
            database.execute(f"INSERT INTO episodes VALUES ({', '.join('?' * len(row))})", row)
    store = EpisodeStore(tmp_path / "scores.db")
    game, _ = played_game("ti", 5, scale={"objects": 4})
    store.add(game.episode(), "finished", None, NOON, 1.0)
    assert [(score.mean, score.own) for score in store.human_scores()] == [(3.0, ""), (0.0, "objects=4")]
    assert store.get(1).episode.game == GameSpec("transitive_inference")


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "there are no human scores"), (b"no database" * 99, "is not a file of human scores")],
)
def test_a_file_that_is_none_is_said_in_a_sentence(tmp_path, capsys, content, message):
    if content:
        (tmp_path / "scores.db").write_bytes(content)
    with pytest.raises(SystemExit) as exit:
        main(("human-scores", str(tmp_path / "scores.db")))
    assert exit.value.code == 2
    assert message in capsys.readouterr().err


def test_a_name_cannot_be_more_than_a_name(tmp_path):
    store = EpisodeStore(tmp_path / "scores.db")
    name = "Robert'); DROP TABLE episodes;--"
    number = store.add(played_game("avm", 20)[0].episode(), "finished", name, NOON, 1.0)
    assert store.get(number).player == name
    with pytest.raises(ValueError, match="has no episode 99"):
        store.get(99)
