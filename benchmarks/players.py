"""Many people at once on one `memorylab play`: steps a second of each, and how late their pictures come.

    python benchmarks/players.py --players 20 --seconds 20 --out results/players.json

The server runs in a process of its own, on loopback; all players share another. Each plays a level of the thirteen
tasks in turn and presses another key every third of a second.

  frame delay   how much later a picture comes than at an even 15 a second, as set by the earliest picture within half a
                second around it; a stall of the whole machine counts as late pictures, and again as lost steps
  key delay     from a key message to the first picture that shows its step; a step itself is 67 ms apart from the next
"""

import argparse
import asyncio
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from websockets.asyncio.client import connect

from memorylab.machine import usable_cores
from memorylab.runs.files import replacing
from memorylab.tasks.task import TASKS, find_task

STEPS_PER_SECOND = 15
KEY_SECONDS = 1 / 3
HEADER = struct.Struct("<IIffIf")


class Player:
    def __init__(self, number: int):
        self.task = find_task(TASKS[number % len(TASKS)])
        self.chance = random.Random(number)
        self.arrivals: list[tuple[int, float]] = []  # step, time
        self.keys: dict[int, float] = {}  # number of a key message -> when it was sent
        self.key_delays: list[float] = []

    async def play(self, place: str, everyone: asyncio.Barrier, seconds: float) -> None:
        async with connect(f"ws://{place}/play", origin=f"http://{place}", proxy=None) as socket:
            begin = {"task": self.task.name, "level": "train", "view": "agent", "practice": True, "name": ""}
            await socket.send(json.dumps({"do": "begin", **begin}))
            while isinstance(await socket.recv(), str):
                pass
            await socket.send('{"do": "drawn"}')
            await everyone.wait()
            await socket.send('{"do": "start"}')
            end = time.monotonic() + seconds
            pressing = asyncio.create_task(self.press(socket))
            async for message in socket:
                now = time.monotonic()
                if isinstance(message, bytes):
                    await socket.send('{"do": "drawn"}')
                    self.note(message, now)
                elif json.loads(message)["say"] == "over":
                    break
                if now > end:
                    break
            pressing.cancel()

    async def press(self, socket) -> None:
        number = 0
        while True:
            await asyncio.sleep(self.chance.uniform(0.5, 1.5) * KEY_SECONDS)
            number += 1
            self.keys[number] = time.monotonic()
            # Looking left and right keeps a player on the panel, and walkers walking.
            action = self.chance.choice([name for name in self.task.actions if "left" in name or "right" in name])
            message = {"do": "act", "action": self.task.actions.index(action), "number": number}
            await socket.send(json.dumps(message))

    def note(self, message: bytes, now: float) -> None:
        step, heard, *_ = HEADER.unpack_from(message)
        if step == 0:
            return
        self.arrivals.append((step, now))
        if heard in self.keys:
            self.key_delays.append(now - self.keys.pop(heard))

    def rate(self) -> float:
        (first, begin), (last, end) = self.arrivals[0], self.arrivals[-1]
        return (last - first) / (end - begin)

    def frame_delays(self) -> np.ndarray:
        steps, times = np.array(self.arrivals).T
        late = times - steps / STEPS_PER_SECOND
        around = [late[np.abs(times - now) <= 0.5].min() for now in times]
        return late - around


async def play_all(place: str, number: int, seconds: float) -> list[Player]:
    players = [Player(i) for i in range(number)]
    everyone = asyncio.Barrier(number)
    await asyncio.gather(*(player.play(place, everyone, seconds) for player in players))
    return players


def measured(players: list[Player], seconds: float) -> dict:
    delays = np.concatenate([player.frame_delays() for player in players]) * 1000
    keys = np.array([delay for player in players for delay in player.key_delays]) * 1000
    rates = [player.rate() for player in players]
    return {
        "players": len(players),
        "seconds": seconds,
        "cores": usable_cores(),
        "load_of_the_machine": round(os.getloadavg()[0], 1),
        "steps_per_second_slowest": round(min(rates), 2),
        "steps_per_second_mean": round(float(np.mean(rates)), 2),
        "pictures": len(delays),
        **{f"frame_delay_ms_p{p}": round(float(np.percentile(delays, p)), 1) for p in (50, 95, 99)},
        **{f"key_delay_ms_p{p}": round(float(np.percentile(keys, p)), 1) for p in (50, 95, 99)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "memorylab", "play", "--port", "0", "--scores", f"{folder}/scores.db"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                place = server.stdout.readline().split("http://")[1].split("/")[0]
                row = measured(asyncio.run(play_all(place, given.players, given.seconds)), given.seconds)
                ticks = sum(map(int, Path(f"/proc/{server.pid}/stat").read_text().split()[13:15]))
                row["server_cpu_seconds"] = ticks / os.sysconf("SC_CLK_TCK")
            finally:
                server.terminate()
    text = json.dumps(row, indent=2) + "\n"
    print(text, end="")
    if given.out:
        with replacing(given.out) as temporary:
            temporary.write_text(text)


if __name__ == "__main__":
    main()
