"""Work that threads share: whoever has nothing else to do takes the next part; the outcome is the same."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Condition
from typing import Any

import torch
from torch import Tensor


class Sharing:
    """Tasks of one thread that another may take over while it is `open`."""

    def __init__(self) -> None:
        self.tasks: deque[tuple[Future, Callable[[], Any]]] = deque()
        self.changed = Condition()
        self.is_open = False

    def run(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        """What they return, in their order, whoever did them."""
        futures = [Future[Any]() for _ in tasks]
        with self.changed:
            self.tasks.extend(zip(futures, tasks, strict=True))
            self.changed.notify()
        while self.help():
            pass
        return [future.result() for future in futures]

    def help(self) -> bool:
        """Do one task, if there is one."""
        try:
            future, task = self.tasks.popleft()
        except IndexError:
            return False
        try:
            future.set_result(task())
        except BaseException as problem:
            future.set_exception(problem)
        return True

    def help_until_closed(self) -> None:
        """Do what comes, and wait for more."""
        while self.is_open:
            with self.changed:
                self.changed.wait_for(lambda: self.tasks or not self.is_open)
            self.help()

    def close(self) -> None:
        """Nothing more will come."""
        with self.changed:
            self.is_open = False
            self.changed.notify()


class InParts(torch.autograd.Function):
    """A function of each row of a batch, forward and backward in parts that threads share."""

    @staticmethod
    def forward(ctx: Any, run: Callable, function: Callable[[Tensor], Tensor], parts: Sequence[Tensor], *weights):
        """One after the other."""
        ctx.run, ctx.weights = run, weights
        ctx.parts = run([partial(with_gradient, function, part) for part in parts])
        return torch.cat([part.detach() for part in ctx.parts])

    @staticmethod
    def backward(ctx: Any, of_whole: Tensor):
        """The sum of the parts' gradients, always in the same order."""
        pairs = zip(ctx.parts, of_whole.split([len(part) for part in ctx.parts]), strict=True)
        gradient = partial(torch.autograd.grad, inputs=ctx.weights, materialize_grads=True)
        found = ctx.run([partial(gradient, part, grad_outputs=of_part) for part, of_part in pairs])
        return None, None, None, *(sum(of_weight[1:], of_weight[0]) for of_weight in zip(*found, strict=True))


def with_gradient(function: Callable[[Tensor], Tensor], part: Tensor) -> Tensor:
    """In whatever thread."""
    with torch.enable_grad():
        return function(part)
