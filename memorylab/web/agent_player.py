"""A trained agent that can be recorded, with what it recalled at each step."""

from collections.abc import Iterator
from pathlib import Path

import torch

from memorylab.agent.config import AgentConfig
from memorylab.agent.network import MemoryRecallAgent
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.learning import actor
from memorylab.learning.checkpoints import load_checkpoint
from memorylab.learning.run_folder import RunFolder, read_json
from memorylab.learning.trajectory import part_of
from memorylab.tasks.levels import PAPER_LEVELS
from memorylab.tasks.task import find_task
from memorylab.web.recording import Moment, Player, described, place_of, plan_of


def agent_player(run: Path, task: str | None = None, level: str = PAPER_LEVELS[0]) -> Player:
    """The newest checkpoint of a run, on its own task unless told otherwise."""
    if not (run / "config.json").exists():
        raise ValueError(f"{run} is not the folder of a run: it has no config.json")
    config = read_json(run / "config.json")
    found = load_checkpoint(RunFolder(run).checkpoints)
    if found is None:
        raise ValueError(f"{run} has no checkpoint yet; wait until training has saved one")
    tensors, facts = found
    torch.set_num_threads(1)  # one game is too little work to be shared
    agent = MemoryRecallAgent(AgentConfig(**config["agent"]))
    agent.load_state_dict(part_of(tensors, "agent."))
    name = f"{config['model']} after {facts['step']:,} steps"
    return player_of(agent, name, task or config["task"], level)


def player_of(agent: MemoryRecallAgent, name: str, task: str, level: str) -> Player:
    size = agent.config.height, agent.config.width
    actions = find_task(task).actions
    if len(actions) != agent.config.actions:
        raise ValueError(
            f"this agent has {agent.config.actions} actions, but {task} has {len(actions)}; "
            "watch it on the task it was trained on"
        )

    def play(seed: int) -> Iterator[Moment]:
        env = MemoryVectorEnv(task, level, 1, threads=1, seed=seed, size=size)
        return moments(env, actor.Player(env, agent, seed))

    return Player(described(task, level, size, name), play)


@torch.no_grad()
def moments(env: MemoryVectorEnv, player: actor.Player) -> Iterator[Moment]:
    """The first episode of a player's only game."""
    ended: list = []
    while not ended:
        place, plan = place_of(env.games), plan_of(env.games)
        inputs, output, actions, ended = player.play()
        ages, weights = [], []
        if output.recalled is not None and output.weights is not None:
            order = output.weights[0].argsort(descending=True)
            order = order[output.recalled.valid[0][order]]
            ages, weights = output.recalled.age[0][order].tolist(), output.weights[0][order].tolist()
        yield Moment(
            picture=inputs.pictures[0].cpu().numpy(),
            action=int(actions[0]),
            reward=float(player.inputs.rewards[0]),
            probabilities=output.logits[0].softmax(-1).tolist(),
            value=float(output.baseline[0]),
            ages=ages,
            weights=weights,
            place=place,
            plan=plan,
        )
