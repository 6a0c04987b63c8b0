# ruff: noqa: ARG001, ARG005 (all entries of a table have one signature)
"""Combinational cells of Yosys as operations on words; one function per kind of cell."""

from __future__ import annotations

from collections.abc import Callable

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.ir import Signal, mask
from pipelines.rtl.reuse.raw_modules import Cell
from pipelines.rtl.reuse.words import Words

Pins = Callable[[str], Signal]
"""Signal of an input port of the cell."""
_Function = Callable[[Words, Cell, Pins], Signal]

LATCH = "latch"
BITWISE = ("$and", "$or", "$xor", "$xnor", "$not", "$mux", "$pmux", "$pos", "$buf", "$bwmux")
"""Cells whose output bits depend on the input bits of their own position only, and on selections."""
STORAGE = (
    "$dff", "$adff", "$aldff", "$dffsr", "$mem_v2",
)  # fmt: skip
IGNORED = ("$print", "$check", "$assert", "$assume", "$cover", "$live", "$fair", "$scopeinfo", "$meminit_v2")
"""Cells without an effect on outputs."""


def make_cell(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Make the output Y of a combinational cell.

    Raises: RtlError: a kind of cell that is not simulated; the message names it.
    """
    function = _CELLS.get(cell.kind)
    if function is None:
        raise RtlError(f"unsupported cell {cell.kind}: {cell.name}{cell.place}")
    return function(words, cell, pins)


def rejection(kind: str) -> str | None:
    """Tell why a kind of cell cannot be simulated; None if it can."""
    if kind in _CELLS or kind in STORAGE or kind in IGNORED:
        return None
    if kind in ("$dlatch", "$adlatch", "$dlatchsr", "$sr"):
        return LATCH
    if kind == "$tribuf":
        return "three-state driver"
    return f"unsupported cell {kind}"


def _both_signed(cell: Cell) -> bool:
    return cell.is_set("A_SIGNED") and cell.is_set("B_SIGNED")


def _result(words: Words, cell: Cell, bit: int) -> Signal:
    """Return one bit, extended to the output's width."""
    return words.extend(words.bit(bit), cell.number("Y_WIDTH"))


def _operands(words: Words, cell: Cell, pins: Pins, width: int) -> tuple[Signal, Signal]:
    is_signed = _both_signed(cell)
    return words.extend(pins("A"), width, is_signed), words.extend(pins("B"), width, is_signed)


def _bitwise(op: str, is_inverted: bool = False) -> _Function:
    def make(words: Words, cell: Cell, pins: Pins) -> Signal:
        result = words.bitwise(op, *_operands(words, cell, pins, cell.number("Y_WIDTH")))
        return words.invert(result) if is_inverted else result

    return make


def _unary(function: Callable[[Words, Signal], Signal]) -> _Function:
    def make(words: Words, cell: Cell, pins: Pins) -> Signal:
        return function(words, words.extend(pins("A"), cell.number("Y_WIDTH"), cell.is_set("A_SIGNED")))

    return make


def _negate(words: Words, a: Signal) -> Signal:
    return words.add(words.const(0, a.width), a, is_difference=True)


def _arithmetic(function: Callable[[Words, Signal, Signal], Signal]) -> _Function:
    def make(words: Words, cell: Cell, pins: Pins) -> Signal:
        return function(words, *_operands(words, cell, pins, cell.number("Y_WIDTH")))

    return make


def _division(op: str) -> _Function:
    def make(words: Words, cell: Cell, pins: Pins) -> Signal:
        is_signed = _both_signed(cell)
        width = max(cell.number(f"{port}_WIDTH") for port in "ABY")
        a, b = _operands(words, cell, pins, width)
        result = words.divide(("s" if is_signed else "u") + op, a, b)
        return words.extend(result, cell.number("Y_WIDTH"))

    return make


def _power(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Return $pow by squares, one per bit of B; a negative B leaves only powers of 1 and -1."""
    width = cell.number("Y_WIDTH")
    base = words.extend(pins("A"), width, cell.is_set("A_SIGNED"))
    exponent, one, square = pins("B"), words.const(1, width), base
    result = one
    for i in range(exponent.width):
        bit = words.slice(exponent, i, 1).limbs[0]
        result = words.mux(bit, words.multiply(result, square), result)
        square = words.multiply(square, square)
    if not cell.is_set("B_SIGNED"):
        return result
    units = [one] + [words.const(mask(width), width)] * cell.is_set("A_SIGNED")
    is_unit = [words.equal(base, unit) for unit in units]
    is_kept = words.is_nonzero(words.concat(*map(words.bit, is_unit)))
    negative = words.slice(exponent, exponent.width - 1, 1).limbs[0]
    return words.mux(negative, words.mux(is_kept, result, words.const(0, width)), result)


def _floor_division(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Return $divfloor and $modfloor of unsigned numbers are $div and $mod."""
    if _both_signed(cell):
        raise RtlError(f"unsupported cell {cell.kind} of signed numbers: {cell.name}{cell.place}")
    return _division("div" if cell.kind == "$divfloor" else "rem")(words, cell, pins)


def _comparison(kind: str) -> _Function:
    def make(words: Words, cell: Cell, pins: Pins) -> Signal:
        width = max(cell.number("A_WIDTH"), cell.number("B_WIDTH"))
        a, b = _operands(words, cell, pins, width)
        is_signed, build = _both_signed(cell), words.builder
        bits = {
            "eq": lambda: words.equal(a, b),
            "ne": lambda: build.invert(words.equal(a, b)),
            "lt": lambda: words.less(a, b, is_signed),
            "ge": lambda: build.invert(words.less(a, b, is_signed)),
            "gt": lambda: words.less(b, a, is_signed),
            "le": lambda: build.invert(words.less(b, a, is_signed)),
        }
        return _result(words, cell, bits[kind]())

    return make


def _reduction(function: Callable[[Words, Signal], int]) -> _Function:
    def make(words: Words, cell: Cell, pins: Pins) -> Signal:
        return _result(words, cell, function(words, pins("A")))

    return make


def _logic(op: str) -> _Function:
    def make(words: Words, cell: Cell, pins: Pins) -> Signal:
        bits = (words.is_nonzero(pins("A")), words.is_nonzero(pins("B")))
        return _result(words, cell, words.builder.binary(op, *bits))

    return make


def _shift(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Return $shl, $shr, $sshl, $sshr: B is unsigned; the sign is shifted in by $sshr of a signed A only."""
    width, is_signed = cell.number("Y_WIDTH"), cell.is_set("A_SIGNED")
    a = words.extend(pins("A"), max(width, cell.number("A_WIDTH")), is_signed)
    if cell.kind in ("$shl", "$sshl"):
        return words.extend(words.shift_left(a, pins("B")), width)
    sign = words.slice(a, a.width - 1, 1).limbs[0]
    fill = sign if cell.kind == "$sshr" and is_signed else words.builder.const(0, 1)
    return words.shift_right(a, pins("B"), fill=fill, width=width)


def _index(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Return $shift and $shiftx: to the right by B, to the left when B is signed and negative."""
    width = cell.number("Y_WIDTH")
    is_signed = cell.is_set("A_SIGNED") and cell.kind == "$shift"
    a = words.extend(pins("A"), max(width, cell.number("A_WIDTH")), is_signed)
    amount, zero = pins("B"), words.builder.const(0, 1)
    right = words.shift_right(a, amount, fill=zero, width=width)
    if not cell.is_set("B_SIGNED"):
        return right
    sign = words.slice(amount, amount.width - 1, 1).limbs[0]
    left = words.extend(words.shift_left(a, _negate(words, amount)), width)
    return words.mux(sign, left, right)


def _mux(words: Words, cell: Cell, pins: Pins) -> Signal:
    return words.mux(pins("S").limbs[0], pins("B"), pins("A"))


def _parallel_mux(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Return the B part of the first selection that is 1, A when there is none."""
    width, selections = cell.number("WIDTH"), cell.number("S_WIDTH")
    result, parts, select = pins("A"), pins("B"), pins("S")
    for i in reversed(range(selections)):
        bit = words.slice(select, i, 1).limbs[0]
        result = words.mux(bit, words.slice(parts, i * width, width), result)
    return result


def _bit_mux(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Return the part of A that S numbers."""
    width, select, a = cell.number("WIDTH"), pins("S"), pins("A")
    parts = [words.slice(a, i * width, width) for i in range(1 << select.width)]
    for i in range(select.width):
        bit = words.slice(select, i, 1).limbs[0]
        parts = [words.mux(bit, b, a) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return parts[0]


def _demux(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Return a at the part that S numbers, 0 elsewhere."""
    select, a = pins("S"), pins("A")
    zero = words.const(0, a.width)
    numbers = [words.const(i, select.width) for i in range(1 << select.width)]
    return words.concat(*[words.mux(words.equal(select, n), a, zero) for n in numbers])


def _select_bits(words: Words, cell: Cell, pins: Pins) -> Signal:
    """Return B where S is 1, A elsewhere."""
    yes = words.bitwise("and", pins("B"), pins("S"))
    return words.bitwise("or", yes, words.bitwise("and", pins("A"), words.invert(pins("S"))))


_CELLS: dict[str, _Function] = {
    "$and": _bitwise("and"),
    "$or": _bitwise("or"),
    "$xor": _bitwise("xor"),
    "$xnor": _bitwise("xor", is_inverted=True),
    "$not": _unary(lambda words, a: words.invert(a)),
    "$buf": lambda words, cell, pins: pins("A"),
    "$pos": _unary(lambda words, a: a),
    "$neg": _unary(_negate),
    "$add": _arithmetic(lambda words, a, b: words.add(a, b)),
    "$sub": _arithmetic(lambda words, a, b: words.add(a, b, is_difference=True)),
    "$mul": _arithmetic(lambda words, a, b: words.multiply(a, b)),
    "$pow": _power,
    "$div": _division("div"),
    "$mod": _division("rem"),
    "$divfloor": _floor_division,
    "$modfloor": _floor_division,
    "$eq": _comparison("eq"),
    "$ne": _comparison("ne"),
    "$eqx": _comparison("eq"),
    "$nex": _comparison("ne"),
    "$lt": _comparison("lt"),
    "$le": _comparison("le"),
    "$gt": _comparison("gt"),
    "$ge": _comparison("ge"),
    "$reduce_and": _reduction(lambda words, a: words.is_full(a)),
    "$reduce_or": _reduction(lambda words, a: words.is_nonzero(a)),
    "$reduce_bool": _reduction(lambda words, a: words.is_nonzero(a)),
    "$reduce_xor": _reduction(lambda words, a: words.parity(a)),
    "$reduce_xnor": _reduction(lambda words, a: words.builder.invert(words.parity(a))),
    "$logic_not": _reduction(lambda words, a: words.builder.invert(words.is_nonzero(a))),
    "$logic_and": _logic("and"),
    "$logic_or": _logic("or"),
    "$shl": _shift,
    "$sshl": _shift,
    "$shr": _shift,
    "$sshr": _shift,
    "$shift": _index,
    "$shiftx": _index,
    "$mux": _mux,
    "$pmux": _parallel_mux,
    "$bmux": _bit_mux,
    "$demux": _demux,
    "$bwmux": _select_bits,
}
