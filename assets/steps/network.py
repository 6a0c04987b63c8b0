"""Networks: simulated runs, their flows, and flows at queues, with estimates by theory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from assets.checks import CheckedFile, CheckRule
from assets.engines import NETWORK
from assets.label_settings import label_options
from assets.settings import Groups, Listener, Settings
from assets.step import Output, Partitioning, Step
from pipelines.base.identity import content_hash
from pipelines.base.validation import Positive
from pipelines.network import runs as network_runs
from pipelines.network.runs import RunGroup
from pipelines.schemas import OK, read_arrow


class Network(Groups[RunGroup]):
    """Simulated networks; the limit of each run is of processor time."""

    timeout_s: Positive = 600.0


def require_groups(settings: Settings) -> None:
    """Check every group of networks of a configuration, before work begins.

    Raises: NetworkError: a value is not acceptable.
    """
    for group in settings.group(Network).groups.values():
        network_runs.runs_of(group)[0].topology()  # the topology of all its runs


def make_networks(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the runs of a group of networks, their flows, and their flows at queues."""
    network = settings.group(Network)
    tables = network_runs.simulate_runs(
        network.named(partition),
        cache=settings.cache,
        workers=label_options(settings).workers,
        timeout_s=network.timeout_s,
        on_progress=listen,
    )
    return Output(
        rows={"network_runs": tables.runs, "network_flows": tables.flows, "network_hops": tables.hops}
    )


def _version(settings: Settings, partition: str) -> str:
    return content_hash(network_runs.runs_version(), asdict(settings.group(Network).named(partition)))


UDP = "udp"
ROUNDING_NS = 16
"""A simulated time is whole nanoseconds at each of up to twelve queues."""
SIZE_DEVIATIONS = 6.0
"""Standard deviations that the mean size of a flow's packets may be away from the distribution's mean."""
AGREED_UTILISATION = 0.9
AGREED_FACTORS = {"poisson": 1.5, "ge": 1.5}
OTHER_FACTOR = 4.0
"""Below this utilisation of the busiest queue theory and simulation are within this factor in the mean, by
arrival process: 76 sampled runs of 2 s with up to 54 hosts were within 1.25, and those with ON/OFF arrivals,
whose bursts take longer than two moments say, within 2.6."""


def incomplete_runs(file: CheckedFile) -> list[str]:
    """List ok runs that lack a figure, a flow or a flow's hops, and failed ones that have some."""
    flows = _counts(file.neighbour_columns("network_flows").select(["run_id"]))
    whole = file.neighbour_columns("network_hops").select(["run_id", "flow"])
    with_hops = _counts(whole.group_by(["run_id", "flow"]).aggregate([]))
    rows = file.content.select(["run_id", "status", "flow_count", *_FIGURES]).to_pylist()
    problems = [
        f"no {name} in an ok run: {row['run_id']}"
        for row in rows
        for name in _FIGURES
        if row["status"] == OK and row[name] is None
    ]
    for row in rows:
        run, flow_count = row["run_id"], row["flow_count"] if row["status"] == OK else 0
        got = flows.get(run, 0), with_hops.get(run, 0)
        if got != (flow_count, flow_count):
            problems.append(
                f"a run with status {row['status']} must have {flow_count} flows with their hops, "
                f"got {got[0]} flows, {got[1]} of hops, for run {run}"
            )
    return problems


_FIGURES = ("packet_count", "drop_count", "offered_utilisation", "busiest_utilisation")


def repeated_runs(file: CheckedFile) -> list[str]:
    """Return the runs that another group has, too: their rows would count twice."""
    own = file.content.column("run_id")
    folder = file.data_dir / "tables" / file.table
    problems: list[str] = []
    for path in sorted(p for p in folder.glob("*.parquet") if p.stem != file.partition):
        both = own.filter(pc.is_in(own, read_arrow(path).column("run_id"))).to_pylist()
        problems += [f"a run must be in one group, got {run} in {path.stem}, too" for run in both]
    return problems


def excess_drops(file: CheckedFile) -> list[str]:
    """Return the rows with more drops than packets, or fewer than none."""
    packets, drops = (file.content.column(name) for name in ("packet_count", "drop_count"))
    wrong = pc.or_(pc.greater(drops, packets), pc.less(drops, 0))
    return [
        f"drops must be 0 to the packets, got {row['drop_count']} of {row['packet_count']} for "
        + _name(file, row)
        for row in file.content.filter(wrong).to_pylist()
    ]


def early_packets(file: CheckedFile) -> list[str]:
    """Return UDP flows whose packets were on their way for less than it takes without any wait.

    The mean size of a flow's packets may be below the distribution's, by SIZE_DEVIATIONS at most.
    """
    runs = file.neighbour_columns("network_runs").select(_OF_RUNS)
    flows = file.content.join(runs, keys="run_id")  # rows in no order
    acknowledged = _numbers(flows, "is_acknowledged") > 0
    mean = np.where(acknowledged, _numbers(flows, "rtt_mean_ns"), _numbers(flows, "delay_mean_ns"))
    arrived = np.maximum(1.0, _numbers(flows, "packet_count") - _numbers(flows, "drop_count"))
    deviation = np.sqrt(_numbers(flows, "size_scv") / arrived)
    least = _numbers(flows, "base_ns") * (1.0 - SIZE_DEVIATIONS * deviation) - ROUNDING_NS
    is_udp = pc.equal(flows.column("protocol"), UDP).to_numpy()
    return sorted(
        f"a mean time must be at least {row['base_ns']} ns, the time without waits, got "
        f"{row['rtt_mean_ns'] if row['is_acknowledged'] else row['delay_mean_ns']:.0f} for {_name(file, row)}"
        for row in flows.filter(pa.array(is_udp & (mean < least))).to_pylist()
    )


