"""Files are whole or not there; tables grow while others read them."""

from pathlib import Path

import pytest

from memorylab.runs.files import check_writable, replacing
from memorylab.runs.tables import append_rows, columns_of, cut_rows, read_rows, replace_rows, whole_lines


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "deep" / "er" / "report.html"
    with replacing(path) as temporary:
        temporary.write_text("half")
        assert not path.exists()
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_a_problem_leaves_what_was_there(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("before")
    with pytest.raises(TypeError), replacing(path) as temporary:
        temporary.write_bytes(b"half" + temporary.write_text("half"))
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_problem_before_anything_was_written(tmp_path):
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "table.csv"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_line_without_an_end_waits(tmp_path):
    file = tmp_path / "table.csv"
    assert whole_lines(file) == []
    file.write_text("step,score")
    assert whole_lines(file) == []
    file.write_text("step,score\n1,2\n3,")
    assert whole_lines(file) == ["step,score", "1,2"]
    file.write_bytes(b"step,name\n1,\xff\xfe\n")
    assert len(whole_lines(file)) == 2, "what is no text does not stop a reader"


def test_rows_of_another_length_are_left_out(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("step,score\n1,2\n3\n4,5,6\n7,8\n")
    assert read_rows(file) == [{"step": "1", "score": "2"}, {"step": "7", "score": "8"}]


def test_a_table_keeps_the_columns_it_began_with(tmp_path):
    file = tmp_path / "table.csv"
    append_rows(file, [])
    assert not file.exists()
    append_rows(file, [{"step": 1, "loss": 0.5}])
    append_rows(file, [{"step": 2, "loss": 0.25, "new": 9}, {"step": 3}])
    assert columns_of(file) == ["step", "loss"]
    assert read_rows(file) == [
        {"step": "1", "loss": "0.5"},
        {"step": "2", "loss": "0.25"},
        {"step": "3", "loss": ""},
    ]


def test_values_with_commas_and_quotes_come_back(tmp_path):
    file = tmp_path / "table.csv"
    append_rows(file, [{"step": 1, "stage": 'delays 2,8 "long"'}])
    assert read_rows(file)[0]["stage"] == 'delays 2,8 "long"'


def test_replacing_all_rows_by_none_removes_the_file(tmp_path):
    file = tmp_path / "table.csv"
    replace_rows(file, [])
    replace_rows(file, [{"a": 1}, {"a": 2, "b": 3}])
    assert read_rows(file) == [{"a": "1", "b": ""}, {"a": "2", "b": "3"}]
    replace_rows(file, [])
    assert not file.exists()
    assert columns_of(file) == []


def test_cutting_drops_later_steps_and_what_has_none(tmp_path):
    file = tmp_path / "table.csv"
    cut_rows(file, 5)
    assert not file.exists()
    file.write_text("step,score\n1,a\n5,b\n6,c\n,d\nx,e\n-1,f\n2,")
    cut_rows(file, 5)
    assert [row["score"] for row in read_rows(file)] == ["a", "b"]
    cut_rows(file, 0)
    assert not file.exists()


def test_a_place_where_nothing_can_be_written_is_named_with_the_reason(tmp_path):
    check_writable(tmp_path / "deep" / "er")
    assert list(tmp_path.iterdir()) == [], "asking leaves nothing"
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=rf"cannot write in the folder {tmp_path / 'file'}: Not a directory"):
        check_writable(tmp_path / "file" / "run")


def test_a_folder_that_is_relative_is_looked_for_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_writable(Path("runs/new"))
    assert list(tmp_path.iterdir()) == []
