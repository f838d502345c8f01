"""Settings per task: the paper's tables, and what learns on a laptop."""

from dataclasses import replace
from typing import Any

from memorylab.agent.config import AgentConfig, model_config
from memorylab.envs.spec import scale_texts
from memorylab.learning.config import CurriculumConfig, LearnerConfig, TrainConfig
from memorylab.mistakes import unknown
from memorylab.tasks.task import find_task

# Table 4 of the paper: hidden size, baseline cost, entropy cost, batch, unroll, discount, optimiser, learning rate,
# CPC steps, CPC weight.
PAPER: dict[str, tuple] = {
    "arbitrary_visuomotor_mapping": (512, 0.5, 0.0052, 16, 50, 0.98, "adam", 1e-5, 10, 10),
    "continuous_recognition": (1024, 0.5, 0.01, 16, 50, 0.98, "adam", 1e-5, 10, 10),
    "change_detection": (512, 0.5, 0.01, 16, 50, 0.98, "adam", 1e-5, 10, 10),
    "what_then_where": (1024, 2.0, 0.01, 32, 100, 0.98, "adam", 1e-5, 10, 30),
    "spot_diff_basic": (1024, 0.5, 0.003, 16, 200, 0.99, "rmsprop", 1e-4, 50, 20),
    "spot_diff_passive": (1024, 0.5, 0.003, 16, 200, 0.999, "rmsprop", 1e-4, 50, 20),
    "spot_diff_multi_object": (1024, 0.5, 0.003, 16, 200, 0.99, "rmsprop", 1e-4, 50, 20),
    "spot_diff_motion": (1024, 0.5, 0.003, 16, 200, 0.99, "rmsprop", 1e-4, 50, 20),
    "visible_goal_procedural_maze": (512, 0.5, 0.0052, 16, 50, 0.98, "adam", 1e-5, 10, 5),
    "visible_goal_with_buildings": (1024, 0.5, 0.003, 16, 200, 0.99, "rmsprop", 1e-4, 50, 20),
    "invisible_goal_with_buildings": (1024, 0.5, 0.003, 16, 200, 0.99, "rmsprop", 1e-4, 50, 20),
    "invisible_goal_empty_arena": (1024, 0.5, 0.003, 16, 200, 0.99, "rmsprop", 1e-4, 50, 20),
    "transitive_inference": (1024, 0.5, 0.003, 16, 200, 0.98, "adam", 1e-4, 50, 20),
}

# For tasks that it has not: what most of its tasks on the same engine have.
PAPER_BY_ENGINE: dict[str, tuple] = {
    "dmlab": (512, 0.5, 0.01, 16, 50, 0.98, "adam", 1e-5, 10, 10),
    "unity": (1024, 0.5, 0.003, 16, 200, 0.99, "rmsprop", 1e-4, 50, 20),
}

# Appendix A.4: weights of the picture's reconstruction where they are not 1.
PAPER_REC_IMAGE_COST = {"arbitrary_visuomotor_mapping": 30.0, "continuous_recognition": 1.5, "change_detection": 3.0}


def paper(task: str) -> TrainConfig:
    """The paper's tables of hyper-parameters."""
    found = find_task(task)
    row = PAPER.get(task, PAPER_BY_ENGINE[found.engine])
    hidden, baseline, entropy, num_envs, unroll, discount, optimiser, rate, cpc_steps, cpc_weight = row
    return TrainConfig(
        task=task,
        preset="paper",
        num_envs=num_envs,
        unroll=unroll,
        agent=AgentConfig(
            hidden_size=hidden,
            cpc_steps=cpc_steps,
            capacity=1024 if found.engine == "dmlab" else 2048,
            actions=len(found.actions),
        ),
        learner=LearnerConfig(
            optimiser=optimiser,
            learning_rate=rate,
            schedule="linear",
            reward_clipping="abs_one",
            discount=discount,
            entropy_cost=entropy,
            baseline_cost=baseline,
            cpc_weight=cpc_weight,
            cpc_reduction="mean",
            rec_image_cost=PAPER_REC_IMAGE_COST.get(task, 1.0),
        ),
    )


def laptop(task: str) -> TrainConfig:
    """Small pictures and network, more games, a larger learning rate; tasks that can begin easy do."""
    found = find_task(task)
    is_psychlab = found.family == "psychlab"
    config = TrainConfig(
        task=task,
        preset="laptop",
        num_envs=32,
        unroll=25 if is_psychlab else 50,
        agent=AgentConfig(
            encoder="small",
            height=36,
            width=48,
            embedding_size=128,
            hidden_size=128,
            key_size=64,
            capacity=512 if is_psychlab else 1024,
            actions=len(found.actions),
        ),
        learner=LearnerConfig(
            learning_rate=1e-3,
            schedule="linear",
            adam_epsilon=1e-8,
            gradient_norm=1.0,
            discount=0.96 if is_psychlab else 0.99,
            entropy_cost=0.01,
            cpc_weight=0.01,
            cpc_every=4,
            reduction="mean",
        ),
        curriculum=CurriculumConfig(
            tuple(" ".join(scale_texts(stage)) for stage in found.curriculum), found.curriculum_share
        ),
    )
    return OWN_SETTINGS[task](config) if task in OWN_SETTINGS else config


def with_sharp_read(config: TrainConfig) -> TrainConfig:
    """Small marks get contrast, and of what a read finds, the same picture outweighs all others, and stays so."""
    agent, learner = config.agent, config.learner
    return replace(
        config, agent=replace(agent, encoder="normalised", epsilon=1e-5), learner=replace(learner, read_share=0.01)
    )


