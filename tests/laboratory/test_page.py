"""A page that holds everything, whatever its texts contain."""

import csv
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import pytest
from PIL import Image

from memorylab.laboratory.page import Page, Table, latex_text, marked

HOSTILE = "<script>alert(\"1\")</script> & 'more'"


class Read(HTMLParser):
    """What a browser would make of a page: its elements in order, and all text."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, f"</{tag}> closes something else"

    def handle_data(self, data):
        self.texts.append(data)

    def all(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def picture(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "map.png")
    return tmp_path / "map.png"


def test_texts_stay_texts_wherever_they_stand(tmp_path, picture):
    page = Page(HOSTILE, HOSTILE, [HOSTILE])
    page.section("Scores", HOSTILE)
    page.table(Table([HOSTILE], [[HOSTILE]]), tmp_path, "table")
    page.picture(picture, HOSTILE)
    read = Read(page.write(tmp_path).read_text())
    assert read.open == []
    assert read.all("script") == []
    assert read.all("img")[0]["alt"] == HOSTILE
    assert read.texts.count(HOSTILE) == 8  # title, heading, summary, note, text, two cells, caption


def test_links_lead_to_their_sections(tmp_path):
    page = Page("title", "summary", [])
    page.section("Scale and stimulus", "")
    page.section("The paper's ranking", "")
    read = Read(page.write(tmp_path).read_text())
    assert [link["href"] for link in read.all("a")] == [f"#{heading['id']}" for heading in read.all("h2")]
    assert read.all("h2")[1]["id"] == "the-papers-ranking"


def test_notes_are_shown_only_if_there_are_any(tmp_path):
    assert "What to know" not in Page("title", "summary", []).write(tmp_path).read_text()
    text = Page("title", "summary", ["one seed is missing"]).write(tmp_path).read_text()
    assert "<li>one seed is missing</li>" in text


def test_notes_that_repeat_are_folded_into_one_line(tmp_path):
    seeds = [f"{model} on {task}_x has no seed 1, 2" for model in ("ff", "mra (taught)") for task in ("a", "b")]
    others = ["runs/x was never evaluated on the training level: it has curves, but no score", "runs is not a folder"]
    text = Page("title", "summary", [*seeds, *others, seeds[0]]).write(tmp_path).read_text()
    read = Read(text)
    assert len(read.all("details")) == 1
    assert text.count("<details>") == text.count("and 3 more like this")
    for note in seeds[1:] + others:
        assert read.texts.count(note) == 1
    two = Page("title", "summary", seeds[:2]).write(tmp_path).read_text()
    assert "<details>" not in two


def page_of(table: Table, folder) -> str:
    page = Page("title", "summary", [])
    page.table(table, folder, "table")
    return page.html()


def test_columns_that_begin_alike_stand_below_one_heading(tmp_path):
    head = (
        '<tr><th rowspan="2">model</th><th colspan="2" class="starts">Train</th><th rowspan="2">memory, %</th></tr>'
        "<tr><th>ours</th><th>paper</th></tr>"
    )
    columns = ["model", "Train, ours", "Train, paper", "memory, %"]
    assert f"<thead>{head}</thead>" in page_of(Table(columns), tmp_path)
    assert "<thead><tr><th>a</th><th>b</th></tr></thead>" in page_of(Table(["a", "b"]), tmp_path)


def test_maps_stand_side_by_side_and_figures_alone(tmp_path, picture):
    page = Page("title", "summary", [])
    page.section("Routes", "")
    for caption in ("first", "second"):
        page.picture(picture, caption)
    figure, _ = plt.subplots()
    page.figure(figure, tmp_path, "drawn", "a figure")
    page.picture(picture, "third")
    read = Read(page.write(tmp_path).read_text())
    assert len([box for box in read.all("div") if box.get("class") == "maps"]) == 2
    assert [image["alt"] for image in read.all("img")] == ["first", "second", "a figure", "third"]
    assert all(image["src"].startswith("data:image/png;base64,") for image in read.all("img"))
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {"drawn.png", "drawn.svg"}
    assert not plt.fignum_exists(figure.number), "a report of many figures must not keep them all"


def test_a_table_is_the_same_in_all_its_files(tmp_path):
    rows = [["mra", "92.9 ± 3.9"], ["a, b", "50 %"]]
    page = Page("title", "summary", [])
    page.table(Table(["model", "score, %"], rows), tmp_path, "scores")
    with (tmp_path / "tables" / "scores.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["model", "score, %"], *rows]
    latex = (tmp_path / "tables" / "scores.tex").read_text().splitlines()
    assert latex[0] == r"\begin{tabular}{lr}"
    assert latex[1:3] == [r"model & score, \% \\", r"\hline"]
    assert latex[3] == r"mra & 92.9 $\pm$ 3.9 \\"
    assert latex[-1] == r"\end{tabular}"
    cells = [text for text in Read(page.html()).texts if text.strip()][-6:]
    assert cells == ["model", "score, %", "mra", "92.9 ± 3.9", "a, b", "50 %"]


def test_rows_may_be_added_one_by_one(tmp_path):
    table = Table(["a", "b"])
    table.add("1", "2")
    assert Table(["a", "b"]).rows == [], "tables do not share their rows"
    assert "<tr><td>1</td><td>2</td></tr>" in page_of(table, tmp_path)


@pytest.mark.parametrize(
    ("plain", "escaped"),
    [
        ("spot_diff", r"spot\_diff"),
        ("5 %", r"5 \%"),
        ("a & b", r"a \& b"),
        ("#1", r"\#1"),
        ("a\\b", r"a\textbackslash{}b"),
        ("{$x^2$}", r"\{\$x\textasciicircum{}2\$\}"),
        ("a~b", r"a\textasciitilde{}b"),
    ],
)
def test_what_latex_would_take_for_its_own_is_escaped(plain, escaped):
    assert latex_text(plain) == escaped


def test_code_stands_in_back_quotes():
    assert marked("call `memorylab report` or `x < 1`") == (
        "call <code>memorylab report</code> or <code>x &lt; 1</code>"
    )
