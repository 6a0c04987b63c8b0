"""Latency of packet networks: topologies, traffic, packet-level simulation and queueing theory.

Belongs here: the network half of the foundry's data. Does not: learned corrections (`models/`).
"""

from pipelines.network.errors import NetworkError

__all__ = ["NetworkError"]
