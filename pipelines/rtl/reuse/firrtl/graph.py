# ruff: noqa: ARG005 (all rules of a table have one signature)
"""Operations on bits, each once per module; an operand's sign belongs to the operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pipelines.rtl.reuse.errors import RtlError

CONST, SIGNAL = "const", "signal"
INVALID = -1
"""In place of a node: any value."""


class Operation(NamedTuple):
    """An operation. Attributes: numbers: its parameters. is_signed: of its operands. name: of a signal."""

    op: str
    args: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    is_signed: bool = False
    name: str = ""


class Graph:
    """Nodes by number, operands first."""

    def __init__(self) -> None:
        self.nodes: list[Operation] = []
        self.names: dict[int, str] = {}
        self._numbers: dict[Operation, int] = {}

    def add(self, operation: Operation) -> int:
        """Return the node of an operation."""
        number = self._numbers.get(operation)
        if number is None:
            number = self._numbers[operation] = len(self.nodes)
            self.nodes.append(operation)
        return number

    def const(self, value: int, width: int) -> int:
        """Return a constant; negative values are cut to the width."""
        return self.add(Operation(CONST, numbers=(value & ((1 << width) - 1), width)))

    def signal(self, name: str) -> int:
        """Return a declared signal."""
        return self.add(Operation(SIGNAL, name=name))

    def mux(self, condition: int, yes: int, no: int, *, is_signed: bool) -> int:
        """Return one of two values; of an undefined one the other."""
        if yes == no or no == INVALID:
            return yes
        if yes == INVALID:
            return no
        return self.add(Operation("mux", (condition, yes, no), is_signed=is_signed))

    def cone(self, roots: Sequence[int]) -> list[int]:
        """Return the nodes that others need, operands first."""
        seen: set[int] = set()
        stack = [root for root in roots if root != INVALID]
        while stack:
            number = stack.pop()
            if number not in seen:
                seen.add(number)
                stack += self.nodes[number].args
        return sorted(seen)

    def widths(self, nodes: Sequence[int], signals: Mapping[str, int]) -> dict[int, int]:
        """Compute the widths of nodes, operands first, from the widths of signals."""
        widths: dict[int, int] = {}
        for number in nodes:
            node = self.nodes[number]
            if node.op == SIGNAL:
                widths[number] = signals[node.name]
            elif node.op == CONST:
                widths[number] = node.numbers[1]
            else:
                widths[number] = result_width(node, [widths[a] for a in node.args])
        return widths


def result_width(node: Operation, widths: Sequence[int]) -> int:
    """Return the width of a result; see the primitive operations in the specification of FIRRTL."""
    rule = _WIDTHS.get(node.op)
    if rule is None:
        raise RtlError(f"unknown operation: {node.op}; accepted: {', '.join(sorted(_WIDTHS))}")
    operands = 1 if node.op in _UNARY else {"mux": 3, "cat": len(widths) or 2}.get(node.op, 2)
    if len(widths) != operands:
        raise RtlError(f"operands of {node.op}: {len(widths)}; accepted: {operands}")
    try:
        return rule(widths, node.numbers, node.is_signed)
    except IndexError as error:
        raise RtlError(f"numbers are missing: {node.op}") from error


_Rule = Callable[[Sequence[int], Sequence[int], bool], int]
_one: _Rule = lambda w, n, s: 1  # noqa: E731
_widest: _Rule = lambda w, n, s: max(w)  # noqa: E731
_carry: _Rule = lambda w, n, s: max(w) + 1  # noqa: E731
_UNARY = {"andr", "orr", "xorr", "pad", "shl", "shr", "cvt", "neg", "not", "bits", "head", "tail"}
_WIDTHS: dict[str, _Rule] = {
    "add": _carry,
    "sub": _carry,
    "mul": lambda w, n, s: w[0] + w[1],
    "div": lambda w, n, s: w[0] + s,
    "rem": lambda w, n, s: min(w),
    "lt": _one,
    "leq": _one,
    "gt": _one,
    "geq": _one,
    "eq": _one,
    "neq": _one,
    "andr": _one,
    "orr": _one,
    "xorr": _one,
    "pad": lambda w, n, s: max(w[0], n[0]),
    "shl": lambda w, n, s: w[0] + n[0],
    "shr": lambda w, n, s: max(w[0] - n[0], 1),
    "dshl": lambda w, n, s: w[0] + (1 << w[1]) - 1,
    "dshr": lambda w, n, s: w[0],
    "cvt": lambda w, n, s: w[0] if s else w[0] + 1,
    "neg": lambda w, n, s: w[0] + 1,
    "not": lambda w, n, s: w[0],
    "and": _widest,
    "or": _widest,
    "xor": _widest,
    "cat": lambda w, n, s: sum(w),
    "bits": lambda w, n, s: n[0] - n[1] + 1,
    "head": lambda w, n, s: n[0],
    "tail": lambda w, n, s: w[0] - n[0],
    "mux": lambda w, n, s: max(w[1:]),
}
