"""The server with players that are not browsers: rules, limits, and messages that make no sense."""

import json
import random
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing, suppress
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from serving import (
    BEGIN,
    LOOK_LEFT,
    LOOK_UP,
    NOTHING,
    begin,
    close_reason,
    header,
    look_away,
    pixels,
    say,
    served,
    sit_down,
    until,
    wait_for,
)
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from memorylab.cli import main
from memorylab.envs.spec import GameSpec
from memorylab.tasks.task import TASKS
from memorylab.web import play as module
from memorylab.web import server
from memorylab.web.catalogue import described, every_task
from memorylab.web.game import replay
from memorylab.web.messages import Refused, plain_name, understood
from memorylab.web.play import MAX_UNDRAWN, play_app
from memorylab.web.store import EpisodeStore


@pytest.fixture
def store(tmp_path):
    return EpisodeStore(tmp_path / "scores.db")


@pytest.fixture
def place(store, monkeypatch):
    """A server whose games run twenty times as fast."""
    monkeypatch.setattr(module, "STEP_SECONDS", 1 / 300)
    monkeypatch.setattr(module, "MAX_MESSAGES_PER_SECOND", 2000)
    with served(play_app(store)) as where:
        yield where


def test_a_finished_episode_is_stored_before_the_player_is_told(place, store):
    with begin(place, name="  Ada\u202e <b>\n ") as socket:
        end, pictures = look_away(socket)
    (kept,) = store.all()
    assert kept.id == end["episode"]
    assert (kept.outcome, kept.player) == ("finished", "Ada <b>")
    assert kept.episode.score == end["score"]
    assert set(kept.episode.actions) <= {LOOK_UP, NOTHING}
    last_step, heard, *_ = header(pictures[-1])
    assert (last_step, heard) == (len(kept.episode.actions), 1)
    assert end["paper"] == 50.0
    assert end["people"] == {"n": 1, "mean": 0.0, "aborted": 0}


def test_the_pictures_are_the_games_own(place, store):
    with begin(place) as socket:
        _, pictures = look_away(socket)
    (kept,) = store.all()
    seen = {header(picture)[0]: pixels(picture) for picture in pictures}
    assert len(seen) > 20
    for step, game in enumerate(replay(kept.episode)):
        if step in seen:
            assert zlib.decompress(seen[step]) == game.picture.tobytes()


def test_practice_leaves_no_trace_and_can_be_paused(place, store, monkeypatch):
    monkeypatch.setattr(module, "STEP_SECONDS", 1 / 15)
    with begin(place, practice=True) as socket:
        say(socket, "pause")
        say(socket, "act", action=LOOK_UP, number=1)
        step = 0
        with suppress(TimeoutError):
            while True:
                step = header(socket.recv(timeout=0.5))[0]
                say(socket, "drawn")
        monkeypatch.setattr(module, "STEP_SECONDS", 1 / 300)
        assert step < 60  # it came to rest, and not at the end of the episode
        say(socket, "resume")
        end, _ = until(socket, "over")
    assert end["episode"] is None
    assert store.all() == []


def test_a_scored_episode_cannot_be_paused(place):
    with begin(place) as socket:
        say(socket, "pause")
        assert until(socket, "refused")[0]["why"] == "not now"
        look_away(socket)


def test_who_leaves_frees_the_game_and_the_episode_is_kept_apart(store, monkeypatch):
    monkeypatch.setattr(module, "STEP_SECONDS", 1 / 300)
    monkeypatch.setattr(module, "MAX_PLAYERS", 1)
    with served(play_app(store)) as place:
        with begin(place) as socket:
            while header(until_picture(socket))[0] < 20:
                pass
            with sit_down(place) as other:
                assert "places are taken" in until(other, "refused")[0]["why"]
        (kept,) = wait_for(store.all)
        assert kept.outcome == "aborted"
        assert len(kept.episode.actions) >= 20
        assert store.human_scores() == []
        wait_for(lambda: sit_down_if_free(place))


