"""Does `evaluate` find what the cards of the zoo say?

    python studies/zoo_scores.py [AGENT ...] [--levels train holdout_extrapolate] [--episodes 64] [--seed 2000003]

AGENT is a name such as avm/mra; all if none is given. With the episodes and the seed of the cards, which are the
defaults, a mean is the card's own up to rounding and must lie in its interval. With others, the two intervals must
meet: of true cards about one comparison in 200 does not. Exit code 1 if any comparison fails.
"""

import sys
from dataclasses import dataclass

import tyro
from tyro.conf import Positional

from memorylab.laboratory.evaluate import evaluated
from memorylab.laboratory.evaluations import Evaluation, summed_up
from memorylab.laboratory.zoo import Card, LevelScore, cards, entry, read_card
from memorylab.learning import load_trained
from memorylab.tasks.levels import LEVELS


@dataclass
class Settings:
    agents: Positional[tuple[str, ...]] = ()
    levels: tuple[str, ...] = tuple(LEVELS)
    episodes: int | None = None
    """Those of the card if not given."""
    seed: int | None = None
    """That of the card if not given."""


def is_true(there: LevelScore, found: Evaluation, is_same: bool) -> bool:
    """Within the card's interval, or, with other episodes, the intervals meet."""
    if is_same:
        return there.low <= found.mean <= there.high
    return found.low <= there.high and there.low <= found.high


def compare(card: Card, settings: Settings) -> int:
    """How many levels are not as the card says."""
    trained, wrong = load_trained(entry(card.name)), 0
    episodes, seed = settings.episodes or card.episodes, settings.seed or card.evaluation_seed
    is_same = (episodes, seed) == (card.episodes, card.evaluation_seed)
    for rows in evaluated(trained, settings.levels, trained.game("train"), (), episodes, seed):
        (found,) = summed_up(rows, card.task)
        there = card.score(found.level)
        verdict = "as the card says" if is_true(there, found, is_same) else "NOT as the card says"
        wrong += verdict.startswith("NOT")
        print(f"{card.name:25}{found.level:22}{there.mean:9.3f} ({there.low:.3f} to {there.high:.3f})", end="")
        print(f"{found.mean:9.3f} ({found.low:.3f} to {found.high:.3f})  {verdict}", flush=True)
    return wrong


def main(settings: Settings) -> None:
    chosen = [read_card(entry(name) / "card.json") for name in settings.agents] or cards()
    print(f"{'agent':25}{'level':22}{'card':>9}{'':20}{'now':>9}")
    sys.exit(1 if sum(compare(card, settings) for card in chosen) else 0)


if __name__ == "__main__":
    main(tyro.cli(Settings))
