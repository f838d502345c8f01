"""One self-contained HTML page, and its tables and figures as files beside it."""

import base64
import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from memorylab.laboratory import figures
from memorylab.runs.files import replacing

STYLE = """
:root { color-scheme: light; --ink: #1c2430; --soft: #5b6676; --line: #dde2e9; --accent: #0072B2; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1rem 4rem; color: var(--ink); background: #fff;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.6rem 0 .4rem; }
p { max-width: 46rem; } .soft, figcaption { color: var(--soft); }
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; padding: .6rem 0; border-bottom: 1px solid var(--line); }
a { color: var(--accent); } figure { margin: 1rem 0; } figcaption { font-size: .9rem; }
img { max-width: 100%; height: auto; } .maps { display: flex; flex-wrap: wrap; gap: 1rem; }
.maps figure { width: 11rem; } .scroll { overflow-x: auto; } .scroll + .scroll { margin-top: 1.6rem; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .28rem .5rem; border-bottom: 1px solid var(--line); text-align: right; }
th { font-weight: 600; white-space: normal; vertical-align: bottom; }
tbody td:first-child, tr:first-child th:first-child { text-align: left; position: sticky; left: 0; background: #fff; }
th[colspan] { text-align: center; } .starts { border-left: 1px solid var(--line); }
.notes { border-left: 4px solid #E69F00; padding: .1rem 1rem; background: #fdf7ea; overflow-wrap: anywhere; }
code { background: #f1f4f8; padding: .05rem .3rem; border-radius: 3px; font-size: .92em; }
@media (max-width: 45rem) { figure .scroll img { max-width: 60rem; } }
@media (max-width: 30rem) { table { font-size: .69rem; } th, td { padding: .25rem .18rem; } }
@media print { nav { display: none; } figure { break-inside: avoid; } }
"""


TEXT: Any = {"encoding": "utf-8", "errors": "backslashreplace"}  # a folder's name may hold any bytes


@dataclass
class Table:
    """Rows of text, for a page, a spreadsheet and a paper."""

    header: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *row: str) -> None:
        """One row."""
        self.rows.append(row)

    def html(self) -> str:
        """For the page."""
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows)
        return f'<div class="scroll"><table><thead>{self.head()}</thead><tbody>{body}</tbody></table></div>'

    def head(self) -> str:
        """Columns whose names begin alike, as in "Train, ours" and "Train, paper", stand below a heading they share."""
        above = below = ""
        for group, names in groupby(self.header, lambda name: name.partition(", ")[0]):
            own = [name.partition(", ")[2] for name in names]
            if len(own) == 1:
                above += f'<th rowspan="2">{escape(", ".join(filter(None, [group, *own])))}</th>'
            else:
                above += f'<th colspan="{len(own)}" class="starts">{escape(group)}</th>'
                below += "".join(f"<th>{escape(name)}</th>" for name in own)
        return f"<tr>{above}</tr><tr>{below}</tr>" if below else f"<tr>{above}</tr>".replace(' rowspan="2"', "")

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
    """One HTML page that holds all its pictures."""

    def __init__(self, title: str, summary: str, notes: Sequence[str]):
        self.title, self.summary, self.notes = title, summary, notes
        self.sections: list[str] = []
        self.parts: list[str] = []

    def section(self, title: str, text: str) -> None:
        """A heading and what it is about."""
        name = title.lower().replace(" ", "-").replace("'", "")
        self.sections.append(f'<a href="#{name}">{escape(title)}</a>')
        self.parts.append(f'<h2 id="{name}">{escape(title)}</h2><p class="soft">{marked(text)}</p>')

    def table(self, table: Table, out: Path, name: str) -> None:
        """On the page, as CSV and as LaTeX."""
        folder = out / "tables"
        with replacing(folder / f"{name}.csv") as temporary, temporary.open("w", newline="", **TEXT) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([csv_text(cell) for cell in row] for row in (table.header, *table.rows))
        with replacing(folder / f"{name}.tex") as temporary:
            temporary.write_text(table.latex(), **TEXT)
        self.parts.append(table.html())

    def figure(self, figure: Figure, out: Path, name: str, caption: str) -> None:
        """A figure, on the page and as files."""
        self.picture(figures.save(figure, out / "figures", name), caption, "figure")

    def picture(self, path: Path, caption: str, kind: str = "map") -> None:
        """A picture that is a file already."""
        data = base64.b64encode(path.read_bytes()).decode()
        image = f'<img src="data:image/png;base64,{data}" alt="{escape(caption)}" loading="lazy">'
        image = image if kind == "map" else f'<div class="scroll">{image}</div>'  # figures are too wide for a phone
        text = f"<figure>{image}<figcaption>{escape(caption)}</figcaption></figure>"
        if kind == "map" and self.parts[-1].startswith('<div class="maps">'):
            self.parts[-1] = self.parts[-1].removesuffix("</div>") + text + "</div>"
        else:
            self.parts.append(f'<div class="maps">{text}</div>' if kind == "map" else text)

    def write(self, out: Path) -> Path:
        """Its path."""
        items = "".join(map(note_item, alike(self.notes)))
        notes = f'<div class="notes"><p>What to know about these runs:</p><ul>{items}</ul></div>' if items else ""
        with replacing(out / "report.html") as temporary:
            temporary.write_text(
                f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(self.title)}</title>'
                f'<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
                f"<style>{STYLE}</style></head><body><h1>{escape(self.title)}</h1><p>{escape(self.summary)}</p>"
                f"<nav>{''.join(self.sections)}</nav>{notes}{''.join(self.parts)}</body></html>\n",
                **TEXT,
            )
        return out / "report.html"


VARYING = re.compile(r"^.+? on \S+|\S*[\d/_]\S*|\(.*?\)")  # names, paths and numbers in a note
FEW_NOTES = 2  # alike; more of them are folded


def alike(notes: Iterable[str]) -> list[list[str]]:
    """Notes that say the same of different runs, together; each once."""
    groups: dict[str, list[str]] = {}
    for note in dict.fromkeys(notes):
        groups.setdefault(VARYING.sub("", note), []).append(note)
    return list(groups.values())


def note_item(notes: Sequence[str]) -> str:
    """One line of the page, whatever the number; the rest unfolds."""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    if len(notes) <= FEW_NOTES:
        return items
    rest = "".join(f"<li>{escape(note)}</li>" for note in notes[1:])
    more = f"{escape(notes[0])}; and {len(notes) - 1} more like this"
    return f"<li><details><summary>{more}</summary><ul>{rest}</ul></details></li>"


def marked(text: str) -> str:
    """`code` in back quotes."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))