def sit_down_if_free(place):
    with suppress(ConnectionClosed), sit_down(place) as socket:
        say(socket, "begin", **BEGIN)
        return json.loads(socket.recv(timeout=20))["say"] == "begun"
    return False


def until_picture(socket):
    while not isinstance(message := socket.recv(timeout=20), bytes):
        pass
    say(socket, "drawn")
    return message


def test_a_client_that_draws_nothing_is_skipped_frames_and_the_game_goes_on(place, store):
    with begin(place) as socket:
        _, pictures = look_away(socket, draw=False)
    assert len(pictures) <= MAX_UNDRAWN + 1  # and the last one
    (kept,) = store.all()
    assert header(pictures[-1])[0] == len(kept.episode.actions) > 70


def test_looking_away_is_warned_of_and_then_counts(place, store):
    with begin(place) as socket:
        end, pictures = look_away(socket)
    assert (end["looked_away"], end["counts"]) == (True, True)
    assert store.all()[0].outcome == "finished"
    steps_and_warnings = [(header(picture)[0], header(picture)[5]) for picture in pictures]
    assert {left for step, left in steps_and_warnings if step < 15} == {0.0}  # a glance past a button is no matter
    warnings = [left for _, left in steps_and_warnings if left]
    assert len(warnings) > 10
    assert warnings == sorted(warnings, reverse=True)
    assert 3.5 < warnings[0] <= 4.1


def test_looking_away_without_a_warning_does_not_count(place, store):
    with begin(place) as socket:
        end, _ = look_away(socket, draw=False)
    assert (end["looked_away"], end["counts"]) == (True, False)
    assert store.all()[0].outcome == "aborted"
    assert store.human_scores() == []


def test_episodes_that_were_given_up_are_counted_beside_the_others(place, store):
    with begin(place) as socket:
        while header(until_picture(socket))[0] < 20:
            pass
    wait_for(store.all)
    with begin(place) as socket:
        end, _ = look_away(socket)
    assert end["people"] == {"n": 1, "mean": 0.0, "aborted": 1}
    assert [(score.n, score.aborted) for score in store.human_scores()] == [(1, 1)]


def test_a_tap_between_two_steps_counts_once(place, store, monkeypatch):
    monkeypatch.setattr(module, "STEP_SECONDS", 0.2)
    with begin(place, practice=True) as socket:
        before = until_picture(socket)
        say(socket, "act", action=LOOK_LEFT, number=1)
        say(socket, "act", action=NOTHING, number=2)
        after, *later = [until_picture(socket) for _ in range(3)]
    assert pixels(after) != pixels(before)
    assert {pixels(picture) for picture in later} == {pixels(after)}  # nothing moves any more


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "must be text"),
        ("{", "must be JSON"),
        ("[" * 400, "must be JSON"),
        ("3", "must say what to do"),
        ('{"do": []}', "must say what to do"),
        ('{"do": "act", "action": 1}', "act takes action, number"),
        ('{"do": "act", "action": true, "number": 1}', "action has a value"),
        ('{"do": "act", "action": -1, "number": 1}', "action has a value"),
        ('{"do": "act", "action": 1e0, "number": 1}', "action has a value"),
        ('{"do": "drawn", "x": 1}', "drawn takes nothing else"),
        (json.dumps({"do": "begin", **BEGIN, "task": "../../etc/passwd"}), "task has a value"),
        (json.dumps({"do": "begin", **BEGIN, "level": ["train"]}), "level has a value"),
        (json.dumps({"do": "begin", **BEGIN, "practice": 1}), "practice has a value"),
        (json.dumps({"do": "begin", **BEGIN, "name": None}), "name has a value"),
    ],
)
def test_messages_that_make_no_sense_are_refused(text, why):
    with pytest.raises(Refused, match=why):
        understood(text, TASKS)


def test_names():
    assert plain_name("  Zoë\t\x00 van\u202e\u200b Dam ") == "Zoë van Dam"
    assert plain_name(" \n ") is None
    assert len(plain_name("x" * 1000)) == 40


