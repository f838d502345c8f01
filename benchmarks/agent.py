"""What the agent's parts cost, each beside the work that nobody can leave out, as ratios of one run.

python benchmarks/agent.py [--json results/agent_speed.json]
"""

import argparse
import json
from collections.abc import Callable
from time import perf_counter

import torch

from memorylab.agent import AgentConfig, Inputs, MemoryRecallAgent, model_config
from memorylab.agent.data import stacked
from memorylab.agent.episodic import EpisodicMemory, EpisodicStore
from memorylab.learning.presets import preset_config

GAMES = 64


def in_turn(repeats: int, **work: Callable[[], object]) -> dict[str, float]:
    """The best time of each in milliseconds, measured in turn so that a noisy machine treats all alike."""
    best = dict.fromkeys(work, float("inf"))
    for _ in range(repeats + 1):
        for name, run in work.items():
            start = perf_counter()
            run()
            best[name] = min(best[name], perf_counter() - start)
    return {name: round(1000 * seconds, 3) for name, seconds in best.items()}


def full_store(capacity: int, embedding: int, hidden: int, key: int) -> EpisodicStore:
    store = EpisodicStore(GAMES, capacity, embedding, hidden, key)
    for part in (store.pv, store.k):
        part.normal_()
    store.squared_norm.copy_(store.k.square().sum(-1)[:, None])
    return store


@torch.no_grad()
def reading() -> dict[str, float]:
    """A read over 2048 slots of 64 games, beside the bare product of queries and keys and its top K."""
    store = full_store(2048, 256, 512, 128)
    read = EpisodicMemory(AgentConfig(embedding_size=256, hidden_size=512, key_size=128, neighbours=10))
    q = torch.randn(GAMES, 128)

    def bare() -> object:
        return torch.bmm(q[:, None], store.k.mT)[:, 0].topk(10)

    def ours() -> object:
        return read(q, read.project(read.search(store, q)))

    figures, cores = {}, torch.get_num_threads()
    for threads in dict.fromkeys((max(cores // 2, 1), cores)):  # an actor's share of the cores, and all of them
        torch.set_num_threads(threads)
        times = in_turn(20, bare=bare, read=ours)
        times["ratio"] = times["read"] / times["bare"]
        figures |= {f"{name}_with_{threads}_threads": value for name, value in times.items()}
    return figures


def trajectory(config: AgentConfig, T: int, games: int) -> Inputs:
    return Inputs(
        torch.randint(0, 256, (T, games, config.height, config.width, 3), dtype=torch.uint8),
        torch.randn(T, games),
        torch.randint(0, config.actions, (T, games)),
        torch.rand(T, games) < 0.01,
    )


def unrolling() -> dict[str, float]:
    """Forward and backward of a laptop's unroll with and without the memory, on the learner's share of two cores."""
    cores = torch.get_num_threads()
    torch.set_num_threads(max(cores // 2, 1))
    works, sizes = {}, {}
    for name in ("lstm", "lstm+mem", "mra-njb", "mra"):
        config = preset_config("avm", name)
        agent = MemoryRecallAgent(config.agent)
        inputs = trajectory(config.agent, config.unroll, config.num_envs)
        state, store, recalled = agent.initial_state(config.num_envs), agent.new_store(config.num_envs), None
        if store is not None:
            s, steps = state, []
            for t in range(config.unroll):
                output, s = agent.step(Inputs(*(part[t] for part in inputs)), s, store)
                steps.append(output.recalled)
            recalled = stacked(steps)
            sizes["recalled_megabytes"] = sum(p.nbytes for p in recalled if p is not None) / 1e6
            sizes["store_megabytes"] = (store.pv.nbytes + store.k.nbytes) / 1e6

        def learn(agent=agent, inputs=inputs, state=state, recalled=recalled) -> None:
            agent.zero_grad()
            output, _ = agent.unroll(inputs, state, recalled)
            (output.logits.square().mean() + output.baseline.square().mean()).backward()

        works[name.replace("+", "_").replace("-", "_")] = learn
    times = in_turn(8, **works)
    torch.set_num_threads(cores)
    return times | {"ratio": times["lstm_mem"] / times["lstm"]} | sizes


@torch.no_grad()
def stepping() -> dict[str, float]:
    """A step of the paper's network, beside its encoder alone."""
    config = model_config("mra")
    agent = MemoryRecallAgent(config)
    inputs = Inputs(*(part[0] for part in trajectory(config, 1, GAMES)))
    state = agent.initial_state(GAMES)
    store = full_store(config.capacity, config.embedding_size, config.hidden_size, config.key_size)
    times = in_turn(
        6, encoder=lambda: agent.encode(inputs.pictures[None]), step=lambda: agent.step(inputs, state, store)
    )
    return times | {"share_of_encoder": times["encoder"] / times["step"]}


def encoding() -> dict[str, float]:
    """Each encoder at its size, in both types: frames a second forward (64) and forward with backward (256)."""
    rates = {}
    for encoder, height, width in (("residual", 72, 96), ("residual", 36, 48), ("small", 36, 48)):
        for bfloat16 in (False, True):
            config = AgentConfig(encoder=encoder, height=height, width=width, encoder_bfloat16=bfloat16)
            agent = MemoryRecallAgent(config)
            few, many = (trajectory(config, 1, n).pictures for n in (64, 256))

            def forward(agent=agent, few=few) -> None:
                with torch.no_grad():
                    agent.encode(few)

            def backward(agent=agent, many=many) -> None:
                agent.zero_grad()
                agent.encode(many).square().mean().backward()

            times = in_turn(3, forward=forward, backward=backward)
            name = f"{encoder}_{height}x{width}_{'bfloat16' if bfloat16 else 'float32'}"
            rates[f"{name}_forward"] = round(64_000 / times["forward"])
            rates[f"{name}_backward"] = round(256_000 / times["backward"])
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="also write the figures to this file")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    figures = {part.__name__: part() for part in (reading, unrolling, stepping, encoding)}
    figures["threads"] = {"torch": torch.get_num_threads()}
    for name, part in figures.items():
        print(name)
        for what, value in part.items():
            print(f"  {what:40s} {value:12,.3f}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(figures, file, indent=2)
            file.write("\n")


if __name__ == "__main__":
    main()
