"""How an agent is trained, as one configuration that is also the command line's help and a run's config.json."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from memorylab.agent.config import AgentConfig
from memorylab.envs.spec import GameSpec, parse_scale
from memorylab.mistakes import unknown
from memorylab.runs.config import NO_TEACHER, SKILLS, model_of
from memorylab.tasks.task import check_level, find_task

MAX_SEED = 2**52  # a thousand seeds for each: one for each stage of its curriculum


@dataclass(frozen=True)
class LearnerConfig:
    """Losses and optimiser."""

    optimiser: Literal["adam", "rmsprop"] = "adam"
    """Adam, or RMSProp as IMPALA has it: epsilon inside the root, mean squares that begin at 1, no momentum."""
    learning_rate: float = 1e-5
    schedule: Literal["constant", "linear"] = "constant"
    """Learning rate over the run: constant, or falling in a line to zero over --steps or --minutes, whichever ends
    first."""
    read_share: float = 1.0
    """The memory read's W_k, b_k, W_q and b_q learn at this share of the learning rate: while they hardly move, what
    looks the same stays near."""
    adam_epsilon: float = 1e-4
    rmsprop_epsilon: float = 0.1
    rmsprop_decay: float = 0.99
    gradient_norm: float = 40.0
    """Gradients are scaled down to this norm."""
    reward_clipping: Literal["none", "abs_one", "soft_asymmetric"] = "none"
    """Rewards that are learned from: as they are, clipped to [-1, 1], or 5 tanh(r / 5) and 0.3 of it below zero."""
    discount: float = 0.98
    entropy_cost: float = 0.0052
    baseline_cost: float = 0.5
    cpc_weight: float = 10.0
    cpc_every: int = 1
    """CPC predicts from every so-manyth step of a trajectory, from others in each update, so that all have their turn:
    cheaper, and the same on average."""
    rec_image_cost: float = 1.0
    rec_action_cost: float = 1.0
    rec_reward_cost: float = 1.0
    teacher_weight: float = 1.0
    """Of the cross-entropy to what the teacher would do, at the first step, if there is a --teacher."""
    teacher_steps: int = 300_000
    """Agent steps over which that weight falls."""
    teacher_floor: float = 0.0
    """What it falls to: a little holds a skill that rare rewards alone would lose again."""
    rho_bar: float = 1.0
    """V-trace: where importance ratios are clipped."""
    c_bar: float = 1.0
    """V-trace: where the ratios of earlier steps are clipped."""
    reduction: Literal["sum", "mean"] = "sum"
    """Losses over the steps of a batch: their sum (IMPALA) or their mean."""
    cpc_reduction: Literal["same", "mean"] = "same"
    """CPC over the steps of a batch: the same as the other losses, or always the mean."""
    updates: int = 1
    """Updates with each trajectory; more than one reuses it, and V-trace corrects."""

    def __post_init__(self):
        at_least(self, 1, "updates", "teacher_steps", "cpc_every")
        above(self, 0, "learning_rate", "gradient_norm", "rho_bar", "c_bar", "adam_epsilon", "rmsprop_epsilon")
        at_least(
            self, 0, "entropy_cost", "baseline_cost", "cpc_weight", "read_share", "teacher_weight", "teacher_floor"
        )
        at_least(self, 0, "rec_image_cost", "rec_action_cost", "rec_reward_cost")
        for name in ("discount", "rmsprop_decay"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, not {getattr(self, name)}")


@dataclass(frozen=True)
class CurriculumConfig:
    """A schedule over the task's scale keywords while training; evaluation always uses the true levels."""

    stages: tuple[str, ...] = ()
    """What each stage changes of the training level, such as "room=8 delay=0" "room=12"; after the last one comes the
    true level. Nothing for no curriculum."""
    share: float = 0.8
    """A stage is passed when the mean score of its last episodes reaches this share of what the remembering player
    scores there."""
    episodes: int = 200
    """How many last episodes are counted."""
    patience: int = 0
    """Agent steps after which a stage is over whatever its scores; 0 for never."""

    def __post_init__(self):
        at_least(self, 1, "episodes")
        at_least(self, 0, "patience")
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {self.share}")

    def scales(self, task: str, given: Mapping[str, Any] = {}) -> tuple[dict[str, Any], ...]:
        """The stages as scale keywords, but for those that are given already; what then changes nothing is no stage."""
        found: list[dict[str, Any]] = []
        for stage in self.stages:
            scale = parse_scale(task, stage.split() or [""], "--stages")
            scale = {name: value for name, value in scale.items() if name not in given}
            if scale and [scale] != found[-1:]:
                found.append(scale)
        return tuple(found)


