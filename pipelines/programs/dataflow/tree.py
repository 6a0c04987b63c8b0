"""Loop trees: what an operator's body is made of, before it is text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["parallel", "reduction", "serial"]
"""parallel: iterations touch different results; reduction: they add to the same result, in any order but for
the rounding of floating sums; serial: the order matters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extent:
    """The end of a loop or dimension.

    Attributes:
        size: the value, of a run-time length the largest one.
        text: literal, macro or scalar argument.
        runtime: whether the text is a scalar argument.
    """

    size: int
    text: str
    runtime: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One C statement; `declares` when it introduces a variable."""

    text: str
    declares: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """An `if`."""

    condition: str
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """A counted loop from `start` to before `stop`.

    Attributes:
        trips: iterations at most.
        exact: the loop always has `trips` iterations.
        down: runs from stop - 1 to start; then the step is 1.
    """

    variable: str
    stop: str
    kind: Kind
    trips: int
    body: tuple[Node, ...]
    start: str = "0"
    step: str = "1"
    exact: bool = True
    down: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class While:
    """A loop that data ends, after at most `trips` iterations."""

    condition: str
    trips: int
    body: tuple[Node, ...]


Node = Statement | Branch | Loop | While
Axis = tuple[str, Extent]


def statement(text: str) -> Statement:
    """A statement without its semicolon."""
    return Statement(text=text + ";")


def declaration(text: str) -> Statement:
    """A declaration without its semicolon."""
    return Statement(text=text + ";", declares=True)


def loop(variable: str, extent: Extent, kind: Kind, *body: Node) -> Loop:
    """A loop over 0 .. extent - 1."""
    return Loop(
        variable=variable,
        stop=extent.text,
        kind=kind,
        trips=extent.size,
        exact=not extent.runtime,
        body=body,
    )


def nest(axes: Sequence[Axis], kind: Kind, *body: Node) -> tuple[Node, ...]:
    """Loops over all axes, the first outermost; the body itself when there are none."""
    for variable, extent in reversed(axes):
        body = (loop(variable, extent, kind, *body),)
    return body


def children(node: Node) -> tuple[Node, ...]:
    """What is directly inside a node."""
    if isinstance(node, Statement):
        return ()
    if isinstance(node, Branch):
        return node.body + node.otherwise
    return node.body


def walk(nodes: Sequence[Node], depth: int = 0, trips: int = 1) -> Iterator[tuple[Node, int, int]]:
    """Every node with the loops around it and how often it runs at most."""
    for node in nodes:
        yield node, depth, trips
        if isinstance(node, Loop | While):
            yield from walk(node.body, depth + 1, trips * node.trips)
        else:
            yield from walk(children(node), depth, trips)


def depth_of(nodes: Sequence[Node]) -> int:
    """The deepest nest of loops."""
    return max((depth + isinstance(node, Loop | While) for node, depth, _ in walk(nodes)), default=0)


def shape_of(nodes: Sequence[Node]) -> list[list[object]]:
    """The loops as nested lists [variable, trips, step, loops inside], for the graph's JSON."""
    found: list[list[object]] = []
    for node in nodes:
        if isinstance(node, Loop | While):
            name, step = (node.variable, node.step) if isinstance(node, Loop) else ("while", "")
            found.append([name, node.trips, step, shape_of(node.body)])
        else:
            found.extend(shape_of(children(node)))
    return found
