"""The rules of the four games, frame by frame, with the gaze placed by hand."""

import numpy as np
import pytest

from memorylab.tasks.psychlab import change_detection

TOP, BOTTOM, LEFT, RIGHT = range(4)
RED, WHITE, BLACK = (255, 0, 0), (255, 255, 255), (0, 0, 0)
GREEN_FEEDBACK, RED_FEEDBACK = (100, 255, 100), (255, 100, 100)
CUE, NOT_CUED = (100, 200, 100), (200, 100, 100)
ALL = ["avm", "cr", "cd", "wtw"]


# --- what all share


@pytest.mark.parametrize("task", ALL)
def test_a_trial_begins_with_gaze_on_the_cross(sit_at, task):
    table = sit_at(task, size=(144, 192))
    assert table.colour_at(0.5, 0.5) == RED
    table.look(0.53, 0.5, frames=20)  # on the cross, but outside its centred 0.05 square
    assert table.in_phase("FIXATE")
    table.look(0.524, 0.476)
    assert not table.in_phase("FIXATE")
    assert table.colour_at(0.5, 0.5) != RED


@pytest.mark.parametrize("task", ["avm", "cr"])
def test_the_reward_comes_when_gaze_leaves_the_button(sit_at, task):
    table = sit_at(task, size=(144, 192))
    table.begin_trial()
    x, y = table.module.BUTTONS[table.game["correct"]]
    assert table.look(x, y, frames=30) == 0
    assert table.look(0.5, 0.3) == 1
    assert table.game["trial"] == 1
    assert table.in_phase("REST")  # one blank frame, then the cross
    assert table.colour_at(0.5, 0.5) == WHITE
    table.look(0.3, 0.3)
    assert table.colour_at(0.5, 0.5) == RED


@pytest.mark.parametrize("task", ["avm", "cr"])
def test_the_first_button_entered_is_the_answer(sit_at, task):
    table = sit_at(task)
    table.begin_trial()
    wrong = (table.game["correct"] + 1) % len(table.module.BUTTONS)
    table.look(*table.module.BUTTONS[wrong])
    assert table.look(*table.module.BUTTONS[table.game["correct"]]) == 0  # leaves the wrong one for the right one
    assert table.game["trial"] == 1


def test_more_than_300_frames_off_the_panel_end_the_episode(sit_at):
    table = sit_at("avm")
    table.look(1.2, 0.5, frames=300)
    assert table.game["over"] == 0
    table.look(0.5, 0.9)
    table.look(1.2, 0.5, frames=300)
    assert table.game["over"] == 0
    table.look(1.2, 0.5)
    assert table.game["over"] == 1


def test_the_clock_truncates_and_the_trial_cap_terminates():
    import memorylab

    env = memorylab.make("avm", trials=2, seconds=10)
    env.reset(seed=0)
    for _ in range(150):
        _, _, terminated, truncated, info = env.step(4)
    assert (terminated, truncated, info["length"]) == (False, True, 150)

    env.reset(seed=0)
    action, total = np.zeros(1, np.int64), 0.0
    for _ in range(100):
        env.batch.act("remembering", action)
        _, reward, terminated, truncated, info = env.step(action[0])
        total += reward
        if terminated:
            break
    assert (terminated, truncated, total, info["score"], info["trial"]) == (True, False, 2.0, 2.0, 2)


def test_look_is_8448_thousandths_of_a_degree_per_step():
    import memorylab

    env = memorylab.make("avm")
    env.reset(seed=3)
    game = env.batch.records[0]
    yaw = game["yaw"]
    assert abs(yaw) <= 22.5
    assert game["pitch"] == 0
    for action, (dyaw, dpitch) in enumerate([(-1, 0), (1, 0), (0, 1), (0, -1), (0, 0)]):
        yaw, pitch = game["yaw"], game["pitch"]
        env.step(action)
        assert game["yaw"] - yaw == pytest.approx(8.448 * dyaw)
        assert game["pitch"] - pitch == pytest.approx(8.448 * dpitch)
    for _ in range(15):
        env.step(2)
    assert game["pitch"] == 88


