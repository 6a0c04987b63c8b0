"""Arithmetic on signals wider than a word, as operations on words."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from pipelines.rtl.reuse.errors import RtlError
from pipelines.rtl.reuse.ir import LIMB, Builder, Piece, Signal, mask

_DIGIT = 32
_AMOUNT_BITS = 6  # of a shift within a word of 64 bits


class Words:
    """Operations on signals; a signal of at most 64 bits is one word."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def const(self, value: int, width: int) -> Signal:
        """Return a constant, modulo 2^width."""
        limbs = [
            self.builder.const(value >> low, min(LIMB, width - low)) for low in range(0, max(width, 1), LIMB)
        ]
        return Signal(width=width, limbs=tuple(limbs))

    def pieces(self, signal: Signal) -> list[Piece]:
        """Return the words of a signal as pieces."""
        return [Piece(n, 0, self.builder.width(n)) for n in signal.limbs]

    def slice(self, signal: Signal, low: int, width: int) -> Signal:
        """Return the bits of a signal; those beyond its end are 0."""
        pieces: list[Piece] = []
        at = low
        while at < min(low + width, signal.width):
            limb, offset = divmod(at, LIMB)
            take = min(LIMB - offset, low + width - at, signal.width - at)
            pieces.append(Piece(signal.limbs[limb], offset, take))
            at += take
        if at < low + width:
            pieces += self.pieces(self.const(0, low + width - at))
        return self.builder.join(pieces)

    def concat(self, *signals: Signal) -> Signal:
        """Return the signals behind each other, lowest first."""
        return self.builder.join([p for signal in signals for p in self.pieces(signal)])

    def extend(self, signal: Signal, width: int, is_signed: bool = False) -> Signal:
        """Return a signal cut, or extended by zeros or the sign."""
        if width <= signal.width:
            return self.slice(signal, 0, width)
        if not is_signed:
            return self.slice(signal, 0, width)
        sign = self.slice(signal, signal.width - 1, 1).limbs[0]
        top = self.builder.extend(signal.limbs[-1], min(LIMB, width - LIMB * (len(signal.limbs) - 1)), True)
        limbs = [*signal.limbs[:-1], top]
        while LIMB * len(limbs) < width:
            limbs.append(self.builder.extend(sign, min(LIMB, width - LIMB * len(limbs)), True))
        return Signal(width=width, limbs=tuple(limbs))

    def map(self, function: Callable[[int, int], int], a: Signal, b: Signal) -> Signal:
        """Return a function of words, of two signals of one width."""
        limbs = [function(x, y) for x, y in zip(a.limbs, b.limbs, strict=True)]
        return Signal(width=a.width, limbs=tuple(limbs))

    def bitwise(self, op: str, a: Signal, b: Signal) -> Signal:
        """Return and, or, xor."""
        return self.map(lambda x, y: self.builder.binary(op, x, y), a, b)

    def invert(self, a: Signal) -> Signal:
        """Return the bitwise complement."""
        return Signal(width=a.width, limbs=tuple(map(self.builder.invert, a.limbs)))

    def mux(self, condition: int, yes: Signal, no: Signal) -> Signal:
        """Return `yes` when the one-bit node is 1."""
        return self.map(lambda x, y: self.builder.mux(condition, x, y), yes, no)

    def bit(self, node: int) -> Signal:
        """Return a word as a signal."""
        return Signal(width=self.builder.width(node), limbs=(node,))

    # ---- arithmetic ---------------------------------------------------------------------------------

    def add(self, a: Signal, b: Signal, *, is_difference: bool = False) -> Signal:
        """Return a + b or a - b, modulo 2^width."""
        if len(a.limbs) == 1:
            return self.map(lambda x, y: self.builder.binary("sub" if is_difference else "add", x, y), a, b)
        if is_difference:
            b = self.invert(b)
        carry = self.builder.const(int(is_difference), 1)
        limbs: list[int] = []
        for x, y in zip(a.limbs, b.limbs, strict=True):
            width = self.builder.width(x)
            first = self.builder.binary("add", x, y)
            total = self.builder.binary("add", first, self.builder.extend(carry, width))
            over = (self.builder.compare("ult", first, x), self.builder.compare("ult", total, first))
            carry = self.builder.binary("or", *over)
            limbs.append(total)
        return Signal(width=a.width, limbs=tuple(limbs))

    def multiply(self, a: Signal, b: Signal) -> Signal:
        """Return a * b, modulo 2^width; by digits of 32 bits when wider than a word."""
        build = self.builder
        if len(a.limbs) == 1:
            return self.map(lambda x, y: build.binary("mul", x, y), a, b)
        count = -(-a.width // _DIGIT)
        left, right = self._digits(a, count), self._digits(b, count)
        result = [build.const(0, LIMB)] * count
        shift = build.const(_DIGIT, _AMOUNT_BITS)
        low = build.const(mask(_DIGIT), LIMB)
        for i, x in enumerate(left):
            carry = build.const(0, LIMB)
            for j, y in enumerate(right[: count - i]):
                total = build.binary("add", build.binary("mul", x, y), result[i + j])
                total = build.binary("add", total, carry)
                result[i + j] = build.binary("and", total, low)
                carry = build.make("shr", LIMB, (total, shift))
        return self.extend(build.join([Piece(digit, 0, _DIGIT) for digit in result]), a.width)

    def _digits(self, a: Signal, count: int) -> list[int]:
        digits = [self.slice(a, _DIGIT * i, _DIGIT).limbs[0] for i in range(count)]
        return [self.builder.extend(digit, LIMB) for digit in digits]

    def divide(self, op: str, a: Signal, b: Signal) -> Signal:
        """Return udiv, urem, sdiv or srem.

        Raises: RtlError: wider than 64 bits.
        """
        if len(a.limbs) > 1:
            raise RtlError(f"division of {a.width} bits; accepted: up to {LIMB}")
        return self.map(lambda x, y: self.builder.binary(op, x, y), a, b)

    # ---- comparison and reduction -------------------------------------------------------------------

    def equal(self, a: Signal, b: Signal) -> int:
        """Return one bit."""
        pairs = zip(a.limbs, b.limbs, strict=True)
        return self._all([self.builder.compare("eq", x, y) for x, y in pairs])

    def less(self, a: Signal, b: Signal, is_signed: bool) -> int:
        """Return a < b, one bit."""
        build = self.builder
        last = len(a.limbs) - 1
        result = build.const(0, 1)
        for i, (x, y) in enumerate(zip(a.limbs, b.limbs, strict=True)):
            below = build.compare("slt" if is_signed and i == last else "ult", x, y)
            result = below if i == 0 else build.mux(build.compare("eq", x, y), result, below)
        return result

    def is_nonzero(self, a: Signal) -> int:
        """Build the OR of all bits."""
        if a.width == 1:
            return a.limbs[0]
        return self.builder.invert(self.equal(a, self.const(0, a.width)))

    def is_full(self, a: Signal) -> int:
        """Build the AND of all bits."""
        return self.equal(a, self.const(mask(a.width), a.width))

    def parity(self, a: Signal) -> int:
        """Return the exclusive or of all bits."""
        result = self.builder.const(0, 1)
        for limb in a.limbs:
            result = self.builder.binary("xor", result, self.builder.make("parity", 1, (limb,)))
        return result

    def _all(self, bits: Sequence[int]) -> int:
        result = bits[0]
        for bit in bits[1:]:
            result = self.builder.binary("and", result, bit)
        return result

    # ---- shifts -------------------------------------------------------------------------------------

    def shift_right(self, a: Signal, amount: Signal, *, fill: int, width: int) -> Signal:
        """Return the lowest `width` bits of `a`, filled by copies of the one-bit node, moved down."""
        build = self.builder
        if len(a.limbs) == 1 and build.constant(fill) == 0:
            return self.extend(self.bit(build.make("shr", a.width, (a.limbs[0], self._word(amount)))), width)
        words = [*self._filled(a, fill)]
        within, words, too_far = self._selected(words, amount, fill, -(-width // LIMB) + 1)
        pairs = itertools.pairwise(words)
        limbs = [self._funnel(low, high, within) for low, high in pairs]
        full = build.extend(fill, LIMB, True)
        limbs = [build.mux(too_far, full, limb) for limb in limbs]
        return self.extend(Signal(width=LIMB * len(limbs), limbs=tuple(limbs)), width)

    def shift_left(self, a: Signal, amount: Signal) -> Signal:
        """Shift `a` up, filled by zeros: its words are reversed, so that one selection serves both shifts."""
        build = self.builder
        if len(a.limbs) == 1:
            return self.bit(build.make("shl", a.width, (a.limbs[0], self._word(amount))))
        zero = build.const(0, 1)
        words = list(reversed(self._filled(a, zero)))
        within, words, too_far = self._selected(words, amount, zero, len(words) + 1)
        limbs = [self._funnel_left(high, low, within) for high, low in itertools.pairwise(words)]
        empty = build.const(0, LIMB)
        limbs = [build.mux(too_far, empty, limb) for limb in reversed(limbs)]
        return self.extend(Signal(width=LIMB * len(limbs), limbs=tuple(limbs)), a.width)

    def _filled(self, a: Signal, fill: int) -> list[int]:
        """Return the words of 64 bits, the last one filled."""
        last = a.limbs[-1]
        missing = LIMB - self.builder.width(last)
        if missing:
            parts = [Piece(last, 0, LIMB - missing), *[Piece(fill, 0, 1)] * missing]
            last = self.builder.join(parts).limbs[0]
        return [*a.limbs[:-1], last]

    def _selected(
        self, words: Sequence[int], amount: Signal, fill: int, count: int
    ) -> tuple[int, list[int], int]:
        """Return the words moved down by the amount's multiple of 64.

        Returns: the rest of the amount, `count` words, and whether the amount is beyond all words.
        """
        build = self.builder
        bits = max(1, (len(words) - 1).bit_length())
        within = self.slice(amount, 0, _AMOUNT_BITS).limbs[0]
        beyond = self.slice(amount, _AMOUNT_BITS + bits, max(1, amount.width - _AMOUNT_BITS - bits))
        too_far = self.is_nonzero(beyond) if amount.width > _AMOUNT_BITS + bits else build.const(0, 1)
        empty = build.extend(fill, LIMB, True)
        moved = [*words, *[empty] * (count + (1 << bits))]
        for bit in reversed(range(bits)):
            select = self.slice(amount, _AMOUNT_BITS + bit, 1).limbs[0]
            step = 1 << bit
            moved = [build.mux(select, moved[i + step], moved[i]) for i in range(len(moved) - step)]
        return within, moved[:count], too_far

    def _funnel(self, low: int, high: int, amount: int) -> int:
        """Return two words' bits from the amount on: high << (64 - amount) in two shifts, as it may be 0."""
        build = self.builder
        rest = build.make("shl", LIMB, (high, build.const(1, _AMOUNT_BITS)))
        rest = build.make("shl", LIMB, (rest, build.invert(amount)))
        return build.binary("or", build.make("shr", LIMB, (low, amount)), rest)

    def _funnel_left(self, high: int, low: int, amount: int) -> int:
        build = self.builder
        rest = build.make("shr", LIMB, (low, build.const(1, _AMOUNT_BITS)))
        rest = build.make("shr", LIMB, (rest, build.invert(amount)))
        return build.binary("or", build.make("shl", LIMB, (high, amount)), rest)

    def _word(self, amount: Signal) -> int:
        """Return the amount of a shift as one word; all ones when it does not fit."""
        if len(amount.limbs) == 1:
            return amount.limbs[0]
        upper = self.slice(amount, LIMB, amount.width - LIMB)
        full = self.builder.const(mask(LIMB), LIMB)
        return self.builder.mux(self.is_nonzero(upper), full, amount.limbs[0])
