"""Dataflow graphs: operations in pipeline stages, and the data between them."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.base.files import read_bounded
from pipelines.base.identity import content_hash
from pipelines.base.validation import NotJson, Whole, describe_invalid, parse_json_model
from pipelines.fabric.errors import FabricError
from pipelines.fabric.machine import Fabric, UnitType

NODE_LIMIT, EDGE_LIMIT = 4096, 32768
FILE_LIMIT_BYTES = 16 << 20
_Amount = Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)]


class Node(BaseModel):
    """An operation.

    Attributes:
        kind: of operation; the fabric says which unit does it, and how fast.
        stage: of the pipeline. work: operations per sample.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=200)
    kind: str
    stage: Whole = Field(ge=0, le=NODE_LIMIT)
    work: _Amount


class Edge(BaseModel):
    """Data between two operations, by their names; words per sample."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: str
    target: str
    words: _Amount


class Graph(BaseModel):
    """A dataflow graph without cycles."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=200)
    nodes: tuple[Node, ...] = Field(min_length=1, max_length=NODE_LIMIT)
    edges: tuple[Edge, ...] = Field(default=(), max_length=EDGE_LIMIT)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number of every operation by its name."""
        return {node.name: number for number, node in enumerate(self.nodes)}

    @cached_property
    def shape(self) -> str:
        """Hash of operations and edges without names: graphs of several layers may be the same."""
        nodes = [(node.kind, node.stage, node.work) for node in self.nodes]
        edges = [(self.numbers[edge.source], self.numbers[edge.target], edge.words) for edge in self.edges]
        return content_hash(nodes, edges)


def read_graph(path: Path) -> Graph:
    """Read the graph of a JSON file.

    Raises: FabricError: no such file, too large, not a graph, or one with a cycle.
    """
    content = read_bounded(path, what="graph", most_bytes=FILE_LIMIT_BYTES, error=FabricError)
    try:
        graph = parse_json_model(content, Graph)
        require_acyclic(graph)
    except ValidationError as error:
        raise FabricError(describe_invalid(error, Graph, path)) from error
    except (FabricError, NotJson) as error:
        raise FabricError(f"{error} ({path})") from error
    return graph


def require_acyclic(graph: Graph) -> None:
    """Check names, ends of edges, and that there is no cycle.

    Raises: FabricError: a name stands twice, an end is unknown, or the graph has a cycle; it is named.
    """
    numbers = graph.numbers
    if len(numbers) != len(graph.nodes):
        names = [node.name for node in graph.nodes]
        raise FabricError(f"two operations of one name: {next(n for n in names if names.count(n) > 1)}")
    waiting = dict.fromkeys(numbers, 0)
    after: dict[str, list[str]] = {name: [] for name in numbers}
    for edge in graph.edges:
        for end in (edge.source, edge.target):
            if end not in numbers:
                raise FabricError(f"unknown operation at an edge: {end} ({edge.source} to {edge.target})")
        waiting[edge.target] += 1
        after[edge.source].append(edge.target)
    ready = [name for name, count in waiting.items() if count == 0]
    for name in ready:  # grows
        for target in after[name]:
            waiting[target] -= 1
            if waiting[target] == 0:
                ready.append(target)
    if len(ready) < len(numbers):
        left = [name for name in numbers if waiting[name] > 0]
        raise FabricError(f"cycle in the graph, through some of: {', '.join(left[:10])}")


def require_room(graph: Graph, fabric: Fabric) -> None:
    """Check that a fabric has units for every operation.

    Raises: FabricError: an operation is unknown, or there are too few units of a type.
    """
    needed: dict[UnitType, int] = {"compute": 0, "memory": 0}
    for node in graph.nodes:
        needed[fabric.operation(node.kind).unit] += 1
    for unit, count in needed.items():
        room = fabric.room(unit)
        if count > room:
            raise FabricError(
                f"graph too large: {count} operations on {unit} units; {fabric.name} has room for {room}"
            )
