# ruff: noqa: ARG001, ARG005 (all entries of a table have one signature)
"""C++ expressions of nodes on unsigned words of 8, 16, 32 or 64 bits; upper bits of a word are 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pipelines.rtl.reuse.blocks import Block
from pipelines.rtl.reuse.ir import Node, mask

_SIZES = (8, 16, 32, 64)


def size_of(width: int) -> int:
    """Return the bits of the smallest type."""
    return next(size for size in _SIZES if width <= size)


def type_of(width: int) -> str:
    """Return the name of the smallest unsigned type."""
    return f"u{size_of(width)}"


def literal(value: int, width: int) -> str:
    """Return a constant of the type of a width."""
    return f"({type_of(width)}){value:#x}{'ull' if width > 32 else 'u'}"


def expression(block: Block, number: int, names: Mapping[int, str]) -> str:
    """Return the value of an operation.

    Args: names: of its arguments; constants need none.
    """
    node = block.nodes[number]
    args = [operand(block, arg, names) for arg in node.args]
    widths = [block.nodes[arg].width for arg in node.args]
    return f"({type_of(node.width)})({_FORMS[node.op](node, args, widths)})"


def operand(block: Block, number: int, names: Mapping[int, str]) -> str:
    """Return a constant's literal, or the name of a node."""
    node = block.nodes[number]
    return f"({literal(node.value, node.width)})" if node.op == "const" else names[number]


def _masked(text: str, width: int) -> str:
    if width == size_of(width):
        return text
    return f"({text}) & {mask(width):#x}{'ull' if width > 32 else 'u'}"


def _signed(text: str, width: int) -> str:
    """Return a word as a signed number of its type."""
    size = size_of(width)
    if size == width:
        return f"(i{size}){text}"
    return f"((i{size})((u{size})({text} << {size - width})) >> {size - width})"


def _wide(text: str, width: int) -> str:
    """Return the operand of arithmetic that int must not overflow in."""
    return f"(u32){text}" if size_of(width) == 16 else text


def _infix(symbol: str) -> Callable[[Node, Sequence[str], Sequence[int]], str]:
    return lambda n, a, w: _masked(f"{_wide(a[0], w[0])} {symbol} {_wide(a[1], w[1])}", n.width)


def _shift(node: Node, args: Sequence[str], widths: Sequence[int]) -> str:
    word = f"(u{max(32, size_of(node.width))}){args[0]}"
    symbol = "<<" if node.op == "shl" else ">>"
    shifted = _masked(f"{word} {symbol} {args[1]}", node.width)
    if mask(widths[1]) < node.width:
        return shifted
    return f"{args[1]} < {node.width} ? {shifted} : 0"


def _arithmetic_shift(node: Node, args: Sequence[str], widths: Sequence[int]) -> str:
    last = node.width - 1
    amount = args[1] if mask(widths[1]) <= last else f"({args[1]} < {last} ? {args[1]} : {last})"
    return _masked(f"{_signed(args[0], node.width)} >> {amount}", node.width)


def _extend_sign(node: Node, args: Sequence[str], widths: Sequence[int]) -> str:
    if widths[0] == 1:
        return _masked(f"0 - ({type_of(node.width)}){args[0]}", node.width)
    return _masked(
        f"(u{size_of(node.width)})(i{size_of(node.width)}){_signed(args[0], widths[0])}", node.width
    )


def _call(name: str, *, is_signed: bool) -> Callable[[Node, Sequence[str], Sequence[int]], str]:
    def form(node: Node, args: Sequence[str], widths: Sequence[int]) -> str:
        size = "64" if node.width > 32 else "32"
        operands = [_signed(a, node.width) for a in args] if is_signed else args
        return _masked(f"{name}{size}({', '.join(operands)})", node.width)

    return form


def _compare(symbol: str, *, is_signed: bool = False) -> Callable[[Node, Sequence[str], Sequence[int]], str]:
    def form(node: Node, args: Sequence[str], widths: Sequence[int]) -> str:
        a, b = [_signed(x, widths[0]) if is_signed else x for x in args]
        return f"{a} {symbol} {b}"

    return form


_FORMS: dict[str, Callable[[Node, Sequence[str], Sequence[int]], str]] = {
    "and": lambda n, a, w: f"{a[0]} & {a[1]}",
    "or": lambda n, a, w: f"{a[0]} | {a[1]}",
    "xor": lambda n, a, w: f"{a[0]} ^ {a[1]}",
    "not": lambda n, a, w: _masked(f"~{a[0]}", n.width),
    "add": _infix("+"),
    "sub": _infix("-"),
    "mul": _infix("*"),
    "udiv": _call("udiv", is_signed=False),
    "urem": _call("urem", is_signed=False),
    "sdiv": _call("sdiv", is_signed=True),
    "srem": _call("srem", is_signed=True),
    "shl": _shift,
    "shr": _shift,
    "sar": _arithmetic_shift,
    "eq": _compare("=="),
    "ult": _compare("<"),
    "slt": _compare("<", is_signed=True),
    "parity": lambda n, a, w: f"parity{size_of(w[0])}({a[0]})",
    "mux": lambda n, a, w: f"{a[0]} ? {a[1]} : {a[2]}",
    "slice": lambda n, a, w: _masked(f"{a[0]} >> {n.value}" if n.value else a[0], n.width),
    "concat": lambda n, a, w: f"(({type_of(n.width)}){a[1]} << {w[0]}) | {a[0]}",
    "zext": lambda n, a, w: a[0],
    "sext": _extend_sign,
}
