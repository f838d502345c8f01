"""The record of what a game is."""

import pytest

import memorylab
from memorylab.envs.spec import GameSpec, parse_scale
from memorylab.envs.vector import vector_env


def test_scale_keywords_are_read_from_words_and_written_as_such():
    assert parse_scale("vgb", ["side=15", "seconds=2.5"]) == {"side": 15, "seconds": 2.5}
    assert parse_scale("cd", ["delays=2,8", "trials=3"]) == {"delays": (2, 8), "trials": 3}
    assert parse_scale("cd", ["delays=4"]) == {"delays": (4,)}
    assert (
        GameSpec("cd", scale={"delays": (2, 8), "trials": 3}, stimuli="mine").own == "delays=2,8 trials=3 stimuli=mine"
    )
    assert GameSpec("cd").own == ""


@pytest.mark.parametrize("text", ["side=wide", "side", "side="])
def test_what_is_no_number_is_told(text):
    with pytest.raises(ValueError, match="--scale must look like side=8 or side=2,8"):
        parse_scale("vgb", [text])


def test_an_unknown_keyword_is_told():
    with pytest.raises(TypeError, match="visible_goal_with_buildings has no keyword 'sides'"):
        parse_scale("vgb", ["sides=3"])


def test_a_game_is_what_its_record_says():
    spec = GameSpec("vgb", "extrapolate", (20, 24), scale={"side": 8, "seconds": 2})
    env = vector_env(spec, 2, seed=0, seconds=1)
    pictures, info = env.reset()
    assert pictures.shape == (2, 20, 24, 3)
    assert (info["scale"] == 8).all()
    assert env.batch.spec == spec.changed(seconds=1)
    made = memorylab.make("vgb", "extrapolate", size=(20, 24), side=8, seconds=1)
    assert made.batch.spec == env.batch.spec