_OF_RUNS = ["run_id", "protocol", "is_acknowledged", "size_scv"]


def negative_waits(file: CheckedFile) -> list[str]:
    """Return the hops whose wait, its deviation or an estimate of it is below 0."""
    return [
        f"{name} must be at least 0, got {row[name]} for {_name(file, row)}"
        for name in ("wait_mean_ns", "wait_std_ns", "entropy_wait_ns", "tree_wait_ns")
        for row in file.content.filter(pc.less(file.content.column(name), 0)).to_pylist()
    ]


def disagreeing_estimates(file: CheckedFile) -> list[str]:
    """List ok UDP runs without overload whose mean times by theory and simulation disagree."""
    estimates = _mean_estimates(file.neighbour_columns("network_flows"))
    problems: list[str] = []
    for row in file.rows:
        offered, estimate = row["offered_utilisation"], estimates.get(row["run_id"])
        simulated = row["rtt_mean_ns"] if row["is_acknowledged"] else row["delay_mean_ns"]
        if row["status"] != OK or row["protocol"] != UDP or None in (offered, simulated, estimate):
            continue
        factor = AGREED_FACTORS.get(row["arrivals"], OTHER_FACTOR)
        low, high = simulated / factor, simulated * factor
        if offered < AGREED_UTILISATION and not low <= estimate <= high:
            problems.append(
                f"theory must be within a factor of {factor:g} of the mean {simulated:.0f} ns, got "
                f"{estimate:.0f} at utilisation {offered:.2f} for run {row['run_id']}"
            )
    return problems


def _mean_estimates(flows: pa.Table) -> dict[str, float]:
    """Return the mean over packets of the estimate for trees of queues, by run; no run without packets."""
    weights = flows.column("packet_count").cast(pa.float64())
    weighted = pa.table(
        {
            "run_id": flows.column("run_id"),
            "packets": weights,
            "times": pc.multiply(weights, flows.column("tree_ns").cast(pa.float64())),
        }
    )
    sums = weighted.group_by("run_id").aggregate([("packets", "sum"), ("times", "sum")]).to_pylist()
    return {row["run_id"]: row["times_sum"] / row["packets_sum"] for row in sums if row["packets_sum"] > 0}


def _counts(runs: pa.Table) -> dict[str, int]:
    """Return the rows by run."""
    counts = runs.group_by("run_id").aggregate([([], "count_all")])
    return dict(zip(*(counts.column(n).to_pylist() for n in ("run_id", "count_all")), strict=True))


def _numbers(table: pa.Table, column: str) -> NDArray[np.float64]:
    """Return a column, (rows,), NaN for null."""
    return table.column(column).cast(pa.float64()).to_numpy()


def _name(file: CheckedFile, row: Mapping[str, Any]) -> str:
    parts = {"run_id": "run", "flow": "flow", "hop": "hop"}
    return " ".join(f"{word} {row[key]}" for key, word in parts.items() if key in file.content.column_names)


_COMPLETE = CheckRule(
    "complete",
    "Every ok run has its figures, its flows and their hops; a failed one has none.",
    incomplete_runs,
)
_RUNS_ONCE = CheckRule("runs_once", "No run stands in two groups.", repeated_runs)
_DROPS_BELOW_PACKETS = CheckRule(
    "drops_below_packets", "No more packets were refused than came.", excess_drops
)
_NOT_EARLY = CheckRule("not_early", "No UDP flow was faster in the mean than its links allow.", early_packets)
_WAITS_POSITIVE = CheckRule("waits_positive", "No wait is below 0, simulated or estimated.", negative_waits)
_THEORY_AGREES = CheckRule(
    name="theory_agrees",
    description=(
        f"The mean time of UDP runs below a utilisation of {AGREED_UTILISATION:g} is the estimate's within a "
        f"factor: {', '.join(f'{f:g} ({a})' for a, f in AGREED_FACTORS.items())}, {OTHER_FACTOR:g} (others)."
    ),
    blocking=False,
    problems=disagreeing_estimates,
)

BY_GROUP = Partitioning(name="group", names=lambda configuration: tuple(configuration.network.groups))

STEP = Step(
    name="network",
    description="Simulated networks: runs, flows, and flows at queues, with estimates by theory.",
    run=make_networks,
    tables=("network_runs", "network_flows", "network_hops"),
    partitioned=BY_GROUP,
    pool="simulation",
    configuration={"network": Network},
    parameters=("network",),
    engines=(NETWORK,),
    version=_version,
    checks={
        "network_runs": [_COMPLETE, _RUNS_ONCE, _DROPS_BELOW_PACKETS, _THEORY_AGREES],
        "network_flows": [_DROPS_BELOW_PACKETS, _NOT_EARLY],
        "network_hops": [_DROPS_BELOW_PACKETS, _WAITS_POSITIVE],
    },
    require=require_groups,
)
