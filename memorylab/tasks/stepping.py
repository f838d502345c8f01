"""The loop that every task shares: play four frames, draw one picture.

The functions marked as rules below stand in each task's own file or, for a family of tasks, in its
machinery; `compile_for` binds them. Everything here runs compiled, without the GIL, for a slice of the games.
"""

from typing import TYPE_CHECKING

from memorylab.world.chance import below, episode_key, following_seed

if TYPE_CHECKING:  # the rules that a task supplies

    def enter(game, scale, stimuli): ...
    def play_frame(game, action, scale, stimuli): ...
    def draw(game, number, view, stimuli, picture): ...
    def start_episode(game, seed, scales, stimuli): ...


FRAMES_PER_STEP = 4
FRAMES_PER_SECOND = 60
PLAYING, ENDED, OUT_OF_TIME = range(3)

EPISODE = [
    ("seed", "u8"),
    ("key", "u8"),
    ("draws", "u8"),
    ("scale", "f4"),  # what was drawn, as reported in `info`
    ("scale_number", "i4"),
    ("frame", "i4"),
    ("length", "i4"),
    ("score", "f4"),
    ("over", "i4"),
]
EPISODE_REPORT = {"score": "score", "return": "score", "length": "length", "scale": "scale", "seed": "seed"}


def start_episode_template(game, seed, scales, stimuli):
    game.seed = seed
    game.key = episode_key(seed)
    game.draws = 0
    game.frame = 0
    game.length = 0
    game.score = 0.0
    game.over = PLAYING
    game.scale_number = below(game, len(scales))
    enter(game, scales[game.scale_number], stimuli)


def begin_template(games, chosen, seeds, scales, stimuli, view, pictures, start, stop):
    """Begin an episode in each chosen game, with the given seed."""
    for i in range(start, stop):
        if chosen[i]:
            start_episode(games[i], seeds[i], scales, stimuli)
            draw(games[i], i, view, stimuli, pictures[i])


def step_template(
    games, last_games, actions, scales, stimuli, view, pictures, last_pictures,
    rewards, terminated, truncated, autoreset, start, stop,
):  # fmt: skip
    """One agent step of each game; where an episode ends its last record and picture are kept, and a new one begins."""
    for i in range(start, stop):
        game = games[i]
        reward = 0.0
        for _ in range(FRAMES_PER_STEP):
            if game.over == PLAYING:
                reward += play_frame(game, actions[i], scales[game.scale_number], stimuli)
        game.length += 1
        game.score += reward
        rewards[i] = reward
        terminated[i] = game.over == ENDED
        truncated[i] = game.over == OUT_OF_TIME
        if autoreset and game.over != PLAYING:
            draw(game, i, view, stimuli, last_pictures[i])
            last_games[i] = game
            start_episode(game, following_seed(game.seed), scales, stimuli)
        draw(game, i, view, stimuli, pictures[i])
