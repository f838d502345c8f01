"""What tests of whole runs share."""

import os
import secrets

import pytest
import torch

# Ray reads these when it is imported.
os.environ["RAY_AUTH_MODE"] = "token"
os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
os.environ["RAY_USAGE_STATS_ENABLED"] = "0"


@pytest.fixture
def hasty(monkeypatch):
    """Runs of a second, which leave the number of threads as it was."""
    from tiny_runs import make_hasty

    make_hasty(monkeypatch.setattr)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
