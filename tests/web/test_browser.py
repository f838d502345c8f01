"""The pages in a real Chromium: as a person with a keyboard, with a finger, or looking at a run."""

import base64
import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Event

import numpy as np
import pytest
import torch
from serving import served, wait_for

from memorylab.agent import AgentConfig, MemoryRecallAgent
from memorylab.envs.spec import GameSpec
from memorylab.learning.presets import preset_config
from memorylab.web.agent_player import player_of
from memorylab.web.dashboard import dashboard_app
from memorylab.web.game import PlayedGame, replay
from memorylab.web.play import play_app
from memorylab.web.recording import Moment, Performer, Recording, human_player, scripted_player, unpacked
from memorylab.web.store import EpisodeStore
from memorylab.web.watch import export, watch_app

DESK = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
LANDSCAPE = {"width": 844, "height": 390}
RED, CUE = (255, 0, 0), (100, 200, 100)
STEP_MS = 67


@pytest.fixture
def store(tmp_path):
    return EpisodeStore(tmp_path / "scores.db")


@pytest.fixture
def place(store):
    with served(play_app(store)) as where:
        yield where


def seen(page, selector: str = "#picture") -> np.ndarray:
    """The picture on a canvas."""
    height, width, values = page.evaluate(
        """(selector) => {
            const { width, height } = document.querySelector(selector);
            const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
            copy.drawImage(document.querySelector(selector), 0, 0);
            const bytes = copy.getImageData(0, 0, width, height).data;
            let text = "";
            for (let i = 0; i < bytes.length; i += 4096) text += String.fromCharCode(...bytes.subarray(i, i + 4096));
            return [height, width, btoa(text)];
        }""",
        selector,
    )
    return np.frombuffer(base64.b64decode(values), np.uint8).reshape(height, width, 4)[:, :, :3]


def open_practised(open_page, place, task: str, viewport=DESK, **options):
    """As somebody who has practised this task before."""
    page = open_page(f"http://{place}/", viewport, **options)
    page.evaluate(f"localStorage.setItem('memorylab-practised', '[\"{task}\"]')")
    page.goto(f"http://{place}/#{task}")
    page.wait_for_selector("#play:visible")
    return page


