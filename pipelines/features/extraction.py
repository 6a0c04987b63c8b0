"""All feature tables of a set of programs and designs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa

from pipelines.cache import ContentCache
from pipelines.features.graphs import graph_rows
from pipelines.features.loops import extract_loops
from pipelines.hls import TOOL, HlsError, compile_program, options_of, tool_version
from pipelines.identity import content_hash
from pipelines.labelling import LabelOptions
from pipelines.programs import program_facts
from pipelines.schemas import (
    OK,
    CdfgEdgeRow,
    CdfgNodeRow,
    DesignRow,
    LoopRow,
    ProgramFactsRow,
    ProgramRow,
    table_spec,
)
from pipelines.workers import Outcome, ProgressCallback, run_all, silent

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


def _loops(program: ProgramRow, cache: ContentCache) -> list[LoopRow]:
    key = _loops_key(program)
    stored = cache.get("loops", key)
    if stored is None:
        try:
            rows = extract_loops(program)
        except HlsError:
            rows = []  # the program's design row says why
        stored = [asdict(r) for r in rows]
        cache.put("loops", key, stored)
    return [replace(LoopRow(**row), suite=program.suite) for row in stored]


def _facts(program: ProgramRow, cache: ContentCache) -> list[ProgramFactsRow]:
    key = _facts_key(program)
    stored = cache.get("program_facts", key)
    if stored is None:
        try:
            stored = [asdict(program_facts(program))]
        except HlsError:
            stored = list[Any]()  # the program's design row says why
        cache.put("program_facts", key, stored)
    return [replace(ProgramFactsRow(**row), suite=program.suite) for row in stored]


_VERSIONS = ("loops-1", "program-facts-2", "graphs-1")
"""Of each kind of entry; a new one for every change that gives other rows for the same program."""


def feature_version() -> str:
    """Hash of all that features of a given design depend on."""
    return content_hash(tool_version(), _VERSIONS)


def _loops_key(program: ProgramRow) -> str:
    return content_hash(program.program_id, tool_version(), _VERSIONS[0])


def _facts_key(program: ProgramRow) -> str:
    return content_hash(program.program_id, tool_version(), _VERSIONS[1])


def _graphs_key(designs: Sequence[DesignRow]) -> str:
    """What the graphs of a program's designs depend on; their ids hash program and engine."""
    return content_hash(sorted((d.design_id, d.suite) for d in designs), _VERSIONS[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ungraphed:
    """A program, and its designs that have a graph."""

    program: ProgramRow
    designs: tuple[DesignRow, ...]


def _recalled(item: _Ungraphed, cache: ContentCache) -> Graphs | None:
    """The graphs of a program's designs: one entry, for there are many designs and many rows of each."""
    nodes, edges = (cache.get_table(table, _graphs_key(item.designs)) for table in GRAPH_TABLES)
    return Graphs(nodes=nodes, edges=edges) if nodes is not None and edges is not None else None


def _make_graphs(item: _Ungraphed, *, cache: ContentCache) -> Outcome[Graphs]:
    made = [_made_graph(item.program, design) for design in item.designs]
    found = Graphs(
        nodes=table_spec("cdfg_nodes").to_arrow(n for own, _ in made for n in own),
        edges=table_spec("cdfg_edges").to_arrow(e for _, own in made for e in own),
    )
    _keep_graphs(found, _graphs_key(item.designs), cache)
    return Outcome(result=found, failed=False, name=item.program.name)


def _keep_graphs(found: Graphs, key: str, cache: ContentCache) -> None:
    for table, content in zip(GRAPH_TABLES, (found.nodes, found.edges), strict=True):
        cache.put_table(table, key, content)


def _made_graph(program: ProgramRow, design: DesignRow) -> tuple[list[CdfgNodeRow], list[CdfgEdgeRow]]:
    compiled = compile_program(
        program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
    )
    return graph_rows(design, compiled)


def _with_graph(programs: Sequence[ProgramRow], designs: Sequence[DesignRow]) -> list[_Ungraphed]:
    """Designs that have a graph, those that the project's own engine made, by program."""
    by_id = {p.program_id: p for p in programs}
    found: dict[str, list[DesignRow]] = {}
    for design in designs:
        if design.status == OK and design.tool == TOOL:
            found.setdefault(design.program_id, []).append(design)
    return [_Ungraphed(program=by_id[k], designs=tuple(own)) for k, own in found.items()]


def extract_features(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    *,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> FeatureTables:
    """Facts and loops of every program, and the graph of every design that the project's own engine made."""
    loops = [row for p in programs if p.status == OK for row in _loops(p, cache)]
    facts = [row for p in programs if p.status == OK for row in _facts(p, cache)]
    wanted = _with_graph(programs, designs)
    known = [_recalled(item, cache) for item in wanted]
    made = run_all(
        "features",
        [item for item, found in zip(wanted, known, strict=True) if found is None],
        partial(_make_graphs, cache=cache),
        workers=options.workers,
        on_progress=on_progress,
    )
    graphs = [*(found for found in known if found is not None), *made]
    return FeatureTables(
        program_facts=facts,
        loops=loops,
        cdfg_nodes=_sorted("cdfg_nodes", [g.nodes for g in graphs]),
        cdfg_edges=_sorted("cdfg_edges", [g.edges for g in graphs]),
    )


def _sorted(table: str, pieces: Sequence[pa.Table]) -> pa.Table:
    """All pieces as one table in order of its key."""
    spec = table_spec(table)
    whole = pa.concat_tables([spec.schema().empty_table(), *pieces])
    return whole.sort_by([(name, "ascending") for name in spec.key])


# ---- from tables -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureRows:
    """Features of one program that were extracted before.

    Attributes:
        graphs: of all its designs; None when they are not known.
    """

    program: ProgramRow
    designs: Sequence[DesignRow]
    program_facts: Sequence[ProgramFactsRow]
    loops: Sequence[LoopRow]
    graphs: Graphs | None


def remember_features(rows: FeatureRows, cache: ContentCache) -> Counter[str]:
    """Put features into the cache, unless another version of the engine made the designs.

    Returns: new entries by kind.
    """
    stored: Counter[str] = Counter()
    if any(d.tool == TOOL and d.tool_version != tool_version() for d in rows.designs):
        return stored
    entries: tuple[tuple[str, str, Sequence[Any]], ...] = (
        ("loops", _loops_key(rows.program), rows.loops),
        ("program_facts", _facts_key(rows.program), rows.program_facts),
    )
    for kind, key, found in entries:
        if cache.get(kind, key) is None:
            cache.put(kind, key, [asdict(row) for row in found])
            stored[kind] += 1
    for item in _with_graph([rows.program], rows.designs):
        if rows.graphs is None:
            continue
        key = _graphs_key(item.designs)
        if any(cache.get_table(table, key) is None for table in GRAPH_TABLES):
            _keep_graphs(rows.graphs, key, cache)
            stored["graphs"] += 1
    return stored
