"""Joining a Ray cluster, or beginning one on this machine."""

import os
import socket
import subprocess
import sys
from typing import Any

import ray

from memorylab.extensions import environment

PROBE_SECONDS = 10


def connect(address: str | None, cpus: int, object_store_bytes: int) -> bool:
    """True if this call connected, and `ray.shutdown` is for the caller to do."""
    if ray.is_initialized():
        return False
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if environment():
        options["runtime_env"] = {"env_vars": environment()}  # workers of a cluster that was there before see it too
    if address is None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(
            address="local",
            num_cpus=cpus,
            object_store_memory=object_store_bytes,
            include_dashboard=False,
            _node_ip_address="127.0.0.1",
            _system_config={"worker_niceness": 0},  # as urgent as a run in one process
            **options,
        )
        return True
    probe(address)
    try:
        ray.init(address=address, **options)
    except (ConnectionError, RuntimeError) as problem:
        raise ValueError(f"no Ray cluster could be joined at {address}: {problem}") from problem
    return True


def probe(address: str) -> None:
    """Ray itself would try for minutes and then end the process."""
    check = [sys.executable, "-m", "ray.scripts.scripts", "health-check"]
    if address != "auto":
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise ValueError(f"--address must be auto or HOST:PORT, not {address!r}")
        try:
            socket.create_connection((host, int(port)), PROBE_SECONDS).close()
        except (OSError, OverflowError) as problem:
            raise ValueError(f"no Ray cluster answers at {address}: {problem}") from problem
        check += ["--address", address]
    try:
        healthy = subprocess.run(check, capture_output=True, timeout=1.5 * PROBE_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        healthy = False
    if not healthy:
        raise ValueError(
            f"no Ray cluster that lets us in answers at {address}; is a head node running there, "
            "and is the cluster's token on this machine?"
        )


def check_room(cpus_of_learners: float, gpus_of_learners: float, cpus: float) -> str | None:
    """An error if the learners can never start; a remark if not all actors can."""
    there = ray.cluster_resources()
    for name, needed in (("CPU", cpus_of_learners), ("GPU", gpus_of_learners)):
        if needed > there.get(name, 0):
            raise ValueError(f"the learners need {needed:g} {name}s, the cluster has {there.get(name, 0):g}")
    if cpus > there.get("CPU", 0):
        return f"the cluster has {there['CPU']:g} CPUs, the run has work for {cpus:g}: some actors wait for room"
    return None
