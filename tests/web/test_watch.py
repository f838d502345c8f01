"""Recordings hold what the agent met, did and read; the page of one file holds nothing that could do harm."""

import json
import threading
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import islice
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest
import torch
from serving import served, wait_for

from memorylab.agent import AgentConfig, MemoryRecallAgent
from memorylab.cli import main
from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning import actor
from memorylab.learning.presets import preset_config
from memorylab.runs.checkpoints import save_checkpoint
from memorylab.web.agent_player import agent_player, player_of
from memorylab.web.game import PlayedGame, replay
from memorylab.web.recording import (
    Moment,
    Performer,
    Recording,
    human_player,
    packed,
    plan_facts,
    scripted_player,
    unpacked,
)
from memorylab.web.store import EpisodeStore
from memorylab.web.watch import standalone, watch_app

SMALL = AgentConfig(
    encoder="small", height=36, width=48, embedding_size=16, hidden_size=16, key_size=8, capacity=32, neighbours=4
)


def fresh_agent() -> MemoryRecallAgent:
    torch.manual_seed(0)
    return MemoryRecallAgent(SMALL)


def recorded(player: Performer, seed: int = 3) -> tuple[list[dict], np.ndarray]:
    recording = Recording(player, seed)
    recording.record()
    assert recording.is_done
    size = recording.facts["height"], recording.facts["width"]
    pieces = [unpacked(piece, *size) for piece in recording.pieces]
    return [step for facts, _ in pieces for step in facts], np.concatenate([pictures for _, pictures in pieces])


def test_a_recording_tells_what_the_agent_read():
    agent = fresh_agent()
    steps, pictures = recorded(player_of(agent, "fresh", GameSpec("cd", size=(36, 48))))
    env = MemoryVectorEnv("cd", "train", 1, threads=1, seed=3, size=(36, 48))
    player = actor.Player(env, agent, 3)
    xs = []
    for t, step in enumerate(steps):
        inputs, output, choice, ended = player.play()
        xs.append(output.x[0])
        np.testing.assert_array_equal(pictures[t], inputs.pictures[0])
        valid = output.recalled.valid[0]
        assert sorted(step["ages"]) == sorted(output.recalled.age[0][valid].tolist())
        assert step["weights"] == sorted(step["weights"], reverse=True)
        by_age = dict(zip(step["ages"], step["weights"], strict=True))
        for slot, age in enumerate(output.recalled.age[0].tolist()):
            if valid[slot]:  # what was read is what was seen then
                torch.testing.assert_close(output.recalled.pv[0, slot, : SMALL.embedding_size], xs[t - age])
                assert by_age[age] == pytest.approx(float(output.weights[0, slot]), abs=1e-5)
        assert step["action"] == choice.actions[0]
        assert step["value"] == pytest.approx(float(output.baseline[0]), abs=1e-4)
        assert sum(step["probabilities"]) == pytest.approx(1, abs=1e-3)
    assert ended
    assert len(steps[0]["ages"]) == 0
    assert len(steps[-1]["ages"]) == 4
    assert max(age for step in steps for age in step["ages"]) <= SMALL.capacity


def test_packing_keeps_every_byte():
    pictures = np.random.default_rng(0).integers(0, 256, (5, 8, 9, 3), np.uint8)
    moments = [Moment(picture, i, 0.5, value=0.0) for i, picture in enumerate(pictures)]
    facts, again = unpacked(packed(moments), 8, 9)
    np.testing.assert_array_equal(again, pictures)
    assert facts[3] == {"action": 3, "reward": 0.5, "value": 0.0, "ages": [], "weights": []}


def test_a_scripted_player_is_recorded_with_a_map_that_has_the_goal():
    steps = list(islice(scripted_player(GameSpec("vgm", "train"), "remembering").play(0), 200))
    plan, place = steps[0].plan, steps[0].place
    ((x, z, _, _),) = plan["ovals"]  # the goal can be seen
    assert plan["goal"] == pytest.approx([x, z], abs=0.02)
    assert plan["solid"][int(place["z"])][int(place["x"])] == "."
    assert sum(step.reward for step in steps) >= 10
    env = MemoryVectorEnv("vgb", "train", 1, seed=0)
    env.reset()
    plan = plan_facts(env.batch)
    assert len(plan["boxes"]) == 4
    assert plan["goal"] == pytest.approx([env.info["goal_x"][0], env.info["goal_z"][0]], abs=0.01)
    psychlab = next(scripted_player(GameSpec("cd", "train"), "random").play(0))
    assert psychlab.plan is psychlab.place is None


