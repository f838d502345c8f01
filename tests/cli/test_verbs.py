"""What verbs share: how they are called, how they end, and what they refuse."""

import csv
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from memorylab.cli import verbs
from memorylab.cli.main import VERBS, main
from memorylab.cli.pages import check_watched
from memorylab.tasks.task import TASKS


@pytest.fixture
def verb(monkeypatch):
    """Puts a verb called `test` among the others."""

    def added(act) -> None:
        monkeypatch.setitem(VERBS, "test", act)

    return added


def raised(problem: BaseException):
    def act(arguments):
        raise problem

    return act


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        (ValueError("no such thing"), 2, "memorylab: no such thing\n"),
        (TypeError("not so"), 2, "memorylab: not so\n"),
        (RuntimeError("it diverged"), 2, "memorylab: it diverged\n"),
        (RuntimeError("it\n diverged"), 2, "memorylab: it diverged\n"),
        (FileNotFoundError(2, "No such file", "runs"), 2, "memorylab: runs cannot be used: No such file\n"),
        (MemoryError("8 TiB are not there"), 2, "memorylab: 8 TiB are not there\n"),
        (
            RuntimeError(
                "[enforce fail at alloc_cpu.cpp:127] err == 0. you tried to allocate 8500000000 bytes. Error 12"
            ),
            2,
            "memorylab: there is not enough memory: 8 GB were asked for at once\n",
        ),
        (BrokenPipeError(32, "Broken pipe"), 2, "memorylab: [Errno 32] Broken pipe\n"),  # of somebody else
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_an_exit_code(verb, capsys, problem, code, said):
    verb(raised(problem))
    with pytest.raises(SystemExit) as ended:
        main(["test"])
    assert ended.value.code == code
    assert capsys.readouterr().err == said


def test_a_mistake_of_ours_is_not_hidden(verb):
    verb(raised(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["test"])


def test_a_verb_gets_what_follows_its_name(verb, monkeypatch):
    given = []
    verb(given.append)
    main(["test", "avm", "--help"])
    monkeypatch.setattr(sys, "argv", ["memorylab", "test", "--seed", "3"])
    main()
    assert given == [["avm", "--help"], ["--seed", "3"]]


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_comes_before_anything_else(capsys, word):
    main([word, "nonsense"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "usage: memorylab VERB ..."
    for name, verb in VERBS.items():
        assert f"  {name:13} {verb.__doc__.splitlines()[0]}" in lines


def test_options_are_the_parameters_of_the_function(capsys):
    given = []

    def count(to: int, slowly: verbs.Flag = False) -> None:
        """Count.

        Args:
            to: How far.
        """
        given.append((to, slowly))

    verb = verbs.from_signature("count", count)
    verb(["--to", "3"])
    verb(["--slowly", "--to", "4"])
    assert given == [(3, False), (4, True)]
    assert verb.__doc__.startswith("Count.")
    for wrong, said in {
        "--to many": "--to must be a whole number, not 'many'",
        "--slowly": "--to is missing; memorylab count --help tells all",
        "--to 3 --no-slowly": "there is no option --no-slowly (did you mean --slowly?)",
    }.items():
        with pytest.raises(ValueError, match=re.escape(said)):
            verb(wrong.split())
    with pytest.raises(SystemExit):
        verb(["--help"])
    told = capsys.readouterr().out
    assert "memorylab count" in told
    assert "How far." in told


def test_tasks_by_any_name_and_all_of_them():
    assert verbs.chosen_tasks(()) == verbs.chosen_tasks(["all"]) == list(TASKS)
    assert verbs.chosen_tasks(["cd", "change_detection"]) == ["change_detection"] * 2
    with pytest.raises(ValueError, match="unknown task 'all'"):
        verbs.chosen_tasks(["cd", "all"])


@pytest.mark.parametrize(
    ("name", "endings", "said"),
    [
        ("x.bmp", (".png",), "--out must end in .png, not 'x.bmp'"),
        ("x", (".csv", ".json"), "--out must end in .csv or .json, not 'x'"),
        ("deep/x.txt", (".png", ".svg", ".pdf"), "--out must end in .png, .svg or .pdf, not 'x.txt'"),
    ],
)
def test_endings(name, endings, said):
    with pytest.raises(ValueError) as problem:  # noqa: PT011 (the whole sentence is compared)
        verbs.check_ending("out", Path(name), *endings)
    assert str(problem.value) == said
    verbs.check_ending("out", Path(f"x{endings[-1]}"), *endings)
    verbs.check_ending("out", None, *endings)


def test_one_or_more():
    verbs.at_least_one("frames", 1)
    with pytest.raises(ValueError, match="--frames must be 1 or more, not -2"):
        verbs.at_least_one("frames", -2)


@dataclass(frozen=True)
class Row:
    name: str
    value: int


def test_rows_are_saved_as_the_ending_says(tmp_path):
    rows = [Row("a", 1), Row("b", 2)]
    verbs.save_rows(rows, tmp_path / "deep" / "rows.csv")
    verbs.save_rows(rows, tmp_path / "deep" / "rows.json")
    verbs.save_rows(rows, None)
    with (tmp_path / "deep" / "rows.csv").open() as file:
        assert list(csv.DictReader(file)) == [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]
    assert json.loads((tmp_path / "deep" / "rows.json").read_text())[1] == {"name": "b", "value": 2}
    assert len(list((tmp_path / "deep").iterdir())) == 2, "nothing temporary is left"


def test_a_module_of_an_extra_is_imported_or_the_extra_named():
    assert verbs.needs_agent("json") is json
    with pytest.raises(ValueError, match=r"this needs more packages \(no_such\): pip install 'memorylab-rl\[agent\]'"):
        verbs.needs_agent("no_such.part")
    with pytest.raises(ValueError, match=r"'memorylab-rl\[web\]'"):
        verbs.needs_web("no_such")


def test_who_waits_for_pytorch_is_told(monkeypatch, capsys):
    verbs.needs_agent("json")
    assert capsys.readouterr().err == ""
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    verbs.needs_web("json")
    assert capsys.readouterr().err == ""
    verbs.needs_agent("json")
    assert capsys.readouterr().err == "loading PyTorch ...\n"


def test_what_a_verb_says_while_it_works_is_heard(capsys):
    verb = verbs.from_signature("speak", lambda: print("a word", file=sys.stderr))
    verb([])
    assert capsys.readouterr().err == "a word\n"


@pytest.mark.parametrize(
    ("who", "said"),
    [
        ((Path("run"), None, None, "cr"), "--task is for a --player"),
        ((None, None, None, None), "name one to watch"),
        ((Path("run"), None, 1, None), "name one to watch"),
        ((None, "random", None, None), "--player needs --task"),
    ],
)
def test_one_is_watched_at_a_time(who, said):
    with pytest.raises(ValueError, match=said):
        check_watched(*who, changes=False)


def test_a_persons_episode_cannot_be_changed():
    check_watched(None, None, 0, None, changes=False)  # number 0 is one, too
    check_watched(None, "random", None, "avm", changes=True)
    with pytest.raises(ValueError, match="a person's episode is as it was played"):
        check_watched(None, None, 3, None, changes=True)
