# ruff: noqa: ARG001, ARG005 (all entries of a table have one signature)
"""Hash-consed words of a module: operations on at most 64 bits, folded while they are built.

| op | meaning of `args` and `value` |
| --- | --- |
| const | value |
| input, register | value: number of the pin or register |
| memread | args: address; value: number of the memory; 0 beyond its size |
| and or xor not, add sub mul | modulo 2^width |
| shl shr sar | args: word, amount; an amount of the width or more leaves zeros, or copies of the sign |
| udiv urem sdiv srem | quotient towards zero, remainder with the sign of the dividend; 0 for divisor 0 |
| eq ult slt parity | one bit |
| mux | args: condition of one bit, value if 1, value if 0 |
| slice | value: lowest bit |
| concat | args: low part, high part |
| zext sext | to the width |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipelines.rtl.reuse.errors import RtlError

LEAVES = ("const", "input", "register")
"""Operations without arguments."""
LIMB = 64
"""Bits of the widest word; wider signals are several."""


class Node(NamedTuple):
    """One word; `args` are numbers of nodes, `value` see the table above."""

    op: str
    width: int
    args: tuple[int, ...] = ()
    value: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Words of a signal, lowest first: 64 bits each, the last one 1 to 64."""

    width: int
    limbs: tuple[int, ...]


class Piece(NamedTuple):
    """Bits `low` to `low + width - 1` of a word."""

    node: int
    low: int
    width: int


def mask(width: int) -> int:
    """Return all ones."""
    return (1 << width) - 1


def signed(value: int, width: int) -> int:
    """Return a word as two's complement."""
    return value - (1 << width) if value >> (width - 1) & 1 else value


