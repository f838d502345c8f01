"""Files and packages of strangers: one way in for tasks and for parts of an agent."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint

import gymnasium
import pytest

from memorylab import extensions
from memorylab.agent import AUXILIARY_LOSSES, CONTROLLERS, AgentConfig
from memorylab.tasks import task as registry
from memorylab.tasks.task import TASKS, find_task, task_names

TASK = """
from dataclasses import replace
from memorylab import register_task
from memorylab.tasks.task import find_task
register_task(replace(find_task("sdb"), name="filed", short="f"))
"""
PART = """
from memorylab.agent import CONTROLLERS
CONTROLLERS["filed_controller"] = CONTROLLERS["lstm"]
"""
NEITHER = "raise SystemExit('imported')"
WITHOUT_TORCH = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name=name)

sys.meta_path.insert(0, Missing())
"""


@pytest.fixture(autouse=True)
def _nothing_stays(monkeypatch):
    extensions.load_extensions.cache_clear()
    monkeypatch.delenv(extensions.FILES, raising=False)
    monkeypatch.setattr(registry, "added", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    kept = [(each, dict(each)) for each in (gymnasium.registry, CONTROLLERS, AUXILIARY_LOSSES)]
    modules = set(sys.modules)
    yield
    for each, known in kept:
        each.clear()
        each.update(known)
    for name in sys.modules.keys() - modules:
        if name.endswith("_file"):
            del sys.modules[name]
    extensions.load_extensions.cache_clear()


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Writes them, and names them in the environment."""

    def write(**contents: str) -> None:
        paths = [tmp_path / f"{name}.py" for name in contents]
        for path, content in zip(paths, contents.values(), strict=True):
            path.write_text(content)
        monkeypatch.setenv(extensions.FILES, os.pathsep.join(map(str, paths)))

    return write


def in_a_new_process(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return done.stdout + done.stderr


def test_the_environment_names_files_with_tasks_and_parts(files):
    files(one_file=TASK, another_file=TASK.replace("filed", "boxed").replace('"f"', '"b"'), part_file=PART)
    assert AgentConfig(controller="filed_controller").controller == "filed_controller"
    assert task_names() == (*TASKS, "filed", "boxed")
    assert in_a_new_process("import memorylab; print(memorylab.make('f').batch.task.name)") == "filed\n"


def test_importing_the_package_imports_no_file(files):
    files(eager_file=NEITHER)
    assert in_a_new_process("import memorylab, memorylab.agent, memorylab.cli") == ""


def test_a_task_needs_no_pytorch(files):
    files(light_file=TASK)
    assert in_a_new_process(WITHOUT_TORCH + "import memorylab; print(memorylab.make('f').batch.task.name)") == "filed\n"


def test_a_part_without_pytorch_is_one_sentence(files):
    files(heavy_file=PART)
    said = in_a_new_process(WITHOUT_TORCH + "from memorylab.cli import main; main(['list'])")
    assert said.startswith("memorylab: MEMORYLAB_EXTENSIONS: ")
    assert "heavy_file.py cannot be used: No module named 'torch'" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("asked", ["task", "part"])
@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("nowhere", None, "there is no file .*nowhere.py"),
        ("idle_file", "", "idle_file.py adds nothing; it should call memorylab.register_task or add to a registry"),
        ("broken_file", "1 / 0", "broken_file.py cannot be used: division by zero"),
        ("clashing_file", TASK.replace('"f"', '"cd"'), "cannot be used: there is a task called 'cd' already"),
        ("json", TASK, "there is another module called 'json'; give .*json.py another name"),
    ],
)
def test_a_file_that_is_no_use_is_one_sentence(name, content, text, asked, files, tmp_path):
    files(**{name: content or ""})
    if content is None:
        (tmp_path / f"{name}.py").unlink()
    with pytest.raises(ValueError, match=f"MEMORYLAB_EXTENSIONS: .*{text}"):
        _ = find_task("mine") if asked == "task" else AgentConfig(controller="mine")


def test_a_file_that_was_imported_before_is_not_imported_again(files, tmp_path, monkeypatch):
    files(twice_named_file=TASK)
    monkeypatch.syspath_prepend(tmp_path)
    __import__("twice_named_file")
    assert task_names() == (*TASKS, "filed")


def test_an_installed_package_adds_by_an_entry_point(tmp_path, monkeypatch):
    (tmp_path / "packaged_file.py").write_text(TASK + PART)
    monkeypatch.syspath_prepend(tmp_path)
    points = {"memorylab.extensions": [EntryPoint("any", "packaged_file", "memorylab.extensions")]}
    monkeypatch.setattr(extensions, "entry_points", lambda group: points[group])
    assert find_task("f").name == "filed"
    assert AgentConfig(controller="filed_controller").controller == "filed_controller"


def test_an_entry_point_that_is_no_use_is_one_sentence(monkeypatch):
    point = EntryPoint("any", "no_such_module", "memorylab.extensions")
    monkeypatch.setattr(extensions, "entry_points", lambda group: [point])
    with pytest.raises(ValueError, match="the entry point no_such_module cannot be used: No module named"):
        task_names()


def test_processes_in_another_folder_see_the_files_too(files, tmp_path, monkeypatch):
    files(placed_file=TASK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORYLAB_EXTENSIONS", "placed_file.py")
    absolute = str(tmp_path.resolve() / "placed_file.py")
    assert extensions.environment() == {"MEMORYLAB_EXTENSIONS": absolute}  # what Ray's workers are given
    assert task_names() == (*TASKS, "filed")
    assert os.environ["MEMORYLAB_EXTENSIONS"] == absolute
