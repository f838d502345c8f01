"""The runs in a folder with their curves, read anew while training goes on."""

import math
import os
import time
from collections.abc import Set
from pathlib import Path
from statistics import median
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memorylab.runs import RunFolder, read_config, read_scores, standard_error
from memorylab.runs.config import model_name
from memorylab.web.pages import page_routes

MAX_POINTS = 300  # of a curve; more cannot be seen
MAX_DEPTH = 3
LONGEST = 200  # of a text from a file
RATE = "steps_per_second"
RECENT_ROWS = 12  # about a minute
ACTIVE_SECONDS = 120.0  # a run that wrote within this time is going on
Curve = list[list[float]]


class Runs:
    """Finds runs and reads what changed since it was last asked."""

    def __init__(self, folder: Path):
        if not folder.is_dir():
            raise ValueError(f"{folder} is not a folder; give the one that holds your runs, such as runs/")
        self.folder = folder
        self.known: dict[Path, tuple[tuple[float, ...], dict[str, Any]]] = {}

    def read(self) -> list[dict[str, Any]]:
        """All of them, in the order of their names."""
        return [self.run(config.parent) for config in sorted(self.configs())]

    def configs(self) -> list[Path]:
        """What makes a folder a run, not too deep below."""
        patterns = ("/".join([*["*"] * depth, "config.json"]) for depth in range(MAX_DEPTH + 1))
        return [path for pattern in patterns for path in self.folder.glob(pattern)]

    def run(self, folder: Path) -> dict[str, Any]:
        """One run, read anew if a file changed. Whatever is wrong with it costs nobody else."""
        try:
            return self.read_run(folder)
        except (OSError, ValueError, TypeError) as problem:
            return {"name": self.name(folder), "problem": str(problem)[:LONGEST], "curves": {}, "levels": {}}

    def read_run(self, folder: Path) -> dict[str, Any]:
        """Or what is wrong with one of its files."""
        files = [folder / name for name in ("config.json", "metrics.csv", "scores.csv")]
        stamp = tuple(file.stat().st_mtime if file.exists() else 0.0 for file in files)
        if self.known.get(folder, ((), {}))[0] != stamp:
            self.known[folder] = stamp, self.told(folder)
        return {**self.known[folder][1], "is_active": time.time() - max(stamp[1:]) < ACTIVE_SECONDS}

    def told(self, folder: Path) -> dict[str, Any]:
        """What the page shows of it."""
        try:
            config = read_config(folder)
        except (ValueError, OSError) as problem:
            raise ValueError(f"config.json cannot be read: {problem}") from problem
        facts = {key: shown(config.get(key, "")) for key in ("task", "preset", "seed")}
        facts["model"] = shown(model_name(config)) if "model" in config else ""
        rows = RunFolder(folder).read_metrics()
        stage = rows[-1].get("stage", "") if rows else ""
        scored, notes = levels(folder)
        rows = without_evaluations(rows, {point[0] for curve in scored.values() for point in curve})
        told = {"stage": shown(stage), "rate": recent_rate(rows), "curves": curves(rows), "levels": scored}
        return {"name": self.name(folder), **facts, **told, "notes": notes}

    def name(self, folder: Path) -> str:
        """Where it is below the folder of all runs."""
        relative = folder.relative_to(self.folder)
        return shown(relative if relative.parts else folder.resolve().name)


def shown(value: Any) -> str:
    """As text that a page has room for and that can be sent: a folder's name may hold any bytes."""
    return str(value)[:LONGEST].encode("utf-8", "backslashreplace").decode()


def curves(rows: list[dict[str, str]]) -> dict[str, Curve]:
    """column -> [step, value] pairs, thinned to what can be seen."""
    kept = thinned(rows)
    found: dict[str, Curve] = {}
    for row in kept:
        step = as_number(row.get("step"))
        for name, text in row.items():
            value = as_number(text)
            if name != "step" and len(name) < LONGEST and step is not None and value is not None:
                found.setdefault(name, []).append([step, value])
    return found


def without_evaluations(rows: list[dict[str, str]], evaluated: Set[float]) -> list[dict[str, str]]:
    """Rows whose time went into an evaluation tell no rate: nothing was trained meanwhile."""
    kept, waiting = [], sorted(evaluated)
    for row in rows:
        step = as_number(row.get("step"))
        due = [mark for mark in waiting if step is not None and mark <= step]
        waiting = waiting[len(due) :]
        kept.append({name: text for name, text in row.items() if not due or name != RATE})
    return kept


def recent_rate(rows: list[dict[str, str]]) -> float | None:
    """Steps a second, as of late."""
    rates = [rate for row in rows if (rate := as_number(row.get(RATE))) is not None]
    return median(rates[-RECENT_ROWS:]) if rates else None


def thinned(rows: list[Any]) -> list[Any]:
    """Evenly spaced, the last one always among them."""
    if len(rows) <= MAX_POINTS:
        return rows
    return [rows[round(i * (len(rows) - 1) / (MAX_POINTS - 1))] for i in range(MAX_POINTS)]


def as_number(text: str | None) -> float | None:
    """None for what is not a finite number, which JSON cannot say."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def levels(folder: Path) -> tuple[dict[str, Curve], list[str]]:
    """level -> [step, mean, standard error] of its evaluations, and what of scores.csv cannot be read."""
    file = folder / "scores.csv"
    returns: dict[str, dict[float, list[float]]] = {}
    notes: list[str] = []
    try:
        for row in read_scores(file, notes.append) if file.exists() else ():
            returns.setdefault(row.level, {}).setdefault(row.step, []).append(row.score)
    except (ValueError, OSError) as problem:  # a file of something else
        notes.append(f"the scores cannot be read: {problem}")
    found = {level: [summary(step, values) for step, values in steps.items()] for level, steps in returns.items()}
    return found, [shown(note.replace(f"{folder}{os.sep}", "")) for note in notes]


def summary(step: float, values: list[float]) -> list[float]:
    """An evaluation: its step, mean and standard error."""
    error = standard_error(values)
    return [step, sum(values) / len(values), 0.0 if math.isnan(error) else error]  # no band around a single one


def dashboard_app(folder: Path) -> Starlette:
    """The page and what it asks for."""
    runs = Runs(folder)

    def send_runs(request: Request) -> Response:  # not async: Starlette runs it in a thread, for it reads files
        return JSONResponse({"folder": folder.resolve().name, "runs": runs.read()})

    return Starlette(routes=[*page_routes("dashboard.html", "dashboard.js"), Route("/runs", send_runs)])
