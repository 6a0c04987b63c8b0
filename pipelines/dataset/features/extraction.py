"""All feature tables of a set of programs and designs: loop nests, control/data-flow graphs, splits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.c import HlsError, ir, read_function
from pipelines.dataset.features.control import control_class
from pipelines.hls import TOOL, CompiledDesign, compile_program, options_of, program_rules, tool_version
from pipelines.programs import program_facts
from pipelines.schemas import (
    OK,
    CdfgEdgeRow,
    CdfgNodeRow,
    DesignRow,
    LoopRow,
    ProgramFactsRow,
    ProgramRow,
    from_frame,
    table_spec,
    to_frame,
)

if TYPE_CHECKING:
    from pipelines.dataset.labelling import LabelOptions

# ---- loops -----------------------------------------------------------------------------------------


def _expressions(body: tuple[ir.Statement, ...]) -> list[ir.Expression]:
    return [
        part
        for statement in ir.walk_statements(body)
        for expression in ir.statement_expressions(statement)
        for part in ir.walk_expressions(expression)
    ]


def _count(body: tuple[ir.Statement, ...]) -> dict[str, int]:
    parts = _expressions(body)
    loads = [p for p in parts if isinstance(p, ir.Load)]
    stores = [s for s in ir.walk_statements(body) if isinstance(s, ir.Store)]
    branches = sum(isinstance(s, ir.If | ir.While) for s in ir.walk_statements(body))
    return {
        "load_count": len(loads),
        "store_count": len(stores),
        "arithmetic_count": sum(isinstance(p, ir.Binary | ir.Unary) for p in parts),
        "branch_count": branches + sum(isinstance(p, ir.Select) for p in parts),
        "array_count": len({p.array.name for p in (*loads, *stores)}),
    }


@dataclass(slots=True)
class _Collector:
    program: ProgramRow
    rows: list[LoopRow] = field(default_factory=list[LoopRow])

    def visit(self, body: tuple[ir.Statement, ...], parent: int | None, depth: int) -> None:
        for statement in body:
            if isinstance(statement, ir.For | ir.While):
                index = len(self.rows)
                self.rows.append(self.row(statement, index, parent, depth + 1))
                self.visit(statement.body, index, depth + 1)
            else:
                for inner in ir.child_bodies(statement):
                    self.visit(inner, parent, depth)

    def row(self, loop: ir.For | ir.While, index: int, parent: int | None, depth: int) -> LoopRow:
        inner = any(isinstance(s, ir.For | ir.While) for s in ir.walk_statements(loop.body))
        counted = loop if isinstance(loop, ir.For) else None
        return LoopRow(
            program_id=self.program.program_id,
            loop_index=index,
            suite=self.program.suite,
            loop=loop.name,
            parent_index=parent,
            depth=depth,
            kind="for" if counted else "while",
            iterator=counted.variable.name if counted else None,
            trip_count=counted.trip_count if counted else None,
            step=counted.step if counted else None,
            line=loop.line,
            is_innermost=not inner,
            **_count(loop.body),
        )


def extract_loops(program: ProgramRow) -> list[LoopRow]:
    """Return every loop of a program in source order; counts include nested loops, address arithmetic
    included.

    Raises: HlsError: the program is outside what the C front end accepts.
    """
    function = read_function(program.source, top=program.top, file=f"{program.name}.c")
    collector = _Collector(program=program)
    collector.visit(function.body, None, 0)
    return collector.rows


# ---- graphs ----------------------------------------------------------------------------------------


def graph_rows(design: DesignRow, compiled: CompiledDesign) -> tuple[list[CdfgNodeRow], list[CdfgEdgeRow]]:
    """Return the nodes and edges of a design.

    Returns: one node per operation, and one per block for the decision at its end (`branch`, `jump` or
             `finish`). Data and memory edges stay inside a block or lead to the next iteration (distance);
             control edges lead from a block's decision to the decision of each block that may follow, and
             a data edge from the value a branch tests to the branch.
    """
    scheduled = compiled.scheduled
    first: list[int] = []
    total = 0
    for block in scheduled.graph.blocks:
        first.append(total)
        total += len(block.operations) + 1
    nodes: list[CdfgNodeRow] = []
    edges: list[tuple[int, int, str, int]] = []
    for block, schedule in zip(scheduled.graph.blocks, scheduled.schedules, strict=True):
        base = first[block.index]
        for operation in block.operations:
            nodes.append(
                CdfgNodeRow(
                    design_id=design.design_id,
                    node_index=base + operation.index,
                    suite=design.suite,
                    block=block.name,
                    opcode=operation.opcode,
                    width_bits=operation.type.width_bits if operation.type else 0,
                    array=operation.name if isinstance(operation.symbol, ir.Array) else None,
                    line=operation.line,
                    start_cycle=schedule.starts[operation.index],
                    latency_cycles=schedule.graph.timings[operation.index].latency_cycles,
                    loop=block.loop,
                )
            )
        last = base + len(block.operations)
        kinds = ("finish", "jump", "branch")
        nodes.append(
            CdfgNodeRow(
                design_id=design.design_id,
                node_index=last,
                suite=design.suite,
                block=block.name,
                opcode=kinds[len(block.successors)],
                width_bits=0,
                array=None,
                line=block.line,
                start_cycle=schedule.length_cycles - 1,
                latency_cycles=0,
                loop=block.loop,
            )
        )
        edges += [(base + e.source, base + e.target, e.kind, e.distance) for e in schedule.graph.edges]
        condition = getattr(block.terminator, "condition", None)
        if condition is not None:
            edges.append((base + condition, last, "data", 0))
        for successor in block.successors:
            target = first[successor] + len(scheduled.graph.blocks[successor].operations)
            edges.append((last, target, "control", int(successor == block.index)))
    rows = [
        CdfgEdgeRow(
            design_id=design.design_id,
            edge_index=index,
            suite=design.suite,
            source_index=source,
            target_index=target,
            kind=kind,
            distance=distance,
        )
        for index, (source, target, kind, distance) in enumerate(sorted(set(edges)))
    ]
    return nodes, rows


Row = TypeVar("Row", LoopRow, ProgramFactsRow)

GRAPH_TABLES = ("cdfg_nodes", "cdfg_edges")


@dataclass(frozen=True, slots=True, kw_only=True)
class Graphs:
    """Nodes and edges of the graphs of some designs, as columns of their tables."""

    nodes: pa.Table
    edges: pa.Table


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureTables:
    """Rows of the feature tables; graphs, of which there are millions, as columns in order of their key."""

    program_facts: list[ProgramFactsRow]
    loops: list[LoopRow]
    cdfg_nodes: pa.Table
    cdfg_edges: pa.Table


def _cached_rows(kind: str, row: type[Row], program: ProgramRow, cache: ContentCache) -> list[Row]:
    """Return the loops or facts of a program, from the cache when there are any: none may be the refusal of
    an earlier engine.
    """
    key = _program_key(kind, program)
    stored = cache.get(kind, key)
    if not stored:
        try:
            stored = [asdict(r) for r in _PROGRAM_ROWS[kind](program)]
        except HlsError:
            stored = list[Any]()  # the program's design row says why
        cache.put(kind, key, stored)
    later: dict[str, Any] = dict.fromkeys(_LATER_COLUMNS.get(kind, ()))
    return [replace(row(**(later | values)), suite=program.suite) for values in stored]


def _classified(facts: ProgramFactsRow, program: ProgramRow, cache: ContentCache) -> ProgramFactsRow:
    """Return the facts with the class of the program's control flow, which has an entry of its own."""
    key = content_hash(program.program_id, tool_version(), _CLASS_VERSION, *program_rules(program))
    return replace(
        facts, dynamic_class=cache.cached("control_class", key, lambda: control_class(program), str)
    )


