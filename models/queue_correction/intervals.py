"""How far estimates of networks were off in simulated runs that nothing was learned from.

The error of a run is the 90th percentile over its flows of the relative error of a time. Of the runs of a
kind (ON/OFF arrivals; others with packets of several sizes; Poisson arrivals, batches) and a band of the
busiest link's utilisation, the conformal quantile of it is kept, so that in 9 of 10 such runs 9 of 10 flows
are within.

Source: Vovk, Gammerman and Shafer 2005 on conformal prediction. `tests/benchmarks/network_intervals.py` makes
the file and measures what it holds on other runs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.base import PredictorError
from models.queue_correction import PREDICTOR
from models.queue_correction.features import has_unlike_flows
from models.queue_correction.losses import LEARNED_CAPACITY
from models.queue_correction.tails import tail_kind
from pipelines.base.files import read_bounded
from pipelines.network.queueing import NetworkModel
from pipelines.network.request import ON_OFF

INTERVALS_FILE = "intervals.json"
SEVERAL_SIZES = "several_sizes"
BANDS = (0.6, 0.85, 0.95)
"""Upper ends of utilisation; above the last there is no interval."""
FLOWS, RUNS = 0.9, 0.9
LEAST_RUNS = 9
"""Of 9 runs the largest error is the conformal quantile."""
LEAST_SEEN = 0.5
"""Share of a network that must be like the training runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Relative errors within which 9 of 10 flows are in 9 of 10 runs.

    Attributes: mean, p99: of the round trip. runs: of which it is made.
    """

    mean: float
    p99: float
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunErrors:
    """Errors of a run: of which kind and band it is, 90th percentiles over its flows."""

    kind: str
    utilisation: float
    mean: float
    p99: float


def kind_of(model: NetworkModel) -> str:
    """Return which kind of runs a network under traffic is of: its arrivals, or that sizes differ."""
    arrivals = model.traffic.arrivals.kind
    return arrivals if arrivals == ON_OFF or tail_kind(model) is not None else SEVERAL_SIZES


def error_of_flows(estimate: NDArray[np.float64], truth: NDArray[np.float64]) -> float:
    """Return the 90th percentile over flows with packets of the relative error; NaN without any. (flows,)"""
    known = np.isfinite(truth)
    if not known.any():
        return math.nan
    return float(np.quantile(np.abs(estimate[known] / truth[known] - 1.0), FLOWS))


def intervals_of(runs: Iterable[RunErrors]) -> dict[str, Interval]:
    """Return the interval of each kind and band with enough runs, by its name."""
    groups: dict[str, list[RunErrors]] = {}
    for run in runs:
        if (name := group_of(run.kind, run.utilisation)) is not None:
            groups.setdefault(name, []).append(run)
    return {
        name: Interval(
            mean=_conformal([run.mean for run in own]),
            p99=_conformal([run.p99 for run in own]),
            runs=len(own),
        )
        for name, own in sorted(groups.items())
        if len(own) >= LEAST_RUNS
    }


def group_of(kind: str, utilisation: float) -> str | None:
    """Return the name of a kind and band; None above the last band."""
    band = next((end for end in BANDS if utilisation <= end), None)
    return None if band is None else f"{kind} {band:g}"


def _conformal(errors: list[float]) -> float:
    rank = min(len(errors), int(np.ceil((len(errors) + 1) * RUNS)))
    return round(sorted(errors)[rank - 1], 5)


def interval_of(model: NetworkModel, seen: float) -> Interval | None:
    """Return the interval of a network's estimate; None outside of the runs that it was made of."""
    name = group_of(kind_of(model), float(model.queues.utilisation.max()))
    is_short = model.capacity is not None and model.capacity < LEARNED_CAPACITY
    if name is None or seen < LEAST_SEEN or is_short or has_unlike_flows(model):
        return None
    return shipped_intervals().get(name)


@cache
def shipped_intervals() -> dict[str, Interval]:
    """Return the intervals that come with the correction.

    Raises: PredictorError: they are of other weights.
    """
    path = PREDICTOR.shipped_folder / INTERVALS_FILE
    content = json.loads(read_bounded(path, what="intervals", most_bytes=1 << 16, error=PredictorError))
    if content["weights"] != weights_hash(PREDICTOR.shipped_folder):
        raise PredictorError(f"intervals are of other weights: {path}")
    return {name: Interval(**own) for name, own in content["intervals"].items()}


def write_intervals(intervals: dict[str, Interval], folder: Path) -> None:
    """Write the intervals beside the weights that they are of."""
    content = {
        "weights": weights_hash(folder),
        "intervals": {name: asdict(own) for name, own in intervals.items()},
    }
    (folder / INTERVALS_FILE).write_text(json.dumps(content, indent=1) + "\n")


def weights_hash(folder: Path) -> str:
    """Return the hash of the weights of a correction, as its outcome has it."""
    outcome = json.loads(
        read_bounded(folder / "outcome.json", what="outcome", most_bytes=1 << 20, error=PredictorError)
    )
    return str(outcome["content"]["files"]["weights.safetensors"])
