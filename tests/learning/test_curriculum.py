"""Curriculum and presets."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from memorylab.agent import MODELS
from memorylab.envs.scripted import play_episodes
from memorylab.envs.spec import GameSpec
from memorylab.envs.vector import vector_env
from memorylab.learning.config import CurriculumConfig, LearnerConfig, TrainConfig
from memorylab.learning.curriculum import Curriculum
from memorylab.learning.presets import PRESETS, preset_config
from memorylab.learning.trajectory import Episode
from memorylab.tasks.task import TASKS, find_task

CONFIG = CurriculumConfig(("trials=1", "trials=3"), share=0.8, episodes=10)


def scored(*scores: float) -> list[Episode]:
    return [Episode(0, score, 5, 1.0, 7) for score in scores]


def test_the_goal_is_a_share_of_the_remembering_player():
    for stage, trials in enumerate((1, 3)):
        best = play_episodes("avm", "train", "remembering", 32, seed=0, trials=trials)[0].mean()
        assert best == trials
        assert Curriculum(GameSpec("avm"), CONFIG, stage).goal == pytest.approx(0.8 * trials)
    assert Curriculum(GameSpec("avm"), CONFIG, 2).goal == float("inf")


def test_a_stage_is_passed_when_its_last_episodes_reach_the_goal():
    curriculum = Curriculum(GameSpec("avm"), CONFIG)
    assert not curriculum.tell(scored(*[1] * 9), 9), "too few episodes"
    assert not curriculum.tell(scored(0, 0, 0), 3), "7 of the last 10"
    assert not curriculum.tell(scored(*[1] * 7), 7), "zeros are still among the last 10"
    assert curriculum.keywords() == {"trials": 1}
    assert curriculum.text() == "trials 1"
    assert curriculum.tell(scored(1), 1), "8 of the last 10"
    assert curriculum.keywords() == {"trials": 3}
    assert not curriculum.scores, "a stage is judged by its own episodes"


def test_it_moves_on_to_the_true_level_and_never_back():
    curriculum = Curriculum(GameSpec("avm"), CONFIG)
    draw, stages = np.random.default_rng(0), []
    for number in range(60):
        high = number % 3 == 0
        curriculum.tell(scored(*(draw.random(10) + (3 if high else -1))), 10)
        stages.append(curriculum.stage)
    assert all(after - before in (0, 1) for before, after in pairwise(stages))
    assert stages[0] == 1
    assert stages[2:4] == [1, 2]
    assert stages[-1] == 2
    assert curriculum.is_over
    assert curriculum.keywords() == {}
    assert curriculum.text() == "true level"


def test_it_goes_on_from_a_checkpoint():
    before = Curriculum(GameSpec("avm"), CONFIG)
    before.tell(scored(*[1] * 10), 10)
    before.tell(scored(3, 3, 3), 3)
    after = Curriculum(GameSpec("avm"), CONFIG, **before.state_dict())
    for each in (before, after):
        assert not each.tell(scored(*[3] * 6), 6)
        assert each.tell(scored(3), 1)


def test_a_stage_that_is_never_passed_ends_when_patience_does():
    config = replace(CONFIG, patience=30)
    curriculum = Curriculum(GameSpec("avm"), config)
    assert not curriculum.tell([], 29)
    curriculum = Curriculum(GameSpec("avm"), config, **curriculum.state_dict())
    assert curriculum.tell([], 1)
    assert curriculum.keywords() == {"trials": 3}
    assert not curriculum.tell([], 29), "each stage has its own patience"
    assert curriculum.tell([], 1)
    assert curriculum.is_over
    assert not curriculum.tell([], 1000), "the true level never ends"


@pytest.mark.parametrize("task", TASKS)
def test_every_stage_can_be_played_and_passed(task):
    config = preset_config(task)
    curriculum = Curriculum(config.game("train"), replace(config.curriculum, episodes=32))
    assert not curriculum.is_over
    while not curriculum.is_over:
        spec = config.game("train").changed(**curriculum.keywords())
        random, remembering = (
            play_episodes(spec.task, spec.level, player, 32, seed=1, **spec.scale)[0].mean()
            for player in ("random", "remembering")
        )
        assert random < curriculum.goal <= remembering, curriculum.text()
        assert curriculum.tell(scored(*[remembering] * 32), 32)


def test_several_keywords_make_a_stage():
    stages = "room=8 corridor=3 delay=0", "room=10", "room=10 delay=5"
    curriculum = Curriculum(GameSpec("sdp"), CurriculumConfig(stages, episodes=1))
    assert curriculum.keywords() == {"room": 8, "corridor": 3, "delay": 0}
    assert curriculum.text() == "room 8 corridor 3 delay 0"
    curriculum = Curriculum(GameSpec("sdp", scale={"delay": 7}), CurriculumConfig(stages, episodes=1))
    assert curriculum.stages == ({"room": 8, "corridor": 3}, {"room": 10}), "what a user sets is in no stage"


# --- presets

PAPER_ROWS = {
    # hidden, baseline, entropy, batch, unroll, discount, optimiser, learning rate, CPC steps, CPC weight, capacity
    "avm": (512, 0.5, 0.0052, 16, 50, 0.98, "adam", 1e-5, 10, 10, 1024),
    "wtw": (1024, 2.0, 0.01, 32, 100, 0.98, "adam", 1e-5, 10, 30, 1024),
    "sdp": (1024, 0.5, 0.003, 16, 200, 0.999, "rmsprop", 1e-4, 50, 20, 2048),
    "vgm": (512, 0.5, 0.0052, 16, 50, 0.98, "adam", 1e-5, 10, 5, 1024),
    "ti": (1024, 0.5, 0.003, 16, 200, 0.98, "adam", 1e-4, 50, 20, 2048),
}


@pytest.mark.parametrize("task", PAPER_ROWS)
def test_paper_preset_is_the_paper(task):
    config = preset_config(task, "mra", "paper")
    a, c = config.agent, config.learner
    found = (
        a.hidden_size, c.baseline_cost, c.entropy_cost, config.num_envs, config.unroll, c.discount, c.optimiser,
        c.learning_rate, a.cpc_steps, c.cpc_weight, a.capacity,
    )  # fmt: skip
    assert found == PAPER_ROWS[task]
    fixed = c.adam_epsilon, c.rmsprop_epsilon, c.rmsprop_decay, a.neighbours, a.key_size, a.height, a.width, a.encoder
    assert fixed == (1e-4, 0.1, 0.99, 10, 128, 72, 96, "residual")
    assert config.curriculum == CurriculumConfig()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("task", TASKS)
def test_every_preset_of_every_model_is_valid(task, preset):
    for model in MODELS:
        config = preset_config(task, model, preset)
        assert (config.task, config.model, config.preset) == (find_task(task).name, model, preset)
        assert config.agent.actions == len(find_task(task).actions)
        assert config.agent.memory == MODELS[model]["memory"]


def test_a_stage_keeps_what_else_of_the_scale_a_user_changed():
    config = replace(preset_config("avm"), scale=("seconds=30",))
    assert config.game("holdout_small").scale == {"seconds": 30}
    curriculum = Curriculum(config.game("train"), config.curriculum)
    assert curriculum.goal == pytest.approx(0.8 * 1)
    env = vector_env(config.game("train"), 2, seed=0, **curriculum.keywords())
    assert env.batch.spec.scale == {"trials": 1, "seconds": 30}


def test_who_sets_the_keyword_of_the_curriculum_has_none():
    config = replace(preset_config("avm"), scale=("trials=7",))
    curriculum = Curriculum(config.game("train"), config.curriculum)
    assert curriculum.is_over
    assert curriculum.keywords() == {}


def staged(task: str, *stages: str) -> TrainConfig:
    return TrainConfig(find_task(task).name, curriculum=CurriculumConfig(stages))


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: preset_config("nosuch"), "unknown task"),
        (lambda: preset_config("avm", "nosuch"), "unknown model"),
        (lambda: preset_config("avm", preset="nosuch"), "unknown preset"),
        (lambda: preset_config("avm", num_envs=0), "num_envs must be at least 1, not 0"),
        (lambda: preset_config("avm", unroll=5), "cpc_steps must be at most the unroll, 5, not 10"),
        (lambda: LearnerConfig(discount=1.0), "discount must be at least 0 and below 1, not 1.0"),
        (lambda: LearnerConfig(learning_rate=0.0), "learning_rate must be above 0"),
        (lambda: LearnerConfig(entropy_cost=float("nan")), "entropy_cost must be at least 0, not nan"),
        (lambda: CurriculumConfig(("trials=1",), share=1.5), "share must be above 0 and at most 1, not 1.5"),
        (lambda: CurriculumConfig(patience=-1), "patience must be at least 0, not -1"),
        (lambda: staged("avm", "trials=1", "few"), "arbitrary_visuomotor_mapping has no keyword 'few'"),
        (lambda: staged("avm", "trials=few"), "--stages must look like trials=8 or trials=2,8, not 'trials=few'"),
        (lambda: staged("avm", ""), "has no keyword ''"),
        (lambda: staged("avm", "trials=0"), "trials must be"),
        (lambda: staged("sdp", "room=8", "room=9"), "room must be an even number of metres from 8 to 20, not 9"),
        (lambda: staged("sdm", "corridor=2"), "corridor must be a whole number of metres from 3 to 12, not 2"),
        (lambda: staged("sdmo", "room=8"), "a room of 8 m holds at most 3 objects, not 6"),
        (lambda: staged("iga", "reach=3"), "reach must be a number of metres from 0.2 to a quarter of the side, not 3"),
        (lambda: TrainConfig("avm", seed=-1), "seed must be at least 0, not -1"),
        (lambda: TrainConfig("avm", scale=("trials=few",)), "--scale must look like trials=8"),
    ],
)
def test_bad_settings_are_told(made, text):
    with pytest.raises((ValueError, TypeError), match=text):
        made()


@pytest.mark.parametrize("model", MODELS)
def test_each_model_of_the_paper_is_named_by_its_parts(model):
    assert preset_config("avm", model).model == model
    assert preset_config("avm", model.upper()).model == model


@pytest.mark.parametrize(
    ("model", "parts", "name"),
    [
        ("lstm", {"memory": "episodic"}, "lstm+mem"),
        ("mra", {"memory": "none"}, "lstm+cpc"),
        ("mra", {"jumpy": False}, "mra-njb"),
        ("lstm", {"jumpy": False}, "lstm"),
        ("lstm+mem+cpc", {}, "mra"),
        ("mra", {"controller": "gru"}, "gru+mem+cpc"),
        ("ff", {"auxiliary": ("rec", "cpc")}, "ff+cpc+rec"),
    ],
)
def test_a_changed_model_is_recorded_as_what_it_is(model, parts, name):
    config = preset_config("avm", model)
    assert replace(config, agent=replace(config.agent, **parts)).model == name


def test_levels_and_seeds_are_checked_with_the_other_settings():
    with pytest.raises(ValueError, match=r"unknown level 'trian' \(did you mean train\?\)"):
        preset_config("avm", evaluation_levels=("train", "trian"))
    with pytest.raises(ValueError, match=r"seed must be below 2\*\*52"):
        preset_config("avm", seed=2**52)
