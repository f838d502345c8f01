"""A learner: from trajectories to better weights."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from memorylab.agent.auxiliary import Lesson
from memorylab.agent.network import MemoryRecallAgent, Output
from memorylab.learning.config import LearnerConfig
from memorylab.learning.losses import ActorCritic, actor_critic, clipped, teaching
from memorylab.learning.rmsprop import ImpalaRMSProp
from memorylab.learning.trajectory import Trajectory, check_fit, part_of

Metrics = dict[str, float]


class Diverged(RuntimeError):
    """A loss is no longer a finite number."""


class Learner:
    """Updates `agent` in place; `version` counts the updates."""

    learners = 1  # that share a batch

    def __init__(self, agent: MemoryRecallAgent, config: LearnerConfig):
        self.agent, self.config = agent, config
        self.version = 0
        self.steps = 0  # learned from
        for auxiliary in agent.auxiliary.values():
            auxiliary.configure(config)
        self.optimiser: torch.optim.Optimizer
        parts = [
            {"params": list(part.parameters()), "share": config.read_share if part is agent.read else 1.0}
            for part in agent.children()
        ]
        if config.optimiser == "adam":
            self.optimiser = torch.optim.Adam(parts, eps=config.adam_epsilon, fused=True)
        else:
            self.optimiser = ImpalaRMSProp(parts, config.rmsprop_decay, config.rmsprop_epsilon)

    def update(self, trajectory: Trajectory, progress: float = 0.0) -> Metrics:
        """`updates` steps of the optimiser with one trajectory; `progress` is the share of the run that is done."""
        left = max(1.0 - progress, 0.0) if self.config.schedule == "linear" else 1.0
        for part in self.optimiser.param_groups:
            part["lr"] = self.config.learning_rate * part["share"] * left
        for number in range(self.config.updates):
            loss, metrics = self.loss(trajectory if number == 0 else trajectory._replace(tape=None))
            self.optimiser.zero_grad()
            loss.backward()
            self.gather_gradients()  # before anybody stops: others wait there
            if not math.isfinite(metrics["loss"]):
                raise Diverged(f"the loss became {metrics['loss']} at update {self.version + 1}")
            norms = {name: gradient_norm(part) for name, part in self.agent.named_children()}
            norm = nn.utils.clip_grad_norm_(self.agent.parameters(), self.config.gradient_norm)
            if not math.isfinite(float(norm)):
                raise Diverged(f"the gradient became {float(norm)} at update {self.version + 1}")
            self.optimiser.step()
            self.version += 1
        self.steps += trajectory.actions[1:].numel() * self.learners
        metrics |= {f"gradient_{name}": value for name, value in norms.items()}
        return metrics | {"gradient": float(norm), "learning_rate": self.optimiser.param_groups[0]["lr"]}

    def gather_gradients(self) -> None:
        """For learners that share a batch."""

    def loss(self, trajectory: Trajectory) -> tuple[Tensor, Metrics]:
        """IMPALA's losses and the agent's auxiliary ones, with gradient, and what a user wants to see of them."""
        config, inputs = self.config, trajectory.inputs
        if trajectory.tape is not None:
            output = trajectory.tape.unroll(inputs, trajectory.state)
        else:
            output, _ = self.agent.unroll(inputs, trajectory.state, trajectory.recalled)
        rl = actor_critic(
            output.logits[:-1],
            trajectory.actions[:-1],
            trajectory.log_mu[:-1],
            config.discount * (~inputs.resets[1:]),
            clipped(inputs.rewards[1:], config.reward_clipping),
            output.baseline,
            config.rho_bar,
            config.c_bar,
        )
        loss = rl.policy_gradient + config.baseline_cost * rl.baseline - config.entropy_cost * rl.entropy
        metrics = self.measures(rl, output)
        lesson, weight = None, self.teacher_weight()
        if trajectory.advice is not None:
            taught = teaching(output.logits[:-1], trajectory.advice[:-1])
            loss = loss + weight * taught.loss if weight else loss
            lesson = Lesson(trajectory.advice, weight) if weight else None
            metrics |= {"teacher_weight": weight, "teacher_agreement": taught.agreement.item()}
        steps = rl.log_ratios.numel() if config.reduction == "sum" else 1
        for auxiliary in self.agent.auxiliary.values():
            auxiliary.turn, auxiliary.lesson = self.version, lesson
            value, told = auxiliary.loss(output, inputs)
            is_mean_of_sums = config.reduction == "sum" and auxiliary.reduction == "mean"
            loss = loss + auxiliary.weight * value / (steps * self.learners if is_mean_of_sums else 1)
            metrics |= {name: part.item() for name, part in told.items()}
        loss = loss * steps
        return loss, metrics | {"loss": loss.item()}

    def teacher_weight(self) -> float:
        """Falls in a line for `teacher_steps`."""
        left = max(1 - self.steps / self.config.teacher_steps, 0.0)
        return self.config.teacher_floor + (self.config.teacher_weight - self.config.teacher_floor) * left

    @torch.no_grad()
    def measures(self, rl: ActorCritic, output: Output) -> Metrics:
        """What a user needs to see when it does not learn."""
        v, values = rl.targets.v, output.baseline[:-1]
        unexplained = (v - values).var() / v.var().clamp_min(1e-8)
        metrics = {
            "policy_gradient": rl.policy_gradient.item(),
            "baseline": rl.baseline.item(),
            "entropy": rl.entropy.item(),
            "explained_variance": 1 - unexplained.item(),
            "clipped_ratios": (rl.log_ratios > math.log(self.config.rho_bar)).float().mean().item(),
            "mean_ratio": rl.log_ratios.exp().mean().item(),
        }
        if self.agent.read is not None:
            metrics |= {name: part.item() for name, part in self.agent.read.measures(output).items()}
        return metrics

    def state_dict(self) -> dict[str, Tensor]:
        """Weights and the optimiser's moments by name, for a checkpoint."""
        named = {f"agent.{name}": part for name, part in self.agent.state_dict().items()}
        named["steps"] = torch.tensor(self.steps)
        for number, moments in self.optimiser.state_dict()["state"].items():
            named |= {f"optimiser.{number}.{name}": torch.as_tensor(part) for name, part in moments.items()}
        return named

    def load_state_dict(self, named: Mapping[str, Tensor], version: int) -> None:
        """Go on as the learner that had these, after so many updates; or one sentence, if they do not fit."""
        try:
            self.agent.load_state_dict(part_of(named, "agent."))
        except RuntimeError as problem:
            raise ValueError(" ".join(str(problem).split())) from problem
        state = self.moments(part_of(named, "optimiser."))
        if version and not state:
            raise ValueError("it lacks the optimiser's moments")
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": state, "param_groups": groups})
        self.version = version
        self.steps = int(named.get("steps", 0))  # which runs of before there were teachers do not need

    def moments(self, named: Mapping[str, Tensor]) -> dict[int, dict[str, Tensor]]:
        """The optimiser's state, by the number of each weight."""
        parameters = list(self.agent.parameters())
        found: dict[int, dict[str, Tensor]] = {}
        for name, part in named.items():
            number, moment = name.split(".", 1)
            if part.dim() > 0:  # moments lie in memory as their weights do
                weight = parameters[int(number)]
                check_fit({name: part}, {name: weight})
                part = torch.empty_like(weight).copy_(part)
            found.setdefault(int(number), {})[moment] = part
        uneven = {len(moments) for moments in found.values()}
        if len(uneven) > 1:
            raise ValueError("it lacks some of the optimiser's moments")
        return found


def gradient_norm(module: nn.Module) -> float:
    """The norm of all its gradients together."""
    gradients = [p.grad for p in module.parameters() if p.grad is not None]
    return float(torch.nn.utils.get_total_norm(gradients)) if gradients else 0.0
