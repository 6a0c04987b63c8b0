"""Control/data-flow graphs as arrays, from the tables `cdfg_nodes` and `cdfg_edges` or designs compiled now.

Node features after Wu et al. 2022, Table 1: kind of operation, bit width, and what their "knowledge-rich"
variant takes from the tool's schedule: latency and start. Edges have a type and whether they lead to the next
iteration. Ours beyond that: how often the node's block is executed by the trip counts of the loops around it.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from models.labelled import LabelledDesign, Query
from models.scheduled import compile_query
from models.tasks import DatasetError, has_table
from pipelines.c import HlsError, tool_version
from pipelines.cyclemodel import UNKNOWN_TRIPS
from pipelines.dataset.features import (
    GRAPH_TABLES,
    KIND_OF,
    OPERATIONS,
    Graphs,
    extract_graphs,
    extract_loops,
    graph_rows,
)
from pipelines.schemas import LoopRow, from_frame, scan_table, table_spec, to_frame

NODE_NUMBERS = ("log2_width", "log2_latency", "log2_start", "has_array", "is_decision", "log2_executions")
EDGE_KINDS = ("data", "memory", "control")
RELATIONS = 2 * 2 * len(EDGE_KINDS)
"""Kinds of edges, within an iteration or to the next one, each way by itself."""
CONFIGURATION = ("memory_read_delay_cycles", "memory_write_delay_cycles", "clock_period_ns")
SUMMARY = (
    *CONFIGURATION,
    *("log2_nodes", "log2_edges", "log2_blocks", "log2_executions", "log2_largest_executions", "log2_widest"),
    *(f"log2_{kind}" for kind in OPERATIONS),
    "unknown_opcodes",
)
"""Features of a whole graph, which say how near a query is to training."""
_NODES = ("design_id", "node_index", "block", "opcode", "width_bits", "array", "start_cycle")
_NODES = (*_NODES, "latency_cycles", "loop")
_EDGES = ("design_id", "edge_index", "source_index", "target_index", "kind", "distance")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DesignGraph:
    """The graph of one design.

    Attributes:
        opcodes: place in the vocabulary, 0 for one that is not in it. (nodes,)
        numbers: in the order of NODE_NUMBERS. (nodes, numbers)
        ends: sources and targets, each edge in both directions. (2, edges)
        relations: below RELATIONS. (edges,)
        summary: in the order of SUMMARY.
    """

    opcodes: NDArray[np.int64]
    numbers: NDArray[np.float32]
    ends: NDArray[np.int64]
    relations: NDArray[np.int64]
    summary: NDArray[np.float64]


Vocabulary = Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphRows:
    """Rows of tables `cdfg_nodes` and `cdfg_edges`, in order of their keys."""

    nodes: pl.DataFrame
    edges: pl.DataFrame


def rows_of_graphs(data_dir: Path, design_ids: Sequence[str]) -> GraphRows:
    """Return rows of the graphs of designs; where the tables are left out, the designs are compiled again.

    That is the case in a release. It takes 0.1 to 0.5 s per design, and nothing is stored.

    Raises: DatasetError: the engine is another version than that of the designs, or refuses one.
    """
    if all(has_table(data_dir, name) for name in GRAPH_TABLES):
        nodes, edges = (_rows_of(data_dir, name, design_ids) for name in GRAPH_TABLES)
    else:
        graphs = _compiled_again(data_dir, design_ids)
        nodes, edges = to_frame(graphs.nodes), to_frame(graphs.edges)
    return GraphRows(nodes=nodes.sort("design_id", "node_index"), edges=edges.sort("design_id", "edge_index"))


def _compiled_again(data_dir: Path, design_ids: Sequence[str]) -> Graphs:
    designs = _read_rows(_rows_of(data_dir, "designs", design_ids), "designs")
    for version in {row.tool_version for row in designs} - {tool_version()}:
        raise DatasetError(
            f"no Parquet files of table {GRAPH_TABLES[0]} ({data_dir}), and its designs are of version "
            f"{version} of the engine; accepted: {tool_version()}, which makes them again"
        )
    programs = scan_table(data_dir, table_spec("programs"))
    used = pl.Series(sorted({row.program_id for row in designs})).implode()
    rows = _read_rows(programs.filter(pl.col("program_id").is_in(used)).collect(), "programs")
    try:
        return extract_graphs(rows, designs, workers=os.cpu_count() or 1)
    except HlsError as error:
        raise DatasetError(f"a graph cannot be made again: {error}") from error


def _read_rows(frame: pl.DataFrame, table: str) -> list[Any]:
    spec = table_spec(table)
    return spec.from_arrow(from_frame(frame, spec.schema()))


def vocabulary_of(rows: GraphRows, designs: Sequence[LabelledDesign]) -> dict[str, int]:
    """Map every opcode of some designs to a number from 1."""
    chosen = pl.Series([design.design_id for design in designs]).implode()
    opcodes = rows.nodes.filter(pl.col("design_id").is_in(chosen))["opcode"].unique()
    return {name: place for place, name in enumerate(sorted(opcodes.to_list()), 1)}


def table_graphs(
    rows: GraphRows, designs: Sequence[LabelledDesign], vocabulary: Vocabulary, *, loop_bounds: bool
) -> list[DesignGraph]:
    """Return the graphs of designs from their rows, in the order of the designs.

    Raises: DatasetError: a design has none.
    """
    nodes = _by_design(rows.nodes.select(_NODES))
    edges = _by_design(rows.edges.select(_EDGES))
    graphs: list[DesignGraph] = []
    for design in designs:
        key = design.design_id
        if key not in nodes:
            raise DatasetError(f"no rows of cdfg_nodes: design {key}; run again")
        own = edges[key] if key in edges else _nothing(_EDGES)
        graphs.append(
            graph_of(nodes[key], own, design.loops, design.query, vocabulary, loop_bounds=loop_bounds)
        )
    return graphs


def query_graph(
    query: Query, engine: Mapping[str, Any], vocabulary: Vocabulary, *, loop_bounds: bool
) -> DesignGraph:
    """Return the graph of a program that is compiled now.

    Args:   engine: as `models.scheduled.engine_options` gave it.
    Raises: ValueError: the engine does not accept the program, a directive or a value.
    """
    program, design, compiled = compile_query(query, engine)
    nodes, edges = graph_rows(design, compiled)
    return graph_of(
        _frame(nodes, _NODES),
        _frame(edges, _EDGES),
        extract_loops(program),
        query,
        vocabulary,
        loop_bounds=loop_bounds,
    )


def _frame(rows: Sequence[Any], columns: Sequence[str]) -> pl.DataFrame:
    if not rows:
        return _nothing(columns)
    return pl.DataFrame([asdict(row) for row in rows], infer_schema_length=None).select(columns)


def _nothing(columns: Sequence[str]) -> pl.DataFrame:
    """Return the rows of a design without edges."""
    return pl.DataFrame(schema=dict.fromkeys(columns, pl.Int64))


def graph_of(
    nodes: pl.DataFrame,
    edges: pl.DataFrame,
    loops: Sequence[LoopRow],
    query: Query,
    vocabulary: Vocabulary,
    *,
    loop_bounds: bool,
) -> DesignGraph:
    """Return the graph of rows of both tables, in order of their index."""
    names = nodes["opcode"].to_list()
    executions = node_executions(nodes, loops, query.directives) if loop_bounds else np.ones(len(names))
    columns = {
        "log2_width": np.log2(1.0 + nodes["width_bits"].to_numpy()),
        "log2_latency": np.log2(1.0 + nodes["latency_cycles"].to_numpy()),
        "log2_start": np.log2(1.0 + nodes["start_cycle"].to_numpy()),
        "has_array": nodes["array"].is_not_null().to_numpy().astype(np.float64),
        "is_decision": nodes["opcode"].is_in(_DECISIONS).to_numpy().astype(np.float64),
        "log2_executions": np.log2(executions),
    }
    ends = edges.select("source_index", "target_index").to_numpy().T.astype(np.int64).reshape(2, -1)
    kinds = np.array([EDGE_KINDS.index(kind) for kind in edges["kind"].to_list()], np.int64)
    relations = 2 * kinds + (edges["distance"].to_numpy() > 0)
    return DesignGraph(
        opcodes=np.array([vocabulary.get(name, 0) for name in names], np.int64),
        numbers=np.stack([columns[name] for name in NODE_NUMBERS], axis=1).astype(np.float32),
        ends=np.concatenate([ends, ends[::-1]], axis=1),
        relations=np.concatenate([relations, relations + RELATIONS // 2]).astype(np.int64),
        summary=_summary(nodes, len(kinds), executions, query, vocabulary),
    )


_DECISIONS = ("branch", "jump", "finish")


def node_executions(nodes: pl.DataFrame, loops: Sequence[LoopRow], directives: str) -> NDArray[np.float64]:
    """Count how often each node is executed, (nodes,), by the trip counts of the loops around its block."""
    names: list[str | None] = nodes["loop"].to_list()
    known = list(dict.fromkeys(names))
    counts = dict(zip(known, executions_of(known, loops, directives), strict=True))
    return np.array([counts[name] for name in names], np.float64)


def executions_of(
    block_loops: Iterable[str | None], loops: Iterable[LoopRow], directives: str
) -> Iterator[float]:
    """Yield how often each block is executed, by the trip counts of the loops around it.

    Args: block_loops: innermost loop of each block, None for a block in no loop.

    The engine names a copy of a loop <loop>_u<number>, and the loop that runs the remaining iterations
    <loop>_epilogue or <loop>_e; these count as one iteration.
    """
    known = {loop.loop_index: loop for loop in loops}
    by_name = {loop.loop: loop for loop in known.values()}
    factors: dict[str, int] = defaultdict(lambda: 1)
    for directive in json.loads(directives):
        if directive["kind"] in ("unroll", "parallel"):
            factors[directive.get("loop", "")] *= directive.get("value") or 1
    for block_loop in block_loops:
        name, _, suffix = (block_loop or "").partition("_")
        loop, count = by_name.get(name), 1.0
        if loop is not None and suffix.endswith(("e", "epilogue")):
            loop = known.get(loop.parent_index) if loop.parent_index is not None else None
        while loop is not None:
            trips = UNKNOWN_TRIPS if loop.trip_count is None else loop.trip_count
            count *= max(1.0, trips / factors[loop.loop])
            loop = known.get(loop.parent_index) if loop.parent_index is not None else None
        yield count


def _summary(
    nodes: pl.DataFrame,
    edge_count: int,
    executions: NDArray[np.float64],
    query: Query,
    vocabulary: Vocabulary,
) -> NDArray[np.float64]:
    kinds = Counter(KIND_OF.get(name) for name in nodes["opcode"].to_list())
    decides = nodes["opcode"].is_in(_DECISIONS).to_numpy()
    values = {
        **{name: float(getattr(query, name)) for name in CONFIGURATION},
        "log2_nodes": _log2(nodes.height),
        "log2_edges": _log2(edge_count),
        "log2_blocks": _log2(decides.sum()),
        "log2_executions": _log2(executions.sum()),
        "log2_largest_executions": _log2(executions.max(initial=0.0)),
        "log2_widest": _log2(max(nodes["width_bits"].to_list(), default=0)),
        **{f"log2_{kind}": _log2(kinds[kind]) for kind in OPERATIONS},
        "unknown_opcodes": float(sum(name not in vocabulary for name in nodes["opcode"].unique().to_list())),
    }
    return np.array([values[name] for name in SUMMARY], np.float64)


def _log2(value: float) -> float:
    return math.log2(1.0 + float(value))


def _rows_of(data_dir: Path, table: str, design_ids: Sequence[str]) -> pl.DataFrame:
    rows = scan_table(data_dir, table_spec(table))
    return rows.filter(pl.col("design_id").is_in(pl.Series(design_ids).implode())).collect()


def _by_design(rows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    groups: dict[str, pl.DataFrame] = defaultdict(pl.DataFrame)
    for (key,), frame in rows.partition_by("design_id", as_dict=True, maintain_order=True).items():
        groups[str(key)] = frame
    return dict(groups)
