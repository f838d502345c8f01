"""From folders to pages: what is there is shown, what is missing or broken is named."""

import csv
import json
import re
import subprocess
import sys

import pytest
from synthetic_runs import write_curves, write_run

from memorylab.cli import main
from memorylab.laboratory import figures
from memorylab.laboratory.curve_sections import beyond_training
from memorylab.laboratory.find_runs import find_runs
from memorylab.laboratory.findings import Findings
from memorylab.laboratory.human_normalised import Cells, add_score
from memorylab.laboratory.page import Page
from memorylab.laboratory.references import PAPER_NAMES, paper_scores, yardstick
from memorylab.laboratory.report import report
from memorylab.laboratory.score_sections import rewards
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import TASKS

AVM = "arbitrary_visuomotor_mapping"
ROWS = [(100 * i, level, 10.0 + i) for i in range(3) for level in PAPER_LEVELS]


def complaints(*paths) -> tuple[list, list[str]]:
    told: list[str] = []
    return find_runs(paths, told.append), told


def test_damaged_rows_are_named_and_the_rest_is_read(tmp_path):
    write_run(tmp_path, AVM, "mra", 0, ROWS)
    with (tmp_path / "scores.csv").open("a") as file:
        file.write("400,train,0,many,1,1\n500,train\n600,nowhere,0,3,1,1\n700,train,0,nan,1,1\n-1,train,0,1,1,1\n")
    runs, told = complaints(tmp_path)
    assert runs[0].curves["train"].steps.tolist() == [0, 100, 200]
    assert [re.search(r"row (\d+)", text).group(1) for text in told[:3]] == ["11", "12", "13"]
    assert all(str(tmp_path / "scores.csv") in text for text in told)
    assert "2 more rows" in told[3]


@pytest.mark.parametrize(
    ("config", "scores", "said"),
    [
        ("{", "step,level,return\n1,train,2\n", "not valid JSON"),
        (json.dumps({"model": "x"}), "step,level,return\n1,train,2\n", "does not say the task"),
        (json.dumps({"task": "chess", "model": "x"}), "step,level,return\n1,train,2\n", "unknown task 'chess'"),
        (json.dumps({"task": AVM, "model": "x"}), "when,who\n1,2\n", "no column step and no column level"),
        (json.dumps({"task": AVM, "model": "x"}), "step,level,return\n", "no usable row"),
        (None, "step,level,return\n1,train,2\n", "config.json"),
    ],
)
def test_a_broken_run_is_named_and_left_out(tmp_path, config, scores, said):
    write_run(tmp_path / "good", AVM, "mra", 0, ROWS)
    (tmp_path / "bad").mkdir()
    if config is not None:
        (tmp_path / "bad" / "config.json").write_text(config)
    (tmp_path / "bad" / "scores.csv").write_text(scores)
    runs, told = complaints(tmp_path)
    assert [run.folder.name for run in runs] == ["good"]
    assert len(told) == 1
    assert said in told[0]
    assert "bad is left out" in told[0]


def test_mixed_configurations_and_twins_are_not_mixed(tmp_path):
    write_run(tmp_path / "a", AVM, "mra", 0, ROWS, learner={"learning_rate": 1})
    write_run(tmp_path / "b", AVM, "mra", 1, ROWS, learner={"learning_rate": 2})
    write_run(tmp_path / "c", AVM, "mra", 0, ROWS, learner={"learning_rate": 1})
    write_run(tmp_path / "d", AVM, "mra", 2, ROWS, learner={"learning_rate": 1}, steps=7)
    runs, told = complaints(tmp_path)
    assert [run.folder.name for run in runs] == ["a", "d"]
    assert "learner.learning_rate is 1 there, not 2" in told[0]
    assert "the same run, seed 0 too" in told[1]


def test_taught_runs_are_never_taken_for_untaught_ones(tmp_path):
    taught = {"teacher": "forgetting", "learner": {"teacher_weight": 1.0}}
    write_run(tmp_path / "a", AVM, "mra", 0, ROWS, teacher="none", learner={"teacher_weight": 1.0})
    write_run(tmp_path / "b", AVM, "mra", 0, ROWS, **taught)
    write_run(tmp_path / "c", AVM, "mra-njb", 0, ROWS, **(taught | {"teacher": "skills"}))
    write_run(tmp_path / "d", AVM, "mra", 0, ROWS, teacher="remembering", learner={"teacher_weight": 1.0})
    write_run(tmp_path / "e", AVM, "lstm", 0, ROWS, teacher="forgetting", learner={"teacher_weight": 0.0})
    runs, told = complaints(tmp_path)
    names = ["mra", "mra (taught)", "mra-njb (taught)", "mra (taught by remembering)", "lstm"]
    assert ([run.model for run in runs], told) == (names, [])
    report([tmp_path], tmp_path / "out", yardstick())
    tables = {}
    for name in ("scores", "snapshots"):
        with (tmp_path / "out" / "tables" / f"{name}.csv").open(newline="") as file:
            tables[name] = list(csv.DictReader(file))
    assert {row["model"] for row in tables["scores"]} == {*names}
    paper = {row["model"]: row["paper"] for row in tables["scores"] if row["level"] == "train"}
    assert paper["mra"] == paper["mra (taught)"] != "-"
    teachers = {row["run"]: row["teacher"] for row in tables["snapshots"]}
    assert teachers == {"a": "none", "b": "forgetting", "c": "skills", "d": "remembering", "e": "forgetting"}
    assert (tmp_path / "out" / "figures" / "jumpy_avm_taught.png").exists()


