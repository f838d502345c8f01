import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from memorylab.world import jit as module
from memorylab.world import rng
from memorylab.world.jit import bind, jit
from memorylab.world.rng import mix


def test_a_cached_function_is_stamped_with_all_compiled_code(tmp_path, monkeypatch):
    assert module.stamp_of(mix) == module.source_stamp(Path(rng.__file__))
    monkeypatch.setattr(module, "PACKAGE", tmp_path)

    def stamp_after(name: str, text: str) -> str | None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        module.package_digest.cache_clear()
        return module.source_stamp(path)

    stamps = [stamp_after(f"{part}/deep/called.py", text) for part in ("world", "tasks") for text in ("a = 1", "a = 2")]
    assert len(set(stamps)) == 4
    assert stamp_after("agent/learner.py", "a = 1") == stamps[-1]  # an edit there must not recompile the games
    module.package_digest.cache_clear()


def test_compiled_code_stands_where_the_stamp_looks():
    for path in module.PACKAGE.rglob("*.py"):
        if path.relative_to(module.PACKAGE).parts[0] not in module.COMPILED_PARTS:
            assert "@jit" not in path.read_text(), path


class Rules(NamedTuple):
    change: Any = None
    by: Any = None


rules = Rules()


def total(numbers):
    found = 0
    for number in numbers:
        found += rules.change(number, rules.by)
    return found


@jit
def add(number, by):
    return number + by


@jit
def times(number, by):
    return number * by


def test_a_loop_is_compiled_for_each_set_of_rules():
    adding, multiplying = bind(total, Rules(add, 10), "adding"), bind(total, Rules(times, 10), "multiplying")
    assert (adding((1, 2)), multiplying((1, 2))) == (23, 30)
    files = [loop._cache._cache_file._index_name for loop in (adding, multiplying)]
    assert len(set(files)) == 2
    assert rules == Rules()  # nothing was put into this module


def test_what_was_typed_at_a_prompt_is_not_cached():
    names: dict = {}
    exec("def typed(number, by):\n    return number - by", names)
    loop = bind(total, Rules(jit(names["typed"]), 1), "typed")
    assert loop((5,)) == 4
    assert module.stamp_of(loop) is None


USERS_FILE = """
from test_jit import Rules, bind, jit, total
from helping import BY

@jit
def change(number, by):
    return number + BY * by

print(bind(total, Rules(change, 1), "users")((1, 2)))
"""


@pytest.mark.parametrize(
    ("name", "before", "after", "result"), [("task.py", "+ BY", "+ 2 * BY", "23"), ("helping.py", "5", "70", "143")]
)
def test_an_edit_of_a_users_file_or_of_one_beside_it_is_noticed(name, before, after, result, tmp_path):
    files = {"task.py": USERS_FILE, "helping.py": "BY = 5"}
    for file, text in files.items():
        (tmp_path / file).write_text(text)

    def run() -> str:
        places = f"sys.path[:0] = [{str(tmp_path)!r}, {str(Path(__file__).parent)!r}]"
        command = [sys.executable, "-c", f"import sys; {places}; import task"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    assert run() == "13"
    (tmp_path / name).write_text(files[name].replace(before, after))
    assert run() == result
