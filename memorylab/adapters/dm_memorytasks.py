"""The face of DeepMind's dm_memorytasks: its settings, level names, actions and observations, without Docker.

`import memorylab.adapters.dm_memorytasks as dm_memorytasks` in place of `import dm_memorytasks`, or for a script as it
stands: `python -m memorylab.adapters.dm_memorytasks random_agent.py --level_name=spot_diff_train`. Needs dm_env.
"""

import runpy
import sys
from typing import Any, NamedTuple

from memorylab.mistakes import near_miss

try:
    from memorylab.envs.dm import DmMemoryEnv
except ImportError as problem:
    told = "memorylab.adapters.dm_memorytasks needs dm_env: pip install 'memorylab-rl[dm]'"
    raise ImportError(told, name="dm_env") from problem

TASKS = {  # what the original calls them -> what they are called here
    "invisible_goal_empty_arena": "invisible_goal_empty_arena",
    "invisible_goal_with_buildings": "invisible_goal_with_buildings",
    "spot_diff": "spot_diff_basic",
    "spot_diff_motion": "spot_diff_motion",
    "spot_diff_multi": "spot_diff_multi_object",
    "spot_diff_passive": "spot_diff_passive",
    "transitive_inference": "transitive_inference",
    "visible_goal_with_buildings": "visible_goal_with_buildings",
}
HOLDOUT = ("holdout_extrapolate", "holdout_interpolate", "holdout_large", "holdout_small")
SPLIT = "transitive_inference"  # its training level is two


def level_names() -> dict[str, tuple[str, str]]:
    """Name of a level -> our task and level."""
    found = {}
    for name, task in TASKS.items():
        train = ("train_large", "train_small") if name == SPLIT else ("train",)
        for level in ("extrapolate", *HOLDOUT, "interpolate", *train):
            found[f"{name}_{level}"] = task, level
    return found


LEVELS = level_names()
MEMORY_TASK_LEVEL_NAMES = frozenset(LEVELS)


class EnvironmentSettings(NamedTuple):
    """What is played. A step plays `num_action_repeats` frames of 60 a second, as in the original: 1 unless you say
    otherwise; the paper's agents had 4. An episode lasts `episode_length_seconds` at most, 120 in every task unless you
    say otherwise, which is less than the 200 of our own levels of navigation and Transitive Inference."""

    seed: int
    level_name: str
    width: int = 96
    height: int = 72
    episode_length_seconds: float = 120.0
    num_action_repeats: int = 1


def load_from_docker(settings: EnvironmentSettings, name: str | None = None) -> DmMemoryEnv:
    """The level as a dm_env.Environment with continuous actions. No Docker is asked for: `name` is not looked at."""
    if settings.level_name not in LEVELS:
        near = near_miss(settings.level_name, LEVELS)
        raise ValueError(f"there is no level {settings.level_name!r}{near}; MEMORY_TASK_LEVEL_NAMES lists them")
    repeats = settings.num_action_repeats
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise ValueError(f"num_action_repeats must be a whole number, 1 or more, not {repeats!r}")
    task, level = LEVELS[settings.level_name]
    size = settings.height, settings.width
    seconds = settings.episode_length_seconds
    env = DmMemoryEnv(task, level, continuous=True, seed=settings.seed, size=size, seconds=seconds)
    env.env.batch.frames_per_step = repeats
    return env


def load_from_disk(path: str, settings: EnvironmentSettings) -> DmMemoryEnv:
    """The same; the original's program is not needed, so `path` is not looked at."""
    return load_from_docker(settings)


def run_script(arguments: list[str]) -> Any:
    """A script that says `import dm_memorytasks`, as it stands."""
    if not arguments:
        raise SystemExit("name a script that uses dm_memorytasks, and its options")
    sys.modules["dm_memorytasks"] = sys.modules[__name__]
    sys.argv = arguments
    return runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    run_script(sys.argv[1:])