def _divide(a: int, b: int) -> int:
    return 0 if b == 0 else (abs(a) // abs(b)) * (-1 if (a < 0) != (b < 0) else 1)


def _remainder(a: int, b: int) -> int:
    return 0 if b == 0 else a - b * _divide(a, b)


_FUNCTIONS: dict[str, Callable[[Node, Sequence[int], Sequence[int]], int]] = {
    "and": lambda n, v, w: v[0] & v[1],
    "or": lambda n, v, w: v[0] | v[1],
    "xor": lambda n, v, w: v[0] ^ v[1],
    "not": lambda n, v, w: ~v[0],
    "add": lambda n, v, w: v[0] + v[1],
    "sub": lambda n, v, w: v[0] - v[1],
    "mul": lambda n, v, w: v[0] * v[1],
    "udiv": lambda n, v, w: _divide(v[0], v[1]),
    "urem": lambda n, v, w: _remainder(v[0], v[1]),
    "sdiv": lambda n, v, w: _divide(signed(v[0], w[0]), signed(v[1], w[1])),
    "srem": lambda n, v, w: _remainder(signed(v[0], w[0]), signed(v[1], w[1])),
    "shl": lambda n, v, w: v[0] << v[1] if v[1] < w[0] else 0,
    "shr": lambda n, v, w: v[0] >> v[1] if v[1] < w[0] else 0,
    "sar": lambda n, v, w: signed(v[0], w[0]) >> min(v[1], w[0] - 1),
    "eq": lambda n, v, w: int(v[0] == v[1]),
    "ult": lambda n, v, w: int(v[0] < v[1]),
    "slt": lambda n, v, w: int(signed(v[0], w[0]) < signed(v[1], w[1])),
    "parity": lambda n, v, w: v[0].bit_count() & 1,
    "mux": lambda n, v, w: v[1] if v[0] else v[2],
    "slice": lambda n, v, w: v[0] >> n.value,
    "concat": lambda n, v, w: v[1] << w[0] | v[0],
    "zext": lambda n, v, w: v[0],
    "sext": lambda n, v, w: signed(v[0], w[0]),
}
OPERATIONS = frozenset(_FUNCTIONS)


def evaluate(node: Node, values: Sequence[int], widths: Sequence[int]) -> int:
    """Return the value of an operation from the values and widths of its arguments."""
    return _FUNCTIONS[node.op](node, values, widths) & mask(node.width)


MOST_NODES = 1 << 20
"""Nodes of a block: a product of 65,536 bits has more, and no compiler ends with its text."""


class Builder:
    """Nodes of one block; equal nodes have one number."""

    def __init__(self, module: str = "") -> None:
        """Begin without nodes. Args: module: for messages."""
        self.module = module
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}

    def add(self, node: Node) -> int:
        """Return the number of a node, which is not folded.

        Raises: RtlError: too many.
        """
        number = self._numbers.get(node)
        if number is None:
            if len(self.nodes) >= MOST_NODES:
                raise RtlError(
                    f"module {self.module} has more than {MOST_NODES} operations on words of {LIMB} bits; "
                    "accepted: fewer"
                )
            number = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def width(self, number: int) -> int:
        """Return the bits of a node."""
        return self.nodes[number].width

    def const(self, value: int, width: int) -> int:
        """Return a constant, modulo 2^width."""
        return self.add(Node("const", width, (), value & mask(width)))

    def constant(self, number: int) -> int | None:
        """Return the value of a node if it is constant."""
        node = self.nodes[number]
        return node.value if node.op == "const" else None

    def make(self, op: str, width: int, args: tuple[int, ...], value: int = 0) -> int:
        """Make an operation, folded: constants, identities, and slices through what they select from."""
        node = Node(op, width, args, value)
        values = [self.constant(a) for a in args]
        known = [v for v in values if v is not None]
        if len(known) == len(args):
            return self.const(evaluate(node, known, [self.width(a) for a in args]), width)
        fold = _FOLDS.get(op)
        folded = fold(self, node, values) if fold else None
        return self.add(node) if folded is None else folded

    def slice(self, number: int, low: int, width: int) -> int:
        """Return the bits of a word."""
        return self.make("slice", width, (number,), low)

    def extend(self, number: int, width: int, is_signed: bool = False) -> int:
        """Return a word of the width: cut, or extended by zeros or its sign."""
        own = self.width(number)
        if width <= own:
            return self.slice(number, 0, width)
        return self.make("sext" if is_signed else "zext", width, (number,))

    def binary(self, op: str, a: int, b: int) -> int:
        """Return an operation on two words of one width, whose result has it too."""
        return self.make(op, self.width(a), (a, b))

    def compare(self, op: str, a: int, b: int) -> int:
        """Return eq, ult or slt."""
        return self.make(op, 1, (a, b))

    def invert(self, number: int) -> int:
        """Return the bitwise complement."""
        return self.make("not", self.width(number), (number,))

    def mux(self, condition: int, yes: int, no: int) -> int:
        """Return `yes` when the one-bit condition is 1."""
        return self.make("mux", self.width(yes), (condition, yes, no))

    def join(self, pieces: Sequence[Piece]) -> Signal:
        """Return a signal from pieces of words, lowest first."""
        limbs: list[int] = []
        current: list[Piece] = []
        filled = 0
        for piece in _merged(pieces):
            rest = piece
            while rest.width:
                take = min(rest.width, LIMB - filled)
                current.append(Piece(rest.node, rest.low, take))
                rest = Piece(rest.node, rest.low + take, rest.width - take)
                filled += take
                if filled == LIMB:
                    limbs.append(self._word(current))
                    current, filled = [], 0
        if current:
            limbs.append(self._word(current))
        return Signal(width=sum(p.width for p in pieces), limbs=tuple(limbs))

    def _word(self, pieces: Sequence[Piece]) -> int:
        parts = [
            self.extend(self.slice(piece.node, piece.low, piece.width), width, is_signed=True)
            for piece, width in _sign_extended(_merged(pieces))
        ]
        word = parts[-1]
        for part in reversed(parts[:-1]):
            word = self.make("concat", self.width(part) + self.width(word), (part, word))
        return word


