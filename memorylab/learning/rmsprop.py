"""RMSProp as IMPALA had it from TensorFlow."""

from collections.abc import Callable
from typing import Any

import torch


class ImpalaRMSProp(torch.optim.Optimizer):
    """s <- decay s + (1 - decay) g^2; w <- w - rate g / sqrt(s + epsilon).

    Two things differ from torch.optim.RMSprop: epsilon is inside the root, and s begins at 1, so that first steps are
    small. With epsilon 0.1 no weight moves faster than rate g / 0.32. There is no momentum, as in IMPALA.
    """

    def __init__(self, parts: Any, decay: float, epsilon: float):
        super().__init__(parts, {"lr": 0.0, "decay": decay, "epsilon": epsilon})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """As torch.optim has it; a closure is not asked for."""
        for group in self.param_groups:
            weights = [weight for weight in group["params"] if weight.grad is not None]
            if not weights:
                continue
            gradients = [weight.grad for weight in weights]
            squares = [self.mean_square(weight) for weight in weights]
            torch._foreach_mul_(squares, group["decay"])
            torch._foreach_addcmul_(squares, gradients, gradients, 1 - group["decay"])
            roots = torch._foreach_sqrt(torch._foreach_add(squares, group["epsilon"]))
            torch._foreach_addcdiv_(weights, gradients, roots, -group["lr"])

    def mean_square(self, weight: torch.Tensor) -> torch.Tensor:
        """Under torch's name for it: checkpoints that were made with torch's RMSprop go on."""
        return self.state[weight].setdefault("square_avg", torch.ones_like(weight))
