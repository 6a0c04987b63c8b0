"""Simulated networks: runs by status, utilisation of links, distributions of the flows' times."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import polars as pl

from pipelines.dataset.reports.inventory import count_reasons
from pipelines.dataset.reports.statistics import Quantiles, quantiles_of
from pipelines.dataset.reports.tables import TableSet
from pipelines.schemas import OK, STATUSES

QUEUE_TYPES = ("host_up", "edge_up", "aggregation_up", "core_down", "aggregation_down", "edge_down")
"""Tiers in the order of a packet's way; tiers of other networks follow."""

PATTERNS = ("all_to_all", "incast", "broadcast", "trace")
ARRIVAL_TITLES = {"poisson": "Poisson", "ge": "GE", "on_off": "ON/OFF"}
ARRIVALS = tuple(ARRIVAL_TITLES)

LOADS_SHOWN = 4
"""Most different loads that are shown; beyond, bands of LOAD_BAND are shown."""

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
    """A row of `network_runs` that is ok."""

    run_id: str
    network: str
    hosts: int
    pattern: str
    arrivals: str
    load: float | None
    offered: float
    is_acknowledged: bool
    flows: int


_TEXTS = ("run_id", "network", "pattern", "arrivals", "status", "reason")
_COUNTS = {"hosts": "hosts", "flows": "flow_count", "packets": "packet_count", "drops": "drop_count"}


def read_networks(tables: TableSet) -> Networks | None:
    """Compute the figures of simulated networks; None when there is no run."""
    runs = _read_runs(tables)
    if runs.is_empty():
        return None
    columns = (
        "run_id",
        "network",
        "hosts",
        "pattern",
        "arrivals",
        "load",
        "offered",
        "is_acknowledged",
        "flows",
    )
    good = [_Run(**row) for row in runs.filter(pl.col("status") == OK).select(columns).to_dicts()]
    failed = runs.filter(pl.col("status") != OK).with_columns(rows=pl.lit(1))
    reasons = count_reasons(failed, ("network", "status")).rename({"rows": "runs"})
    return Networks(
        runs=tuple(_count_runs(runs)),
        failures=tuple(NetworkFailure(**row) for row in reasons.to_dicts()),
        utilisations=tuple(_measure_utilisation(tables, good)),
        times=tuple(_read_times(tables, _pick_runs(good))),
    )


def _read_runs(tables: TableSet) -> pl.DataFrame:
    """Read the runs by hosts, network and id; counts that a row lacks are 0."""
    numbers = (*_COUNTS.values(), "load", "offered_utilisation")
    rows = tables.scan("network_runs", texts=_TEXTS, numbers=numbers, flags=("is_acknowledged",))
    counts = {name: pl.col(column).fill_null(0.0).cast(pl.Int64) for name, column in _COUNTS.items()}
    return (
        rows.with_columns(
            pl.col("is_acknowledged").fill_null(True),
            offered=pl.col("offered_utilisation").fill_null(math.nan),
            **counts,
        )
        .sort("hosts", "network", "run_id")
        .collect()
    )


def _count_runs(runs: pl.DataFrame) -> list[NetworkRuns]:
    counts = runs.group_by("network", "status", maintain_order=True).agg(
        pl.len().alias("runs"), pl.col("flows", "packets", "drops").sum()
    )
    networks = runs["network"].unique(maintain_order=True).to_list()
    rows = [NetworkRuns(**row) for row in counts.to_dicts()]
    return sorted(rows, key=lambda row: (networks.index(row.network), _rank(STATUSES, row.status)))


def _rank(order: Sequence[str], name: str) -> tuple[int, str]:
    return (order.index(name) if name in order else len(order), name)


def _measure_utilisation(tables: TableSet, runs: Sequence[_Run]) -> list[Utilisation]:
    sums = _queue_sums(tables)
    utilisations: list[Utilisation] = []
    for network in dict.fromkeys(run.network for run in runs):
        own = [run for run in runs if run.network == network and run.run_id in sums]
        rows = tuple(row for pattern in _patterns(own) for row in _utilisation_rows(pattern, own, sums))
        types = tuple(sorted({t for row in rows for t in row.values}, key=lambda t: _rank(QUEUE_TYPES, t)))
        if rows:
            hosts = own[0].hosts
            utilisations.append(Utilisation(network=network, hosts=hosts, queue_types=types, rows=rows))
    return utilisations


