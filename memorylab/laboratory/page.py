"""One self-contained HTML page, and its tables and figures as files beside it."""

import base64
import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from memorylab.laboratory import figures
from memorylab.runs.files import replacing

TEXT: Any = {"encoding": "utf-8", "errors": "backslashreplace"}  # a folder's name may hold any bytes


class Heading(NamedTuple):
    """Of one column, or of those below it."""

    above: str
    below: list[str]


class Picture(NamedTuple):
    """A PNG as text, for the page to hold."""

    data: str
    caption: str


@dataclass
class Table:
    """Rows of text, for a page, a spreadsheet and a paper."""

    header: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *row: str) -> None:
        """One row."""
        self.rows.append(row)

    def groups(self) -> list["Heading"]:
        """Columns whose names begin alike, as in "Train, ours" and "Train, paper", stand below a heading they share."""
        found = []
        for above, names in groupby(self.header, lambda name: name.partition(", ")[0]):
            own = [name.partition(", ")[2] for name in names]
            alone = len(own) == 1
            found.append(Heading(", ".join(filter(None, [above, *own])), []) if alone else Heading(above, own))
        return found

    def latex(self) -> str:
        """For a paper."""
        lines = [" & ".join(map(latex_text, row)) + r" \\" for row in (self.header, *self.rows)]
        columns = "l" + "r" * (len(self.header) - 1)
        body = "\n".join([lines[0], r"\hline", *lines[1:]])
        return f"\\begin{{tabular}}{{{columns}}}\n{body}\n\\end{{tabular}}\n"


def latex_text(text: str) -> str:
    """With what LaTeX would take for its own escaped."""
    return text.translate(IN_LATEX)


def csv_text(text: str) -> str:
    """As text also for a spreadsheet, which takes what begins like a formula for one; numbers begin so too."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) and not NUMBER.fullmatch(text) else text


IN_LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "_%&#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$"}
)
NUMBER = re.compile(r"[-+]?[\d.,]*( ± [\d.,]+)?")


class Page:
    """One HTML page that holds all its pictures; `data/report.html` says how it looks."""

    def __init__(self, title: str, summary: str, notes: Sequence[str]):
        self.title, self.summary, self.notes = title, summary, notes
        self.parts: list[dict[str, Any]] = []

    def section(self, title: str, text: str) -> None:
        """A heading and what it is about."""
        anchor = title.lower().replace(" ", "-").replace("'", "")
        self.parts.append({"kind": "section", "title": title, "anchor": anchor, "text": text})

    def table(self, table: Table, out: Path, name: str) -> None:
        """On the page, as CSV and as LaTeX."""
        folder = out / "tables"
        with replacing(folder / f"{name}.csv") as temporary, temporary.open("w", newline="", **TEXT) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([csv_text(cell) for cell in row] for row in (table.header, *table.rows))
        with replacing(folder / f"{name}.tex") as temporary:
            temporary.write_text(table.latex(), **TEXT)
        self.parts.append({"kind": "table", "table": table})

    def figure(self, figure: Figure, out: Path, name: str, caption: str) -> None:
        """A figure, on the page and as files."""
        drawn = read_picture(figures.save(figure, out / "figures", name), caption)
        self.parts.append({"kind": "figure", "picture": drawn})

    def picture(self, path: Path, caption: str) -> None:
        """A map that is a file already, beside the one before it."""
        if not self.parts or self.parts[-1]["kind"] != "maps":
            self.parts.append({"kind": "maps", "pictures": []})
        self.parts[-1]["pictures"].append(read_picture(path, caption))

    def html(self) -> str:
        """The whole page."""
        template = environment().get_template("report.html")
        texts = {"title": self.title, "summary": self.summary, "notes": alike(self.notes), "few_notes": FEW_NOTES}
        return template.render(**texts, parts=self.parts)

    def write(self, out: Path) -> Path:
        """Its path."""
        with replacing(out / "report.html") as temporary:
            temporary.write_text(self.html(), **TEXT)
        return out / "report.html"


def environment() -> Environment:
    """All that is put into a template is escaped, and nothing it asks for may be missing."""
    made = Environment(
        loader=PackageLoader("memorylab.laboratory", "data"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["marked"] = marked
    return made


def read_picture(path: Path, caption: str) -> Picture:
    """A PNG file."""
    return Picture(base64.b64encode(path.read_bytes()).decode(), caption)


VARYING = re.compile(r"^.+? on \S+|\S*[\d/_]\S*|\(.*?\)")  # names, paths and numbers in a note
FEW_NOTES = 2  # alike; more of them are folded


def alike(notes: Iterable[str]) -> list[list[str]]:
    """Notes that say the same of different runs, together; each once."""
    groups: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        groups.setdefault(VARYING.sub("", note), []).append(note)
    return list(groups.values())


def marked(text: str) -> Markup:
    """`code` in back quotes."""
    parts = str(escape(text)).split("`")
    return Markup("".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts)))
