"""Traces: recorded or generated packets with times, hosts and sizes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pipelines.base.files import open_regular
from pipelines.network.errors import NetworkError
from pipelines.network.topology import Topology
from pipelines.network.traffic.columns import ENDINGS, Form, naming_file, read_columns
from pipelines.network.traffic.dispersion import flow_moments
from pipelines.network.traffic.patterns import HEADER_BYTES, PAYLOAD_LIMIT_BYTES, PROTOCOLS, UDP, Traffic
from pipelines.network.traffic.schedule import DURATION_LIMIT_S, PACKET_LIMIT, Schedule

FILE_LIMIT_BYTES = 1 << 30
FILE_PACKET_LIMIT = 1 << 24
"""A file with this many packets and its estimate take 1.8 GiB."""
COLUMNS = ("time_s", "source", "destination", "bytes")
FORM = Form(what="trace", row="packet", required=COLUMNS, numbers=("time_s",), most_rows=FILE_PACKET_LIMIT)
TIME_LIMIT_S = 9e9
"""Largest time in 64-bit nanoseconds."""
HOST_LIMIT = 1 << 20
_NS = 1e9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """Packets in the order of their times.

    Attributes:
        times_ns: transmission times, non-decreasing, from any origin. (packets,)
        sources, destinations: hosts. (packets,)
        payload_bytes: of packets, without headers. (packets,)
    """

    times_ns: NDArray[np.int64]
    sources: NDArray[np.int32]
    destinations: NDArray[np.int32]
    payload_bytes: NDArray[np.int32]

    def __post_init__(self) -> None:
        counts = {len(a) for a in (self.times_ns, self.sources, self.destinations, self.payload_bytes)}
        if len(counts) != 1:
            raise NetworkError(f"a trace's columns must be of one length, got {sorted(counts)}")
        if not 1 <= len(self.times_ns) <= PACKET_LIMIT:
            raise NetworkError(f"a trace must have 1 to {PACKET_LIMIT} packets, got {len(self.times_ns)}")
        _check_times(self.times_ns)
        _check_hosts(self, HOST_LIMIT)
        sizes = self.payload_bytes
        for row in _first((sizes < 1) | (sizes > PAYLOAD_LIMIT_BYTES)):
            raise NetworkError(
                f"a packet must have 1 to {PAYLOAD_LIMIT_BYTES} bytes, got {sizes[row]} in row {row + 1}"
            )

    @property
    def duration_s(self) -> float:
        """Time from the first packet to the last."""
        return int(self.times_ns[-1] - self.times_ns[0]) / _NS


def _first(wrong: NDArray[np.bool_]) -> list[int]:
    """Return the first row for which something holds, if any."""
    row = int(wrong.argmax())
    return [row] if wrong[row] else []


def _check_times(times_ns: NDArray[np.int64]) -> None:
    if times_ns[0] < 0:
        raise NetworkError(f"a packet's time must be 0 s or more, got {times_ns[0] / _NS:.12g} s in row 1")
    for row in _first(np.concatenate([[False], np.diff(times_ns) < 0])):
        raise NetworkError(
            f"a trace must be in the order of time, got {times_ns[row] / _NS:.12g} s after "
            f"{times_ns[row - 1] / _NS:.12g} s in row {row + 1}"
        )
    last_s = int(times_ns[-1] - times_ns[0]) / _NS
    if not 0.0 < last_s <= DURATION_LIMIT_S:
        raise NetworkError(
            f"a trace must last above 0 to {DURATION_LIMIT_S:g} s, got {last_s:.9g} s from its first packet "
            "to its last"
        )


def _check_hosts(trace: Trace, host_count: int) -> None:
    for name, hosts in (("source", trace.sources), ("destination", trace.destinations)):
        for row in _first((hosts < 0) | (hosts >= host_count)):
            raise NetworkError(
                f"a packet's {name} must be a host from 0 to {host_count - 1}, got {hosts[row]} in row "
                f"{row + 1}"
            )
    for row in _first(trace.sources == trace.destinations):
        raise NetworkError(
            f"a packet's destination must be another host than its source, got {trace.sources[row]} for "
            f"both in row {row + 1}"
        )


def read_trace(path: Path, *, topology: Topology | None = None) -> Trace:
    """Read the packets of a CSV or Parquet file.

    Columns are time_s (from any origin; a double), source and destination (ids of hosts in the network
    file, or numbers) and bytes (of payload, without headers); others are left out. Rows count from 1, after
    the header.

    Args:   topology: network that the trace is for; None when none is known yet.
    Raises: NetworkError: the file cannot be read or a packet is invalid; the message names file and row.
    """
    if path.suffix not in ENDINGS:
        raise NetworkError(f"unknown file type of a trace: {path.name}; accepted: {', '.join(ENDINGS)}")
    with (
        open_regular(path, what="trace", most_bytes=FILE_LIMIT_BYTES, error=NetworkError) as file,
        naming_file(path, "trace"),
    ):
        trace = _trace_of(read_columns(file, path, FORM, () if topology is None else topology.host_ids))
        if topology is not None:
            _check_hosts(trace, topology.host_count)
    return trace


def _trace_of(columns: dict[str, NDArray[Any]]) -> Trace:
    times_s = columns["time_s"]
    for row in _first(~((times_s >= 0.0) & (times_s <= TIME_LIMIT_S))):
        raise NetworkError(
            f"a packet's time must be 0 to {TIME_LIMIT_S:g} s, got {times_s[row]:.12g} s in row {row + 1}"
        )
    return Trace(
        times_ns=np.rint(times_s * _NS).astype(np.int64),
        sources=columns["source"],
        destinations=columns["destination"],
        payload_bytes=columns["bytes"],
    )


def write_trace(trace: Trace, path: Path) -> None:
    """Write a trace as CSV or Parquet; `read_trace` returns the same trace for times up to 100 days.

    Raises: NetworkError: another ending, or the file cannot be written.
    """
    if path.suffix not in ENDINGS:
        raise NetworkError(f"unknown file type of a trace: {path.name}; accepted: {', '.join(ENDINGS)}")
    values = (trace.times_ns / _NS, trace.sources, trace.destinations, trace.payload_bytes)
    rows = pa.table(dict(zip(COLUMNS, values, strict=True)))
    try:
        with path.open("wb") as file:
            if path.suffix == ".csv":
                pa_csv.write_csv(rows, file)
            else:
                pq.write_table(rows, file)
    except OSError as error:
        raise NetworkError(f"cannot write the trace: {error.strerror or error} ({path})") from error


def traffic_of_trace(
    trace: Trace, topology: Topology, *, protocol: str = UDP, capacity: int | None = 128
) -> tuple[Traffic, Schedule]:
    """Return the flows of a trace over a network, and its packets.

    A flow is a pair of hosts, ordered by source and destination; its rate is its number of packets divided by
    the duration of the trace, which starts at the first packet.

    Args:   capacity: queue capacity in packets, which the burstiness of flows depends on (`dispersion.py`).
    Raises: NetworkError: a host is not in the network, or there are too many flows.
    """
    _check_hosts(trace, topology.host_count)
    if protocol not in PROTOCOLS:
        raise NetworkError(f"unknown protocol: {protocol}; accepted: {', '.join(PROTOCOLS)}")
    pairs, flows = _pairs(trace)
    schedule = Schedule(
        times_ns=trace.times_ns - trace.times_ns[0],
        flows=flows,
        payload_bytes=trace.payload_bytes,
        duration_s=trace.duration_s,
    )
    sources, destinations = (pairs // HOST_LIMIT).astype(np.int32), (pairs % HOST_LIMIT).astype(np.int32)
    moments = flow_moments(
        schedule,
        sources,
        destinations,
        topology=topology,
        header_bytes=HEADER_BYTES[protocol],
        capacity=capacity,
    )
    traffic = Traffic(
        sources=sources,
        destinations=destinations,
        rates_per_s=np.bincount(flows) / trace.duration_s,
        protocol=protocol,
        moments=moments,
    )
    return traffic, schedule


def _pairs(trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the source x `HOST_LIMIT` + destination of every flow, rising, and the flow of every packet."""
    keys = trace.sources.astype(np.int64) * HOST_LIMIT + trace.destinations
    pairs, flows = np.unique(keys, return_inverse=True)
    return pairs, flows.reshape(-1).astype(np.int32)


