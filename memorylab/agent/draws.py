"""Where weights begin: each part of a network has random numbers of its own."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def own_draws(seed: int, name: str) -> Iterator[None]:
    """Random numbers by seed and name alone; outside nothing is drawn. So models that share a part begin with the same
    one, whatever else they have."""
    digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
    with torch.random.fork_rng(devices=()):
        torch.default_generator.manual_seed(int.from_bytes(digest[:8], "little") >> 1)
        yield