@pytest.fixture
def played(tmp_path):
    store = EpisodeStore(tmp_path / "scores.db")
    game = PlayedGame(GameSpec("ti"), 5)
    for action in [0, 4, 6, 8] * 20:
        game.step(action)
    store.add(game.episode(), "finished", "</script><b>Eve", datetime.now(UTC), 5.0)
    return store.get(1)


def test_a_persons_episode_is_shown_as_it_was_played(played):
    steps, pictures = recorded(human_player(played))
    assert bytes(step["action"] for step in steps) == played.episode.actions
    for picture, game in zip(pictures, replay(played.episode), strict=False):
        np.testing.assert_array_equal(picture, game.picture)


def test_one_file_holds_all_and_loads_nothing(played):
    recording = Recording(human_player(played), 0)
    recording.record()
    page = standalone(recording)
    assert "</script><b>Eve" not in page
    for outside in ('href="style.css"', 'src="watch.js"', "http://", "https://", "icon.svg"):
        assert outside not in page.replace("http://www.w3.org/2000/svg", "")
    data = page.split('<script id="recorded" type="application/json">')[1].split("</script>")[0]
    assert json.loads(data)["player"] == "</script><b>Eve, episode 1"


@pytest.fixture
def run(tmp_path):
    """A run whose agent was never trained."""
    folder = tmp_path / "runs" / "fresh"
    config = replace(preset_config("cd"), agent=SMALL)
    weights = {f"agent.{name}": part for name, part in fresh_agent().state_dict().items()}
    save_checkpoint(folder / "checkpoints", 1234, weights, {})
    (folder / "config.json").write_text(json.dumps(asdict(config)))
    return folder


def test_a_run_is_exported_by_the_command(run, tmp_path, capsys):
    out = tmp_path / "episode.html"
    main(("watch", str(run), "--seed", "3", "--export", str(out)))
    assert capsys.readouterr().out.strip() == str(out)
    assert "mra after 1,234 steps" in out.read_text()
    steps, _ = recorded(agent_player(run))
    again, _ = recorded(player_of(fresh_agent(), "fresh", GameSpec("cd", size=(36, 48))))
    assert [step["action"] for step in steps] == [step["action"] for step in again]
    for name in ("probabilities", "value", "weights"):  # other threads may round the last digit differently
        for mine, theirs in zip(steps, again, strict=True):
            assert mine[name] == pytest.approx(theirs[name], abs=2e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name one to watch"),
        (("runs", "--player", "random", "--task", "avm"), "name one to watch"),
        (("--player", "random"), "--player needs --task"),
        (("nowhere",), "nowhere is not the folder of a run"),
        (("RUN", "--task", "vgb"), "--task is for a --player"),
        (("RUN", "--export", "episode.gif"), "--export must end in .html"),
        (("--episode", "1", "--scores", "nowhere.db"), "there are no human scores in nowhere.db"),
        (("RUN", "--port", "70000"), "--port must be from 0"),
    ],
)
def test_bad_input_is_one_sentence(run, capsys, arguments, message):
    with pytest.raises(SystemExit) as exit:
        main(("watch", *(str(run) if word == "RUN" else word for word in arguments)))
    assert exit.value.code == 2
    assert message in capsys.readouterr().err


def test_a_run_without_checkpoint_says_so(run):
    for file in (run / "checkpoints").iterdir():
        file.unlink()
    with pytest.raises(ValueError, match="has no checkpoint yet"):
        agent_player(run)


def test_the_page_follows_a_recording_and_asks_for_another():
    with served(watch_app(scripted_player(GameSpec("cd", "train"), "random"), seed=7)) as place:

        def facts():
            with urlopen(f"http://{place}/episode") as answer:
                return json.load(answer)

        done = wait_for(lambda: facts()["is_done"] and facts())
        assert (done["seed"], done["number"]) == ("7", 1)
        with urlopen(f"http://{place}/piece/1/{done['pieces'] - 1}") as answer:
            unpacked(answer.read(), 72, 96)
        for wrong in (f"/piece/1/{done['pieces']}", "/piece/2/0", "/piece/1/x", "/piece/1/-1"):
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"http://{place}{wrong}")
        for headers, status in (({}, 403), ({"Origin": "http://evil.example"}, 403)):
            with pytest.raises(HTTPError, match=str(status)):
                urlopen(Request(f"http://{place}/another", method="POST", headers=headers))
        urlopen(Request(f"http://{place}/another", method="POST", headers={"Origin": f"http://{place}"})).close()
        assert (facts()["seed"], facts()["number"]) == ("8", 2)
    assert "recording" not in [thread.name for thread in threading.enumerate()]


def test_a_page_that_is_not_served_records_nothing():
    watch_app(scripted_player(GameSpec("cd", "train"), "random"), seed=7)
    assert "recording" not in [thread.name for thread in threading.enumerate()]
