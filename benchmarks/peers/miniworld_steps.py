"""Steps per second of MiniWorld-TMaze-v0, 96 x 72 RGB, random actions."""

import random
import sys
import time

import gymnasium
import miniworld  # noqa: F401 (registers the environments)


def main(seconds: float) -> None:
    env = gymnasium.make("MiniWorld-TMaze-v0", obs_width=96, obs_height=72, disable_env_checker=True)
    actions = int(env.action_space.n)
    observation, _ = env.reset()
    assert observation.shape == (72, 96, 3), observation.shape
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(20):
            _, _, terminated, truncated, _ = env.step(random.randrange(actions))
            if terminated or truncated:
                env.reset()
        steps += 20
    print(steps / (time.perf_counter() - start))
    env.close()


main(float(sys.argv[1]))