# --- arbitrary visuomotor mapping


def test_avm_first_showing_marks_the_right_button_and_later_ones_do_not(sit_at):
    table = sit_at("avm")
    table.begin_trial()
    places = [(0.5, 0.05), (0.5, 0.95), (0.05, 0.5), (0.95, 0.5)]
    right = table.game["correct"]
    for button, place in enumerate(places):
        assert table.colour_at(*place) == (CUE if button == right else NOT_CUED)
    table.look(*places[(right + 1) % 4])  # any answer lights the right one green and the others red
    for button, place in enumerate(places):
        assert table.colour_at(*place) == (GREEN_FEEDBACK if button == right else RED_FEEDBACK)
    table.look(0.3, 0.3)
    table.begin_trial()  # the imperfect pass is repeated: the same picture, no cue
    assert table.game["correct"] == right
    assert [table.colour_at(*place) for place in places] == [BLACK] * 4


@pytest.mark.parametrize(("trials", "pairs"), [(50, 10), (40, 9), (75, 12)])
def test_avm_perfect_play_meets_this_many_pairs(sit_at, trials, pairs):
    table = sit_at("avm", trials=trials)
    met = {}
    for _ in range(trials):
        table.begin_trial()
        picture, right = int(table.game["picture"]), int(table.game["correct"])
        assert table.game["cue"] == (picture not in met)
        assert met.setdefault(picture, right) == right  # a picture keeps its button
        assert table.press(right) == 1
    assert table.game["pairs"] == pairs
    assert pairs - 1 <= len(met) <= pairs  # the last pass may end before the newest is shown
    assert table.game["over"] == 1


def test_avm_a_pass_shows_every_pair_once_and_an_error_repeats_it(sit_at):
    table = sit_at("avm", trials=500)
    passes = []
    for fails in (False, False, False, True, False):
        size = int(table.game["pairs"])
        shown = []
        for number in range(size):
            table.begin_trial()
            shown.append(int(table.game["picture"]))
            table.press((table.game["correct"] + (fails and number == 0)) % 4)
        assert len(set(shown)) == size
        passes.append(size)
    assert passes == [1, 2, 3, 4, 4]


def test_avm_directions_and_orders_are_uniform(sit_at):
    directions, firsts = [], []
    table = sit_at("avm", trials=1000)
    for seed in range(300):
        table.env.reset(seed=seed)
        for _ in range(3):
            table.begin_trial()
            directions.append(int(table.game["correct"]))
            if table.game["pairs"] == 2 and table.game["shown"] in (1, 2):
                firsts.append(int(table.game["cue"]))
            table.press(table.game["correct"])
    np.testing.assert_allclose(np.bincount(directions) / len(directions), 0.25, atol=0.07)
    assert np.mean(firsts) == pytest.approx(0.5, abs=0.1)


# --- continuous recognition


def test_cr_new_is_left_old_is_right_and_half_are_new(sit_at):
    table = sit_at("cr", trials=400, seconds=5000)
    seen, old = set(), 0
    for trial in range(400):
        table.begin_trial()
        picture = int(table.game["picture"])
        is_old = picture in seen
        assert (table.colour_at(0.05, 0.5), table.colour_at(0.95, 0.5)) == (BLACK, BLACK)
        if trial == 0:
            assert not is_old
        x = 0.95 if is_old else 0.05
        table.look(x, 0.5)
        if trial < 5:
            assert table.colour_at(x, 0.5) == GREEN_FEEDBACK
            assert table.colour_at(1 - x, 0.5) == BLACK
        assert table.look(0.3, 0.3) == 1
        seen.add(picture)
        old += is_old
    assert old / 400 == pytest.approx(0.5, abs=0.1)