def replicate_trace(trace: Trace, *, hosts: int, seed: int) -> Trace:
    """Return a trace of a larger network: copies of every flow between random hosts, until every host has a
    flow.

    Rounds of copies follow each other. In a round every flow is copied once, with its times and sizes, from
    one host to another, all pairs being as likely; copies that draw the same pair are one flow. All flows
    of the trace itself are such copies too, so that its hosts are as loaded as others.

    Args:   hosts: of the larger network.
    Raises: NetworkError: fewer hosts than the trace has, or too many packets.
    Source: section 5.4.3: replicating each flow and randomly reassigning its source and destination, until
            all hosts are assigned as one of them.
    """
    least = int(max(trace.sources.max(), trace.destinations.max())) + 1
    if not least <= hosts <= HOST_LIMIT:
        raise NetworkError(f"a replicated trace must have {least} to {HOST_LIMIT} hosts, got {hosts}")
    if seed < 0:
        raise NetworkError(f"a seed must be 0 or more, got {seed}")
    pairs, flows = _pairs(trace)
    sources, destinations = _rounds(len(pairs), len(flows), hosts, seed)
    return Trace(
        times_ns=np.repeat(trace.times_ns, len(sources)),
        sources=sources[:, flows].T.reshape(-1),
        destinations=destinations[:, flows].T.reshape(-1),
        payload_bytes=np.repeat(trace.payload_bytes, len(sources)),
    )


def _rounds(
    flow_count: int, packet_count: int, hosts: int, seed: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the source and destination of every flow in every round. (rounds, flows)"""
    stream = np.random.Generator(np.random.Philox(key=seed))
    is_used = np.zeros(hosts, np.bool_)
    sources: list[NDArray[np.int32]] = []
    destinations: list[NDArray[np.int32]] = []
    while not is_used.all():
        if (len(sources) + 1) * packet_count > PACKET_LIMIT:
            raise NetworkError(
                f"a replicated trace must have at most {PACKET_LIMIT} packets, got more before every one of "
                f"{hosts} hosts had a flow"
            )
        source = stream.integers(hosts, size=flow_count, dtype=np.int32)
        other = stream.integers(hosts - 1, size=flow_count, dtype=np.int32)
        sources.append(source)
        destinations.append(other + (other >= source).astype(np.int32))
        is_used[sources[-1]] = is_used[destinations[-1]] = True
    return np.stack(sources), np.stack(destinations)