def test_thousands_of_random_messages_do_not_disturb_a_player(place, store, caplog):
    chance = random.Random(1)
    valid = [json.dumps({"do": "begin", **BEGIN}), '{"do": "act", "action": 3, "number": 9}', '{"do": "start"}']
    sent = connections = 0
    with begin(place, name="calm") as player:
        while sent < 3000:
            connections += 1
            with sit_down(place) as socket, suppress(ConnectionClosed):  # the server hangs up, as it should
                for _ in range(12):
                    socket.send(random_message(chance, valid))
                    sent += 1
        end, _ = look_away(player)
    assert store.get(end["episode"]).player == "calm"
    assert {kept.outcome for kept in store.all()} <= {"finished", "aborted"}
    assert connections >= 250
    assert sum("refused" in record.message for record in caplog.records) > 1000
    assert not [record for record in caplog.records if record.exc_info]


def random_message(chance: random.Random, valid: list[str]) -> str | bytes:
    kind = chance.randrange(4)
    if kind == 0:
        return chance.randbytes(chance.randrange(900))
    if kind == 1:
        return "".join(chr(chance.randrange(32, 0xD7FF)) for _ in range(chance.randrange(300)))
    text = list(chance.choice(valid))
    for _ in range(chance.randrange(4)):
        text[chance.randrange(len(text))] = chance.choice('{}[]":,0e-x\x00é')
    return "".join(text)


def test_limits_of_size_rate_and_patience(place, monkeypatch):
    with sit_down(place) as socket:
        socket.send("x" * 2000)
        assert close_reason(socket) == 1009
    with sit_down(place) as socket:
        for _ in range(10):
            socket.send("nonsense")
        assert close_reason(socket) == 1008
    monkeypatch.setattr(module, "MAX_MESSAGES_PER_SECOND", 100)
    with begin(place) as socket:
        with suppress(ConnectionClosed):
            for _ in range(300):
                say(socket, "drawn")
        assert close_reason(socket) == 1008
    monkeypatch.setattr(module, "BEGIN_SECONDS", 0.1)
    with sit_down(place) as socket:
        assert close_reason(socket) == 1008


def fetch(place, path, **headers):
    try:
        with urlopen(Request(f"http://{place}{path}", headers=headers)) as answer:
            return answer.status, answer.read(), answer.headers
    except HTTPError as problem:
        return problem.code, problem.read(), problem.headers


def test_only_this_machines_names_and_its_own_pages(place):
    status, body, headers = fetch(place, "/")
    assert status == 200
    assert b"<title>memorylab" in body
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert fetch(place, "/", Host="evil.example")[0] == 403
    assert fetch(place, "/", Host=f"evil.example:{place.split(':')[1]}")[0] == 403
    for options in ({"origin": "http://evil.example"}, {"origin": None}, {"origin": f"http://{place}.evil.example"}):
        with pytest.raises(InvalidStatus) as refused, connect(f"ws://{place}/play", proxy=None, **options):
            pass
        assert refused.value.response.status_code == 403


def test_no_path_reaches_the_file_system(place):
    for path in ("/../pyproject.toml", "/..%2f..%2fetc/passwd", "/static/play.js", "/picture/..%2fx", "/picture/chess"):
        assert fetch(place, path)[0] == 404
    status, body, _ = fetch(place, "/picture/transitive_inference")
    assert (status, body[1:4]) == (200, b"PNG")


def test_a_server_for_others_needs_the_token_of_its_link(store):
    with served(play_app(store), token="secret-token") as place:
        for path in ("/", "/tasks", "/?token=wrong", "/?token="):
            assert fetch(place, path)[0] == 403
        assert fetch(place, "/", Cookie="memorylab=wrong; ;;=")[0] == 403
        status, _, headers = fetch(place, "/?token=secret-token")
        assert status == 200
        cookie = headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        cookie = cookie.split(";")[0]
        assert fetch(place, "/tasks", Cookie=cookie)[0] == 200
        with pytest.raises(InvalidStatus), sit_down(place):
            pass
        with sit_down(place, additional_headers={"Cookie": cookie}) as socket:
            say(socket, "begin", **BEGIN)
            until(socket, "begun")


