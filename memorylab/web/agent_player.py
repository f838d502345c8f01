"""A trained agent that can be recorded, with what it recalled at each step."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.spec import GameSpec, parse_scale
from memorylab.envs.vector import MemoryVectorEnv, vector_env
from memorylab.learning import actor
from memorylab.learning.trained import load_trained
from memorylab.runs.config import model_name
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import find_task
from memorylab.web.recording import Moment, Performer, described, place_of, plan_facts


def agent_player(
    run: Path,
    level: str = PAPER_LEVELS[0],
    step: str | int = "snapshot",
    stimuli: Path | None = None,
    scale: Sequence[str] = (),
) -> Performer:
    """A run's agent on its own task, at its snapshot unless told otherwise."""
    torch.set_num_threads(1)  # one game is too little work to be shared
    trained = load_trained(run, step)
    name = f"{model_name(trained.config)} after {trained.step:,} steps"
    game = trained.game(level)
    return player_of(trained.agent, name, game.changed(stimuli=stimuli, **parse_scale(game.task, scale)))


def player_of(agent: MemoryRecallAgent, name: str, game: GameSpec) -> Performer:
    """This agent in a game with as many actions."""
    actions = find_task(game.task).actions
    if len(actions) != agent.config.actions:
        raise ValueError(
            f"this agent has {agent.config.actions} actions, but {game.task} has {len(actions)}; "
            "watch it on the task it was trained on"
        )

    def play(seed: int) -> Iterator[Moment]:
        env = vector_env(game, 1, threads=1, seed=seed)
        return moments(env, actor.Player(env, agent, seed))

    return Performer(described(game, name), play)


@torch.no_grad()
def moments(env: MemoryVectorEnv, player: actor.Player) -> Iterator[Moment]:
    """The first episode of a player's only game."""
    ended: list = []
    while not ended:
        place, plan = place_of(env.batch), plan_facts(env.batch)
        inputs, output, choice, ended = player.play()
        ages: list[int] = []
        weights: list[float] = []
        if player.agent.read is not None:
            ages, weights = (part.tolist() for part in player.agent.read.looked_back(output.at(0)))
        yield Moment(
            picture=inputs.pictures[0].cpu().numpy(),
            action=int(choice.actions[0]),
            reward=float(player.inputs.rewards[0]),
            probabilities=output.logits[0].softmax(-1).tolist(),
            value=float(output.baseline[0]),
            ages=ages,
            weights=weights,
            place=place,
            plan=plan,
        )