def _sign_extended(pieces: Sequence[Piece]) -> list[tuple[Piece, int]]:
    """Return pieces with the width that copies of their highest bit, which follow them, extend them to."""
    extended: list[tuple[Piece, int]] = []
    for piece in pieces:
        before, width = extended[-1] if extended else (None, 0)
        is_copy = piece.width == 1 and before is not None and before.node == piece.node
        if before is not None and is_copy and piece.low == before.low + before.width - 1:
            extended[-1] = (before, width + 1)
        else:
            extended.append((piece, piece.width))
    return extended


def _merged(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces with neighbouring bits of one word joined."""
    merged: list[Piece] = []
    for piece in pieces:
        last = merged[-1] if merged else None
        if last is not None and last.node == piece.node and last.low + last.width == piece.low:
            merged[-1] = Piece(last.node, last.low, last.width + piece.width)
        else:
            merged.append(piece)
    return merged


# ---- folds: the number of an equal node, or None ---------------------------------------------------

_Values = Sequence[int | None]


def _fold_and(b: Builder, n: Node, v: _Values) -> int | None:
    x, y = n.args
    if x == y:
        return x
    for value, other in ((v[0], y), (v[1], x)):
        if value == 0:
            return b.const(0, n.width)
        if value == mask(n.width):
            return other
    return None


def _fold_or(b: Builder, n: Node, v: _Values) -> int | None:
    x, y = n.args
    if x == y:
        return x
    for value, other in ((v[0], y), (v[1], x)):
        if value == 0:
            return other
        if value == mask(n.width):
            return b.const(mask(n.width), n.width)
    return None


def _fold_xor(b: Builder, n: Node, v: _Values) -> int | None:
    x, y = n.args
    if x == y:
        return b.const(0, n.width)
    for value, other in ((v[0], y), (v[1], x)):
        if value == 0:
            return other
        if value == mask(n.width):
            return b.invert(other)
    return None


def _fold_not(b: Builder, n: Node, v: _Values) -> int | None:
    inner = b.nodes[n.args[0]]
    return inner.args[0] if inner.op == "not" else None


def _fold_add(b: Builder, n: Node, v: _Values) -> int | None:
    if v[0] == 0:
        return n.args[1]
    return n.args[0] if v[1] == 0 else None


def _fold_sub(b: Builder, n: Node, v: _Values) -> int | None:
    if n.args[0] == n.args[1]:
        return b.const(0, n.width)
    return n.args[0] if v[1] == 0 else None


def _fold_mul(b: Builder, n: Node, v: _Values) -> int | None:
    for value, other in ((v[0], n.args[1]), (v[1], n.args[0])):
        if value == 0:
            return b.const(0, n.width)
        if value == 1:
            return other
    return None


def _fold_shift(b: Builder, n: Node, v: _Values) -> int | None:
    word, amount = n.args[0], v[1]
    if amount is None:
        return None
    if n.op == "sar":
        amount = min(amount, n.width - 1)
        return b.extend(b.slice(word, amount, n.width - amount), n.width, is_signed=True)
    if amount >= n.width:
        return b.const(0, n.width)
    if n.op == "shr":
        return b.extend(b.slice(word, amount, n.width - amount), n.width)
    if amount == 0:
        return word
    return b.make("concat", n.width, (b.const(0, amount), b.slice(word, 0, n.width - amount)))


def _fold_eq(b: Builder, n: Node, v: _Values) -> int | None:
    x, y = n.args
    if x == y:
        return b.const(1, 1)
    if b.width(x) != 1:
        return None
    for value, other in ((v[0], y), (v[1], x)):
        if value is not None:
            return other if value else b.invert(other)
    return None


def _fold_less(b: Builder, n: Node, v: _Values) -> int | None:
    same = n.args[0] == n.args[1] or (n.op == "ult" and v[1] == 0)
    return b.const(0, 1) if same else None


def _fold_parity(b: Builder, n: Node, v: _Values) -> int | None:
    return n.args[0] if b.width(n.args[0]) == 1 else None


def _fold_mux(b: Builder, n: Node, v: _Values) -> int | None:
    condition, yes, no = n.args
    if yes == no:
        return yes
    if v[0] is not None:
        return yes if v[0] else no
    inner = b.nodes[condition]
    if inner.op == "not":
        return b.mux(inner.args[0], no, yes)
    if n.width == 1 and v[1] == 1 and v[2] == 0:
        return condition
    if n.width == 1 and v[1] == 0 and v[2] == 1:
        return b.invert(condition)
    return None


def _fold_slice(b: Builder, n: Node, v: _Values) -> int | None:
    number, low = n.args[0], n.value
    inner = b.nodes[number]
    if n.width == inner.width:
        return number
    if inner.op == "slice":
        return b.slice(inner.args[0], inner.value + low, n.width)
    if inner.op == "concat":
        return _slice_concat(b, n, inner)
    if inner.op in ("zext", "sext"):
        own = b.width(inner.args[0])
        if low + n.width <= own:
            return b.slice(inner.args[0], low, n.width)
        if low >= own and inner.op == "zext":
            return b.const(0, n.width)
        if own == 1 and inner.op == "sext":
            return b.extend(inner.args[0], n.width, is_signed=True)
    if inner.op in ("and", "or", "xor"):
        return _slice_bitwise(b, n, inner)
    return None


def _slice_concat(b: Builder, n: Node, inner: Node) -> int | None:
    low_part, high_part = inner.args
    border = b.width(low_part)
    if n.value + n.width <= border:
        return b.slice(low_part, n.value, n.width)
    if n.value >= border:
        return b.slice(high_part, n.value - border, n.width)
    low = b.slice(low_part, n.value, border - n.value)
    high = b.slice(high_part, 0, n.value + n.width - border)
    return b.make("concat", n.width, (low, high))


def _slice_bitwise(b: Builder, n: Node, inner: Node) -> int | None:
    """Return the masks that the slice makes trivial disappear."""
    for at in (0, 1):
        value = b.constant(inner.args[at])
        if value is not None and (value >> n.value & mask(n.width)) in (0, mask(n.width)):
            parts = [b.slice(a, n.value, n.width) for a in inner.args]
            return b.binary(inner.op, *parts)
    return None


def _fold_concat(b: Builder, n: Node, v: _Values) -> int | None:
    low, high = n.args
    if v[1] == 0:
        return b.extend(low, n.width)
    first, second = b.nodes[low], b.nodes[high]
    is_next = first.value + first.width == second.value
    if first.op == second.op == "slice" and first.args == second.args and is_next:
        return b.slice(first.args[0], first.value, n.width)
    return None


def _fold_extend(b: Builder, n: Node, v: _Values) -> int | None:
    inner = b.nodes[n.args[0]]
    if n.width == inner.width:
        return n.args[0]
    if inner.op == n.op or (n.op == "sext" and inner.op == "zext"):
        return b.extend(inner.args[0], n.width, is_signed=inner.op == "sext")
    return None


_FOLDS: dict[str, Callable[[Builder, Node, _Values], int | None]] = {
    "and": _fold_and,
    "or": _fold_or,
    "xor": _fold_xor,
    "not": _fold_not,
    "add": _fold_add,
    "sub": _fold_sub,
    "mul": _fold_mul,
    "shl": _fold_shift,
    "shr": _fold_shift,
    "sar": _fold_shift,
    "eq": _fold_eq,
    "ult": _fold_less,
    "slt": _fold_less,
    "parity": _fold_parity,
    "mux": _fold_mux,
    "slice": _fold_slice,
    "concat": _fold_concat,
    "zext": _fold_extend,
    "sext": _fold_extend,
}
