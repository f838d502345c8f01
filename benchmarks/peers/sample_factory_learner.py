"""Sample Factory's APPO on AVM: `sample_factory_learner.py GAMES [--its_own_options ...]`.

Prints after each update from how many steps it has learned. GAMES is how many one environment plays: 1 is a plain
`gymnasium.Env`, more are our vector environment, which Sample Factory takes as one environment with many agents.
"""

import sys
import tempfile
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import torch
from sample_factory.algo.runners.runner import AlgoObserver, Runner
from sample_factory.algo.utils.context import global_model_factory
from sample_factory.cfg.arguments import parse_full_cfg, parse_sf_args
from sample_factory.envs.env_utils import register_env
from sample_factory.model.encoder import Encoder
from sample_factory.train import make_runner
from small_network import HEIGHT, HIDDEN, WIDTH, SmallEncoder
from torch import Tensor

import memorylab

# Sample Factory counts on what Gymnasium had until 1.0: a wrapper has what the wrapped environment has.
gymnasium.Wrapper.__getattr__ = lambda self, name: getattr(self.__dict__["env"], name)

SAME_FOR_ALL = {
    "env": "avm",
    "experiment": "benchmark",
    "device": "cpu",
    "use_rnn": True,
    "rnn_type": "lstm",
    "rnn_size": HIDDEN,
    "obs_subtract_mean": 127.5,  # pictures in [-1/2, 1/2], as ours
    "obs_scale": 255.0,
    "normalize_input": False,
}


class ManyGames(gymnasium.Env):
    """Our vector environment as one with many agents; it begins anew by itself, as Sample Factory expects."""

    is_multiagent = True

    def __init__(self, games: int):
        self.envs = memorylab.make_vec("avm", num_envs=games, size=(HEIGHT, WIDTH))
        self.num_agents = games
        self.observation_space = self.envs.single_observation_space
        self.action_space = self.envs.single_action_space

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """First pictures."""
        return self.envs.reset(seed=seed)

    def step(self, actions: np.ndarray) -> tuple:
        """One step of all games; nobody reads what `info` tells."""
        pictures, rewards, terminated, truncated, _ = self.envs.step(actions)
        return pictures, rewards, terminated, truncated, {}


def make_env(games: int, *_: Any) -> gymnasium.Env:
    """As Sample Factory calls it."""
    return ManyGames(games) if games > 1 else memorylab.make("avm", size=(HEIGHT, WIDTH))


class PictureEncoder(Encoder):
    """The small encoder, compiled as Sample Factory's own are."""

    def __init__(self, cfg: Any, _: Any):
        super().__init__(cfg)
        self.encoder = torch.jit.script(SmallEncoder().to(memory_format=torch.channels_last))

    def get_out_size(self) -> int:
        """As Sample Factory asks."""
        return HIDDEN

    def forward(self, observations: dict[str, Tensor]) -> Tensor:
        """x of each picture."""
        return self.encoder(observations["obs"])


class StepCounter(AlgoObserver):
    """Prints the steps that were learned from."""

    def on_training_step(self, runner: Runner, training_iteration_since_resume: int) -> None:
        """As Sample Factory calls it."""
        print(runner.env_steps.get(0, 0), flush=True)


def main(games: str, *options: str) -> None:
    register_env("avm", partial(make_env, int(games)))
    global_model_factory().register_encoder_factory(PictureEncoder)
    arguments = [f"--{name}={value}" for name, value in SAME_FOR_ALL.items()]
    arguments += [*options, f"--train_dir={tempfile.mkdtemp()}"]
    parser, _ = parse_sf_args(arguments)
    _, runner = make_runner(parse_full_cfg(parser, arguments))
    runner.register_observer(StepCounter())
    runner.init()
    runner.run()


if __name__ == "__main__":
    main(*sys.argv[1:])
