"""Scores, tables and figures: what the runs and the scripted players came to, beside the paper's numbers.

Only what needs no extra is exported: reports, figures and evaluations are verbs of the command line.
"""

from memorylab.laboratory.baseline import Baseline, baselines
from memorylab.laboratory.references import (
    Reference,
    Yardstick,
    memory_yardstick,
    paper_scores,
    recorded_humans,
    scripted_players,
    yardstick,
)
from memorylab.laboratory.zoo import Card, cards, run_folder

__all__ = [
    "Baseline",
    "Card",
    "Reference",
    "Yardstick",
    "baselines",
    "cards",
    "memory_yardstick",
    "paper_scores",
    "recorded_humans",
    "run_folder",
    "scripted_players",
    "yardstick",
]