def _queue_sums(tables: TableSet) -> dict[str, dict[str, tuple[float, int]]]:
    """Return the sum of utilisations and number of queues by run and queue type, each queue counted once."""
    key = ("run_id", "queue", "queue_type")
    if not all(tables.has_column("network_hops", name) for name in key):
        return {}
    if "utilisation" not in tables.number_columns("network_hops"):
        return {}
    hops = tables.contents["network_hops"].lazy()
    queues = hops.group_by(key).agg(pl.col("utilisation").max()).filter(pl.col("utilisation").is_finite())
    # Sums of floats depend on their order, and the page depends on the sums: hence the sort.
    value = pl.col("utilisation").sort()
    sums = queues.group_by("run_id", "queue_type").agg(total=value.sum(), queues=value.len())
    by_run: dict[str, dict[str, tuple[float, int]]] = defaultdict(dict)
    for run_id, queue_type, total, count in sums.collect().iter_rows():
        by_run[str(run_id)][str(queue_type)] = (total, count)
    return by_run


def _patterns(runs: Iterable[_Run]) -> list[str]:
    return sorted({run.pattern for run in runs}, key=lambda p: _rank(PATTERNS, p))


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
        for loads in sorted(groups, key=lambda loads: loads or (math.inf, math.inf))
    ]


def _banding(loads: Iterable[float | None]) -> Callable[[float], tuple[float, float]]:
    """Return the load itself twice where there are few different ones, or the band that it is in."""
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
    """Return the runs whose flows are drawn, at most CURVES_SHOWN.

    Each network and arrival process has its run of the highest load below STABLE_UTILISATION, all to all if
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
            (r for (n, _), r in best.items() if n == network), key=lambda r: _rank(ARRIVALS, r.arrivals)
        )
        first = index % len(own) if own else 0
        turns.append([*own[first:], *own[:first]])
    picked = [run for turn in zip_longest(*turns) for run in turn if run is not None][:CURVES_SHOWN]
    return sorted(picked, key=lambda r: (r.hosts, r.network, _rank(ARRIVALS, r.arrivals)))


def _preference(run: _Run) -> tuple[tuple[int, str], float, float, str]:
    return _rank(PATTERNS, run.pattern), -(run.load or 0.0), -run.offered, run.run_id


def _read_times(tables: TableSet, runs: Sequence[_Run]) -> list[FlowTimes]:
    """Read the distributions over the flows of each run that have a packet; runs without one are left out."""
    measures = ("rtt_mean_ns", "delay_mean_ns", *(column for column, _ in ESTIMATES))
    flows = tables.scan("network_flows", texts=("run_id",), numbers=measures)
    if not tables.has_column("network_flows", "run_id"):
        return []
    flows = flows.filter(pl.col("run_id").is_in([run.run_id for run in runs])).collect()
    times: list[FlowTimes] = []
    for run in runs:
        measured = "rtt_mean_ns" if run.is_acknowledged else "delay_mean_ns"
        names = {measured: SIMULATED, **dict(ESTIMATES)}
        own = flows.filter(pl.col("run_id") == run.run_id).select(*names).drop_nulls()
        if own.is_empty():
            continue
        times.append(
            FlowTimes(
                run_id=run.run_id,
                network=run.network,
                pattern=run.pattern,
                arrivals=run.arrivals,
                load=run.load,
                offered_utilisation=run.offered,
                is_round_trip=run.is_acknowledged,
                flows=own.height,
                curves=tuple(curve_of(name, own[column] / 1000) for column, name in names.items()),
            )
        )
    return times


def curve_of(name: str, values: pl.Series) -> Curve:
    """Return the cumulative distribution of finite values, of many at CURVE_POINTS equal steps of the share.

    Raises: ReportError: no value.
    """
    quantiles = quantiles_of(values)
    ordered = values.sort()
    size = ordered.len()
    steps = min(size, CURVE_POINTS)
    # A share of k / n of the values is at most the k-th of them.
    places = sorted({1, *(math.ceil(k * size / steps) for k in range(1, steps + 1))})
    return Curve(
        name=name,
        values=tuple(ordered.gather([place - 1 for place in places])),
        shares=tuple(place / size for place in places),
        quantiles=quantiles,
    )
