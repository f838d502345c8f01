"""What a game is, in one record: `make`, training, evaluation and pages all play by it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memorylab.tasks.task import find_task


@dataclass(frozen=True)
class GameSpec:
    """Which task and level, how large the pictures are, whose stimuli, and what of the level's scale is changed."""

    task: str
    level: str = "train"
    size: tuple[int, int] = (72, 96)  # height, width
    stimuli: str | os.PathLike | None = None  # a folder of a user's own
    scale: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def changed(self, level: str | None = None, stimuli: str | os.PathLike | None = None, **scale: Any) -> "GameSpec":
        """The same but for what is given."""
        return replace(self, level=level or self.level, stimuli=stimuli or self.stimuli, scale={**self.scale, **scale})

    @property
    def own(self) -> str:
        """What makes it another game than the paper's, in words; empty if nothing does."""
        return " ".join([*scale_texts(self.scale), *([f"stimuli={self.stimuli}"] if self.stimuli else [])])


def parse_scale(task: str, texts: Sequence[str], option: str = "--scale") -> dict[str, Any]:
    """`side=15` or `delays=2,8` as scale keywords of the task."""
    found = find_task(task)
    scale = {}
    for text in texts:
        keyword, _, values = text.partition("=")
        found.check_keywords({keyword: None})
        try:
            numbers = tuple(number(value) for value in values.split(","))
        except ValueError:
            raise ValueError(f"{option} must look like {keyword}=8 or {keyword}=2,8, not {text!r}") from None
        usual = getattr(next(iter(found.scales.values())), keyword)
        scale[keyword] = numbers if isinstance(usual, tuple) or len(numbers) > 1 else numbers[0]
    return scale


def number(text: str) -> int | float:
    """Whole if it can be."""
    return float(text) if "." in text or "e" in text else int(text)


def scale_texts(scale: Mapping[str, Any]) -> list[str]:
    """As `parse_scale` reads them."""
    values = {name: value if isinstance(value, tuple) else (value,) for name, value in scale.items()}
    return [f"{name}={','.join(map(str, value))}" for name, value in values.items()]
