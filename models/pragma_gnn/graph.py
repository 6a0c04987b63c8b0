"""A program as a graph: arrays that the network reads.

The two are kept apart as HARP keeps them: a program's graph has no directive in it, so it is encoded once for
all of its configurations. Sizes are logarithms, for extents that were never trained on are asked for too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipelines.pragmas.summary import (
    READ,
    ROOT,
    ArrayFacts,
    Dependence,
    Loop,
    Operation,
    Statement,
    Summary,
)

OPERATIONS = (
    "load",
    "store",
    "add",
    "sub",
    "mul",
    "div",
    "sqrt",
    "logic",
    "shift",
    "compare",
    "select",
    "cast",
)
TYPES = ("double", "float")
NODE_FEATURES: Mapping[str, tuple[str, ...]] = {
    "loop": (
        "log_trips",
        "constant",
        "log_executions",
        "depth",
        "parallel",
        "reduction",
        "log_distance",
        "innermost",
        "perfect",
    ),
    "statement": ("depth", "reductions", "always", "log_operations"),
    "operation": (*(f"is_{kind}" for kind in OPERATIONS), *(f"is_{name}" for name in TYPES), "reduction"),
    "array": (
        "log_elements",
        "log_bits",
        "dimensions",
        "log_last_extent",
        "external",
        "live_in",
        "live_out",
    ),
}
EDGES: Mapping[str, tuple[str, str]] = {
    "body": ("loop", "loop"),
    "next": ("loop", "loop"),
    "executes": ("loop", "statement"),
    "consists": ("statement", "operation"),
    "feeds": ("operation", "operation"),
    "reads": ("array", "operation"),
    "writes": ("operation", "array"),
    "touches": ("loop", "array"),
    "depends": ("statement", "statement"),
}
"""Kinds of edges by the kinds of nodes that they lead from and to; the network follows each both ways."""

EDGE_FEATURES = ("log_footprint", "log_share", "indexes", "last_dimension", "carried", "log_distance", "raw")
Values = NDArray[np.float32]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramGraph:
    """A program without directives.

    Attributes:
        loops: names, in the order of the loops' nodes.
        nodes: features by kind, in the order of `NODE_FEATURES`. (nodes of the kind, features)
        edges: by kind, places among the nodes of their kinds. (2, edges)
        edge_features: by kind, in the order of `EDGE_FEATURES`. (edges, features)
        parents: 1 where the loop of the row is directly in the loop of the column. (loops, loops)
    """

    loops: tuple[str, ...]
    nodes: Mapping[str, Values]
    edges: Mapping[str, Places]
    edge_features: Mapping[str, Values]
    parents: Values


def program_graph(summary: Summary) -> ProgramGraph:
    """Return the graph of a program."""
    growing = _Growing(summary)
    growing.add_loops()
    growing.add_statements()
    growing.add_arrays()
    return growing.finish(tuple(summary.loops))


@dataclass(slots=True)
class _Growing:
    """A graph in the making: features and places of its nodes, and its edges."""

    summary: Summary
    nodes: dict[str, list[list[float]]] = field(default_factory=lambda: {kind: [] for kind in NODE_FEATURES})
    place: dict[tuple[str, object], int] = field(default_factory=dict[tuple[str, object], int])
    edges: dict[str, list[tuple[int, int]]] = field(default_factory=lambda: {kind: [] for kind in EDGES})
    said: dict[str, list[list[float]]] = field(default_factory=lambda: {kind: [] for kind in EDGES})

    def add_node(self, kind: str, key: object, features: Mapping[str, float]) -> None:
        self.place[kind, key] = len(self.nodes[kind])
        self.nodes[kind].append([float(features[name]) for name in NODE_FEATURES[kind]])

    def add_edge(self, kind: str, source: object, target: object, **said: float) -> None:
        from_kind, to_kind = EDGES[kind]
        self.edges[kind].append((self.place[from_kind, source], self.place[to_kind, target]))
        self.said[kind].append([float(said.get(name, 0.0)) for name in EDGE_FEATURES])

    def add_loops(self) -> None:
        for name, loop in self.summary.loops.items():
            self.add_node("loop", name, _loop_features(self.summary, loop))
        for place in (ROOT, *self.summary.loops):
            inside = [child for child in self.summary.children(place) if isinstance(child, str)]
            for child in inside if place else ():
                self.add_edge("body", place, child)
            for before, after in itertools.pairwise(inside):
                self.add_edge("next", before, after)

    def add_statements(self) -> None:
        for statement in self.summary.statements:
            self.add_node("statement", statement.index, _statement_features(statement))
            for loop in statement.loops[-1:]:
                self.add_edge("executes", loop, statement.index)
            for number, operation in enumerate(statement.operations):
                self.add_node("operation", (statement.index, number), _operation_features(operation))
                self.add_edge("consists", statement.index, (statement.index, number))
                for operand in operation.operands:
                    self.add_edge("feeds", (statement.index, operand), (statement.index, number))
        for dependence in self.summary.dependences:
            self.add_edge("depends", dependence.source, dependence.target, **_dependence_features(dependence))

    def add_arrays(self) -> None:
        for name, array in self.summary.arrays.items():
            self.add_node("array", name, _array_features(array))
        for statement in self.summary.statements:
            for number, operation in enumerate(statement.operations):
                if operation.access is not None:
                    access, key = statement.accesses[operation.access], (statement.index, number)
                    if access.kind == READ:
                        self.add_edge("reads", access.array, key)
                    else:
                        self.add_edge("writes", key, access.array)
        indexing = _indexing(self.summary)
        for (loop, array), footprint in self.summary.footprints.items():
            if loop != ROOT:
                whole = _log(_elements(self.summary.arrays[array]))
                self.add_edge(
                    "touches",
                    loop,
                    array,
                    log_footprint=_log(footprint),
                    log_share=_log(footprint) - whole,
                    indexes=(loop, array) in indexing,
                    last_dimension=indexing.get((loop, array), False),
                )

    def finish(self, loops: tuple[str, ...]) -> ProgramGraph:
        edges = {kind: np.array(self.edges[kind], np.int64).reshape(-1, 2).T for kind in EDGES}
        parents = np.zeros((len(loops), len(loops)), np.float32)
        parents[edges["body"][1], edges["body"][0]] = 1.0
        return ProgramGraph(
            loops=loops,
            nodes={k: _matrix(rows, len(NODE_FEATURES[k])) for k, rows in self.nodes.items()},
            edges=edges,
            edge_features={kind: _matrix(self.said[kind], len(EDGE_FEATURES)) for kind in EDGES},
            parents=parents,
        )


def _loop_features(summary: Summary, loop: Loop) -> Mapping[str, float]:
    inside = [child for child in loop.children if isinstance(child, str)]
    return {
        "log_trips": _log(float(loop.trip_count_average)),
        "constant": loop.constant,
        "log_executions": _log(loop.executions),
        "depth": len(summary.loops_around(loop.name)),
        "parallel": loop.parallel,
        "reduction": loop.reduction,
        "log_distance": -1.0 if loop.distance is None else _log(loop.distance),
        "innermost": not inside,
        "perfect": len(loop.children) == len(inside) == 1,
    }


def _statement_features(statement: Statement) -> Mapping[str, float]:
    return {
        "depth": len(statement.loops),
        "reductions": len(statement.reduction_loops),
        "always": statement.always,
        "log_operations": _log(len(statement.operations)),
    }


def _operation_features(operation: Operation) -> Mapping[str, float]:
    kinds = {f"is_{kind}": operation.kind == kind for kind in OPERATIONS}
    types = {f"is_{name}": operation.type == name for name in TYPES}
    return kinds | types | {"reduction": operation.reduction}


def _array_features(array: ArrayFacts) -> Mapping[str, float]:
    return {
        "log_elements": _log(_elements(array)),
        "log_bits": _log(array.element_bits),
        "dimensions": len(array.shape),
        "log_last_extent": _log(array.shape[-1]) if array.shape else 0.0,
        "external": array.external,
        "live_in": array.live_in,
        "live_out": array.live_out,
    }


def _dependence_features(dependence: Dependence) -> Mapping[str, float]:
    return {
        "carried": dependence.loop is not None,
        "log_distance": _log(dependence.distance),
        "raw": dependence.kind == "raw",
    }


def _indexing(summary: Summary) -> dict[tuple[str, str], bool]:
    """Return the loops whose iterators stand in subscripts of arrays, True where it is the last one's."""
    last_subscripts: dict[tuple[str, str], bool] = {}
    for statement in summary.statements:
        for access in statement.accesses:
            for number, subscript in enumerate(access.subscripts, start=1):
                for loop, _ in subscript.terms:
                    last = number == len(access.subscripts)
                    last_subscripts[loop, access.array] = (
                        last_subscripts.get((loop, access.array), False) or last
                    )
    return last_subscripts


def _elements(array: ArrayFacts) -> int:
    return math.prod(array.shape)


def _log(value: float) -> float:
    """Return logarithm, 0 for less than one."""
    return math.log(max(1.0, float(value)))


def _matrix(rows: Sequence[Sequence[float]], columns: int) -> Values:
    return np.array(rows, np.float32).reshape(-1, columns)
