"""Is an altered block of Spot the Difference changed, to a chart of what stands where?

    python studies/changed_places.py [--task spot_diff_multi_object] [--levels train holdout_extrapolate] [--run RUN]

The remembering player walks; the chart has the true pose, or that of the map which RUN, with a chart, has learned. In
Room 2 of an episode in which all blocks of Room 1 were seen, it is noted at each step how changed the strips are in
which the middle of a block is. Told are the mean for altered and for other blocks, and the share of pairs, one altered
and one not, in which the altered block has more; and, with a map, by how much it is off in each room.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from newer_blocks import METRES, share

from memorylab.agent.chart import EYES, STRIPS, ChartMemory, ChartStore, things_in
from memorylab.envs.vector import MemoryVectorEnv
from memorylab.laboratory.zoo import run_folder
from memorylab.learning import load_trained

NUM_ENVS = 64


@dataclass
class Settings:
    task: str = "spot_diff_multi_object"
    levels: tuple[str, ...] = ("train", "holdout_interpolate", "holdout_extrapolate")
    steps: int = 900
    run: Path | None = None


def true_poses(games: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Steps east and north of the middle of the nearer room, and the angle."""
    half = games["room"] / 2
    middle = 1 + half + (games["z"] > 1 + games["room"] + games["corridor"] / 2) * (games["room"] + games["corridor"])
    place = np.stack([games["x"] - 1 - half, games["z"] - middle], -1) * EYES
    return torch.from_numpy(place.astype(np.float32)), torch.from_numpy(np.radians(games["yaw"]).astype(np.float32))


def blocks_in_view(game: np.void) -> list[tuple[float, int, bool]]:
    """Of Room 2: how far, in which strip of the view, and whether it is the altered one."""
    found, yaw = [], np.radians(game["yaw"])
    for k in range(game["blocks"]):
        west, east, _, _, south, north = game["boxes"][game["blocks"] + k]
        x, z = (west + east) / 2 - game["x"], (south + north) / 2 - game["z"]
        right, ahead = x * np.cos(yaw) - z * np.sin(yaw), x * np.sin(yaw) + z * np.cos(yaw)
        if abs(right) < 0.95 * ahead:
            found.append((np.hypot(x, z), int((1 + right / ahead) / 2 * STRIPS), k == game["altered"]))
    return found


def watch(level: str, settings: Settings, memory: ChartMemory | None) -> tuple[np.ndarray, np.ndarray]:
    """Rows of (metres, is altered, changed), and of (room, metres off, degrees off)."""
    env = MemoryVectorEnv(settings.task, level, NUM_ENVS, seed=1, size=(36, 48), threads=1)
    pictures, _ = env.reset()
    store: Any = memory.new_store(NUM_ENVS) if memory else ChartStore(NUM_ENVS, 2, 2, 2, 2)
    actions, resets = np.zeros(NUM_ENVS, np.int64), np.ones(NUM_ENVS, np.bool_)
    noted, off = [], []
    for _ in range(settings.steps):
        store.wipe(torch.from_numpy(resets))
        games = env.batch.records
        place, angle = true_poses(games)
        is_second = games["z"] > 1 + games["room"] + games["corridor"]
        if memory:
            with torch.no_grad():
                pose = memory.poses(torch.from_numpy(pictures))
                store.note(pose, torch.from_numpy(actions), torch.zeros(NUM_ENVS, dtype=torch.bool))
            metres = (store.place - place).norm(dim=-1).numpy() / EYES
            degrees = np.degrees(np.abs(np.angle(np.exp(1j * (store.angle - angle).numpy()))))
            off.append(np.stack([is_second, metres, degrees], -1))
        else:
            store.place.copy_(place)
            store.angle.copy_(angle)
            store.variance.fill_(0.01)
        changed = store.meet(things_in(torch.from_numpy(pictures)))[:, :STRIPS].numpy()
        for b in np.flatnonzero(is_second & (games["seen"] == (1 << games["blocks"]) - 1)):
            noted += [(far, altered, changed[b, strip]) for far, strip, altered in blocks_in_view(games[b])]
        env.act("remembering", actions)
        pictures, _, terminated, truncated, _ = env.step(actions)
        resets = terminated | truncated
    return np.array(noted, float), np.concatenate(off) if off else np.zeros((0, 3))


def main(settings: Settings) -> None:
    torch.set_num_threads(1)
    memory: Any = load_trained(run_folder(settings.run)).agent.read if settings.run else None
    assert memory is None or isinstance(memory, ChartMemory), "this agent has no chart"
    print(f"{settings.task}: altered / other blocks, mean of changed, and share of pairs, at that many metres")
    print(" " * 22 + "".join(f"{f'{near} to {far}':>20}" for near, far in METRES))
    for level in settings.levels:
        rows, off = watch(level, settings, memory)
        print(f"{level:22}", end="")
        for near, far in METRES:
            here = rows[(rows[:, 0] >= near) & (rows[:, 0] < far)]
            one, other = here[here[:, 1] == 1, 2], here[here[:, 1] == 0, 2]
            print(f"  {one.mean():.2f} / {other.mean():.2f}  {share(one, other):.2f}", end="")
        print()
        for room in (0, 1):
            if len(off):
                metres, degrees = np.median(off[off[:, 0] == room, 1:], 0)
                print(f"    in Room {room + 1} the map is off by {metres:.2f} m, {degrees:.1f} degrees in the median")


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