def too_wide(page) -> list[str]:
    """What reaches over the right edge of the screen, if anything makes the page wider than it."""
    return page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("*")]
            .filter((one) => one.getBoundingClientRect().right > innerWidth)
            .map((one) => `${one.tagName} ${one.id} ${one.textContent.slice(0, 60)}`)"""
    )


def start(page, button: str = "#play") -> None:
    page.click(button)
    page.wait_for_selector("#cover", state="hidden", timeout=60_000)


def direction_of(picture: np.ndarray, colour: tuple[int, int, int]) -> str | None:
    """The key that turns the gaze towards what has this colour; None if nothing has."""
    rows, columns = np.nonzero((abs(picture.astype(int) - colour) < 12).all(-1))
    if len(rows) == 0:
        return None
    down, right = rows.mean() - (picture.shape[0] - 1) / 2, columns.mean() - (picture.shape[1] - 1) / 2
    if abs(right) > abs(down):
        return "ArrowRight" if right > 0 else "ArrowLeft"
    return "ArrowDown" if down > 0 else "ArrowUp"


def test_an_avm_trial_by_keyboard_pays_and_the_episode_is_found_and_replayed(open_page, place, store, monkeypatch):
    monkeypatch.setattr("memorylab.web.loading.new_seed", lambda: 0)  # in one of forty, these keys turn round and round
    page = open_practised(open_page, place, "avm")
    page.check("#crosshair")
    page.fill("#name", "<img src=x onerror=alert(1)>")
    start(page)
    assert page.text_content("#count") == "0 of 50"
    assert page.is_visible(".cross")
    key = "ArrowLeft"
    for _ in range(60):
        picture = seen(page)
        key = direction_of(picture, RED) or direction_of(picture, CUE) or key  # on the button: go on, off it again
        page.keyboard.press(key)
        page.wait_for_timeout(2 * STEP_MS)
        if page.text_content("#score") == "1":
            break
    assert page.text_content("#score") == "1"
    assert page.text_content("#count") == "1 of 50"

    monkeypatch.setattr("memorylab.web.play.STEP_SECONDS", 1 / 75)  # nothing is left to aim at
    page.keyboard.down("ArrowUp")  # look at the ceiling until the episode is over
    page.wait_for_selector("#warning:has-text('Look back at the panel: the episode ends in')")
    page.wait_for_selector("#final-score", timeout=30_000)
    page.keyboard.up("ArrowUp")
    assert page.text_content("#final-score") == "1"
    assert "Stored as episode 1" in page.text_content("#cover")
    assert "You looked away from the panel for five seconds" in page.text_content("#cover")
    assert "the last trial" in page.text_content("#answer").lower()
    assert page.is_hidden("#warning")
    kept = store.get(1)
    assert (kept.outcome, kept.player, kept.episode.score) == ("finished", "<img src=x onerror=alert(1)>", 1.0)
    *_, end = replay(kept.episode)
    assert end.score == 1
    np.testing.assert_array_equal(seen(page), end.picture)


def test_the_first_episode_is_practice_and_stopping_keeps_a_scored_one_apart(open_page, place, store, monkeypatch):
    page = open_page(f"http://{place}/#ti")
    page.wait_for_selector("#play:text('Practise, then play for a score')")
    assert page.is_hidden("#practise")
    start(page)
    page.click("#pause")
    page.wait_for_timeout(300)
    before = page.get_attribute("#frame", "data-step")
    page.wait_for_timeout(300)
    assert page.get_attribute("#frame", "data-step") == before
    page.click("#pause")
    page.keyboard.down("w")
    wait_for(lambda: int(page.get_attribute("#frame", "data-step")) > int(before) + 5)
    page.click("#stop")
    assert page.is_visible("#briefing")
    assert page.text_content("#play") == "Practise, then play for a score"  # a glance is no practice
    monkeypatch.setattr("memorylab.web.play.STEP_SECONDS", 1 / 75)
    start(page)
    page.wait_for_selector("#enough:visible", timeout=20_000)
    box = page.locator("#enough").bounding_box()
    assert box["y"] + box["height"] <= DESK["height"]
    page.click("#enough")
    page.wait_for_selector("#cover", state="hidden")
    assert page.is_hidden("#pause")
    assert page.is_hidden("#enough")
    monkeypatch.setattr("memorylab.web.play.STEP_SECONDS", 1 / 15)
    wait_for(lambda: int(page.get_attribute("#frame", "data-step")) > 20)
    page.click("#stop")
    (kept,) = wait_for(store.all)
    assert kept.outcome == "aborted"
    assert page.text_content("#play") == "Play for a score"
    assert page.text_content("#practise") == "Practise again"


def test_single_choices_are_scored_in_series(open_page, store, monkeypatch):
    monkeypatch.setattr("memorylab.web.catalogue.SERIES", 2)
    monkeypatch.setattr("memorylab.web.play.STEP_SECONDS", 1 / 75)
    game = GameSpec("spot_diff_basic", scale={"seconds": 3, "room": 8, "corridor": 3})
    with served(play_app(store, [game])) as place:
        page = open_page(f"http://{place}/#sdb", PHONE, has_touch=True, is_mobile=True)
        page.tap("#play")
        page.wait_for_selector("text=Practice is over", timeout=60_000)
        assert "You chose none; the " in page.text_content("#answer")
        assert page.locator("#cover button").all_text_contents() == [
            "Play for a score",
            "Practise again",
            "Another game",
        ]
        page.tap("#cover button.first")
        page.wait_for_selector("text=Episode 1 of 2", timeout=20_000)
        page.tap("text=Next episode")
        page.wait_for_selector("text=Your score in 2 episodes", timeout=20_000)
        for button in page.locator("#cover button").all():
            box = button.bounding_box()
            assert box["y"] + box["height"] <= PHONE["height"]
        assert page.text_content("#cover button.first") == "Play again"
    assert [kept.outcome for kept in store.all()] == ["finished", "finished"]


@pytest.mark.parametrize("viewport", [DESK, PHONE, LANDSCAPE], ids=["desk", "phone", "landscape"])
@pytest.mark.parametrize("task", ["cd", "ti"])
def test_what_is_needed_is_in_sight_on_every_screen(open_page, place, viewport, task):
    page = open_practised(open_page, place, task, viewport, has_touch=viewport != DESK, is_mobile=viewport != DESK)
    for button in ("#play", "#practise"):
        box = page.locator(button).bounding_box()
        assert 0 <= box["y"] < box["y"] + box["height"] <= viewport["height"]
        assert page.evaluate(
            f"""(() => {{ const b = document.querySelector("{button}").getBoundingClientRect();
            return document.elementFromPoint(b.x + b.width / 2, b.y + b.height / 2).id; }})()"""
        ) == button.removeprefix("#")
    assert "As in training" in page.text_content("#levels-first")
    page.click("#practise")
    page.wait_for_selector("#cover", state="hidden", timeout=60_000)
    pad = page.locator("#pad button").all()
    for one in (page.locator("#picture"), page.locator("#stop"), *pad):
        box = one.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= viewport["width"]
        assert 0 <= box["y"] < box["y"] + box["height"] <= viewport["height"]
    assert page.locator("#picture").bounding_box()["width"] > 0.5 * min(viewport.values())
    assert min(min(one.bounding_box()["width"], one.bounding_box()["height"]) for one in pad) >= 44


def test_a_phone_shows_all_and_is_played_by_touch(open_page, place):
    page = open_page(f"http://{place}/", PHONE, has_touch=True, is_mobile=True)
    fits = "document.documentElement.scrollWidth <= window.innerWidth"
    page.wait_for_selector(".card")
    assert page.evaluate(fits)
    assert page.locator(".card").count() == 13
    page.tap("[data-task=transitive_inference]")
    assert page.evaluate(fits)
    page.tap("#play")
    page.wait_for_selector("#cover", state="hidden", timeout=60_000)
    assert page.evaluate(fits)
    before = seen(page)
    for control in ("left", "up", "stepRight"):
        box = page.locator(f"#pad [data-control={control}]").bounding_box()
        assert box["y"] + box["height"] <= PHONE["height"]
        assert min(box["width"], box["height"]) >= 44
    page.tap("#pad [data-control=left]")
    page.wait_for_timeout(4 * STEP_MS)
    assert (seen(page) != before).any()


def fresh_mra():
    torch.manual_seed(0)
    sizes = {"encoder": "small", "height": 36, "width": 48, "embedding_size": 16, "hidden_size": 16, "key_size": 8}
    return player_of(
        MemoryRecallAgent(AgentConfig(**sizes, capacity=64, neighbours=6)), "fresh mra", GameSpec("cd", size=(36, 48))
    )


def test_the_recall_panel_shows_what_the_agent_read(open_page):
    recording = Recording(fresh_mra(), 3)
    recording.record()
    pieces = [unpacked(piece, 36, 48) for piece in recording.pieces]
    steps = [step for facts, _ in pieces for step in facts]
    pictures = np.concatenate([part for _, part in pieces])
    with served(watch_app(fresh_mra(), seed=3)) as where:
        page = open_page(f"http://{where}/")
        wait_for(lambda: f"{len(steps)} steps" in page.text_content("#state"))
        page.keyboard.press("Home")
        assert "Nothing to recall yet" in page.text_content("#recall-word")
        for now in (1, 5, len(steps) - 1):
            page.fill("#scrub", str(now))
            np.testing.assert_array_equal(seen(page), pictures[now])
            shown = page.locator("#recalled li:not(.empty) button")
            assert [int(age) for age in shown.evaluate_all("all => all.map((one) => one.dataset.age)")] == steps[now][
                "ages"
            ]
            for j, age in enumerate(steps[now]["ages"]):
                thumbnail = seen(page, f"#recalled li:nth-child({j + 1}) canvas")
                np.testing.assert_array_equal(thumbnail, pictures[now - age])
        page.locator("#recalled button").first.click()
        assert page.get_attribute("body", "data-step") == str(now - steps[now]["ages"][0])
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        assert page.get_attribute("body", "data-step") == "1"
        page.select_option("#speed", "16")
        page.click("#run")
        wait_for(lambda: page.get_attribute("body", "data-step") == str(len(steps) - 1))
        page.click("#another")
        wait_for(lambda: "seed 4" in page.text_content("#subtitle"))
        page.close()  # before the server it asks


def test_an_exported_episode_opens_without_a_server(open_page, tmp_path):
    recording = Recording(scripted_player(GameSpec("ti", "train"), "remembering"), 1)
    recording.record()
    export(recording, tmp_path / "episode.html")
    page = open_page((tmp_path / "episode.html").as_uri())
    wait_for(lambda: "steps" in page.text_content("#state"))
    assert page.is_visible("#plan")
    assert page.is_hidden("#recall-panel")
    page.keyboard.press("End")
    _, pictures = unpacked(recording.pieces[-1], 72, 96)
    np.testing.assert_array_equal(seen(page), pictures[-1])
    assert len(np.unique(seen(page, "#plan").reshape(-1, 3), axis=0)) > 5  # walls, floor, route, stands


def test_names_are_shown_as_text(open_page, store):
    game = PlayedGame(GameSpec("ti"), 5)
    for _ in range(20):
        game.step(0)
    store.add(game.episode(), "finished", "<b id=bold>Eve</b>", datetime.now(UTC), 2.0)
    with served(watch_app(human_player(store.get(1)), seed=0)) as where:
        page = open_page(f"http://{where}/", PHONE)
        wait_for(lambda: "<b id=bold>Eve</b>, episode 1" in page.text_content("#subtitle"))
        assert page.locator("#bold").count() == 0
        assert too_wide(page) == []


def test_the_dashboard_follows_a_run(open_page, tmp_path: Path):
    run = tmp_path / "runs" / "one"
    run.mkdir(parents=True)
    (run / "config.json").write_text(json.dumps(asdict(replace(preset_config("cd"), seed=3))))
    (run / "metrics.csv").write_text("step,stage,score\n1000,trials 1,0.5\n")
    (run / "scores.csv").write_text("step,level,return\n0,train,1\n0,train,3\n")
    with served(dashboard_app(tmp_path / "runs")) as where:
        page = open_page(f"http://{where}/", PHONE)
        page.wait_for_selector("text=mra on change_detection, laptop, seed 3")
        assert page.locator(".badge.live").count() == 1
        assert too_wide(page) == []
        with (run / "metrics.csv").open("a") as file:
            file.write("2000,trials 1,7.25\n")
        page.wait_for_selector("dd:text('7.25')", timeout=15_000)
        assert page.locator(".overlay polyline").get_attribute("points").count(",") == 2
        page.close()  # before the server it asks


def test_the_dashboard_has_a_chart_for_each_task_and_marks_for_many_runs(open_page, tmp_path: Path):
    for task, number in (("change_detection", 20), ("transitive_inference", 2)):
        for seed in range(number):
            run = tmp_path / f"{task}-{seed:02}"
            run.mkdir()
            (run / "config.json").write_text(json.dumps({"task": task, "model": "mra", "seed": seed}))
            rows = "".join(f"{100 * i},{900 + seed},{i + seed}\n" for i in range(1, 4))
            (run / "metrics.csv").write_text("step,steps_per_second,score\n" + rows)
    with served(dashboard_app(tmp_path)) as where:
        page = open_page(f"http://{where}/", PHONE)
        page.wait_for_selector(".overlay polyline")
        panels = page.locator("#together > section")
        assert panels.locator("h2").all_text_contents() == ["change detection", "transitive inference"]
        assert [panels.nth(i).locator("polyline").count() for i in (0, 1)] == [20, 2]
        looks = page.locator("#together > section:first-child .keys svg").evaluate_all(
            "all => all.map(one => one.lastChild.dataset.mark + one.lastChild.style.fill)"
        )
        assert len(set(looks)) == len(looks) == 20
        drawn = page.locator("#together > section:first-child .overlay .mark").evaluate_all(
            "all => all.map(one => one.dataset.mark + one.style.fill)"
        )
        assert set(drawn) == set(looks)  # the chart has the marks that its key has
        page.locator("#together > section:first-child .keys input").first.uncheck()
        assert [panels.nth(i).locator("polyline").count() for i in (0, 1)] == [19, 2]
        assert page.locator("dd:text('919')").count() == 1
        assert too_wide(page) == []
        page.close()  # before the server it asks


def remembered(recalls: dict[int, int], pays: int, steps: int = 100, wait: Event | None = None) -> Performer:
    """Someone who recalls, at some steps, a moment so many steps ago, and is paid once."""
    names = "player", "title", "rule", "level"
    facts = {**dict.fromkeys(names, "x"), "task": "cd", "actions": ["a", "b"], "height": 36, "width": 48}

    def play(seed: int):
        for t in range(steps):
            if wait and t == 70:
                wait.wait(20)
            ages = [recalls[t], 1] if t in recalls else [1] if t else []
            weights = [0.8, 0.2][: len(ages)] if t in recalls else [1.0] * len(ages)
            picture = np.full((36, 48, 3), t, np.uint8)
            yield Moment(picture, 0, float(t == pays), [0.5, 0.5], 0.1, ages, weights)

    return Performer(facts, play)


def test_watch_opens_on_a_recall_worth_seeing_and_says_what_is_only_so_far(open_page):
    """Long ago before near, paid before unpaid; a step of one's own is kept."""
    goes_on = Event()
    with served(watch_app(remembered({50: 40, 80: 70, 90: 20}, pays=85, wait=goes_on), seed=1)) as where:
        page = open_page(f"http://{where}/", PHONE)
        wait_for(lambda: page.get_attribute("body", "data-step") == "50")
        assert page.text_content("#state") == "64 steps, score 0 so far"
        assert page.is_visible("#so-far")
        assert "so far: step 50" in page.text_content("#opened")
        assert page.text_content("#tracks > div:last-child .quiet") == "none so far"
        assert too_wide(page) == []
        goes_on.set()
        wait_for(lambda: page.get_attribute("body", "data-step") == "80")
        assert page.text_content("#state") == "100 steps, score 1"
        assert page.is_hidden("#so-far")
        assert page.locator("#recalled li").count() == 2  # no room for what it never recalls
        assert page.text_content("#opened") == (
            "Opened on the recall that is most worth seeing: step 80. |◀ goes to the start."
        )
        page.keyboard.press("ArrowRight")
        assert page.get_attribute("body", "data-step") == "81"
        assert page.text_content("#opened") == ""
        page.close()  # before the server it asks


