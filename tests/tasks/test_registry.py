"""The registry: a row for each task of the package, and whatever users add."""

import subprocess
import sys
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

import memorylab
from memorylab.tasks import task as registry
from memorylab.tasks.task import PACKAGED, TASKS, find_task, short_names, task_names


@pytest.fixture
def mine():
    return replace(find_task("spot_diff_basic"), name="mine", short="m")


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch):
    monkeypatch.setattr(registry, "added", {})
    known = dict(gymnasium.registry)
    yield
    gymnasium.registry.clear()
    gymnasium.registry.update(known)


@pytest.mark.parametrize("short", PACKAGED)
def test_a_module_holds_all_that_is_known_of_its_task(short):
    task = find_task(short)
    assert f"{task.family}.{task.name}" == PACKAGED[short]
    assert task.stimuli.keys() == {"train", "holdout"}
    assert task.instructions
    assert task.card_step
    assert task.counter is None or task.counter[0] in (task.game.names or ())
    assert task.curriculum
    assert task.teacher in task.players


def test_what_the_paper_ran_on_dmlab():
    assert {task for task in TASKS if find_task(task).engine == "dmlab"} == {*TASKS[:4], "visible_goal_procedural_maze"}


def test_importing_the_package_imports_no_task():
    program = "import sys, memorylab; print([name for name in sys.modules if 'spot_diff' in name or 'goal' in name])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"


def test_an_added_task_is_found_by_either_name_and_by_gymnasium(mine):
    memorylab.register_task(mine)
    assert find_task("mine") is find_task("m") is mine
    assert task_names() == (*TASKS, "mine")
    assert list(short_names().items())[-1] == ("m", "mine")
    env = gymnasium.make("memorylab/mine_holdout_small-v0", disable_env_checker=True)
    assert env.unwrapped.batch.task is mine


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"name": "change_detection"}, "there is a task called 'change_detection' already; give yours another name"),
        ({"short": "cd"}, "there is a task called 'cd' already"),
        ({"short": "change_detection"}, "there is a task called 'change_detection' already"),
        ({"name": "my task"}, "plain words such as spot_diff, not 'my task'"),
        ({"short": ""}, "plain words such as spot_diff, not ''"),
        (
            {"game": np.dtype([("seed", "u8")])},
            "a game's record in the task mine has no 'draws'; begin it",
        ),
        ({"scale_record": np.dtype([("side", "f8")])}, "the scale record of the task mine has no field 'frames'"),
        ({"scales": {}}, "the task mine has no scale 'extrapolate'; its levels need it"),
        ({"scale_record": find_task("ti").scale_record}, "a scale of the task mine does not fit its record: "),
    ],
)
def test_a_bad_task_is_one_sentence(mine, changes, text):
    with pytest.raises(ValueError, match=text) as raised:
        memorylab.register_task(replace(mine, **changes))
    assert "\n" not in str(raised.value)
    assert task_names() == TASKS


def test_names_of_added_tasks_clash_too(mine):
    memorylab.register_task(mine)
    with pytest.raises(ValueError, match="there is a task called 'm' already"):
        memorylab.register_task(replace(mine, name="other"))
    with pytest.raises(ValueError, match="a task is made by walked_task or trial_task; 'mine' is none"):
        memorylab.register_task("mine")  # type: ignore[arg-type]