@dataclass(frozen=True)
class TrainConfig:
    """Everything that makes a run what it is."""

    task: str
    model: str = "mra"
    """What the parts of the agent make; they decide."""
    preset: str = "laptop"
    seed: int = 0
    num_envs: int = 16
    """Games played at once: the batch."""
    unroll: int = 50
    """T: steps per trajectory."""
    steps: int = 1_000_000_000
    """Agent steps after which training ends."""
    evaluate_every: int = 1_000_000
    """Agent steps between evaluations on the true levels; 0 for none."""
    evaluation_episodes: int = 64
    """Episodes per level and evaluation."""
    evaluation_levels: tuple[str, ...] = ("train", "holdout_interpolate", "holdout_extrapolate")
    teacher: str = NO_TEACHER
    """A scripted player that says at each step what it would do. skills is the one that shows how to look, walk and
    choose, and leaves to reinforcement whatever needs memory: forgetting, or skilled in the maze. remembering shows
    everything."""
    agent: AgentConfig = field(default_factory=AgentConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    stimuli: str | None = None
    """A folder of your own pictures (AVM, CR) or MNIST's IDX files (WTW), for training and evaluation alike."""
    scale: tuple[str, ...] = ()
    """Scale keywords of the task, such as side=15 or delays=2,8: they change all levels, evaluation's too, and
    are left out of the curriculum."""

    @property
    def teaching_player(self) -> str:
        """The scripted player that teaches, or SKILLS where a task has advice of its own; NO_TEACHER if none does."""
        task = find_task(self.task)
        return task.teacher if self.teacher == SKILLS and task.advice is None else self.teacher

    def game(self, level: str) -> GameSpec:
        """What is played on a level."""
        size = self.agent.height, self.agent.width
        return GameSpec(self.task, level, size, self.stimuli, parse_scale(self.task, self.scale))

    def __post_init__(self):
        object.__setattr__(self, "model", model_of(asdict(self.agent)))  # --model lstm --memory episodic is lstm+mem
        scale = parse_scale(self.task, self.scale)
        for stage in self.curriculum.scales(self.task, scale):
            find_task(self.task).scales_of("train", **scale, **stage)
        for level in self.evaluation_levels:
            check_level(level)
        teachers = (NO_TEACHER, SKILLS, *find_task(self.task).players)
        if self.teacher not in teachers:
            raise unknown("teacher", self.teacher, teachers, f"teachers of {self.task}")
        at_least(self, 1, "num_envs", "unroll", "steps", "evaluation_episodes")
        at_least(self, 0, "evaluate_every", "seed")
        if self.seed >= MAX_SEED:
            raise ValueError(f"seed must be below 2**52, not {self.seed}")
        if "cpc" in self.agent.auxiliary and self.agent.cpc_steps > self.unroll:
            raise ValueError(f"cpc_steps must be at most the unroll, {self.unroll}, not {self.agent.cpc_steps}")


def at_least(config: object, least: float, *names: str) -> None:
    """Or one sentence."""
    for name in names:
        if not getattr(config, name) >= least:
            raise ValueError(f"{name} must be at least {least}, not {getattr(config, name)}")


def above(config: object, bound: float, *names: str) -> None:
    """Or one sentence."""
    for name in names:
        if not getattr(config, name) > bound:
            raise ValueError(f"{name} must be above {bound}, not {getattr(config, name)}")