def test_cr_wrong_answer_lights_red(sit_at):
    table = sit_at("cr")
    table.begin_trial()
    table.look(0.95, 0.5)
    assert table.colour_at(0.95, 0.5) == RED_FEEDBACK
    assert table.look(0.3, 0.3) == 0


# --- change detection


def frames_in(table, phase: str) -> int:
    """Look aside until the phase ends; returns how many frames it lasted."""
    assert table.in_phase(phase)
    frames = 0
    while table.in_phase(phase):
        table.look(0.2, 0.2)
        frames += 1
        assert frames < 1000
    return frames


def test_cd_phases_and_their_frames(sit_at):
    table = sit_at("cd", delays=(37,))
    table.begin_trial()
    assert frames_in(table, "STUDY") == 25
    assert (table.shown() == 255).all()
    assert frames_in(table, "DELAY") == 37
    assert table.colour_at(0.5, 0.5) == BLACK
    table.look(0.55, 0.5, frames=50)  # beside the disc
    assert table.in_phase("DISC")
    table.look(0.54, 0.5)
    assert table.colour_at(0.40, 0.95) == WHITE  # the buttons come later
    assert frames_in(table, "TEST") == 8
    assert (table.colour_at(0.40, 0.95), table.colour_at(0.60, 0.95)) == (BLACK, BLACK)
    right = change_detection.BUTTONS[table.game["correct"]]
    table.look(*right)
    assert table.colour_at(*right) == GREEN_FEEDBACK
    assert table.look(0.5, 0.5) == 1


def cd_trials(sit_at, number):
    """Study and test array of many trials, as sets of (cell, colour, form)."""
    table = sit_at("cd", trials=number + 1, seconds=100_000, delays=(1,))
    for _ in range(number):
        table.begin_trial()
        game = table.game.copy()
        study = list(zip(game["cell"], game["colour"], game["form"], strict=True))[: game["objects"]]
        test = list(study)
        if game["changed"] >= 0:
            test[game["changed"]] = (game["new_cell"], game["new_colour"], game["new_form"])
        yield game, study, test
        table.look(0.5, 0.5, frames=25 + 1 + 1 + 8)
        assert table.press(int(study == test)) == 1  # left: different; right: same


def test_cd_changes_alter_one_value_of_one_object(sit_at):
    sizes, changes = [], []
    for game, study, test in cd_trials(sit_at, 600):
        sizes.append(len(study))
        cells = [cell for cell, _, _ in study]
        assert len(set(cells)) == len(cells)
        different = [(old, new) for old, new in zip(study, test, strict=True) if old != new]
        assert len(different) == (game["correct"] == change_detection.DIFFERENT)
        if different:
            (old, new) = different[0]
            altered = [name for name, a, b in zip(("cell", "colour", "form"), old, new, strict=True) if a != b]
            assert len(altered) == 1
            if altered == ["cell"]:
                assert new[0] not in cells
            changes.append(altered[0])
    assert set(sizes) == {1, 2, 3, 4}
    np.testing.assert_allclose(np.bincount(sizes)[1:] / 600, 0.25, atol=0.08)
    assert len(changes) / 600 == pytest.approx(0.5, abs=0.08)
    assert set(changes) == {"cell", "colour", "form"}


def test_cd_domains(sit_at):
    """Five kinds of array, told apart by what varies in them; drawn many times with the game's own streams."""
    game = sit_at("cd").env.batch.records[0]
    for domain in range(5):
        colours, forms, mixed_colours = set(), set(), 0
        for _ in range(400):
            change_detection.draw_array(game, domain)
            n = game["objects"]
            colours |= set(game["colour"][:n].tolist())
            forms |= set(game["form"][:n].tolist())
            mixed_colours += len(set(game["colour"][:n].tolist())) > 1
        assert colours == set(range(5))
        assert (mixed_colours > 0) == (domain != change_detection.LETTER_TURNS)
        letters = {1, 2, 3, 4}
        expected = [letters, {1}, letters, {0}, {0} | letters][domain]
        assert forms == expected


