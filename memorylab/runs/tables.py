"""Tables as CSV files that grow while others read them."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memorylab.runs.files import check_plain, read_bytes, replacing


def whole_lines(file: Path) -> list[str]:
    """Without a last line that has no end yet: it is being written, or a crash cut it short."""
    if not file.exists():
        return []
    text = read_bytes(file).decode("utf-8", errors="replace")
    return text[: text.rfind("\n") + 1].splitlines()


def read_rows(file: Path) -> list[dict[str, str]]:
    """The whole rows; none if there is no such file."""
    rows = fields(whole_lines(file))
    header = next(rows, [])
    return [dict(zip(header, row, strict=True)) for row in rows if row and len(row) == len(header)]


def fields(lines: Iterable[str]) -> Iterator[list[str]]:
    """The cells of each row; a row that is none, such as one with a cell of 200 kB, has no cells."""
    rows = csv.reader(lines)
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield []


def columns_of(file: Path) -> list[str]:
    """None if there is no file, or nothing in it."""
    if not file.exists():
        return []
    check_plain(file)
    with file.open(newline="", encoding="utf-8", errors="replace") as lines:
        return next(fields(lines), [])


def append_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """In the columns that the file has, or else in those of the first row."""
    if not rows:
        return
    names = columns_of(file)
    try:
        with file.open("a", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, names or list(rows[0]), restval="", extrasaction="ignore", lineterminator="\n")
            if not names:
                writer.writeheader()
            writer.writerows(rows)
    except OSError as problem:  # of a full disk the system does not say which file
        raise OSError(f"{file} could not be written: {problem}") from problem


def replace_rows(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """These rows instead of all there were, in the columns of the last; no rows, no file."""
    if not rows:
        file.unlink(missing_ok=True)
        return
    with replacing(file) as temporary, temporary.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[-1]), restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def cut_rows(file: Path, last: int) -> None:
    """Drop the rows of later steps than `last`, and what a crash cut short."""
    rows = [(row, whole_number(row.get("step", ""))) for row in read_rows(file)]
    replace_rows(file, [row for row, step in rows if step is not None and step <= last])


def whole_number(text: str) -> int | None:
    """None for what is none, below zero, or beyond what a float tells apart."""
    try:
        number = int(text)
    except ValueError:
        return None
    return number if 0 <= number < 2**53 else None
