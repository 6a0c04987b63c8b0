"""Figures of flows that benchmarks of networks compare: errors, distances and means by flow."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

from pipelines.network.simulation import Scenario

Vector = NDArray[np.float64]


def relative_error(estimate: Vector, truth: Vector) -> float:
    """Return the mean absolute relative error over flows that packets came of."""
    return float(np.nanmean(np.abs(estimate / truth - 1.0)))


def distance(estimate: Vector, truth: Vector) -> float:
    """Return the Wasserstein distance of two distributions over flows, over the mean of the second."""
    known = np.isfinite(estimate) & np.isfinite(truth)
    return float(wasserstein_distance(estimate[known], truth[known]) / truth[known].mean())


def flow_means_s(scenario: Scenario, times_ns: NDArray[np.int64]) -> Vector:
    """Return the mean time per flow of packets sent after the warm-up; NaN where none came. (flows,)"""
    counted = (scenario.schedule.times_ns >= scenario.options.warm_up_s * 1e9) & (times_ns >= 0)
    flows, count = scenario.schedule.flows[counted], len(scenario.traffic.sources)
    packets = np.bincount(flows, minlength=count)
    sums = np.bincount(flows, times_ns[counted], count)
    return np.where(packets > 0, sums / np.maximum(packets, 1) / 1e9, np.nan)
