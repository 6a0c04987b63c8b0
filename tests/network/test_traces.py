"""Traces: files and what they refuse, flows and their moments, generation, larger networks, simulation."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hostile_parquet import parquet_with_a_page_of
from measured_children import read_in_child

from pipelines.network.errors import NetworkError
from pipelines.network.queueing import flow_latency, model_network, stream_waits
from pipelines.network.simulation import SimulationOptions, make_scenario, simulate
from pipelines.network.topology import FatTree, Link, Topology, fat_tree, topology_of_links
from pipelines.network.traffic import (
    Arrivals,
    FlowMoments,
    PacketSizes,
    Pattern,
    Schedule,
    Trace,
    TraceOptions,
    Traffic,
    draw_schedule,
    generate_trace,
    read_trace,
    replicate_trace,
    traces,
    traffic_of,
    traffic_of_trace,
    write_trace,
)

TREE = fat_tree(FatTree(pods=4))
SHORT = TraceOptions(duration_s=0.5, load=0.2)
HEADER = "time_s,source,destination,bytes\n"


def _trace(
    times_ns: list[int], sources: list[int], destinations: list[int], sizes: list[int] | None = None
) -> Trace:
    return Trace(
        times_ns=np.array(times_ns, np.int64),
        sources=np.array(sources, np.int32),
        destinations=np.array(destinations, np.int32),
        payload_bytes=np.array(sizes or [500] * len(times_ns), np.int32),
    )


def _trace_of(schedule: Schedule, traffic: Traffic) -> Trace:
    return Trace(
        times_ns=schedule.times_ns,
        sources=traffic.sources[schedule.flows],
        destinations=traffic.destinations[schedule.flows],
        payload_bytes=schedule.payload_bytes,
    )


def _assert_same(one: Trace, other: Trace) -> None:
    for name in ("times_ns", "sources", "destinations", "payload_bytes"):
        assert getattr(one, name).dtype == getattr(other, name).dtype
        assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_written_trace_is_read_as_it_was(tmp_path: Path, ending: str) -> None:
    trace = generate_trace(SHORT, seed=2)
    write_trace(trace, tmp_path / f"trace{ending}")
    _assert_same(trace, read_trace(tmp_path / f"trace{ending}", topology=fat_tree(FatTree(pods=4))))


def test_a_file_may_have_other_columns_and_any_order(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text("port,bytes,destination,source,time_s\nx, 40,2,1,1e9\ny,1500,1,2,1000000000.5\n")
    _assert_same(
        read_trace(file),
        _trace([10**18, 10**18 + 5 * 10**8], sources=[1, 2], destinations=[2, 1], sizes=[40, 1500]),
    )
    columns = {
        "time_s": [0, 3],
        "source": [0, 1],
        "destination": [1, 0],
        "bytes": [9, 9],
        "more": [None, "x"],
    }
    pq.write_table(pa.table(columns), tmp_path / "trace.parquet")
    _assert_same(
        read_trace(tmp_path / "trace.parquet"),
        _trace([0, 3 * 10**9], sources=[0, 1], destinations=[1, 0], sizes=[9, 9]),
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "damaged CSV: Empty CSV file"),
        (HEADER, "a trace has no packets"),
        (
            "time,source,destination,bytes\n1,0,1,9\n",
            "columns of a trace: time, source, destination, bytes; "
            "accepted: each of time_s, source, destination, bytes once",
        ),
        (
            "time_s,source,source,destination,bytes\n1,0,0,1,9\n",
            "columns of a trace: time_s, source, source, destination, bytes; "
            "accepted: each of time_s, source, destination, bytes once",
        ),
        (
            HEADER + "0,0,1,9\n1,0,1\n",
            "damaged CSV: CSV parse error: Expected 4 columns, got 3: 1,0,1",
        ),
        (HEADER + "0,0,1,9\nsoon,0,1,9\n", "a packet's time_s must be a number, got 'soon' in row 2"),
        (HEADER + "0,0,1,9\n,0,1,9\n", "a packet's time_s must be a number, got '' in row 2"),
        (HEADER + "0,0,1,9\nnan,0,1,9\n", "a packet's time must be 0 to 9e+09 s, got nan s in row 2"),
        (
            HEADER + "0,0,1,9\n1,0,1,9\ninf,0,1,9\n",
            "a packet's time must be 0 to 9e+09 s, got inf s in row 3",
        ),
        (HEADER + "-0.5,0,1,9\n1,0,1,9\n", "a packet's time must be 0 to 9e+09 s, got -0.5 s in row 1"),
        (
            HEADER + "0,0,1,9\n2,0,1,9\n3,0,1,9\n1.5,0,1,9\n",
            "a trace must be in the order of time, got 1.5 s after 3 s in row 4",
        ),
        (
            HEADER + "1,0,1,9\n",
            "a trace must last above 0 to 3600 s, got 0 s from its first packet to its last",
        ),
        (
            HEADER + "1,0,1,9\n3602,0,1,9\n",
            "a trace must last above 0 to 3600 s, got 3601 s from its first packet to its last",
        ),
        (
            HEADER + "0,0,1,9\n1,a,1,9\n",
            "a packet's source must be a whole number of 32 bits, got 'a' in row 2",
        ),
        (
            HEADER + "0,0,1.5,9\n",
            "a packet's destination must be a whole number of 32 bits, got '1.5' in row 1",
        ),
        (
            HEADER + "0,0,1,99999999999\n",
            "a packet's bytes must be a whole number of 32 bits, got '99999999999' in row 1",
        ),
        (
            HEADER + "0,0,1,9\n1,-1,1,9\n",
            "a packet's source must be a host from 0 to 1048575, got -1 in row 2",
        ),
        (
            HEADER + "0,0,1,9\n1,0,16,9\n",
            "a packet's destination must be a host from 0 to 15, got 16 in row 2",
        ),
        (
            HEADER + "0,0,1,9\n1,3,3,9\n",
            "a packet's destination must be another host than its source, got 3 for both in row 2",
        ),
        (HEADER + "0,0,1,9\n1,0,1,0\n", "a packet must have 1 to 65000 bytes, got 0 in row 2"),
        (HEADER + "0,0,1,65001\n1,0,1,9\n", "a packet must have 1 to 65000 bytes, got 65001 in row 1"),
    ],
)
def test_read_trace_rejects(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(content)
    said = re.escape(f"{message} ({file})")
    place = "(Row #3: )?"  # Arrow names the row where it reads with one thread
    with pytest.raises(NetworkError, match=f"^{said.replace('Expected', f'{place}Expected')}$"):
        read_trace(file, topology=fat_tree(FatTree(pods=4)))


def test_read_trace_names_the_row_of_a_later_part(tmp_path: Path) -> None:
    """Files are read in parts of a megabyte; rows count from the first of them."""
    rows = [f"{row},0,1,9\n" for row in range(200_000)]
    rows[150_000] = "x,0,1,9\n"
    (tmp_path / "trace.csv").write_text(HEADER + "".join(rows))
    with pytest.raises(NetworkError, match=r"^a packet's time_s must be a number, got 'x' in row 150001 \("):
        read_trace(tmp_path / "trace.csv")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"time_s": ["0", "1"]}, "a trace's column time_s must be of numbers, got string"),
        ({"source": [0.0, 1.0]}, "a trace's column source must be of whole numbers, got double"),
        ({"bytes": [True, True]}, "a trace's column bytes must be of whole numbers, got bool"),
        ({"time_s": [0.0, None]}, "a packet's time_s must be a number, got None in row 2"),
        ({"bytes": [9, None]}, "a packet's bytes must be a whole number of 32 bits, got None in row 2"),
        (
            {"source": [0, 1 << 40]},
            "a packet's source must be a whole number of 32 bits, got 1099511627776 in row 2",
        ),
        ({"time_s": []}, "a trace has no packets"),
    ],
)
def test_read_trace_rejects_a_table(tmp_path: Path, columns: dict[str, list[Any]], message: str) -> None:
    right: dict[str, list[Any]] = {
        "time_s": [0.0, 1.0],
        "source": [0, 1],
        "destination": [2, 2],
        "bytes": [9, 9],
    }
    rows = {name: values[: len(next(iter(columns.values())))] for name, values in right.items()} | columns
    if not rows["time_s"]:
        rows = dict.fromkeys(right, pa.array([], pa.int64()))
    file = tmp_path / "trace.parquet"
    pq.write_table(pa.table(rows), file)
    with pytest.raises(NetworkError, match=f"^{re.escape(f'{message} ({file})')}$"):
        read_trace(file)


def test_read_trace_rejects_damaged_absent_and_other_files(tmp_path: Path) -> None:
    file = tmp_path / "trace.parquet"
    write_trace(generate_trace(SHORT, seed=1), file)
    whole = file.read_bytes()
    for content in (whole[:-20], whole[: len(whole) // 2], b"", b"no table at all"):
        file.write_bytes(content)
        with pytest.raises(NetworkError, match=r"^a trace has damaged content \(.+\) \(.+trace.parquet\)$"):
            read_trace(file)
    (tmp_path / "trace.csv").write_bytes(b"time_s,\xff\n1,2\n")
    with pytest.raises(NetworkError, match=r"^a trace's column names are not UTF-8: invalid start byte"):
        read_trace(tmp_path / "trace.csv")
    (tmp_path / "trace.csv").write_bytes(HEADER.encode() + b"\xff,0,1,9\n")
    with pytest.raises(NetworkError, match=r"^damaged CSV: .+ invalid UTF8 data \("):
        read_trace(tmp_path / "trace.csv")
    absent = tmp_path / "absent.csv"
    with pytest.raises(NetworkError, match=f"^cannot read the trace {absent}: No such file or directory$"):
        read_trace(absent)
    for name in ("trace.txt", "trace.csv.gz", "trace"):
        with pytest.raises(
            NetworkError, match=rf"^unknown file type of a trace: {name}; accepted: .csv, .parquet$"
        ):
            read_trace(tmp_path / name)
        with pytest.raises(
            NetworkError, match=rf"^unknown file type of a trace: {name}; accepted: .csv, .parquet$"
        ):
            write_trace(generate_trace(SHORT, seed=1), tmp_path / name)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_read_trace_rejects_what_is_not_a_regular_file_and_a_large_one(tmp_path: Path, ending: str) -> None:
    os.mkfifo(tmp_path / f"pipe{ending}")
    (tmp_path / f"zero{ending}").symlink_to("/dev/zero")
    (tmp_path / f"folder{ending}").mkdir()
    with (tmp_path / f"large{ending}").open("wb") as file:
        file.truncate(1 << 40)
    for name, kind in {
        "pipe": "a pipe",
        "zero": "a character device",
        "folder": "a folder",
        "large": f"{1 << 40} bytes",
    }.items():
        path = tmp_path / f"{name}{ending}"
        message = f"cannot read the trace {path}: {kind}; accepted: a regular file of at most 1024 MiB"
        with pytest.raises(NetworkError, match=f"^{message}$"):
            read_trace(path)


@pytest.mark.parametrize(
    ("ending", "message"),
    [
        (".csv", "a trace has more than 2 packets"),
        (".parquet", "a trace has 3 rows; accepted: at most 2"),
    ],
)
def test_read_trace_rejects_too_many_packets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, message: str
) -> None:
    file = tmp_path / f"trace{ending}"
    write_trace(_trace([0, 1, 2], [0, 0, 0], [1, 1, 1]), file)
    monkeypatch.setattr(traces, "FORM", replace(traces.FORM, most_rows=2))
    with pytest.raises(NetworkError, match=rf"^{message} \({file}\)$"):
        read_trace(file)


def test_a_trace_of_500_000_columns_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    path.write_text(HEADER.strip() + ",x" * 500_000 + "\n1,0,1,9" + ",1" * 500_000 + "\n")
    said, peak_bytes = read_in_child("pipelines.network.traffic", "read_trace", path)
    assert said == f"NetworkError: a trace must have at most 1000 columns, got 32757 or more ({path})"
    assert peak_bytes < 1 << 30


def test_a_page_that_decodes_to_gigabytes_is_refused_before_it_takes_memory(tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    generator = np.random.default_rng(1)
    times = pa.table({"time_s": generator.random(20_000)})
    numbers = np.arange(20_000, dtype=np.int32)
    table = times.append_column("source", [numbers]).append_column("destination", [numbers])
    path.write_bytes(parquet_with_a_page_of(table.append_column("bytes", [numbers]), 29 << 26))
    said, peak_bytes = read_in_child("pipelines.network.traffic", "read_trace", path)
    assert said == (f"NetworkError: a trace has columns that take more than 640 MiB to decode ({path})")
    assert peak_bytes < 1 << 30


def test_write_trace_rejects_a_place(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"^cannot write the trace: No such file or directory \("):
        write_trace(_trace([0, 1], [0, 0], [1, 1]), tmp_path / "none" / "trace.csv")


def test_a_trace_rejects_columns_of_two_lengths() -> None:
    with pytest.raises(NetworkError, match=r"^a trace's columns must be of one length, got \[1, 2\]$"):
        _trace([0, 1], [0], [1, 1])
    with pytest.raises(NetworkError, match=r"^a packet's time must be 0 s or more, got -1 s in row 1$"):
        _trace([-(10**9), 1], [0, 0], [1, 1])


def test_flows_of_a_trace_are_its_pairs_and_its_packets_the_schedule() -> None:
    trace = _trace([100, 200, 400, 1100], [5, 0, 5, 5], [0, 1, 2, 0], [70, 970, 470, 170])
    traffic, schedule = traffic_of_trace(trace, TREE)
    assert list(zip(traffic.sources, traffic.destinations, strict=True)) == [(0, 1), (5, 0), (5, 2)]
    assert traffic.rates_per_s == pytest.approx(np.array([1, 2, 1]) / 1e-6)
    assert schedule.times_ns.tolist() == [0, 100, 300, 1000]
    assert schedule.flows.tolist() == [1, 0, 2, 1]
    assert schedule.payload_bytes.tolist() == [70, 970, 470, 170]
    assert schedule.duration_s == pytest.approx(1e-6)
    moments = traffic.flow_moments()
    assert moments.mean_bytes.tolist() == [1000, 150, 500]
    assert moments.second_bytes2.tolist() == [10**6, (100**2 + 200**2) / 2, 500**2]
    assert moments.scvs.tolist() == [1, 1, 1]


def test_traffic_of_trace_rejects_hosts_of_another_network_and_a_protocol() -> None:
    trace = _trace([0, 1], [0, 0], [1, 16])
    with pytest.raises(
        NetworkError, match=r"^a packet's destination must be a host from 0 to 15, got 16 in row 2$"
    ):
        traffic_of_trace(trace, TREE)
    with pytest.raises(NetworkError, match=r"^unknown protocol: sctp; accepted: udp, tcp$"):
        traffic_of_trace(_trace([0, 1], [0, 0], [1, 1]), TREE, protocol="sctp")


@pytest.mark.parametrize("arrivals", [Arrivals(), Arrivals(kind="ge", scv=4.0)])
@pytest.mark.parametrize("capacity", [None, 128])
def test_measured_moments_are_those_of_the_process(arrivals: Arrivals, capacity: int | None) -> None:
    """Where times between packets, or batches, are independent every scale of time has the same variation."""
    sizes = PacketSizes(kind="bimodal", values_bytes=(64, 1400), shares=(0.6, 0.4))
    drawn = traffic_of(TREE, Pattern(kind="broadcast", load=0.6), arrivals=arrivals, sizes=sizes)
    trace = _trace_of(draw_schedule(drawn, duration_s=20.0, seed=4), drawn)
    traffic, _ = traffic_of_trace(trace, TREE, capacity=capacity)
    moments, expected = traffic.flow_moments(), drawn.flow_moments()
    assert traffic.rates_per_s == pytest.approx(drawn.rates_per_s, rel=0.05)
    assert moments.mean_bytes == pytest.approx(expected.mean_bytes, rel=0.03)
    assert moments.second_bytes2 == pytest.approx(expected.second_bytes2, rel=0.05)
    assert moments.scvs.mean() == pytest.approx(arrivals.scv, rel=0.08)


def test_measured_and_given_moments_give_the_same_latency() -> None:
    traffic = traffic_of(TREE, Pattern(load=0.4), arrivals=Arrivals(kind="ge", scv=3.0))
    measured = replace(traffic, arrivals=Arrivals(), moments=traffic.flow_moments())
    one, other = (
        flow_latency(m, stream_waits(m)) for m in (model_network(TREE, t) for t in (traffic, measured))
    )
    assert np.array_equal(one.rtt_s, other.rtt_s)
    calm = replace(measured, moments=replace(traffic.flow_moments(), scvs=np.ones(240)))
    model = model_network(TREE, calm)
    assert flow_latency(model, stream_waits(model)).rtt_s.mean() < one.rtt_s.mean()


def test_a_flow_of_few_packets_and_a_trace_of_no_time_are_taken_as_poisson() -> None:
    burst = generate_trace(replace(SHORT, pair_count=2), seed=5)
    host = next(h for h in range(16) if h not in burst.sources and h not in burst.destinations)
    few = _trace(
        [*burst.times_ns.tolist(), *[int(burst.times_ns[-1]) + k for k in range(7)]],
        [*burst.sources.tolist(), *[host] * 7],
        [*burst.destinations.tolist(), *[(host + 1) % 16] * 7],
        [*burst.payload_bytes.tolist(), *[1400] * 7],
    )
    traffic, _ = traffic_of_trace(few, TREE)
    assert traffic.flow_moments().scvs[traffic.sources == host].tolist() == [1.0]
    assert traffic.flow_moments().scvs.max() > 1.5
    sudden, _ = traffic_of_trace(_trace([*range(100)], [0] * 100, [1] * 100), TREE)
    assert sudden.flow_moments().scvs.tolist() == [1.0]


def _moments(count: int) -> FlowMoments:
    ones = np.ones(count)
    return FlowMoments(mean_bytes=ones, second_bytes2=ones, scvs=ones)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scvs": np.ones(1)}, "moments must be of the same flows, got (2, 2, 1)"),
        (
            {"second_bytes2": np.array([1.0, 0.5])},
            "a flow's mean square of bytes must be at least its positive mean's square, got 0.5 and 1 of "
            "flow 1",
        ),
        ({"scvs": np.array([1.0, -1.0])}, "a flow's scv must be 0 to 1000, got -1.0 of flow 1"),
        ({"scvs": np.array([float("nan"), 1.0])}, "a flow's scv must be 0 to 1000, got nan of flow 0"),
    ],
)
def test_flow_moments_reject(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(NetworkError, match=f"^{re.escape(message)}$"):
        replace(_moments(2), **changes)


def test_measured_traffic_rejects_moments_of_other_flows_and_drawing() -> None:
    traffic = traffic_of(TREE, Pattern(kind="incast"))
    with pytest.raises(NetworkError, match=r"^traffic must have moments of all 15 flows or none, got 2$"):
        replace(traffic, moments=_moments(2))
    message = (
        "packets must be drawn from arrivals and sizes, got flows with moments of their own; the packets of "
        "a trace are its schedule"
    )
    with pytest.raises(NetworkError, match=f"^{message}$"):
        draw_schedule(replace(traffic, moments=_moments(15)), duration_s=1.0, seed=1)


def test_a_seed_gives_the_same_trace_and_another_gives_another() -> None:
    one, same, other = (generate_trace(SHORT, seed=seed) for seed in (1, 1, 2))
    _assert_same(one, same)
    assert not np.array_equal(one.times_ns[:50], other.times_ns[:50])


def test_a_generated_trace_has_its_hosts_pairs_and_load() -> None:
    options = TraceOptions(host_count=6, pair_count=20, duration_s=20.0, load=0.4)
    trace = generate_trace(options, seed=3)
    pairs = set(zip(trace.sources.tolist(), trace.destinations.tolist(), strict=True))
    assert len(pairs) == 20
    assert trace.times_ns[-1] < 20e9
    wire_bits = (trace.payload_bytes + 30) * 8
    sums = [np.bincount(ends, wire_bits) for ends in (trace.sources, trace.destinations)]
    assert max(s.max() for s in sums) / 20.0 / 1e8 == pytest.approx(0.4, rel=0.1)
    assert 0.2 < np.mean(trace.payload_bytes == 1400) < 0.6
    assert 0.2 < np.mean(trace.payload_bytes <= 200) < 0.6


def test_pairs_of_a_generated_trace_follow_zipf() -> None:
    """With one packet a message their numbers are in proportion to the weights."""
    options = TraceOptions(pair_count=30, pair_skew=1.0, small_share=1.0, load=0.05, on_scales_s=())
    trace = generate_trace(options, seed=8)
    counts = -np.sort(-np.bincount(trace.sources * 16 + trace.destinations))[:30]
    assert counts / counts.sum() * np.arange(1, 31) == pytest.approx(np.full(30, 0.2503), rel=0.05)


def test_messages_of_a_generated_trace_have_a_heavy_tail() -> None:
    """Of messages that never overlap: probability of a size and more is a power of it."""
    options = TraceOptions(
        pair_count=1,
        small_share=0.0,
        tail=1.3,
        load=0.02,
        burst_rate_bps=10**11,
        on_scales_s=(),
        duration_s=200.0,
    )
    trace = generate_trace(options, seed=6)
    begins = np.flatnonzero(np.diff(trace.times_ns, prepend=-(10**9)) > 200)
    sizes = np.add.reduceat(trace.payload_bytes, begins)
    assert (sizes.min(), sizes.max() <= 200_000) == (1000, True)
    for times in (2, 5, 20):
        bound = (times**-1.3 - 200**-1.3) / (1 - 200**-1.3)
        assert np.mean(sizes > 1000 * times) == pytest.approx(bound, rel=0.1)


def _dispersion(trace: Trace, window_s: float, duration_s: float) -> float:
    """Variance of packets within windows over their mean: 1 of Poisson arrivals at every length."""
    counts = np.bincount((trace.times_ns / 1e9 / window_s).astype(int), minlength=int(duration_s / window_s))
    return float(counts.var() / counts.mean())


def test_a_generated_trace_is_bursty_at_several_scales() -> None:
    options = TraceOptions(pair_count=5, duration_s=10.0, load=0.2)
    bursty, calm = (generate_trace(o, seed=3) for o in (options, replace(options, on_scales_s=())))
    found = [_dispersion(bursty, window_s, 10.0) for window_s in (0.001, 0.01, 0.1)]
    assert 2.0 < found[0] < found[1] / 1.5 < found[2] / 1.5**2
    assert found[2] > 2.0 * _dispersion(calm, 0.1, 10.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"host_count": 1}, "host_count of a generated trace must be 2 to 1.04858e+06, got 1"),
        ({"pair_count": 241}, "pair_count of a generated trace must be 1 to 240, got 241"),
        ({"pair_skew": -1.0}, "pair_skew of a generated trace must be 0 to 10, got -1.0"),
        ({"duration_s": 0.0}, "duration_s of a generated trace must be above 0 to 3600, got 0.0"),
        ({"load": float("nan")}, "load of a generated trace must be above 0 to 4, got nan"),
        ({"link_rate_bps": 0}, "link_rate_bps of a generated trace must be 1 to 1e+13, got 0"),
        ({"small_share": 1.1}, "small_share of a generated trace must be 0 to 1, got 1.1"),
        ({"small_bytes": (0, 9)}, "small_bytes of a generated trace must be 1 to 65000, got 0"),
        ({"small_bytes": (90, 9)}, "small_bytes of a generated trace must be 90 to 65000, got 9"),
        ({"tail": 0.0}, "tail of a generated trace must be above 0 to 10, got 0.0"),
        ({"least_bytes": 0}, "least_bytes of a generated trace must be 1 to 1.07374e+09, got 0"),
        ({"most_bytes": 10}, "most_bytes of a generated trace must be 1000 to 1.07374e+09, got 10"),
        ({"packet_bytes": 70_000}, "packet_bytes of a generated trace must be 1 to 65000, got 70000"),
        ({"burst_rate_bps": 0}, "burst_rate_bps of a generated trace must be 1 to 1e+13, got 0"),
        ({"on_scales_s": (1e-9,)}, "on_scales_s of a generated trace must be 1e-05 to 3600, got 1e-09"),
        ({"on_share": 0.0}, "on_share of a generated trace must be above 0 to 1, got 0.0"),
    ],
)
def test_trace_options_reject(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(NetworkError, match=f"^{re.escape(message)}$"):
        TraceOptions(**changes)


def test_generate_trace_rejects_a_seed_and_too_many_packets() -> None:
    with pytest.raises(NetworkError, match=r"^a seed must be 0 or more, got -1$"):
        generate_trace(SHORT, seed=-1)
    with pytest.raises(NetworkError, match=r"^a trace must have at most 268435456 packets, got some \d"):
        generate_trace(TraceOptions(link_rate_bps=10**13), seed=1)


def test_a_replicated_trace_uses_every_host_and_copies_every_flow_as_often() -> None:
    trace = generate_trace(SHORT, seed=2)
    large = replicate_trace(trace, hosts=128, seed=7)
    assert set(large.sources) | set(large.destinations) == set(range(128))
    copies, left = divmod(len(large.times_ns), len(trace.times_ns))
    assert left == 0
    assert copies > 1
    assert np.array_equal(large.times_ns, np.repeat(trace.times_ns, copies))
    assert np.array_equal(large.payload_bytes, np.repeat(trace.payload_bytes, copies))
    ends = (large.sources.astype(int) * 128 + large.destinations).reshape(-1, copies)
    pairs = trace.sources.astype(int) * 16 + trace.destinations
    for pair in np.unique(pairs)[:20]:  # all packets of a flow go to the same places
        assert len(np.unique(ends[pairs == pair], axis=0)) == 1
    one_less = replicate_trace(trace, hosts=128, seed=7)
    _assert_same(large, one_less)
    assert not np.array_equal(large.sources[:500], replicate_trace(trace, hosts=128, seed=8).sources[:500])


def test_replicate_trace_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = _trace([0, 1, 2], [0, 7, 0], [1, 1, 2])
    with pytest.raises(NetworkError, match=r"^a replicated trace must have 8 to 1048576 hosts, got 7$"):
        replicate_trace(trace, hosts=7, seed=1)
    with pytest.raises(NetworkError, match=r"^a seed must be 0 or more, got -1$"):
        replicate_trace(trace, hosts=8, seed=-1)
    monkeypatch.setattr(traces, "PACKET_LIMIT", 30)
    message = (
        "a replicated trace must have at most 30 packets, got more before every one of 100 hosts had a flow"
    )
    with pytest.raises(NetworkError, match=f"^{message}$"):
        replicate_trace(trace, hosts=100, seed=1)


def _star(hosts: int) -> Topology:
    links = [Link(ends=(host, hosts), rate_bps=10**8) for host in range(hosts)]
    return topology_of_links("star", host_count=hosts, tiers=[0] * hosts + [1], links=links)


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the simulator's program is kept: compiling it takes seconds."""
    return tmp_path_factory.mktemp("engines")


