"""Networks from files: JSON of nodes and links, and GraphML.

JSON: {"nodes": [{"id": "a", "host": true}, {"id": "s", "tier": 1}],
       "links": [{"source": "a", "target": "s", "rate_bps": 100000000, "delay_ns": 0}]}
GraphML: an undirected graph with the same attributes on its nodes and edges.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any, cast

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring
from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError

from pipelines.base.files import read_bounded
from pipelines.base.validation import NotJson, Whole, describe_invalid, parse_json_model
from pipelines.network.errors import NetworkError
from pipelines.network.topology.graph import (
    HOST_TIER,
    LINK_LIMIT,
    NODE_LIMIT,
    Link,
    Topology,
    topology_of_links,
)

FILE_LIMIT_BYTES = 64 << 20
FORMATS = (".json", ".graphml")
SWITCH_TIER = 1
_PARTS = NODE_LIMIT + LINK_LIMIT

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_NOT_GRAPHML = (ParseError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""Errors of the parser and, beside its own, of networkx for XML that is no GraphML."""

_Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Node(BaseModel):
    """A host, or a switch with its tier."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: _Name
    host: bool = False
    tier: Annotated[Whole, Field(ge=1, le=1000)] | None = None


class _Edge(BaseModel):
    """A full-duplex link."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: _Name
    target: _Name
    rate_bps: Whole
    delay_ns: Whole = 0


class _Graph(BaseModel):
    """The content of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    nodes: Annotated[list[_Node], Field(max_length=NODE_LIMIT), FailFast()]
    links: Annotated[list[_Edge], Field(max_length=LINK_LIMIT), FailFast()]


def read_topology(path: Path) -> Topology:
    """Read the network of a JSON or GraphML file, hosts first in the order of the file.

    Raises: NetworkError: no such file, too large, not of either format, or no network; the message names
            the file and the node, link or field.
    """
    if path.suffix not in FORMATS:
        raise NetworkError(f"a topology file must end in {' or '.join(FORMATS)}, got {path.name}")
    content = read_bounded(path, what="topology", most_bytes=FILE_LIMIT_BYTES, error=NetworkError)
    try:
        if path.suffix == ".graphml":
            graph = _from_graphml(content)
        else:
            _check_marks(content, {b"{": _PARTS + 1, b",": 4 * _PARTS})
            graph = parse_json_model(content, _Graph)
        return _topology(path.stem, graph)
    except ValidationError as error:
        raise NetworkError(describe_invalid(error, _Graph, path)) from error
    except (NetworkError, NotJson) as error:
        raise NetworkError(f"{error} ({path})") from error


def _check_marks(content: bytes, most: dict[bytes, int]) -> None:
    """Refuse what has more parts than any network, before parsing: parts take far more memory than text."""
    for mark, limit in most.items():
        count = content.count(mark)
        if count > limit:
            raise NetworkError(
                f"a topology must have at most {NODE_LIMIT} nodes and {LINK_LIMIT} links, so at most {limit} "
                f"times {mark.decode()!r}, got {count}"
            )


def _from_graphml(content: bytes) -> _Graph:
    import networkx as nx  # lazy import: takes 0.3 s

    _check_marks(content, {b"<": 6 * _PARTS + 100, b"=": 6 * _PARTS + 100})
    try:
        read = _read_graphml(content.decode("utf-8"))
    except DefusedXmlException as error:
        raise NetworkError(
            "a topology must have no document type, which is where entities are declared"
        ) from error
    except (nx.NetworkXError, *_NOT_GRAPHML) as error:
        raise NetworkError(f"a topology must be GraphML in UTF-8, got: {error}") from error
    if read.is_directed():
        raise NetworkError("a topology must be an undirected graph, got a directed one")
    nodes = [{"id": str(name), **attributes} for name, attributes in read.nodes(data=True)]
    links = [
        {"source": str(one), "target": str(other), **_without_id(attributes)}
        for one, other, attributes in read.edges(data=True)
    ]
    return _Graph.model_validate({"nodes": nodes, "links": links})


def _read_graphml(text: str) -> Any:
    """Read first graph of a GraphML text; `<graphml>` without attributes stands for that of the namespace."""
    import networkx as nx

    root = fromstring(text.replace("<graphml>", f'<graphml xmlns="{_NAMESPACE}">', 1), forbid_dtd=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a key without a type is a string, as GraphML says
        reader = cast("Any", nx).GraphMLReader()
        keys, defaults = reader.find_graphml_keys(root)
        graph = root.find(f"{{{_NAMESPACE}}}graph")
        if graph is None:
            raise nx.NetworkXError("no graph in the namespace of GraphML")
        return reader.make_graph(graph, keys, defaults)


def _in_order(one: int, other: int) -> tuple[int, int]:
    """Return the ends of a link, the lower first: a file of an undirected graph may name them either way."""
    return (one, other) if one < other else (other, one)


def _without_id(attributes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name != "id"}


def _topology(name: str, graph: _Graph) -> Topology:
    """Return the hosts first, then switches, each in the order of the file."""
    ordered = sorted(graph.nodes, key=lambda node: not node.host)
    numbers: dict[str, int] = {}
    for node in ordered:
        if node.id in numbers:
            raise NetworkError(f"nodes must have different ids, got {node.id!r} twice")
        if node.host and node.tier is not None:
            raise NetworkError(f"a host must have no tier, got tier {node.tier} of {node.id!r}")
        numbers[node.id] = len(numbers)
    for link in graph.links:
        for end in (link.source, link.target):
            if end not in numbers:
                raise NetworkError(f"a link must join nodes of the file, got {end!r}")
    return topology_of_links(
        name,
        host_count=sum(node.host for node in ordered),
        tiers=[HOST_TIER if node.host else node.tier or SWITCH_TIER for node in ordered],
        links=[
            Link(
                ends=_in_order(numbers[link.source], numbers[link.target]),
                rate_bps=link.rate_bps,
                delay_ns=link.delay_ns,
            )
            for link in graph.links
        ],
        node_ids=list(numbers),
    )
