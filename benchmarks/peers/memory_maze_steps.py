"""Steps per second of Memory Maze 9x9, 64 x 64 RGB, random actions; draws with EGL unless MUJOCO_GL says otherwise."""

import random
import sys
import time

from memory_maze import tasks


def main(seconds: float) -> None:
    env = tasks.memory_maze_9x9(image_only_obs=True)
    actions = env.action_spec().num_values
    observation = env.reset().observation
    assert observation.shape == (64, 64, 3), observation.shape
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(10):
            if env.step(random.randrange(actions)).last():
                env.reset()
        steps += 10
    print(steps / (time.perf_counter() - start))
    env.close()


main(float(sys.argv[1]))