_PROGRAM_ROWS: Mapping[str, Callable[[ProgramRow], Sequence[Any]]] = {
    "loops": extract_loops,
    "program_facts": lambda program: [program_facts(program)],
}
_VERSIONS = {"loops": "loops-1", "program_facts": "program-facts-2", "graphs": "graphs-1"}
"""Version of each kind of entry; raise one when the same program gives other rows."""
_CLASS_VERSION = "control-class-1"
_LATER_COLUMNS = {"program_facts": ("dynamic_class",)}
"""Columns by kind that entries of before lack; they are null there."""


def feature_version() -> str:
    """Return the hash of everything that the features of a design depend on."""
    return content_hash(tool_version(), tuple(_VERSIONS.values()))


def _program_key(kind: str, program: ProgramRow) -> str:
    return content_hash(program.program_id, tool_version(), _VERSIONS[kind], *program_rules(program))


def _graphs_key(designs: Sequence[DesignRow]) -> str:
    """Hash what the graphs of a program's designs depend on; their ids hash program and engine."""
    return content_hash(sorted((d.design_id, d.suite) for d in designs), _VERSIONS["graphs"])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ungraphed:
    """A program, and its designs that have a graph."""

    program: ProgramRow
    designs: tuple[DesignRow, ...]


def _cached_graphs(item: _Ungraphed, cache: ContentCache) -> Graphs | None:
    """Return graphs of a program's designs: one entry, for there are many designs and many rows of each."""
    nodes, edges = (cache.get_table(table, _graphs_key(item.designs)) for table in GRAPH_TABLES)
    return Graphs(nodes=nodes, edges=edges) if nodes is not None and edges is not None else None


def _make_graphs(item: _Ungraphed, *, cache: ContentCache) -> Outcome[Graphs]:
    outcome = _compiled_graphs(item)
    _cache_graphs(outcome.result, _graphs_key(item.designs), cache)
    return outcome