def test_the_packets_of_a_trace_are_those_that_are_simulated(engines: Path) -> None:
    """One by one through a star, then two at a time into one link: delays by hand."""
    star = _star(3)
    trace = _trace([7, 1_000_007, 2_000_007, 2_000_007], [0, 2, 0, 2], [1, 0, 1, 1], [220, 1220, 470, 470])
    traffic, schedule = traffic_of_trace(trace, star)
    scenario = make_scenario(star, traffic, schedule, options=SimulationOptions(warm_up_s=0.0))
    result = simulate(scenario, engine_folder=engines)
    assert result.delays_ns.tolist() == [2 * 20_000, 2 * 100_000, 2 * 40_000, 3 * 40_000]


@pytest.mark.parametrize(("load", "seed"), [(0.1, 3), (0.3, 1), (0.3, 3)])
def test_latency_of_a_generated_trace_is_near_simulation(engines: Path, load: float, seed: int) -> None:
    """Mean errors of flows were 10, 18 and 16 %; as Poisson flows 11, 29 and 30 %."""
    trace = generate_trace(TraceOptions(duration_s=3.0, load=load), seed=seed)
    traffic, schedule = traffic_of_trace(trace, TREE)
    options = SimulationOptions(warm_up_s=0.0, has_acks=False)
    result = simulate(make_scenario(TREE, traffic, schedule, options=options), engine_folder=engines)
    arrived = result.delays_ns >= 0
    flows, count = schedule.flows[arrived], len(traffic.sources)
    truth = np.bincount(flows, result.delays_ns[arrived], count) / np.bincount(flows, minlength=count) / 1e9

    def error(traffic: Traffic) -> float:
        model = model_network(TREE, traffic, has_acks=False)
        return float(np.mean(np.abs(flow_latency(model, stream_waits(model, "tree")).delay_s / truth - 1)))

    moments = traffic.flow_moments()
    assert error(traffic) < 0.2
    assert error(traffic) < error(replace(traffic, moments=replace(moments, scvs=np.ones(count))))
