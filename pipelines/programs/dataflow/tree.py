"""Loop trees of operators' bodies, and their C text."""

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
        size: the value; the maximum of a run-time length.
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
    """A loop whose end depends on data, after at most `trips` iterations."""

    condition: str
    trips: int
    body: tuple[Node, ...]


Node = Statement | Branch | Loop | While
Axis = tuple[str, Extent]


def statement(text: str) -> Statement:
    """Return a statement without its semicolon."""
    return Statement(text=text + ";")


def declaration(text: str) -> Statement:
    """Return a declaration without its semicolon."""
    return Statement(text=text + ";", declares=True)


def loop(variable: str, extent: Extent, kind: Kind, *body: Node) -> Loop:
    """Return a loop over 0 .. extent - 1."""
    return Loop(
        variable=variable,
        stop=extent.text,
        kind=kind,
        trips=extent.size,
        exact=not extent.runtime,
        body=body,
    )


def nest(axes: Sequence[Axis], kind: Kind, *body: Node) -> tuple[Node, ...]:
    """Return the loops over all axes, the first outermost; the body itself when there are none."""
    for variable, extent in reversed(axes):
        body = (loop(variable, extent, kind, *body),)
    return body


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly inside a node."""
    if isinstance(node, Statement):
        return ()
    if isinstance(node, Branch):
        return node.body + node.otherwise
    return node.body


def walk(nodes: Sequence[Node], depth: int = 0, trips: int = 1) -> Iterator[tuple[Node, int, int]]:
    """Yield every node with the number of loops around it and its maximum executions."""
    for node in nodes:
        yield node, depth, trips
        if isinstance(node, Loop | While):
            yield from walk(node.body, depth + 1, trips * node.trips)
        else:
            yield from walk(children(node), depth, trips)


def shape_of(nodes: Sequence[Node]) -> list[list[object]]:
    """Return the loops as nested lists [variable, trips, step, loops inside], for the graph's JSON."""
    loops: list[list[object]] = []
    for node in nodes:
        if isinstance(node, Loop | While):
            name, step = (node.variable, node.step) if isinstance(node, Loop) else ("while", "")
            loops.append([name, node.trips, step, shape_of(node.body)])
        else:
            loops.extend(shape_of(children(node)))
    return loops


INDENT = "    "


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a program is written.

    Attributes:
        macros: constants are macros, else literals.
        braces: also around single statements.
        spelling: of the element type, an index into its names.
        tile_suffix: of the variable of a loop over tiles.
    """

    macros: bool
    braces: bool
    spelling: int
    tile_suffix: str


def body_text(nodes: Sequence[Node], style: Style, level: int = 1) -> str:
    """Return the lines of some nodes, indented by their level."""
    return "".join(_node_text(node, style, level) for node in nodes)


def _node_text(node: Node, style: Style, level: int) -> str:
    pad = INDENT * level
    if isinstance(node, Statement):
        return f"{pad}{node.text}\n"
    if isinstance(node, Loop):
        return _block(f"{pad}for ({_header(node)})", node.body, style, level)
    if isinstance(node, While):
        return _block(f"{pad}while ({node.condition})", node.body, style, level)
    text = _block(f"{pad}if ({node.condition})", node.body, style, level, force=bool(node.otherwise))
    if node.otherwise:
        text = text.removesuffix("\n") + _block(" else", node.otherwise, style, level, force=True)
    return text


def _header(loop: Loop) -> str:
    name = loop.variable
    if loop.down:
        last = str(int(loop.stop) - 1) if loop.stop.isdigit() else f"{loop.stop} - 1"
        return f"int {name} = {last}; {name} >= {loop.start}; {name}--"
    step = f"{name}++" if loop.step == "1" else f"{name} += {loop.step}"
    return f"int {name} = {loop.start}; {name} < {loop.stop}; {step}"


def _block(head: str, body: Sequence[Node], style: Style, level: int, *, force: bool = False) -> str:
    inner = body_text(body, style, level + 1)
    single = len(body) == 1 and not isinstance(body[0], Branch)
    if single and not style.braces and not force:
        return f"{head}\n{inner}"
    return f"{head} {{\n{inner}{INDENT * level}}}\n"
