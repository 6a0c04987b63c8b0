"""All feature tables of a set of programs and designs.

Belongs here: going over designs with the cache. Does not: any single feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipelines.cache import ContentCache
from pipelines.features.graphs import graph_rows
from pipelines.features.loops import extract_loops
from pipelines.hls import TOOL, HlsError, compile_program, options_of, tool_version
from pipelines.identity import content_hash
from pipelines.labelling import LabelOptions, Progress, ProgressCallback, silent
from pipelines.programs import program_facts
from pipelines.schemas import OK, CdfgEdgeRow, CdfgNodeRow, DesignRow, LoopRow, ProgramFactsRow, ProgramRow


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureTables:
    """Rows of the feature tables."""

    program_facts: list[ProgramFactsRow]
    loops: list[LoopRow]
    cdfg_nodes: list[CdfgNodeRow]
    cdfg_edges: list[CdfgEdgeRow]


def _loops(program: ProgramRow, cache: ContentCache) -> list[LoopRow]:
    key = content_hash(program.program_id, tool_version(), "loops-1")
    stored = cache.get("loops", key)
    if stored is None:
        try:
            rows = extract_loops(program)
        except HlsError:
            rows = []  # the program's design row says why
        stored = [asdict(r) for r in rows]
        cache.put("loops", key, stored)
    return [LoopRow(**row) for row in stored]


def _facts(program: ProgramRow, cache: ContentCache) -> list[ProgramFactsRow]:
    key = content_hash(program.program_id, tool_version(), "program-facts-1")
    stored = cache.get("program_facts", key)
    if stored is None:
        try:
            stored = [asdict(program_facts(program))]
        except HlsError:
            stored = list[Any]()  # the program's design row says why
        cache.put("program_facts", key, stored)
    return [ProgramFactsRow(**row) for row in stored]


def _graph(
    program: ProgramRow, design: DesignRow, cache: ContentCache
) -> tuple[list[CdfgNodeRow], list[CdfgEdgeRow]]:
    key = content_hash(design.design_id, "graph-1")
    stored = cache.get("graph", key)
    if stored is None:
        compiled = compile_program(
            program.source, top=program.top, options=options_of(design), file=f"{program.name}.c"
        )
        nodes, edges = graph_rows(design, compiled)
        stored = {"nodes": [asdict(n) for n in nodes], "edges": [asdict(e) for e in edges]}
        cache.put("graph", key, stored)
    return (
        [CdfgNodeRow(**row) for row in stored["nodes"]],
        [CdfgEdgeRow(**row) for row in stored["edges"]],
    )


def extract_features(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    *,
    cache: ContentCache,
    options: LabelOptions,
    on_progress: ProgressCallback = silent,
) -> FeatureTables:
    """Facts and loops of every program, and the graph of every design that the project's own engine made."""
    del options  # one process is enough: a graph takes some milliseconds
    by_id = {p.program_id: p for p in programs}
    loops = [row for p in programs if p.status == OK for row in _loops(p, cache)]
    facts = [row for p in programs if p.status == OK for row in _facts(p, cache)]
    nodes: list[CdfgNodeRow] = []
    edges: list[CdfgEdgeRow] = []
    made = [d for d in designs if d.status == OK and d.tool == TOOL]
    for done, design in enumerate(made, 1):
        program = by_id[design.program_id]
        own_nodes, own_edges = _graph(program, design, cache)
        nodes += own_nodes
        edges += own_edges
        on_progress(Progress(step="features", done=done, total=len(made), failed=0, latest=program.name))
    return FeatureTables(program_facts=facts, loops=loops, cdfg_nodes=nodes, cdfg_edges=edges)
