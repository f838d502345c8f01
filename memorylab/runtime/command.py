"""`memorylab train`."""

import argparse
import importlib.util
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import torch
import tyro

from memorylab.envs.batch import EnvBatch
from memorylab.learning.config import TrainConfig
from memorylab.learning.presets import preset_config
from memorylab.options import parsed
from memorylab.runs import RunFolder
from memorylab.runs.config import NO_TEACHER, model_name
from memorylab.runs.files import check_writable
from memorylab.runs.lock import one_writer
from memorylab.runtime.display import Display, say
from memorylab.runtime.in_process import training_here
from memorylab.runtime.on_ray.options import ClusterOptions
from memorylab.runtime.trackers import TrackerName, Trackers, check_trackers
from memorylab.runtime.training import CHECKPOINT_SECONDS, Training
from memorylab.tasks.task import find_task


@dataclass(frozen=True)
class TrainOptions:
    """Train an agent on a task: memorylab train TASK --model MODEL --preset PRESET ...

    The models are ff, ff+mem, ff+mem+cpc, ff+mem+rec, lstm, lstm+cpc, lstm+mem, lstm+mem+rec, mra and mra-njb. All
    other settings come from the preset (laptop or paper) and can be changed one by one. Ctrl-C, kill and a closed
    terminal save first; the same command goes on.
    """

    config: tyro.conf.OmitArgPrefixes[TrainConfig]
    out: Path | None = None
    """Folder of the run; runs/TASK-MODEL-PRESET-seedN (PRESET-taught with a teacher) if not given."""
    minutes: float | None = None
    """End when the run has trained so long in all, earlier calls included. A learning rate that falls reaches zero
    then, or after --steps if that comes first."""
    checkpoint_minutes: float = CHECKPOINT_SECONDS / 60
    """Minutes between checkpoints: what a crash may cost. 0 for one after every update."""
    device: str = "cpu"
    """Where the agent computes: cpu, cuda, cuda:1 ..."""
    track: tuple[TrackerName, ...] = ()
    """Also log to these: tensorboard, wandb, mlflow, trackio. On this machine alone, unless the library's own
    environment variables say otherwise."""
    threads: int | None = None
    """Threads to use; one per core if not given. On Ray: of each learner, one if not given."""
    runtime: Literal["in-process", "ray"] = "in-process"
    """In this process alone, or on a Ray cluster; a run may move from one to the other."""
    cluster: tyro.conf.OmitArgPrefixes[ClusterOptions] = field(default_factory=ClusterOptions)
    """How the run is spread over a Ray cluster, with --runtime ray."""


def train_options(arguments: Sequence[str]) -> TrainOptions:
    """Two passes: task, model and preset decide the defaults of everything else."""
    rest = list(arguments)
    if rest and not rest[0].startswith("-"):
        rest[0] = f"--task={rest[0]}"
    if sum(word.partition("=")[0] == "--task" for word in rest) > 1:
        raise ValueError("name the task once: a run is of one task")
    chosen, others = peeked(rest)
    if not chosen.task and not {"-h", "--help"} & {*rest}:
        raise ValueError("name the task first, such as: memorylab train avm --minutes 60")
    default = TrainOptions(preset_config(chosen.task or "avm", chosen.model, chosen.preset))
    return parsed(TrainOptions, others, "memorylab train TASK", default=default)


