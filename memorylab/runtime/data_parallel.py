"""Several learners that share a batch: the update of one learner on the whole.

Each has a share of the games. Losses are means over steps, so that the mean of the learners' gradients is the gradient
of the joint mean, and their sum that of the joint sum. Only CPC divides by something that shares differ in, the number
of pairs within an episode: the learners count those together. Clipping comes after. All begin with the same weights and
take the same steps, so they stay the same. Where they are on several machines, PyTorch's distributed package adds up;
the cores of one machine have `runtime/crew.py`.
"""

import socket
from collections.abc import Sequence
from datetime import timedelta
from typing import cast

import numpy as np
import torch
from torch import Tensor, distributed

from memorylab.agent.network import MemoryRecallAgent
from memorylab.learning.learner import Learner
from memorylab.learning.trajectory import Trajectory, named_trajectory

Arrays = dict[str, np.ndarray]

TIMEOUT = timedelta(minutes=5)


class SharingLearner(Learner):
    """One of several; all make the same updates."""

    def share_with(self, learners: int) -> None:
        """Be one of so many from now on."""
        self.learners = learners
        for auxiliary in self.agent.auxiliary.values():
            auxiliary.over_learners = self.mean

    def total(self, parts: Sequence[Tensor]) -> Tensor:
        """The sum over all learners, each of which calls this with its own parts; one after the other, flat."""
        raise NotImplementedError

    def mean(self, part: Tensor) -> Tensor:
        """Over all learners."""
        return self.total([part.to(self.agent.dtype)]).view(part.shape) / self.learners

    def gather_gradients(self) -> None:
        """Of all learners: their sum, or their mean."""
        if self.learners == 1:
            return
        weights = [weight for weight in self.agent.parameters() if weight.grad is not None]
        joint = self.total([cast(Tensor, weight.grad) for weight in weights])
        if self.config.reduction == "mean":
            joint /= self.learners
        for weight, part in zip(weights, joint.split([weight.numel() for weight in weights]), strict=True):
            cast(Tensor, weight.grad).copy_(part.view(weight.shape))


class DataParallelLearner(SharingLearner):
    """Call `join` in every process before the first update."""

    def join(self, store: distributed.Store, rank: int, learners: int, host: str) -> None:
        """Become one of so many."""
        if self.agent.device.type == "cuda":
            distributed.init_process_group("nccl", store=store, rank=rank, world_size=learners, timeout=TIMEOUT)
        else:
            options = distributed.ProcessGroupGloo._Options()  # type: ignore[attr-defined]
            options._devices = [distributed.ProcessGroupGloo.create_device(hostname=host)]
            options._timeout = TIMEOUT
            distributed.init_process_group(
                "gloo", store=store, rank=rank, world_size=learners, timeout=TIMEOUT, pg_options=options
            )
        self.share_with(learners)

    def total(self, parts: Sequence[Tensor]) -> Tensor:
        """See SharingLearner."""
        joint = torch.cat([part.reshape(-1) for part in parts])
        distributed.all_reduce(joint)
        return joint


def serve_store(host: str) -> tuple[distributed.TCPStore, int]:
    """Where the learners find each other, on this address alone; its port."""
    listening = socket.create_server((host, 0))
    port = listening.getsockname()[1]
    fd = listening.detach()
    return distributed.TCPStore(host, port, None, True, TIMEOUT, False, master_listen_fd=fd), port


def find_store(host: str, port: int) -> distributed.TCPStore:
    """The one that another process serves."""
    return distributed.TCPStore(host, port, None, False, TIMEOUT)


def joint_trajectory(parts: Sequence[Arrays], agent: MemoryRecallAgent) -> Trajectory:
    """One after the other along the games."""
    named = {}
    for name in parts[0]:
        along = 0 if name.startswith("state") else 1
        named[name] = torch.from_numpy(np.concatenate([part[name] for part in parts], along)).to(agent.device)
    return named_trajectory(agent, named)
