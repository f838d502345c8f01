"""Our laptop preset on AVM: `memorylab_learner.py MODEL [GAMES]` prints how many steps it has learned from."""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from memorylab.learning.config import CurriculumConfig
from memorylab.learning.presets import preset_config
from memorylab.runtime.in_process import training_here


def main(model: str, games: str = "32") -> None:
    config = preset_config("avm", model)
    # The peers have the small encoder and no curriculum, so that all play the true level.
    agent = replace(config.agent, encoder="small")
    config = replace(config, agent=agent, num_envs=int(games), evaluate_every=0, curriculum=CurriculumConfig())
    training = training_here(config, Path(tempfile.mkdtemp()) / "run")
    steps = 0
    while True:
        progress = training.runtime.advance(0.0)
        training.count(progress)
        steps += progress.steps
        print(steps, flush=True)


if __name__ == "__main__":  # not in the other cores' processes
    main(*sys.argv[1:])
