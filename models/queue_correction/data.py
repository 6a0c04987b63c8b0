"""Simulated runs as a correction sees them: what packets of each stream waited, and latencies of flows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from models.base import PredictorError
from models.queue_correction.features import StreamSamples, samples_of, times_before, tree_waits
from models.reference_sets import Vector, reference_set_of, relative_errors
from models.tasks import Reference, ReferenceSet
from pipelines.network.errors import NetworkError
from pipelines.network.queueing import NetworkModel, flow_latency, model_network, stream_waits
from pipelines.network.routing import Routing
from pipelines.network.runs import NetworkRun, model_of, run_of, stream_numbers
from pipelines.network.topology import FatTree, fat_tree
from pipelines.network.traffic import Arrivals, Pattern, traffic_of
from pipelines.schemas import OK, NetworkRunRow, fill_columns, read_arrow, table_spec

_NS = 1e9
DATA, ACKS = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulatedRun:
    """A run with its theory and its truth.

    Attributes:
        row: of network_runs.
        samples: streams of data packets, and of acknowledgements when there are any.
        waits_s: measured mean wait of every sample, by kind. (samples,)
        spread: squared coefficient of variation of its waits; NaN when none waited. (samples,)
        packets: packets behind it. (samples,)
        hop_flow, hop_sample: of every row of network_hops, the flow and the sample, acknowledgements
            numbered after data. (hops,)
        hops: rows of network_hops of the run. flows: of network_flows.
        truth_s: measured mean round trip of every flow, delay without acknowledgements; NaN when no packet
            came. (flows,)
    """

    row: NetworkRunRow
    run: NetworkRun
    model: NetworkModel
    samples: tuple[StreamSamples, ...]
    waits_s: NDArray[np.float64]
    spread: NDArray[np.float64]
    packets: NDArray[np.float64]
    hop_flow: NDArray[np.int64]
    hop_sample: NDArray[np.int64]
    hops: pa.Table
    flows: pa.Table
    truth_s: NDArray[np.float64]

    @property
    def features(self) -> NDArray[np.float32]:
        """Features of all samples, data before acknowledgements. (samples, features)"""
        return np.concatenate([part.features for part in self.samples])

    @property
    def theory_s(self) -> NDArray[np.float64]:
        """The theory's wait of all samples. (samples,)"""
        return np.concatenate([part.theory_s for part in self.samples])

    @property
    def theory_spread(self) -> NDArray[np.float64]:
        """Squared coefficient of variation of waits by theory, of all samples. (samples,)"""
        return np.concatenate([part.theory_spread for part in self.samples])

    @property
    def service_s(self) -> NDArray[np.float64]:
        """Mean time of sending at the queues of all samples. (samples,)"""
        return np.concatenate([part.service_s for part in self.samples])

    @property
    def times_before(self) -> NDArray[np.float64]:
        """Time of sending at the queue before over that here, of all samples; 1 behind a host. (samples,)"""
        return times_before(self.model)[np.concatenate([part.streams for part in self.samples])]

    @property
    def exact(self) -> NDArray[np.float64]:
        """Share of load for which theory is exact, at the queues of all samples. (samples,)"""
        return np.concatenate([part.exact for part in self.samples])


def read_runs(tables: Path, groups: Sequence[str] | None = None) -> Iterator[SimulatedRun]:
    """Yield the runs that are ok and not of traces, group after group in order of their names.

    Args:   tables: folder with a folder of Parquet files a table. groups: files to read; None for all.
    Raises: PredictorError: a file is missing.
    """
    for name in groups or groups_of(tables):
        rows, flows, hops = (_read(tables, table, name) for table in _TABLES)
        for row in table_spec("network_runs").from_arrow(rows):
            if row.status == OK and row.load is not None:
                yield simulated_run(row, _of_run(flows, row.run_id), _of_run(hops, row.run_id))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredRun:
    """A simulated run with the mean round trips of its flows alone.

    Attributes: rtt_mean_s: delay without acknowledgements; NaN where no packet came. (flows,)
    """

    row: NetworkRunRow
    model: NetworkModel
    rtt_mean_s: NDArray[np.float64]


def read_means(tables: Path, groups: Sequence[str]) -> list[MeasuredRun]:
    """Read the mean round trips of the runs that `read_runs` gives, without what packets waited at queues.

    Raises: PredictorError: a file is missing.
    """
    runs: list[MeasuredRun] = []
    for name in groups:
        rows, flows = (_read(tables, table, name) for table in _TABLES[:2])
        for row in table_spec("network_runs").from_arrow(rows):
            if row.status == OK and row.load is not None:
                model = model_of(run_of(json.loads(row.configuration)))
                column = "rtt_mean_ns" if model.acks is not None else "delay_mean_ns"
                means = _numbers(_of_run(flows, row.run_id), column) / _NS
                runs.append(MeasuredRun(row=row, model=model, rtt_mean_s=means))
    return runs


def groups_of(tables: Path) -> list[str]:
    """Return the names of groups; files of a release have a number more."""
    stems = [path.stem for path in (tables / "network_runs").glob("*.parquet")]
    return sorted({re.sub(r"-\d{4}$", "", stem) for stem in stems})


_TABLES = ("network_runs", "network_flows", "network_hops")


