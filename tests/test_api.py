"""docs/api.md and what the rooms export say the same, and what the page promises of an episode's steps holds."""

import importlib
import inspect
import re
from pathlib import Path

import dm_env
import numpy as np
import pytest

import memorylab
from memorylab.envs.dm import DmMemoryEnv

PAGE = (Path(__file__).parent.parent / "docs" / "api.md").read_text()
PARTS = re.split(r"^##+ `(memorylab[\w.]*)`$", PAGE, flags=re.MULTILINE)[1:]
LISTED = {
    module: re.findall(r"^\| `(\w+)` \|", text.partition("| name |")[2].partition("\n\n")[0], re.MULTILINE)
    for module, text in zip(PARTS[::2], PARTS[1::2], strict=True)
}
ROOMS = sorted(path.parent.name for path in Path(memorylab.__file__).parent.glob("*/__init__.py"))
SHORT = {"seconds": 1, "size": (24, 32)}


def test_every_room_is_on_the_page():
    assert {f"memorylab.{room}" for room in ROOMS} | {"memorylab"} <= LISTED.keys()


@pytest.mark.parametrize("module", LISTED)
def test_the_page_lists_what_is_exported(module):
    found = importlib.import_module(module)
    exported = set(getattr(found, "__all__", LISTED[module])) - {"__version__"}
    assert set(LISTED[module]) == exported
    for name in LISTED[module]:
        symbol = getattr(found, name)
        if inspect.isclass(symbol) or callable(symbol):
            assert inspect.getdoc(symbol), f"{module}.{name} has no docstring"


def test_docstrings_of_whatever_is_exported_are_on_the_site():
    """But for the parts of which a task is built, each of which the page of names tells in full."""
    reference = (Path(__file__).parent.parent / "docs" / "reference.md").read_text().split()
    parts = re.compile(r"memorylab\.(world|tasks\.)")
    rooms = {module for module, names in LISTED.items() if names and not parts.match(module)}
    assert {module for module in reference if module.startswith("memorylab")} == rooms


def test_what_can_be_exported_is_exported():
    """Else `__all__` would be no promise."""
    assert [room for room in ROOMS if not hasattr(importlib.import_module(f"memorylab.{room}"), "__all__")] == []


def test_the_steps_of_an_episode():
    env = memorylab.make("avm", **SHORT)
    _, info = env.reset(seed=3)
    assert (info["score"], info["length"], info["seed"]) == (0, 0, 3)
    lengths, terminated, truncated = [], False, False
    while not (terminated or truncated):
        _, _, terminated, truncated, info = env.step(0)
        lengths.append(info["length"])
        assert info["seed"] == 3
    assert lengths == list(range(1, len(lengths) + 1))
    assert (terminated, truncated) == (False, True)
    with pytest.raises(RuntimeError, match=r"call reset\(\) before step"):
        env.step(0)


def test_the_steps_of_many_episodes():
    envs = memorylab.make_vec("avm", num_envs=2, **SHORT)
    single = memorylab.make("avm", **SHORT)
    envs.reset(seed=[3, 4])
    last, _ = single.reset(seed=3)
    over = np.zeros(2, bool)
    while not over.any():
        pictures, _, terminated, truncated, info = envs.step(np.zeros(2, int))
        last, *_, facts = single.step(0)
        over = terminated | truncated
        assert ("final_info" in info) == ("_final_obs" in info) == over.any()
    np.testing.assert_array_equal(info["final_obs"][0], last)
    assert info["final_info"]["length"][0] == facts["length"]
    assert (info["score"][0], info["length"][0]) == (0, 0)
    again, _ = memorylab.make("avm", **SHORT).reset(seed=int(info["seed"][0]))
    np.testing.assert_array_equal(pictures[0], again)


def test_the_steps_of_dm_env():
    env = DmMemoryEnv("avm", seed=3, **SHORT)
    steps = [env.reset()]
    while not steps[-1].last():
        steps.append(env.step(0))
    first, *middle, last = steps
    assert (first.reward, first.discount) == (None, None)
    assert {(step.step_type, step.discount) for step in middle} == {(dm_env.StepType.MID, 1.0)}
    assert (last.discount, last.reward is None) == (0.0, False)
    assert env.step(0).first()
