"""A Ray cluster on loopback for tests: a head without processors, and nodes that can be ended."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

GIB = 1 << 30
AUTH_MODE = "RAY_AUTH_MODE"
LOOKS = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 2,
}
"""A node that ended is noticed within seconds; Ray's own periods are for networks."""


@contextmanager
def ray_cluster(
    nodes: int,
    *,
    cpus: int = 1,
    memory_gib: float = 1.0,
    host: str | None = None,
    system: Mapping[str, Any] | None = None,
) -> Generator[Any]:
    """Yield a cluster with a head that works on nothing and `nodes` others; see `Cluster.address`.

    Args: host: address of the head. system: Ray's own settings of all nodes.
    """
    from ray.cluster_utils import Cluster

    here = Path(__file__).resolve()
    paths = [str(here.parent), str(here.parents[2])]  # for functions of tests, which workers import
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": os.pathsep.join(paths)}
    mode = os.environ.get(AUTH_MODE)
    os.environ[AUTH_MODE] = "disabled"  # whichever token the home folder has
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "include_dashboard": False,
            "object_store_memory": 100 << 20,
            **({"node_ip_address": host} if host else {}),
            "_system_config": {**LOOKS, **(system or {})},
        },
    )
    try:
        for _ in range(nodes):
            add_node(cluster, cpus=cpus, memory_gib=memory_gib)
        yield cluster
    finally:
        cluster.shutdown()
        if mode is None:
            os.environ.pop(AUTH_MODE)
        else:
            os.environ[AUTH_MODE] = mode


def add_node(cluster: Any, *, cpus: int = 1, memory_gib: float = 1.0) -> Any:
    """Add a node; its processes are of this machine, its processors and memory a number."""
    node = cluster.add_node(
        num_cpus=cpus, memory=int(memory_gib * GIB), object_store_memory=100 << 20, include_dashboard=False
    )
    cluster.wait_for_nodes()
    return node


def kill_node(node: Any) -> None:
    """End a node's own process as a power cut does: nothing is said to the head."""
    [raylet] = node.all_processes["raylet"]
    os.kill(raylet.process.pid, signal.SIGKILL)
