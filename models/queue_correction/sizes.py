"""Quantiles of round trips where packets of a flow differ in size: a mixture over their sizes.

A packet's round trip is its time of sending over all links, which follows from its size, and its waits: small
packets wait behind large ones of their own stream, which do not. Sizes of a trace are known by mean and mean
square alone, or by the packets themselves: points of a lognormal law with these stand for them, or quantiles
of the sizes of a flow; all wait alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from models.queue_correction.wait_law import wait_quantile_s
from pipelines.network.queueing import FlowLatency, NetworkModel, StreamWaits, flow_latency
from pipelines.network.traffic import Schedule

_EDGES = np.concatenate(
    [np.linspace(0.0, 0.9, 19), np.linspace(0.91, 0.99, 9), [0.9925, 0.995, 0.9975, 0.999, 1.0]]
)
"""Probabilities between which a wait stands for all, finer where 99th percentiles are."""
_NORMAL, _SHARES = np.polynomial.hermite_e.hermegauss(7)
MOST_SIZES = 9
_SIZE_EDGES = np.array([0.0, 0.25, 0.5, 0.7, 0.85, 0.95, 0.98, 1.0])
_SIZE_SHARES, _SIZE_LEVELS = np.diff(_SIZE_EDGES), (_SIZE_EDGES[1:] + _SIZE_EDGES[:-1]) / 2
_CHUNK = 1 << 13
Vector = NDArray[np.float64]


def mixed_rtt_quantiles_s(
    model: NetworkModel,
    waits: StreamWaits,
    latency: FlowLatency,
    probabilities: Sequence[float],
    schedule: Schedule | None = None,
) -> Vector:
    """Return quantiles of every flow's round trip, for gamma-distributed waits. (probabilities, flows)

    Args: schedule: the packets of a trace.
    """
    offsets, shares = _sending_s(model, schedule)  # (flows, sizes), (sizes,)
    waited = _waits_s(model, waits, latency, shares)
    mean = np.maximum(latency.wait_s + latency.ack_wait_s, 1e-300)
    levels, widths = (_EDGES[1:] + _EDGES[:-1]) / 2, np.diff(_EDGES)
    weights = (shares[:, None] * widths).ravel()
    quantiles = np.empty((len(probabilities), len(mean)))
    for begin in range(0, len(mean), _CHUNK):
        chosen = slice(begin, begin + _CHUNK)
        variance = latency.variance_s2[chosen]
        times = np.concatenate(
            [
                _levels_s(own, variance * (own / mean[chosen]) ** 2, levels) + offset[:, None]
                for offset, own in zip(offsets[chosen].T, waited[chosen].T, strict=True)
            ],
            axis=1,
        )  # (flows, sizes times levels)
        order = np.argsort(times, axis=1, kind="stable")
        times = np.take_along_axis(times, order, axis=1)
        below = np.cumsum(weights[order], axis=1)
        for number, probability in enumerate(probabilities):
            place = np.minimum((below < probability).sum(axis=1), times.shape[1] - 1)
            quantiles[number, chosen] = times[np.arange(len(times)), place]
    return quantiles + latency.base_s


def _levels_s(mean_s: Vector, variance_s2: Vector, levels: Vector) -> Vector:
    """Return quantiles of waits at all levels. (flows, levels)"""
    own = np.ascontiguousarray(mean_s), np.ascontiguousarray(variance_s2)
    return np.stack([wait_quantile_s(*own, -np.inf, float(p), is_poisson=False) for p in levels], axis=1)


def _sizes_of(model: NetworkModel) -> tuple[Vector, Vector]:
    """Return payloads of a pattern and their shares: of many, the means of some of equal number."""
    values, shares = (np.array(column, np.float64) for column in model.traffic.sizes.distribution())
    if len(values) <= MOST_SIZES:
        return values, shares
    parts = np.array_split(np.argsort(values, kind="stable"), MOST_SIZES)
    sums = np.array([float(np.cumsum(shares[part])[-1]) for part in parts])
    means = [float(np.average(values[part], weights=shares[part])) for part in parts]
    return np.array(means), sums


def _sizes_in(schedule: Schedule, flow_count: int) -> Vector:
    """Return quantiles of each flow's payloads, in the middle of each share. (flows, shares)"""
    order = np.lexsort((schedule.payload_bytes, schedule.flows))
    begins = np.searchsorted(schedule.flows[order], np.arange(flow_count + 1))
    counts = np.diff(begins)[:, None]
    places = np.minimum((_SIZE_LEVELS * counts).astype(np.int64), np.maximum(counts - 1, 0))
    sorted_bytes = schedule.payload_bytes[order].astype(np.float64)
    return sorted_bytes[np.minimum(begins[:-1, None] + places, len(sorted_bytes) - 1)]


def _sending_s(model: NetworkModel, schedule: Schedule | None) -> tuple[Vector, Vector]:
    """Return the time of sending of each size, less that of the mean, and the shares of sizes."""
    routes, traffic = model.data.routes, model.traffic
    byte_s = np.where(routes >= 0, (8.0 / model.topology.rates_bps)[routes], 0.0).sum(axis=1)
    moments = traffic.flow_moments()
    if traffic.moments is None:  # all flows have the sizes of the pattern
        values, shares = _sizes_of(model)
        sizes = values + traffic.header_bytes - moments.mean_bytes[:, None]
        return sizes * byte_s[:, None], shares
    if schedule is not None:
        sizes = _sizes_in(schedule, len(byte_s)) + traffic.header_bytes - moments.mean_bytes[:, None]
        return sizes * byte_s[:, None], _SIZE_SHARES
    payload = np.maximum(moments.mean_bytes - traffic.header_bytes, 1.0)
    variance = np.maximum(moments.second_bytes2 - moments.mean_bytes**2, 0.0)
    sigma2 = np.log1p(variance / payload**2)[:, None]
    sizes = payload[:, None] * np.exp(np.sqrt(sigma2) * _NORMAL - sigma2 / 2) - payload[:, None]
    return sizes * byte_s[:, None], _SHARES / float(_SHARES.sum())


def _waits_s(model: NetworkModel, waits: StreamWaits, latency: FlowLatency, shares: Vector) -> Vector:
    """Return the mean waits of a round trip by size, whose mean is that of the latency. (flows, sizes)"""
    mean = latency.wait_s + latency.ack_wait_s
    traffic = model.traffic
    if traffic.moments is not None:
        return np.repeat(mean[:, None], len(shares), axis=1)
    of_sizes: list[Vector] = []
    for value in _sizes_of(model)[0].tolist():
        size = np.full(len(mean), value + traffic.header_bytes)
        own = flow_latency(replace(model, data=replace(model.data, mean_bytes=size)), waits)
        of_sizes.append(own.wait_s + own.ack_wait_s)
    waited = np.stack(of_sizes, axis=1)
    return waited * (mean / np.maximum(waited @ shares, 1e-300))[:, None]
