"""Chapter 5's correction as it is printed: one regression tree a queue type, on rates, loads and sizes.

A tree predicts what is to be added to the wait of equation 5.1, in nanoseconds. The chapter names neither the
target nor more settings than the depth; of the two that it can mean, a factor has no value where theory waits
for nothing. It draws 60 % of all rows for training and evaluates all configurations, so that rows of one run
are on both sides; `rows` says which rows are used, so that the same trees can be trained honestly too.

Source: section 5.3.5, table 5.2, section 5.4.1 (60 %, depth 12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor

from models.queue_correction.data import SimulatedRun

DEPTH = 12
SHARE = 0.6
_NS = 1e9
Rows = Callable[[int], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PaperTrees:
    """A tree a queue type."""

    trees: Mapping[str, DecisionTreeRegressor]

    def latency_s(self, run: SimulatedRun) -> NDArray[np.float64]:
        """Mean round trip of every flow, delay without acknowledgements. (flows,)"""
        features, theory, kinds, _ = _table(run)
        waits = theory.copy()
        for kind in np.unique(kinds):
            chosen = kinds == kind
            if kind in self.trees:
                waits[chosen] += self.trees[kind].predict(features[chosen])
        base = run.flows.column("base_ns").to_numpy().astype(np.float64)
        return (base + np.bincount(run.hop_flow, np.maximum(0.0, waits), len(base))) / _NS


def fit_trees(runs: Iterable[SimulatedRun], *, rows: Rows, seed: int) -> PaperTrees:
    """Train the trees.

    Args: rows: which of so many rows of a run are used. seed: of ties between splits.
    """
    parts: dict[str, list[tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.float64]]]] = {}
    for run in runs:
        features, theory, kinds, counts = _table(run)
        measured = np.asarray(run.hops.column("wait_mean_ns").to_numpy(zero_copy_only=False), np.float64)
        used = rows(len(theory)) & (counts > 0)
        for kind in np.unique(kinds):
            chosen = used & (kinds == kind)
            part = (features[chosen], (measured - theory)[chosen], counts[chosen])
            parts.setdefault(str(kind), []).append(part)
    trees: dict[str, DecisionTreeRegressor] = {}
    for kind, given in parts.items():
        features, targets, _ = (np.concatenate(column) for column in zip(*given, strict=True))
        trees[kind] = DecisionTreeRegressor(max_depth=DEPTH, random_state=seed).fit(features, targets)
    return PaperTrees(trees=trees)


def random_rows(seed: int) -> Rows:
    """60 % of the rows, whatever run they are of."""
    stream = np.random.Generator(np.random.Philox(key=seed))
    return lambda count: stream.random(count) < SHARE


def _table(
    run: SimulatedRun,
) -> tuple[NDArray[np.float32], NDArray[np.float64], NDArray[np.str_], NDArray[np.float64]]:
    """The 11 features of table 5.2 (hops, 11), the wait of equation 5.1 in ns, queue types, packets sent."""
    hops = run.hops

    def numbers(name: str) -> NDArray[np.float64]:
        return np.asarray(hops.column(name).to_numpy(zero_copy_only=False), np.float64)

    rate = np.asarray(run.flows.column("rate_per_s").to_numpy(), np.float64)[run.hop_flow]
    service, total = numbers("service_ns") / _NS, np.minimum(0.999, numbers("utilisation"))
    own = np.minimum(0.999, rate * service)
    arrival, sizes = numbers("arrival_scv"), numbers("service_scv")
    is_ack = np.asarray(hops.column("packet").to_numpy(zero_copy_only=False)) == "ack"
    own_sizes = np.where(is_ack, 0.0, run.row.size_scv)
    columns = (
        rate,
        own,
        total,
        arrival,
        own_sizes,
        service,  # the packet's size over the link's rate, which all links share
        1.0 / (1.0 - own),
        1.0 / (1.0 - total),
        rate / (1.0 - own),
        rate / (1.0 - total),
        (arrival + sizes) / (1.0 - total),
    )
    kinds = np.asarray(hops.column("queue_type").to_numpy(zero_copy_only=False)).astype(str)
    sent = numbers("packet_count") - numbers("drop_count")
    return np.column_stack(columns).astype(np.float32), numbers("entropy_wait_ns"), kinds, sent