def test_cd_letters_are_the_5_by_5_e_turned(sit_at):
    """At 40 texels a letter the design can be read off cell by cell."""
    e = np.array([[1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [1, 1, 1, 1, 1], [1, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
    from memorylab.world.canvas import BLACK, WHITE, clear

    canvas = np.zeros((320, 320), np.uint32)
    for turns in range(4):
        clear(canvas, WHITE)
        change_detection.paint_letter(canvas, 0.5, 0.5, turns, BLACK)
        cells = canvas[140:180, 140:180].reshape(5, 8, 5, 8)
        read = (cells[:, 2:6, :, 2:6] == BLACK).all(axis=(1, 3))
        np.testing.assert_array_equal(read, np.rot90(e, -turns))


# --- what then where


def test_wtw_phases_and_their_frames(sit_at):
    table = sit_at("wtw", delays=(11, 29))
    table.begin_trial()
    delays = int(table.game["first_delay"]), int(table.game["second_delay"])
    assert set(delays) <= {11, 29}
    assert table.shown()[48:80, 48:80].max() > 200  # the digit, a quarter of 128 texels, in the middle
    assert table.shown()[:48].max() == 0
    assert frames_in(table, "WHAT") == 25
    assert table.shown().max() == 0
    assert frames_in(table, "FIRST_DELAY") == delays[0]
    panel = table.shown()
    assert [panel[4:32, 50:78].max() > 200, panel[48:80, 48:80].max() == 0] == [True, True]
    assert frames_in(table, "WHERE") == 25
    assert frames_in(table, "SECOND_DELAY") == delays[1]
    assert table.colour_at(0.5, 0.5) == WHITE
    table.look(0.5, 0.55, frames=10)
    assert table.in_phase("DISC")
    table.look(0.5, 0.5)
    places = [(0.5, 0.05), (0.5, 0.95), (0.05, 0.5), (0.95, 0.5)]
    assert [table.colour_at(*place) for place in places] == [WHITE] * 4
    right = table.game["correct"]
    assert table.game["digits"][right] == table.game["target"]
    table.look(*places[right])
    assert table.colour_at(*places[right]) == GREEN_FEEDBACK
    assert table.look(0.5, 0.5) == 1


def test_wtw_four_different_digits_one_of_them_the_target(sit_at):
    table = sit_at("wtw", trials=1000, seconds=100_000, delays=(1,))
    targets, edges = [], []
    for _ in range(500):
        table.begin_trial()
        digits = table.game["digits"].tolist()
        assert len(set(digits)) == 4
        assert digits.index(table.game["target"]) == table.game["correct"]
        targets.append(int(table.game["target"]))
        edges.append(int(table.game["correct"]))
        table.look(0.5, 0.5, frames=25 + 1 + 25 + 1 + 1)
        table.press(table.game["correct"])
    np.testing.assert_allclose(np.bincount(targets) / 500, 0.2, atol=0.07)
    np.testing.assert_allclose(np.bincount(edges) / 500, 0.25, atol=0.07)


# --- the drawn scale


@pytest.mark.parametrize("task", ["cd", "wtw"])
def test_delays_are_drawn_uniformly_from_the_level_list(sit_at, task):
    table = sit_at(task, trials=10_000, seconds=900_000)
    listed = {"cd": [2, 4, 8, 64, 128], "wtw": [4, 8, 32, 128]}[task]
    drawn = []
    for _ in range(400):
        table.begin_trial()
        names = ["delay"] if task == "cd" else ["first_delay", "second_delay"]
        drawn += [int(table.game[name]) for name in names]
        assert table.game["scale"] == pytest.approx(np.mean(drawn), rel=1e-5)
        table.env.batch.records["phase"] = table.rules_phase("CHOOSE")
        table.press(0)
    counts = [drawn.count(delay) for delay in listed]
    assert sum(counts) == len(drawn)
    np.testing.assert_allclose(np.array(counts) / len(drawn), 1 / len(listed), atol=0.06)
