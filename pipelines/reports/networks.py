"""Simulated networks: runs by status, utilisation of links, distributions of the flows' times.

Hops are millions, so they are grouped by Arrow and never looked at row by row.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.reports.inventory import tell_reason
from pipelines.reports.measures import Quantiles, quantiles_of
from pipelines.reports.tables import FloatArray, TableSet
from pipelines.schemas import OK, STATUSES

QUEUE_TYPES = ("host_up", "edge_up", "aggregation_up", "core_down", "aggregation_down", "edge_down")
"""Tiers in the order of a packet's way; those of other networks follow."""

PATTERNS = ("all_to_all", "incast", "broadcast", "trace")
ARRIVALS = ("poisson", "ge", "on_off")

LOADS_SHOWN = 4
"""Of more different loads than these, bands of LOAD_BAND are shown instead."""

LOAD_BAND = 0.25
CURVES_SHOWN = 6
CURVE_POINTS = 100
"""Points of a distribution; of more flows, as many values at equal steps of the share."""

STABLE_UTILISATION = 0.95
"""Offered utilisation of the busiest queue from which theory is known to be far off."""

ESTIMATES = (("entropy_ns", "Maximum entropy"), ("tree_ns", "Estimate for trees"))
SIMULATED = "Simulated"


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRuns:
    """Runs of one network that ended in one status, and what was sent in them after the warm-up."""

    network: str
    status: str
    runs: int
    flows: int
    packets: int
    drops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkFailure:
    """Runs of one network that failed for one reason; numbers in reasons do not tell them apart."""

    network: str
    status: str
    reason: str
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilisationRow:
    """Queues of the runs of one pattern and one load or band of loads.

    Attributes:
        loads: lowest and highest load it stands for; the lower end is not in a band. None for a trace.
        values: mean utilisation over queues that flows go through, by queue type.
    """

    pattern: str
    loads: tuple[float, float] | None
    runs: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """Mean utilisation of the queues of one network, ways of a packet from left to right."""

    network: str
    hosts: int
    queue_types: tuple[str, ...]
    rows: tuple[UtilisationRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A cumulative distribution over flows.

    Attributes:
        values: times in microseconds, ascending. shares: of the flows with at most that time; the last is 1.
    """

    name: str
    values: tuple[float, ...]
    shares: tuple[float, ...]
    quantiles: Quantiles


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTimes:
    """Mean times of the flows of one run, simulated and estimated, over the same flows.

    Attributes:
        is_round_trip: whether times are of the round trip or, without acknowledgements, of the way there.
        curves: the simulated one first.
    """

    run_id: str
    network: str
    pattern: str
    arrivals: str
    load: float | None
    offered_utilisation: float
    is_round_trip: bool
    flows: int
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Networks:
    """The figures of simulated networks, smallest network first."""

    runs: tuple[NetworkRuns, ...]
    failures: tuple[NetworkFailure, ...]
    utilisations: tuple[Utilisation, ...]
    times: tuple[FlowTimes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What a row of `network_runs` says here."""

    run_id: str
    network: str
    hosts: int
    pattern: str
    arrivals: str
    load: float | None
    offered: float
    is_acknowledged: bool
    status: str
    reason: str
    flows: int
    packets: int
    drops: int


_TEXTS = ("run_id", "network", "pattern", "arrivals", "status", "reason")
_NUMBERS = ("hosts", "load", "offered_utilisation", "flow_count", "packet_count", "drop_count")


def read_networks(tables: TableSet) -> Networks | None:
    """Compute the figures of simulated networks; None when there is no run."""
    runs = _read_runs(tables)
    if not runs:
        return None
    good = [run for run in runs if run.status == OK]
    return Networks(
        runs=tuple(_count_runs(runs)),
        failures=tuple(_count_failures(runs)),
        utilisations=tuple(_measure_utilisation(tables, good)),
        times=tuple(_read_times(tables, _pick_runs(good))),
    )


def _read_runs(tables: TableSet) -> list[_Run]:
    """Runs by hosts, network and id."""

    texts = {c: tables.texts("network_runs", c) for c in _TEXTS}
    numbers = {c: tables.numbers("network_runs", c).tolist() for c in _NUMBERS}
    acknowledged = tables.values("network_runs", "is_acknowledged")
    runs = [
        _Run(
            **{name: column[index] for name, column in texts.items()},
            hosts=_whole(numbers["hosts"][index]),
            load=numbers["load"][index] if math.isfinite(numbers["load"][index]) else None,
            offered=numbers["offered_utilisation"][index],
            is_acknowledged=acknowledged[index] is not False,
            flows=_whole(numbers["flow_count"][index]),
            packets=_whole(numbers["packet_count"][index]),
            drops=_whole(numbers["drop_count"][index]),
        )
        for index in range(tables.row_count("network_runs"))
    ]
    return sorted(runs, key=lambda r: (r.hosts, r.network, r.run_id))


def _whole(value: float) -> int:
    return int(value) if math.isfinite(value) else 0


def _count_runs(runs: Sequence[_Run]) -> list[NetworkRuns]:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for run in runs:
        found = counts.setdefault((run.network, run.status), Counter())
        found.update(runs=1, flows=run.flows, packets=run.packets, drops=run.drops)
    networks = list(dict.fromkeys(run.network for run in runs))
    order = sorted(counts, key=lambda key: (networks.index(key[0]), _place(STATUSES, key[1])))
    return [NetworkRuns(network=n, status=s, **counts[n, s]) for n, s in order]


def _count_failures(runs: Sequence[_Run]) -> list[NetworkFailure]:
    counts: Counter[tuple[str, str, str]] = Counter()
    said: dict[tuple[str, str, str], str] = {}
    for run in runs:
        if run.status != OK:
            same, shown = tell_reason(run.reason)
            counts[run.network, run.status, same] += 1
            said.setdefault((run.network, run.status, same), shown)
    order = sorted(counts, key=lambda key: (-counts[key], key))
    return [NetworkFailure(network=k[0], status=k[1], reason=said[k], runs=counts[k]) for k in order]


def _place(known: Sequence[str], name: str) -> tuple[int, str]:
    return (known.index(name) if name in known else len(known), name)


def _measure_utilisation(tables: TableSet, runs: Sequence[_Run]) -> list[Utilisation]:
    sums = _queue_sums(tables)
    found: list[Utilisation] = []
    for network in dict.fromkeys(run.network for run in runs):
        own = [run for run in runs if run.network == network and run.run_id in sums]
        rows = [row for pattern in _patterns(own) for row in _utilisation_rows(pattern, own, sums)]
        types = sorted({t for row in rows for t in row.values}, key=lambda t: _place(QUEUE_TYPES, t))
        if rows:
            hosts = own[0].hosts
            found.append(
                Utilisation(network=network, hosts=hosts, queue_types=tuple(types), rows=tuple(rows))
            )
    return found


def _queue_sums(tables: TableSet) -> dict[str, dict[str, tuple[float, int]]]:
    """Sum of utilisations and number of queues by run and queue type; a queue of many flows counts once."""
    names = ["run_id", "queue", "queue_type", "utilisation"]
    if not all(tables.has_column("network_hops", name) for name in names):
        return {}
    if "utilisation" not in tables.number_columns("network_hops"):
        return {}
    hops = tables.contents["network_hops"].select(names).unify_dictionaries()
    # One thread: sums of floats depend on their order, and a page on the sums.
    queues = _grouped(hops, names[:3], [("utilisation", "max")])
    queues = queues.filter(pc.is_finite(queues["utilisation_max"]))
    sums = _grouped(
        queues, ["run_id", "queue_type"], [("utilisation_max", "sum"), ("utilisation_max", "count")]
    )
    found: dict[str, dict[str, tuple[float, int]]] = defaultdict(dict)
    for row in sums.to_pylist():
        found[row["run_id"]][str(row["queue_type"])] = (
            row["utilisation_max_sum"],
            row["utilisation_max_count"],
        )
    return found


def _grouped(content: pa.Table, keys: list[str], aggregations: list[tuple[str, str]]) -> pa.Table:
    return pa.TableGroupBy(content, keys, use_threads=False).aggregate(aggregations)


def _patterns(runs: Iterable[_Run]) -> list[str]:
    return sorted({run.pattern for run in runs}, key=lambda p: _place(PATTERNS, p))


def _utilisation_rows(
    pattern: str, runs: Sequence[_Run], sums: Mapping[str, Mapping[str, tuple[float, int]]]
) -> list[UtilisationRow]:
    own = [run for run in runs if run.pattern == pattern]
    band = _banding([run.load for run in own])
    groups: dict[tuple[float, float] | None, list[_Run]] = defaultdict(list)
    for run in own:
        groups[None if run.load is None else band(run.load)].append(run)
    return [
        UtilisationRow(
            pattern=pattern,
            loads=loads,
            runs=len(groups[loads]),
            values=_means([sums[run.run_id] for run in groups[loads]]),
        )
        for loads in sorted(groups, key=lambda found: found or (math.inf, math.inf))
    ]


def _banding(loads: Iterable[float | None]) -> Callable[[float], tuple[float, float]]:
    """The load itself twice where there are few different ones, or the band that it is in."""
    if len({load for load in loads if load is not None}) <= LOADS_SHOWN:
        return lambda load: (load, load)

    def band(load: float) -> tuple[float, float]:
        upper = max(math.ceil(load / LOAD_BAND - 1e-9), 1)
        return (upper - 1) * LOAD_BAND, upper * LOAD_BAND

    return band


def _means(sums: Iterable[Mapping[str, tuple[float, int]]]) -> dict[str, float]:
    totals: dict[str, tuple[float, int]] = {}
    for entry in sums:
        for queue_type, (total, queues) in entry.items():
            before = totals.get(queue_type, (0.0, 0))
            totals[queue_type] = (before[0] + total, before[1] + queues)
    return {queue_type: total / queues for queue_type, (total, queues) in totals.items()}


def _pick_runs(runs: Sequence[_Run]) -> list[_Run]:
    """Runs whose flows are drawn, at most CURVES_SHOWN.

    Of a network and an arrival process the run of the highest load below STABLE_UTILISATION, all to all where
    there is one. Networks take turns, each with the next arrival process, so that all networks come first and
    the processes differ among them.
    """
    best: dict[tuple[str, str], _Run] = {}
    for run in sorted(runs, key=_preference):
        if run.offered < STABLE_UTILISATION and run.flows:
            best.setdefault((run.network, run.arrivals), run)
    turns: list[list[_Run]] = []
    for index, network in enumerate(dict.fromkeys(run.network for run in runs)):
        own = sorted(
            (r for (n, _), r in best.items() if n == network), key=lambda r: _place(ARRIVALS, r.arrivals)
        )
        first = index % len(own) if own else 0
        turns.append([*own[first:], *own[:first]])
    picked = [run for turn in zip_longest(*turns) for run in turn if run is not None][:CURVES_SHOWN]
    return sorted(picked, key=lambda r: (r.hosts, r.network, _place(ARRIVALS, r.arrivals)))


def _preference(run: _Run) -> tuple[tuple[int, str], float, float, str]:
    return _place(PATTERNS, run.pattern), -(run.load or 0.0), -run.offered, run.run_id


def _read_times(tables: TableSet, runs: Sequence[_Run]) -> list[FlowTimes]:
    if not tables.has_column("network_flows", "run_id"):
        return []
    flows = tables.contents["network_flows"]
    kind = flows["run_id"].type
    # Texts are read as numbers of texts; what is none cannot name a run.
    if not pa.types.is_dictionary(kind):
        return []
    found: list[FlowTimes] = []
    for run in runs:
        own = flows.filter(pc.is_in(flows["run_id"], value_set=pa.array([run.run_id], type=kind.value_type)))
        times = _times_of(run, TableSet(name="", contents={"flows": own}, fingerprint="", problems=()))
        if times is not None:
            found.append(times)
    return found


def _times_of(run: _Run, tables: TableSet) -> FlowTimes | None:
    """Distributions over the flows of a run of which a packet came; None when there is none."""
    measured = tables.numbers("flows", "rtt_mean_ns" if run.is_acknowledged else "delay_mean_ns")
    columns = [(SIMULATED, measured), *((t, tables.numbers("flows", c)) for c, t in ESTIMATES)]
    known = np.all([np.isfinite(values) for _, values in columns], axis=0)
    if not known.any():
        return None
    return FlowTimes(
        run_id=run.run_id,
        network=run.network,
        pattern=run.pattern,
        arrivals=run.arrivals,
        load=run.load,
        offered_utilisation=run.offered,
        is_round_trip=run.is_acknowledged,
        flows=int(known.sum()),
        curves=tuple(curve_of(name, values[known] / 1000) for name, values in columns),
    )


def curve_of(name: str, values: FloatArray) -> Curve:
    """The cumulative distribution of finite values, of many at CURVE_POINTS equal steps of the share.

    Raises: ReportError: no value.
    """
    quantiles = quantiles_of(values)
    ordered = np.sort(values)
    steps = min(ordered.size, CURVE_POINTS)
    # A share of k / n of the values is at most the k-th of them.
    places = np.ceil(np.arange(1, steps + 1) * ordered.size / steps).astype(np.int64)
    places = np.unique(np.concatenate([[1], places]))
    return Curve(
        name=name,
        values=tuple(ordered[places - 1].tolist()),
        shares=tuple((places / ordered.size).tolist()),
        quantiles=quantiles,
    )
