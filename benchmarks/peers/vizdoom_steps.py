"""Steps per second of ViZDoom's my_way_home, 160 x 120 RGB, random actions, one tic a step."""

import random
import sys
import time
from pathlib import Path

import vizdoom


def main(seconds: float) -> None:
    game = vizdoom.DoomGame()
    game.load_config(str(Path(vizdoom.scenarios_path) / "my_way_home.cfg"))
    game.set_screen_resolution(vizdoom.ScreenResolution.RES_160X120)
    game.set_screen_format(vizdoom.ScreenFormat.RGB24)
    game.set_window_visible(False)
    game.init()
    buttons = game.get_available_buttons_size()
    actions = [[int(i == chosen) for i in range(buttons)] for chosen in range(buttons)]
    game.new_episode()
    steps, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        for _ in range(100):
            if game.is_episode_finished():
                game.new_episode()
            _ = game.get_state().screen_buffer
            game.make_action(random.choice(actions))
        steps += 100
    print(steps / (time.perf_counter() - start))
    game.close()


main(float(sys.argv[1]))