def for_pictures_that_return(config: TrainConfig) -> TrainConfig:
    """Arbitrary Visuomotor Mapping: few steps saw a picture first; further neighbours are other pictures."""
    config = with_sharp_read(config)
    return replace(config, agent=replace(config.agent, neighbours=4))


def for_faint_arrays(config: TrainConfig) -> TrainConfig:
    """Change Detection: pale shapes, a memory in which the same picture stays near, short delays first."""
    config = with_sharp_read(config)
    return replace(
        config,
        num_envs=16,
        unroll=50,
        agent=replace(config.agent, embedding_size=256, hidden_size=256),
        learner=replace(config.learner, learning_rate=5e-4),
        curriculum=replace(config.curriculum, episodes=40),
    )


def for_small_digits(config: TrainConfig) -> TrainConfig:
    """What Then Where: digits of seven pixels; a trial, from the digit to the button, fits into a trajectory; a reward
    comes every 25 steps."""
    config = with_sharp_read(config)
    learner = replace(config.learner, entropy_cost=0.005, teacher_steps=600_000)
    return replace(config, unroll=50, agent=replace(config.agent, neighbours=4), learner=learner)


def for_rare_rewards(config: TrainConfig) -> TrainConfig:
    """Visible Goal with Buildings: a reward in a hundred steps must outweigh entropy and CPC; to walk takes longer to
    learn than to look."""
    config = with_sharp_read(config)
    learner = replace(config.learner, learning_rate=6e-4, discount=0.98, teacher_steps=1_000_000)
    return replace(config, learner=replace(learner, entropy_cost=0.0001, cpc_weight=0.001))


def for_unseen_goals(config: TrainConfig) -> TrainConfig:
    """Invisible goals: rewards as rare, and farther away. A little of the teacher stays, who tells the place one stands
    at: so walls or a map are learned (memories survey and homing), whose parts are the read's and learn at the full
    rate, in many updates."""
    config = for_rare_rewards(config)
    learner = replace(config.learner, learning_rate=1e-3, discount=0.99, entropy_cost=0.0005, cpc_weight=0.002)
    learner = replace(learner, read_share=1.0, teacher_steps=1_000_000, teacher_floor=0.001)
    return replace(config, unroll=25, learner=learner)


def for_mazes(config: TrainConfig) -> TrainConfig:
    """Visible Goal Procedural Maze: rewards of 10 as 1, and values of longer ways. Of the teacher a little stays, who
    tells the place one stands at, for a memory that learns to know places again (memory trail), whose parts are the
    read's and learn at the full rate."""
    config = for_rare_rewards(config)
    learner = replace(config.learner, discount=0.99, entropy_cost=0.0003, reward_clipping="abs_one")
    learner = replace(learner, read_share=1.0, teacher_floor=0.001)
    curriculum = replace(config.curriculum, share=0.5, patience=3_000_000)
    return replace(config, unroll=25, learner=learner, curriculum=curriculum)


def for_long_ways(config: TrainConfig) -> TrainConfig:
    """The rooms: one choice that needs memory after hundreds of steps. A stage is passed by whoever finds the way, for
    the way through larger rooms must be learned while the teacher is there; the choice comes after it. A little of the
    teacher stays: what a guess pays does not hold the way."""
    config = for_rare_rewards(config)
    learner = replace(config.learner, learning_rate=1e-3, discount=0.995)
    learner = replace(learner, teacher_steps=1_500_000, teacher_floor=0.02)
    agent, curriculum = replace(config.agent, neighbours=4), replace(config.curriculum, share=0.4)
    return replace(config, agent=agent, learner=learner, curriculum=curriculum)


def for_places(config: TrainConfig) -> TrainConfig:
    """Multi-Object: the rooms' settings, and a map (memory chart), whose parts are the read's and learn at the full
    rate."""
    config = for_long_ways(config)
    return replace(config, learner=replace(config.learner, read_share=1.0))


def for_many_choices(config: TrainConfig) -> TrainConfig:
    """Transitive Inference: the rooms' settings, but a reward comes every thirty steps and outweighs more entropy; with
    a third of it one seed of two never left a guess."""
    config = for_long_ways(config)
    return replace(config, learner=replace(config.learner, entropy_cost=0.01))


OWN_SETTINGS = {
    "arbitrary_visuomotor_mapping": for_pictures_that_return,
    "continuous_recognition": for_pictures_that_return,
    "change_detection": for_faint_arrays,
    "what_then_where": for_small_digits,
    "visible_goal_procedural_maze": for_mazes,
    "visible_goal_with_buildings": for_rare_rewards,
    "invisible_goal_with_buildings": for_unseen_goals,
    "invisible_goal_empty_arena": for_unseen_goals,
    "spot_diff_basic": for_long_ways,
    "spot_diff_passive": for_long_ways,
    "spot_diff_multi_object": for_places,
    "spot_diff_motion": for_long_ways,
    "transitive_inference": for_many_choices,
}
PRESETS = {"paper": paper, "laptop": laptop}


def preset_config(task: str, model: str = "mra", preset: str = "laptop", **changes: Any) -> TrainConfig:
    """The settings of a preset for one of the ten models."""
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    config = PRESETS[preset](find_task(task).name)
    return replace(config, model=model, agent=model_config(model, config.agent), **changes)
