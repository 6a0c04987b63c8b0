"""Random expressions of the signals of a module."""

from __future__ import annotations

from tests.support.random_kinds import Writer

BINARY = ("+", "-", "*", "&", "|", "^", "~^", "==", "!=", "<", "<=", ">", ">=", "&&", "||")
_UNARY = ("~", "-", "&", "|", "^", "~&", "~|", "~^", "!", "+")
_SHIFTS = ("<<", ">>", ">>>", "<<<")
_MACRO = 0.2
_DIVISION_BITS = 24  # of operands of divisions, so that they fit in a word


def sized(writer: Writer, bits: int) -> str:
    """An index of exactly so many bits."""
    name = writer.fresh("a")
    writer.lines.append(f"  wire [{bits - 1}:0] {name} = {expression(writer, 1)};")
    return name


def expression(writer: Writer, depth: int) -> str:
    rng = writer.rng
    if depth == 0 or rng.random() < 0.15:
        return leaf(writer)
    kind = rng.randint(0, 9)
    a = expression(writer, depth - 1)
    if kind <= 3:
        if writer.macro and rng.random() < _MACRO:
            return f"`{writer.macro}({a}, {expression(writer, depth - 1)})"
        return f"({a} {rng.choice(BINARY)} {expression(writer, depth - 1)})"
    if kind == 4:
        return f"({rng.choice(_UNARY)}({a}))"
    if kind == 5:
        return f"({a} {rng.choice(_SHIFTS)} {leaf(writer)})"
    if kind == 6:
        return f"({expression(writer, depth - 1)} ? {a} : {expression(writer, depth - 1)})"
    if kind == 7:
        return f"{{{leaf(writer)}, {leaf(writer)}}}"
    if kind == 8:
        return f"{{{rng.randint(1, 3)}{{{leaf(writer)}}}}}"
    if rng.random() < 0.7:
        return a
    divisor = sized(writer, rng.randint(1, _DIVISION_BITS))
    dividend = sized(writer, rng.randint(1, _DIVISION_BITS))
    result = writer.fresh("w")
    quotient = f"{dividend} {rng.choice('/%')} ({divisor} | 1'b1)"
    writer.lines.append(f"  wire [{_DIVISION_BITS - 1}:0] {result} = {quotient};")
    return result


def leaf(writer: Writer) -> str:
    rng = writer.rng
    name, width, _ = rng.choice(writer.signals)
    kind = rng.randint(0, 5)
    if kind == 0:
        size = rng.choice((1, 3, 8, 16, 31, 32))
        return f"{size}'d{rng.getrandbits(size)}"
    if kind == 1 and width > 1 and "[" not in name:
        low = rng.randint(0, width - 1)
        return f"{name}[{rng.randint(low, width - 1)}:{low}]"
    if kind == 2 and width in (2, 4, 8, 16, 32, 64) and "[" not in name:
        return f"{name}[{_sized_leaf(writer, width.bit_length() - 1)}]"
    if kind == 3:
        return f"$signed({name})"
    return name


def _sized_leaf(writer: Writer, bits: int) -> str:
    """An index: bits of a signal that is wide enough, else a constant."""
    wide = [(n, w) for n, w, _ in writer.signals if w >= bits and "[" not in n]
    if not wide:
        return str(writer.rng.randint(0, (1 << bits) - 1))
    name, _ = writer.rng.choice(wide)
    return f"{name}[{bits - 1}:0]"
