"""What people see and press: pictures of another size, a map, a window, keys."""

import pickle
import sys
import types
from copy import deepcopy

import numpy as np
import pytest
from gymnasium.error import DependencyNotInstalled

import memorylab

SMALL = {"size": (24, 32)}


def played(env, actions=(0, 1, 2, 0), seed=3):
    """The picture after some steps."""
    picture, _ = env.reset(seed=seed)
    for action in actions:
        picture, *_ = env.step(action)
    return picture


@pytest.mark.parametrize("task", ["avm", "cd", "ti", "vgm"])
def test_what_is_rendered_has_a_size_of_its_own(task):
    env = memorylab.make(task, render_mode="rgb_array", render_size=(48, 64), **SMALL)
    larger = memorylab.make(task, size=(48, 64))
    for _ in range(2):  # a second episode too
        seen, expected = played(env), played(larger)
        assert seen.shape == (24, 32, 3)
        np.testing.assert_array_equal(env.render(), expected)
    np.testing.assert_array_equal(env.step(0)[0], played(memorylab.make(task, **SMALL), (0, 1, 2, 0, 0)))


def test_by_itself_the_observation_is_rendered():
    env = memorylab.make("avm", render_mode="rgb_array", **SMALL)
    picture = played(env)
    first = env.render()
    np.testing.assert_array_equal(first, picture)
    first[:] = 0  # a new array
    np.testing.assert_array_equal(env.render(), picture)
    assert memorylab.make("avm", **SMALL).render_mode is None


def test_a_map_stands_beside_the_picture():
    env = memorylab.make("iga", render_mode="rgb_array", render_size=(48, 64), render_map=True, **SMALL)
    played(env)
    rendered = env.render()
    assert rendered.shape == (48, 64 + 48, 3)
    np.testing.assert_array_equal(rendered[:, :64], played(memorylab.make("iga", size=(48, 64))))
    env.step(0)
    env.render()
    assert len(env.camera.route) == 2
    env.reset()
    assert env.camera.route == []
    still = memorylab.make("avm", render_mode="rgb_array", render_map=True, **SMALL)
    played(still)
    assert still.render().shape == (24, 32, 3)


@pytest.mark.parametrize("copied", [deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_renders_its_own_game(copied):
    env = memorylab.make("cd", render_mode="rgb_array", render_size=(48, 64), **SMALL)
    played(env)
    twin = copied(env)
    twin.step(1)
    expected = played(memorylab.make("cd", size=(48, 64)), (0, 1, 2, 0, 1))
    np.testing.assert_array_equal(twin.render(), expected)
    assert (env.render() != expected).any()


def test_nothing_can_be_rendered_before_the_first_reset():
    with pytest.raises(RuntimeError, match=r"call reset\(\) before render\(\)"):
        memorylab.make("ti", render_mode="rgb_array", **SMALL).render()
    with pytest.raises(RuntimeError, match=r"call reset\(\) before render\(\)"):
        memorylab.make_vec("ti", render_mode="rgb_array", **SMALL).render()


def test_a_size_that_cannot_be():
    with pytest.raises(ValueError, match=r"render_size must be \(height, width\)"):
        memorylab.make("ti", render_mode="rgb_array", render_size=(4, 4))


# --- the window


class Pygame(types.ModuleType):
    """Notes what is asked of it."""

    def __init__(self):
        super().__init__("pygame")
        self.shown: list[np.ndarray] = []
        self.sizes: list[tuple[int, int]] = []
        self.closed = 0
        screen = types.SimpleNamespace(blit=lambda surface, at: self.shown.append(surface))
        self.display = types.SimpleNamespace(
            init=lambda: None,
            quit=self.close,
            set_caption=lambda title: None,
            set_mode=lambda size: self.sizes.append(size) or screen,
            flip=lambda: None,
        )
        self.surfarray = types.SimpleNamespace(make_surface=lambda picture: picture)
        self.transform = types.SimpleNamespace(scale=lambda surface, size: surface)
        self.time = types.SimpleNamespace(Clock=lambda: types.SimpleNamespace(tick=lambda rate: rate))
        self.event = types.SimpleNamespace(pump=lambda: None)

    def close(self):
        self.closed += 1


def test_a_window_shows_every_step(monkeypatch):
    pygame = Pygame()
    monkeypatch.setitem(sys.modules, "pygame", pygame)
    env = memorylab.make("avm", render_mode="human", **SMALL)
    env.reset(seed=3)
    picture, *_ = env.step(0)
    assert pygame.sizes == [(640, 480)]
    assert len(pygame.shown) == 2
    np.testing.assert_array_equal(pygame.shown[-1].swapaxes(0, 1), picture)
    assert env.render() is None
    copy = pickle.loads(pickle.dumps(env))
    copy.step(0)
    assert pygame.sizes == [(640, 480)] * 2, "a copy opens its own"
    env.close()
    env.close()
    assert pygame.closed == 1


def test_a_window_that_cannot_be_opened_is_told_at_once(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(DependencyNotInstalled, match="pip install pygame"):
        memorylab.make("avm", render_mode="human", **SMALL)


# --- keys


def test_actions_have_meanings():
    assert memorylab.make("avm", **SMALL).get_action_meanings()[4] == "nothing"
    assert memorylab.make("vgb", **SMALL).get_action_meanings()[7] == "forward and look right"
    sticks = memorylab.make("vgb", continuous=True, **SMALL).get_action_meanings()
    assert sticks == ["strafe left-right", "move back-forward", "look left-right", "look down-up"]


@pytest.mark.parametrize(("task", "continuous"), [("avm", False), ("vgb", False), ("vgb", True)])
def test_keys_are_what_gymnasiums_play_takes(task, continuous):
    """Tuples of key codes, sorted alike for every order of pressing, each with an action of the environment."""
    env = memorylab.make(task, continuous=continuous, render_mode="rgb_array", **SMALL)
    keys = env.get_keys_to_action()
    assert all(isinstance(code, int) for codes in keys for code in codes)
    assert len({tuple(sorted(codes)) for codes in keys}) == len(keys)
    assert all(action in env.action_space for action in keys.values())
    if not continuous:
        names = {env.get_action_meanings()[action] for action in keys.values()}
        assert names == {*env.get_action_meanings()} - {"nothing"}


def test_keys_do_what_they_say():
    walk = memorylab.make("vgb", **SMALL)
    keys = walk.get_keys_to_action()
    meanings = walk.get_action_meanings()
    assert meanings[keys[(ord("w"),)]] == meanings[keys[(1073741906,)]] == "forward"
    assert meanings[keys[(ord("w"), ord("a"))]] == "forward and look left"
    sticks = memorylab.make("vgb", continuous=True, **SMALL).get_keys_to_action()
    assert sticks[(ord("e"),)].tolist() == [1, 0, 0, 0]
    assert sticks[(ord("w"), ord("d"))].tolist() == [0, 1, 1, 0]
    assert (ord("w"), ord("s")) not in sticks