def _compiled_graphs(item: _Ungraphed) -> Outcome[Graphs]:
    rows = [_graph_of(item.program, design) for design in item.designs]
    graphs = Graphs(
        nodes=table_spec("cdfg_nodes").to_arrow(node for nodes, _ in rows for node in nodes),
        edges=table_spec("cdfg_edges").to_arrow(edge for _, edges in rows for edge in edges),
    )
    return Outcome(result=graphs, failed=False, name=item.program.name)


def _cache_graphs(graphs: Graphs, key: str, cache: ContentCache) -> None:
    for table, content in zip(GRAPH_TABLES, (graphs.nodes, graphs.edges), strict=True):
        cache.put_table(table, key, content)


def _graph_of(program: ProgramRow, design: DesignRow) -> tuple[list[CdfgNodeRow], list[CdfgEdgeRow]]:
    compiled = compile_program(
        program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
    )
    return graph_rows(design, compiled)


def _with_graph(programs: Sequence[ProgramRow], designs: Sequence[DesignRow]) -> list[_Ungraphed]:
    """Return the designs that have a graph, those that the project's own engine made, by program."""
    by_id = {p.program_id: p for p in programs}
    by_program: dict[str, list[DesignRow]] = {}
    for design in designs:
        if design.status == OK and design.tool == TOOL:
            by_program.setdefault(design.program_id, []).append(design)
    return [_Ungraphed(program=by_id[key], designs=tuple(own)) for key, own in by_program.items()]


def extract_graphs(programs: Sequence[ProgramRow], designs: Sequence[DesignRow], *, workers: int) -> Graphs:
    """Return the graph of every design that the project's own engine made, in order of the key, kept nowhere.

    Raises: HlsError: a design cannot be compiled again.
    """
    made = run_all("graphs", _with_graph(programs, designs), _compiled_graphs, workers=workers)
    nodes, edges = (
        _sorted(table, pieces)
        for table, pieces in zip(
            GRAPH_TABLES, ([g.nodes for g in made], [g.edges for g in made]), strict=True
        )
    )
    return Graphs(nodes=nodes, edges=edges)


def extract_features(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    *,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> FeatureTables:
    """Return the facts and loops of every program, and the graph of every design of the project's engine."""
    usable = [p for p in programs if p.status == OK]
    items = _with_graph(programs, designs)
    known = [_cached_graphs(item, cache) for item in items]
    computed = run_all(
        "features",
        [item for item, graphs in zip(items, known, strict=True) if graphs is None],
        partial(_make_graphs, cache=cache),
        workers=options.workers,
        on_progress=on_progress,
    )
    graphs = [*(own for own in known if own is not None), *computed]
    return FeatureTables(
        program_facts=[
            _classified(r, p, cache)
            for p in usable
            for r in _cached_rows("program_facts", ProgramFactsRow, p, cache)
        ],
        loops=[r for p in usable for r in _cached_rows("loops", LoopRow, p, cache)],
        cdfg_nodes=_sorted("cdfg_nodes", [own.nodes for own in graphs]),
        cdfg_edges=_sorted("cdfg_edges", [own.edges for own in graphs]),
    )


def _sorted(table: str, pieces: Sequence[pa.Table]) -> pa.Table:
    """Return all pieces as one table in order of its key."""
    spec = table_spec(table)
    whole = to_frame(pa.concat_tables([spec.schema().empty_table(), *pieces]))
    return from_frame(whole.lazy().sort(spec.key).collect(), spec.schema())


# ---- from tables -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRows:
    """Features of one program, read from tables.

    Attributes:
        graphs: of all its designs; None when they are not known.
    """

    program: ProgramRow
    designs: Sequence[DesignRow]
    program_facts: Sequence[ProgramFactsRow]
    loops: Sequence[LoopRow]
    graphs: Graphs | None


def import_features(rows: FeatureRows, cache: ContentCache) -> Counter[str]:
    """Put features into the cache, unless another version of the engine made the designs.

    Returns: new entries by kind.
    """
    stored: Counter[str] = Counter()
    if any(d.tool == TOOL and d.tool_version != tool_version() for d in rows.designs):
        return stored
    entries: Mapping[str, Sequence[Any]] = {"loops": rows.loops, "program_facts": rows.program_facts}
    for kind, own in entries.items():
        key = _program_key(kind, rows.program)
        if cache.get(kind, key) is None:
            cache.put(kind, key, [asdict(row) for row in own])
            stored[kind] += 1
    for item in _with_graph([rows.program], rows.designs):
        if rows.graphs is None:
            continue
        key = _graphs_key(item.designs)
        if any(cache.get_table(table, key) is None for table in GRAPH_TABLES):
            _cache_graphs(rows.graphs, key, cache)
            stored["graphs"] += 1
    return stored
