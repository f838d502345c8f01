"""Trained agents that come with the package: each is a small folder of a run, with a card. Needs no PyTorch."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from memorylab.mistakes import unknown
from memorylab.runs.files import read_json, replacing
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import short_names

ZOO = Path(__file__).parent / "data" / "zoo"
PREFIX = "zoo:"


@dataclass(frozen=True)
class LevelScore:
    """What an agent came to on a level."""

    level: str
    mean: float
    low: float
    high: float  # of a 95 % interval for the mean
    human_normalised: float | None  # in percent
    memory_score: float | None


@dataclass(frozen=True)
class Card:
    """What is known of a trained agent."""

    name: str  # such as avm/mra
    task: str
    model: str
    called: str  # the model as reports call it, with a word on its teacher if it had one
    taught: bool  # whether a scripted player showed it anything
    teacher: str  # which, or `none`
    step: int  # of training, that the weights are from
    weights: str  # which these are: `snapshot`, `last` or the number of a step
    minutes: float | None  # of training until then, if the run says so
    seed: int
    preset: str
    parameters: int
    megabytes: float
    command: str  # that trained it
    trained_by: str | None  # the version of memorylab; runs of before this was written do not say
    evaluated_by: str
    date: str  # of the evaluation
    episodes: int  # a level
    evaluation_seed: int
    levels: tuple[LevelScore, ...]

    def score(self, level: str) -> LevelScore:
        """On one of the nine."""
        return next(score for score in self.levels if score.level == level)

    def cells(self) -> list[str]:
        """Of its row in a table: scores with half of their 95 % intervals; the memory score is that of `train`."""
        scores = [self.score(level) for level in PAPER_LEVELS]
        memory = scores[0].memory_score
        return [
            self.name,
            self.teacher if self.taught else "nobody",
            *(f"{score.mean:.2f} ± {score.high - score.mean:.2f}" for score in scores),
            "" if memory is None else f"{memory:.0f}",
            f"{self.step / 1e6:.1f} M",
            "" if self.minutes is None else f"{self.minutes:.0f}",
            f"{self.megabytes:.1f}",
        ]

    def facts(self) -> dict[str, str]:
        """All but its scores, in words."""
        return {
            "agent": f"{PREFIX}{self.name}: {self.called}",
            "task": self.task,
            "taught by": f"{self.teacher}: a scripted player" if self.taught else "nobody",
            "weights": f"step {self.step:,} ({self.weights}), {self.parameters:,} parameters, {self.megabytes} MB",
            "trained": "in unknown time" if self.minutes is None else f"{self.minutes} minutes until then",
            "command": self.command,
            "version": f"trained by {self.trained_by or 'a version that did not say'}, evaluated by "
            f"{self.evaluated_by} on {self.date}",
        }


def read_card(file: Path) -> Card:
    """Or one sentence."""
    found = read_json(file)
    try:
        return Card(**{**found, "levels": tuple(LevelScore(**level) for level in found["levels"])})
    except (TypeError, KeyError) as problem:
        raise ValueError(f"{file} is not the card of an agent: {problem}") from problem


def write_card(file: Path, card: Card) -> None:
    """As JSON."""
    with replacing(file) as temporary:
        temporary.write_text(json.dumps(asdict(card), indent=2) + "\n", encoding="utf-8")


def names(zoo: Path = ZOO) -> list[str]:
    """Of all its agents, by task in the paper's order, then by model."""
    order = {short: number for number, short in enumerate(short_names())}
    found = [file.parent.relative_to(zoo) for file in zoo.glob("*/*/card.json")]
    return [path.as_posix() for path in sorted(found, key=lambda path: (order.get(path.parts[0], len(order)), path))]


def cards(zoo: Path = ZOO) -> list[Card]:
    """Of all its agents."""
    return [read_card(zoo / name / "card.json") for name in names(zoo)]


def entry(name: str, zoo: Path = ZOO) -> Path:
    """The folder of an agent; its task may be called by its long name, and capitals do not matter."""
    task, _, model = name.lower().removeprefix(PREFIX).partition("/")
    short = next((short for short, long in short_names().items() if long.lower() == task), task)
    known = {each.lower(): each for each in names(zoo)}
    if f"{short}/{model}" not in known:
        if not known:
            raise ValueError(f"there is no trained agent in {zoo} yet; memorylab zoo-add RUN puts one there")
        raise unknown("trained agent", name, known.values())
    return zoo / known[f"{short}/{model}"]


def is_of_zoo(run: Path) -> bool:
    """Whether it is a name such as zoo:avm/mra, not a folder."""
    return run.as_posix().startswith(PREFIX)


def run_folder(run: Path) -> Path:
    """The folder of a run, which may be one of the zoo's."""
    return entry(run.as_posix()) if is_of_zoo(run) else run


def offered(zoo: Path = ZOO) -> str:
    """Those that could be named instead of a run."""
    return ", ".join(f"{PREFIX}{name}" for name in names(zoo))


# --- a row of docs/zoo.md

HEADER = (
    "| agent | taught by | train | holdout_interpolate | holdout_extrapolate | memory score | steps | minutes | MB |",
    "|---|---|---|---|---|---|---|---|---|",
)


def markdown_row(card: Card) -> str:
    """Of that table."""
    name, *others = card.cells()
    return f"| {' | '.join((f'`{name}`', *others))} |"
