"""The loop that every task shares: play some frames, four unless told otherwise, and draw one picture.

Everything here runs compiled, without the GIL, for a slice of the games.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from memorylab.world.jit import bind, is_compiled, jit
from memorylab.world.rng import below, episode_key, following_seed

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


class GameRules(NamedTuple):
    """What a family of tasks says of one game."""

    enter: Any = None  # (game, scale, stimuli): begin an episode
    play_frame: Any = None  # (game, action, scale, stimuli) -> reward
    draw: Any = None  # (game, number, view, stimuli, picture)


rules = GameRules()  # those of a task, once `bind` has bound them


@jit
def start_episode(game, seed, num_scales):
    """What is new in every episode, whatever the task: its chance, its counts, which scale it has."""
    game.seed = seed
    game.key = episode_key(seed)
    game.draws = 0
    game.frame = 0
    game.length = 0
    game.score = 0.0
    game.over = PLAYING
    game.scale_number = below(game, num_scales)


def begin(games, chosen, drawn, seeds, scales, stimuli, view, pictures, start, stop):
    """Begin an episode in each chosen game, with the given seed; then draw the games that are to be drawn."""
    for i in range(start, stop):
        game = games[i]
        if chosen[i]:
            start_episode(game, seeds[i], len(scales))
            rules.enter(game, scales[game.scale_number], stimuli)
        if drawn[i]:
            rules.draw(game, i, view, stimuli, pictures[i])


def step(
    games, last_games, actions, scales, stimuli, view, pictures, last_pictures,
    rewards, terminated, truncated, autoreset, frames, start, stop,
):  # fmt: skip
    """One agent step of each game; where an episode ends its last record and picture are kept, and a new one begins."""
    for i in range(start, stop):
        game = games[i]
        reward = 0.0
        for _ in range(frames):
            if game.over == PLAYING:
                reward += rules.play_frame(game, actions[i], scales[game.scale_number], stimuli)
        game.length += 1
        game.score += reward
        rewards[i] = reward
        terminated[i] = game.over == ENDED
        truncated[i] = game.over == OUT_OF_TIME
        if autoreset and game.over != PLAYING:
            rules.draw(game, i, view, stimuli, last_pictures[i])
            last_games[i] = game
            start_episode(game, following_seed(game.seed), len(scales))
            rules.enter(game, scales[game.scale_number], stimuli)
        rules.draw(game, i, view, stimuli, pictures[i])


def compile_game(
    kind: str, name: str, task_rules: Any, family: GameRules, players: Mapping[str, Callable]
) -> dict[str, Any]:
    """The compiled parts of a task: its rules put into its family's, and those into the loop."""
    check_rules(kind, name, task_rules)
    game_rules = GameRules(*(bind(rule, task_rules, name) for rule in family))
    return {
        "begin": bind(begin, game_rules, name),
        "step": bind(step, game_rules, name),
        "players": {player: bind(act, task_rules, name) for player, act in players.items()},
    }


def check_rules(kind: str, name: str, given: Any) -> None:
    """Names the first rule that is missing or not compiled."""
    for rule, value in given._asdict().items():
        if value is None:
            raise ValueError(f"the task {name} has no rule {rule!r}; {kind} needs {', '.join(given._fields)}")
        if callable(value) and not is_compiled(value):
            raise ValueError(f"the rule {rule!r} of the task {name} is not compiled: write @jit above it")