def test_a_step_that_was_chosen_while_an_episode_loads_is_kept(open_page):
    goes_on = Event()
    with served(watch_app(remembered({50: 40, 80: 70}, pays=85, wait=goes_on), seed=1)) as where:
        page = open_page(f"http://{where}/")
        wait_for(lambda: page.get_attribute("body", "data-step") == "50")
        page.keyboard.press("Home")
        goes_on.set()
        wait_for(lambda: page.text_content("#state") == "100 steps, score 1")
        assert page.get_attribute("body", "data-step") == "0"
        page.close()  # before the server it asks


def test_no_panel_of_watch_is_empty_without_a_word(open_page):
    released = Event()

    def slow(seed: int):
        released.wait(20)
        raise RuntimeError("the dog ate it")
        yield

    with served(watch_app(Performer(remembered({}, 0).facts, slow), seed=1)) as where:
        page = open_page(f"http://{where}/")
        page.wait_for_selector("text=the first steps will be here in a moment")
        assert page.locator(".panel:visible").count() == 1
        released.set()
        page.wait_for_selector("text=The episode broke off: RuntimeError: the dog ate it")
        page.close()  # before the server it asks
    forgetful = Performer(
        remembered({}, 0).facts,
        lambda seed: (Moment(np.zeros((36, 48, 3), np.uint8), 0, 0.0, [0.5, 0.5], 0.1) for _ in range(3)),
    )
    with served(watch_app(forgetful, seed=1)) as where:
        page = open_page(f"http://{where}/")
        page.wait_for_selector("text=This agent has no episodic memory")
        for panel in page.locator(".panel:visible").all():
            assert panel.inner_text().strip()
        assert page.text_content("#opened") == ""
        page.close()  # before the server it asks