def test_a_taught_model_has_its_twin_s_colour_and_dashes_of_its_own():
    models = ["mra", "mra (taught)", "mine", "mine (taught)"]
    looks = {model: figures.look(model, models) for model in models}
    for model in ("mra", "mine"):
        assert looks[model]["color"] == looks[f"{model} (taught)"]["color"]
        assert looks[model]["linestyle"] != looks[f"{model} (taught)"]["linestyle"]
    assert looks["mra"]["color"] != looks["mine"]["color"]


def test_an_empty_folder_and_no_folder(tmp_path, capsys):
    runs, told = complaints(tmp_path, tmp_path / "nowhere")
    assert not runs
    assert "holds no run" in told[0]
    assert "is not a folder" in told[1]
    with pytest.raises(SystemExit) as ended:
        main(["report", str(tmp_path), "--out", str(tmp_path / "report")])
    assert ended.value.code == 2
    assert "there is no run to report" in capsys.readouterr().err


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Two seeds of everything but one run; with evaluations, a sweep and routes where there can be some."""
    folder = tmp_path_factory.mktemp("whole")
    write_curves(folder / "runs", seeds=2, points=12, tasks=(AVM, "change_detection", "transitive_inference"))
    gone = folder / "runs" / f"{AVM}-lstm-1"
    for file in gone.iterdir():
        file.unlink()
    for seed in (0, 1):
        for file in (folder / "runs" / f"change_detection-ff-{seed}").iterdir():
            file.unlink()
    add_evaluations(folder / "runs" / f"{AVM}-mra-0")
    told: list[str] = []
    page = report([folder / "runs"], folder / "report", yardstick(), complain=told.append)
    return page, told


def add_evaluations(folder):
    lines = ["step,level,keyword,value,scale,return,length,seed"]
    levels = {"train": 50, "extrapolate": 40, "holdout_small": 44, "holdout_large": 46, "holdout_extrapolate": 30}
    for level, score in levels.items():
        lines += [f"9,{level},,,0,{score + d},1,1" for d in (-1, 1)]
    lines += [
        f"9,train,trials,{trials},0,{trials - 1},1,1\n9,train,trials,{trials},0,{trials},1,1" for trials in (25, 100)
    ]
    (folder / "evaluations.csv").write_text("\n".join(lines) + "\n")


def table(page, name: str) -> list[dict[str, str]]:
    with (page.parent / "tables" / f"{name}.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def test_the_report_has_every_part(whole):
    page, told = whole
    files = {file.name for file in (page.parent / "figures").iterdir()}
    expected = ["heat_map", "heat_map_errors", "heat_map_memory", "heat_map_beside", "heat_map_paper", "averages",
                "iqm", "improvement", "curves_avm", "jumpy_ti", "scale_and_stimulus", "sweep_avm_trials"]  # fmt: skip
    assert {f"{name}.{ending}" for name in expected for ending in ("png", "svg")} <= files
    text = page.read_text()
    assert text.count("<img") == len(files) // 2
    assert not re.search(r'(src|href)="(?!data:|#)', text)  # nothing comes from elsewhere
    assert any("lstm on arbitrary_visuomotor_mapping has no seed 1" in line for line in told)
    assert "has no seed 1" in text


def test_missing_cells_are_missing_not_zero(whole):
    page, _ = whole
    rows = {(row["task"], row["model"], row["level"]): row for row in table(page, "scores")}
    assert rows["change_detection", "ff", "train"]["normalised, %"] == "-"
    assert rows["change_detection", "ff", "train"]["seeds"] == "0"
    assert rows[AVM, "lstm", "train"]["seeds"] == "1"
    assert "±" not in rows[AVM, "lstm", "train"]["episode reward"]  # nothing is known of one seed's error
    ranking = {row["model"]: row for row in table(page, "ranking")}
    assert ranking["ff"]["tasks"] == "2"
    assert ranking["mra"]["tasks"] == "3"
    memory = {row["memory score"]: row for row in table(page, "ranking_memory")}
    assert "-" not in (memory["mra"]["Train, ours"], memory["mra"]["Train, paper"])
    paper = {row["paper's ranking"]: row["Train"] for row in table(page, "ranking_paper")}
    assert (paper["mra"], paper["mra-njb"]) == ("92.9 ± 3.9", "-")


def test_the_paper_s_ranking_is_over_the_tasks_that_we_have(whole):
    page, _ = whole
    ranking = {row["model"]: row for row in table(page, "ranking")}
    scores, stick = paper_scores(), yardstick()
    percents = [
        stick.normalise(task, "train", scores[task, "ff", "train"].mean) for task in (AVM, "transitive_inference")
    ]
    assert ranking["ff"]["Train, paper"] == f"{sum(percents) / 2:.1f}"  # Change Detection was not run
    assert ranking["mra-njb"]["Train, paper"] == "-"
    assert float(ranking["mra"]["gap, paper"]) == pytest.approx(
        float(ranking["mra"]["Train, paper"]) - float(ranking["mra"]["Holdout extrapolate, paper"]), abs=0.11
    )


def test_reward_tables_end_with_players_and_people(whole):
    page, _ = whole
    rows = {row["Change Detection"]: row for row in table(page, "rewards_cd")}
    assert list(rows)[-4:] == ["random", "forgetting", "remembering", "human"]
    assert rows["human"]["Train, paper"] == "47.60 ± 0.40"
    assert rows["human"]["Train, ours"] == "-"  # nobody was recorded
    assert rows["random"]["Holdout extrapolate, paper"] == "0.00 ± 0.00"
    assert rows["remembering"]["Train, ours"] == "50.00 ± 0.00"
    assert "can score 47.1 of 50 in Change Detection" in page.read_text()


def test_people_recorded_here_have_their_place(tmp_path):
    write_run(tmp_path / "run", AVM, "mra", 0, ROWS)
    (tmp_path / "humans.csv").write_text(f"task,level,mean,standard_error\n{AVM},train,45,1\n")
    findings = Findings(
        find_runs([tmp_path], pytest.fail), {}, yardstick(humans=tmp_path / "humans.csv"), ["mra"], [AVM], tmp_path
    )
    rewards(findings, Page("", "", []))
    with (tmp_path / "tables" / "rewards_avm.csv").open(newline="") as lines:
        (human,) = (row for row in csv.reader(lines) if row[0] == "human")
    assert human == ["human", "", "45.00 ± 1.00", "50.00 ± 0.00", "-", "40.00 ± 0.00", "-", "75.00 ± 0.00"]


def test_times_to_goals_have_bars_where_an_error_is_known():
    figure = figures.goal_times("a task", {"mra": {0: [10.0, 14.0], 1: [6.0]}})
    (bars,) = figure.axes[0].containers
    low_and_high = [segment[:, 1].tolist() for segment in bars.lines[2][0].get_segments()]
    assert low_and_high == [[pytest.approx(10), pytest.approx(14)], [6, 6]]  # deviation 2.83 over the root of 2


def test_scale_and_stimulus_add_up(whole):
    page, _ = whole
    (row,) = table(page, "scale_and_stimulus")
    known, larger = ((score - 0.06) / (most - 0.06) * 100 for score, most in ((50, 50), (40, 75)))
    stimuli, both = (45 - 0.06) / 49.94 * 100, (30 - 0.06) / 74.94 * 100
    by_scale, by_stimulus = known - larger, known - stimuli
    expected = (by_scale, by_stimulus, known - both - by_scale - by_stimulus)
    told = (row["lost by scale"], row["by stimulus"], row["by both together"])
    assert tuple(map(float, told)) == pytest.approx(expected, abs=0.051)


def test_evaluations_of_a_users_own_game_stand_in_no_sweep(tmp_path):
    """`memorylab evaluate RUN --scale trials=9 --save` keeps rows whose value is no number."""
    run = write_run(tmp_path / "run", AVM, "mra", 0, ROWS)
    lines = "9,train,own,trials=9,0,5,1,1\n" * 2 + "9,train,trials,25,0,20,1,1\n" * 2
    (run / "evaluations.csv").write_text("step,level,keyword,value,scale,return,length,seed\n" + lines)
    findings = Findings(find_runs([run], pytest.fail), {}, yardstick(), ["mra"], [AVM], tmp_path)
    beyond_training(findings, Page("", "", []))
    assert {file.stem for file in (tmp_path / "figures").iterdir()} == {"sweep_avm_trials"}


def test_latex_tables_are_balanced(whole):
    page, _ = whole
    text = (page.parent / "tables" / "ranking.tex").read_text()
    header, *rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count("&") - line.count(r"\&") for line in [header, *rows]} == {header.count("&")}
    assert r"$\pm$" in text
    assert "%" not in text.replace(r"\%", "")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_in_a_browser(whole, open_page, width):
    """Every picture is there, nothing is fetched, nothing is wider than the screen but tables, which scroll."""
    path, _ = whole
    page = open_page(path.as_uri(), viewport={"width": width, "height": 900}, offline=True)
    page.evaluate("document.querySelectorAll('img').forEach(image => { image.loading = 'eager'; })")
    page.wait_for_function("[...document.images].every(image => image.complete)")
    assert page.evaluate("[...document.images].every(image => image.naturalWidth > 300)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h2").count() >= 8
    tables = page.locator("h2#ranking ~ .scroll:has(table)").evaluate_all(
        "all => all.map(box => [box.scrollWidth, box.clientWidth])"
    )
    assert len(tables) > 5
    assert width < 1000 or all(needed <= room for needed, room in tables)  # on a phone they scroll
    figures_shown = page.locator("figure .scroll img").evaluate_all("all => all.map(one => one.clientWidth)")
    assert min(figures_shown) > 500  # legible: a phone scrolls instead of shrinking


def test_thirteen_tasks_can_be_read_on_the_page():
    """Numbers have about 8 pt in the figure, which the page shows 1,120 pixels wide at most."""
    found: Cells = {}
    for (task, model, level), score in paper_scores().items():
        add_score(found, task, model, level, score.mean, yardstick())
    models = [name for name in PAPER_NAMES if name not in ("random", "human")]
    for figure in (figures.heat_map(found, models, TASKS), figures.beside(found, found, models, TASKS)):
        shrunk = min(1120 / (figure.get_figwidth() * 130), 1.0)
        numbers = [text.get_fontsize() for axes in figure.axes for text in axes.texts if text.get_text().isdigit()]
        assert len(numbers) >= 3 * len(models) * len(TASKS) * 0.9
        assert min(numbers) * 130 / 72 * shrunk >= 11
        figures.plt.close(figure)


def test_ours_and_the_paper_s_stand_side_by_side():
    ours: Cells = {}
    theirs: Cells = {}
    add_score(ours, AVM, "mra (taught)", "train", 25.03, yardstick())
    add_score(theirs, AVM, "mra", "train", 50.0, yardstick())
    figure = figures.beside(ours, theirs, ["mra (taught)"], [AVM])
    left, right = figure.axes[0].texts
    assert (left.get_text(), left.get_fontstyle()) == ("50", "normal")
    assert (right.get_text(), right.get_fontstyle()) == ("100", "italic")
    assert right.get_position()[0] - left.get_position()[0] == pytest.approx(0.46)
    assert [text.get_text() for text in figure.axes[1].texts] == ["-", "-"]
    figures.plt.close(figure)


def test_the_command(tmp_path, capsys):
    write_run(tmp_path / "runs", AVM, "mra", 0, ROWS)
    main(["report", str(tmp_path / "runs"), "--out", str(tmp_path / "out"), "--reference", "players", "--clip"])
    assert capsys.readouterr().out.strip() == str(tmp_path / "out" / "report.html")
    assert "remembering (scripted player)" in (tmp_path / "out" / "report.html").read_text()


WITHOUT_PYTORCH = """
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.split(".")[0] in ("torch", "safetensors", "ray", "starlette", "uvicorn"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from memorylab.cli import main
main(["report", sys.argv[1], "--out", sys.argv[2]])
"""


def test_a_report_needs_no_pytorch(tmp_path):
    """Only walks do: that is said, and the rest is reported. Settings that one version did not write yet are no
    difference."""
    task, parts = "visible_goal_with_buildings", {"agent": {}, "learner": {"discount": 0.9}}
    write_run(tmp_path / "runs" / "0", task, "mra", 0, ROWS, **parts)
    write_run(tmp_path / "runs" / "1", task, "mra", 1, ROWS, **parts, evaluate_every=5)
    (tmp_path / "runs" / "0" / "snapshot").mkdir()
    command = [sys.executable, "-c", WITHOUT_PYTORCH, tmp_path / "runs", tmp_path / "report"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "cannot be walked: No module named" in " ".join(done.stderr.split())
    assert "left out" not in done.stderr
    with (tmp_path / "report" / "tables" / "scores.csv").open(newline="") as file:
        assert {row["seeds"] for row in csv.DictReader(file)} == {"2"}