def _read(tables: Path, table: str, group: str) -> pa.Table:
    """Read a group's rows, from one file or from a release's files."""
    whole = tables / table / f"{group}.parquet"
    paths = [whole] if whole.is_file() else sorted(whole.parent.glob(f"{group}-[0-9][0-9][0-9][0-9].parquet"))
    if not paths:
        raise PredictorError(f"no such file: {whole}; `simfoundry run network=release` simulates its runs")
    schema = table_spec(table).schema()
    return pa.concat_tables([fill_columns(read_arrow(path), schema) for path in paths])


def _of_run(table: pa.Table, run_id: str) -> pa.Table:
    """Return the rows of one run, which stand together, for tables are sorted by key."""
    column = table.column("run_id")
    first = pc.index(column, run_id).as_py()
    if first < 0:
        return table.slice(0, 0)
    count = pc.sum(pc.equal(column, run_id)).as_py()
    return table.slice(first, count)


def simulated_run(row: NetworkRunRow, flows: pa.Table, hops: pa.Table) -> SimulatedRun:
    """Return a run from its rows."""
    run = run_of(json.loads(row.configuration))
    model = model_of(run)
    samples = samples_of(model, tree_waits(model))
    hop_sample = _samples_of_hops(model, samples, hops)
    counts = _numbers(hops, "packet_count") - _numbers(hops, "drop_count")
    total = sum(len(part.streams) for part in samples)
    packets = np.bincount(hop_sample, counts, total).astype(np.float64)
    mean, deviation = (np.nan_to_num(_numbers(hops, name)) for name in ("wait_mean_ns", "wait_std_ns"))
    sums = [np.bincount(hop_sample, counts * v, total) for v in (mean, mean**2 + deviation**2)]
    waits, squares = (values / np.maximum(packets, 1) for values in sums)
    spread = np.where(waits > 0, squares / np.maximum(waits, 1e-3) ** 2 - 1.0, np.nan)  # ns
    name = "rtt_mean_ns" if model.acks is not None else "delay_mean_ns"
    return SimulatedRun(
        row=row,
        run=run,
        model=model,
        samples=samples,
        waits_s=waits / _NS,
        spread=spread,
        packets=packets,
        hop_flow=_numbers(hops, "flow").astype(np.int64),
        hop_sample=hop_sample,
        hops=hops,
        flows=flows,
        truth_s=_numbers(flows, name) / _NS,
    )


def _numbers(table: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(table.column(name).to_numpy(zero_copy_only=False), np.float64)


def _samples_of_hops(
    model: NetworkModel, samples: Sequence[StreamSamples], hops: pa.Table
) -> NDArray[np.int64]:
    """Return the sample that a flow at a queue belongs to, of every row."""
    queue = _numbers(hops, "queue").astype(np.int32)
    flow, hop = _numbers(hops, "flow"), _numbers(hops, "hop")
    is_ack = pc.equal(hops.column("packet"), "ack").to_numpy(zero_copy_only=False).astype(bool)
    begins = hop == 0
    begins[1:] |= (is_ack[1:] != is_ack[:-1]) | (flow[1:] != flow[:-1])
    before = np.where(begins, -1, np.concatenate([[-1], queue[:-1]])).astype(np.int32)
    numbers = stream_numbers(model, before, queue)
    stream_places = np.searchsorted(samples[DATA].streams, numbers)
    if len(samples) > 1:
        of_acks = np.searchsorted(samples[ACKS].streams, numbers) + len(samples[DATA].streams)
        stream_places = np.where(is_ack, of_acks, stream_places)
    return stream_places.astype(np.int64)


def network_models(rows: Iterable[Mapping[str, Any]]) -> Iterator[NetworkModel]:
    """Yield the fat-trees under traffic from rows with pods, pattern, load, arrivals, scv, routing and seed.

    Raises: PredictorError: a row is not acceptable; the message names the row, from 0.
    """
    for place, row in enumerate(rows):
        try:
            tree = fat_tree(FatTree(pods=int(row["pods"])))
            traffic = traffic_of(
                tree,
                Pattern(kind=str(row["pattern"]), load=float(row["load"])),
                arrivals=Arrivals(kind=str(row["arrivals"]), scv=float(row["scv"])),
            )
            routing = Routing(kind=str(row["routing"]), seed=int(row["seed"]))
            yield model_network(tree, traffic, routing=routing)
        except (NetworkError, KeyError, TypeError, ValueError) as error:
            raise PredictorError(f"row {place}: {error}") from error


def network_reference(reference: Reference) -> ReferenceSet:
    """Return simulated runs; a run's error is the mean over its flows, the baseline is queueing theory."""
    runs = read_means(reference.folder / "tables", reference.parts)

    def errors(rtt_s: Callable[[Any], Vector]) -> Vector:
        return np.array([np.nanmean(relative_errors(rtt_s(r.model), r.rtt_mean_s)) for r in runs], np.float64)

    baseline = errors(lambda model: flow_latency(model, stream_waits(model)).rtt_s)
    programs = [run.row.run_id for run in runs]
    rows = [run.row for run in runs]
    groups = {r.run_id: f"{r.group} {r.pattern} {r.arrivals} {r.load}" for r in rows}
    return reference_set_of(programs, groups, baseline, lambda predictor: errors(predictor.predict))
