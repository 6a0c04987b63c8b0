"""Queueing theory: maximum entropy, decomposition, latency of every flow.

Belongs here: estimates from rates, variations and routes alone. Does not: corrections learned from
simulations (`models/queue_correction`).
"""

from pipelines.network.queueing.latency import (
    FlowLatency,
    Learned,
    NetworkModel,
    StreamWaits,
    flow_latency,
    hop_waits_s,
    model_network,
    rtt_quantile_s,
    stream_waits,
    wait_by_stream_s,
)
from pipelines.network.queueing.maximum_entropy import (
    Flow,
    departure_scv,
    finite_length,
    mean_lengths,
    merged_scv,
    split_scv,
    waits_s,
)
from pipelines.network.queueing.network import StreamLoad, Streams
from pipelines.network.request import ESTIMATES

__all__ = [
    "ESTIMATES",
    "Flow",
    "FlowLatency",
    "Learned",
    "NetworkModel",
    "StreamLoad",
    "StreamWaits",
    "Streams",
    "departure_scv",
    "finite_length",
    "flow_latency",
    "hop_waits_s",
    "mean_lengths",
    "merged_scv",
    "model_network",
    "rtt_quantile_s",
    "split_scv",
    "stream_waits",
    "wait_by_stream_s",
    "waits_s",
]