def peeked(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """Task, model and preset, and all that is left."""
    peek = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    peek.add_argument("--task")
    peek.add_argument("--model", default="mra")
    peek.add_argument("--preset", default="laptop")
    try:
        return peek.parse_known_args(arguments)
    except argparse.ArgumentError as problem:
        raise ValueError(f"{problem.argument_name} needs a value; memorylab train --help tells all") from None


def check_device(name: str) -> None:
    """Or one sentence."""
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as problem:
        raise ValueError(f"the device {name!r} cannot be used: {str(problem).splitlines()[0]}") from problem


def check_games(config: TrainConfig) -> None:
    """Or one sentence, before anything is written: levels, stages, scale and stimuli can be played."""
    train = config.game("train")
    for stage in config.curriculum.scales(config.task, train.scale):
        EnvBatch(train.changed(**stage), num_envs=1, threads=1)
    for level in dict.fromkeys(("train", *config.evaluation_levels)):
        EnvBatch(config.game(level), num_envs=1, threads=1)


def check_runtime(options: TrainOptions) -> None:
    """Or one sentence."""
    if options.runtime == "in-process" and options.cluster != ClusterOptions():
        raise ValueError("the settings of a cluster (--actors, --address ...) need --runtime ray")
    if options.runtime == "ray":
        options.cluster.trajectories_per_update(options.config)
        if options.device != "cpu":
            raise ValueError("on Ray the learners' GPUs are given by --learner-gpus, not by --device")
        if importlib.util.find_spec("ray") is None:
            raise ValueError("--runtime ray needs Ray: pip install 'memorylab-rl[cluster]'")


def new_training(options: TrainOptions, out: Path, display: Display) -> Training:
    """A run with the runtime that was asked for."""
    if options.runtime == "in-process":
        return training_here(options.config, out, options.device, options.threads, display.tell)
    from memorylab.runtime.on_ray.training import training_on_ray  # not everyone has Ray

    return training_on_ray(options.config, out, options.cluster, options.threads, display.tell)


def default_name(config: TrainConfig) -> str:
    """Of a run's folder."""
    taught = "" if config.teacher == NO_TEACHER else "-taught"
    return f"{find_task(config.task).short}-{config.model}-{config.preset}{taught}-seed{config.seed}"


def parting_words(training: Training, out: Path) -> str:
    """Of a run that was asked to end: how much of it is on disk."""
    if training.saved_step == training.step:
        return f"saved in {out}; the same command goes on"
    kept = "nothing" if training.saved_step is None else f"step {training.saved_step:,}"
    return f"step {training.step:,} could not be saved; {out} holds {kept}, from where the same command goes on"


def check_options(options: TrainOptions) -> None:
    """Or one sentence."""
    if options.minutes is not None and not options.minutes > 0:
        raise ValueError(f"--minutes must be more than 0, not {options.minutes:g}")
    if not options.checkpoint_minutes >= 0:
        raise ValueError(f"--checkpoint-minutes must be 0 or more, not {options.checkpoint_minutes:g}")
    if options.threads is not None and options.threads < 1:
        raise ValueError(f"--threads must be 1 or more, not {options.threads}")
    if options.config.evaluate_every and not options.config.evaluation_levels:
        raise ValueError("--evaluation-levels needs one level or more; --evaluate-every 0 plays no evaluations")
    check_trackers(options.track)
    check_device(options.device)
    check_runtime(options)


def train(arguments: Sequence[str]) -> None:
    """What `memorylab train` does with what follows."""
    options = train_options(arguments)
    config = options.config
    check_options(options)
    out = options.out or Path("runs") / default_name(config)
    check_writable(out)
    RunFolder(out).check(asdict(config), asdict(TrainConfig(config.task)))
    check_games(config)
    title = f"{model_name(asdict(config))} on {config.task}, preset {config.preset}, in {out}"
    with one_writer(out):
        pass  # whoever comes second is told so at once; the run itself then takes the lock
    with Display(title, config.steps, options.minutes) as display:
        display.say("making the games and the agent; what is new is compiled, which can take a minute")
        training = new_training(options, out, display)
        training.checkpoint_seconds = 60 * options.checkpoint_minutes
        if training.step:
            say(f"going on with {out} at step {training.step:,}")
        trackers = Trackers(options.track, training, display.tell)
        try:
            training.run(options.minutes)
        except KeyboardInterrupt:
            say(parting_words(training, out))
            raise
        finally:
            training.close()
            trackers.close()
    say(training.stopwatch.tree())
    for level, score in training.levels.items():
        print(f"{level}: {score:.2f}")
    print(out)