def test_the_catalogue_tells_all_tasks_and_levels():
    tasks = [described(game) for game in every_task()]
    assert len(tasks) == 13
    for task in tasks:
        assert len(task["levels"]) == 9
        assert len(task["instructions"]) >= 2
        assert "nothing" in task["actions"]


def test_a_game_of_ones_own_is_offered_alone_and_counted_apart(store, monkeypatch):
    monkeypatch.setattr(module, "STEP_SECONDS", 1 / 300)
    own = GameSpec(TASKS[0], scale={"trials": 7})
    with served(play_app(store, [own])) as place:
        (shown,) = json.loads(fetch(place, "/tasks")[1])
        assert shown["title"] == "Arbitrary Visuomotor Mapping (trials=7)"
        assert {level["scale"].split(",")[0] for level in shown["levels"]} == {"7 trials"}
        with sit_down(place) as socket:
            say(socket, "begin", **BEGIN | {"task": "change_detection"})
            assert until(socket, "refused")[0]["why"] == "task has a value that it cannot have"
        with begin(place) as socket:
            end, _ = look_away(socket)
    assert (end["paper"], end["people"]["n"]) == (None, 1)
    assert store.get(end["episode"]).episode.game == own
    assert [(score.level, score.own) for score in store.human_scores()] == [("train", "trials=7")]
    assert store.scores(GameSpec(TASKS[0])) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scale", "trials=7"), "--stimuli and --scale need --task: they are those of one task"),
        (("--task", "avm", "--scale", "side=7"), "arbitrary_visuomotor_mapping has no keyword 'side'"),
        (("--task", "avm", "--scale", "trials=0"), "trials must be"),
        (("--task", "avm", "--stimuli", "nowhere"), "nowhere"),
    ],
)
def test_a_game_that_cannot_be_played_is_told_before_anything_is_served(options, said, tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["play", *options, "--scores", str(tmp_path / "scores.db")])
    assert end.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "scores.db").exists()


def test_kill_during_play_loses_the_running_episode_at_most(tmp_path):
    file = tmp_path / "scores.db"
    command = [sys.executable, "-m", "memorylab", "play", "--port", "0", "--scores", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            place = server.stdout.readline().split("http://")[1].split("/")[0]
            with begin(place) as socket:
                end, _ = look_away(socket)
            with begin(place) as socket:
                until_picture(socket)
                server.kill()
        finally:
            server.kill()
    assert [kept.id for kept in EpisodeStore(file, create=False).all()] == [end["episode"]]
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_for_others_it_warns_and_the_link_has_a_token(monkeypatch, capsys):
    class Unserved:
        def run(self, sockets):
            pass

    asked = []
    monkeypatch.setattr(server, "bound", lambda host, port, bound=server.bound: bound("127.0.0.1", 0))
    monkeypatch.setattr(server, "server_for", lambda app, token, host: asked.append(token) or Unserved())
    for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "192.0.2.7"):
        server.serve(None, host, 0, "Play here")
    said = capsys.readouterr()
    assert asked[:3] == [None] * 3
    assert len(set(asked[3:])) == 2
    assert min(map(len, asked[3:])) > 20
    assert said.err.count("warning") == 2
    assert [line.partition("?token=")[2] for line in said.out.splitlines()] == ["", "", "", *asked[3:]]


def test_a_missing_package_is_named_with_its_extra(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    for name in ("memorylab.web.commands", "memorylab.web.server"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(SystemExit) as exit:
        main(("play",))
    assert exit.value.code == 2
    assert capsys.readouterr().err == "memorylab: this needs more packages (uvicorn): pip install 'memorylab-rl[web]'\n"
