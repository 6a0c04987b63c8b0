"""How numbers stand in records.

A label is written in decimal, in fixed form: so many digits before the point, zeros in front, so many after
it; no sign, no exponent, no separators. The digit at one place then always means the same power of ten, which
is what a model needs that predicts digits from the highest to the lowest (LLMulator section 4.2); how digits
become tokens (section 4.1) is the tokeniser's matter. Numbers of the reasoning fragment are plain decimals.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

from pipelines.records.errors import RecordError


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A label.

    Attributes:
        tag: around its value.
        column: where it stands, in `labels` or `runs`.
        unit: of the value; empty for counts.
        digits, decimals: before and after the point.
        dynamic: it depends on the input data (LLMulator section 5.2).
    """

    tag: str
    column: str
    unit: str
    digits: int
    decimals: int
    dynamic: bool

    def text(self, value: float) -> str:
        """A value as text, rounded half to even.

        Raises: RecordError: negative, not finite, or too large for the digits.
        """
        if math.isfinite(value) and value >= 0:
            step = Decimal(1).scaleb(-self.decimals)
            rounded = Decimal(repr(value)).quantize(step, rounding=ROUND_HALF_EVEN)
            if rounded < Decimal(10) ** self.digits:
                return f"{rounded:0{self.digits + self.decimals + bool(self.decimals)}f}"
        raise RecordError(f"{self.column} must be 0 to below 1e{self.digits}, got {value}")

    def value(self, text: str) -> float:
        """The value of a text.

        Raises: RecordError: another form.
        """
        form = rf"\d{{{self.digits}}}" + (rf"\.\d{{{self.decimals}}}" if self.decimals else "")
        if re.fullmatch(form, text) is None:
            raise RecordError(f"{self.tag} must have {self.digits}.{self.decimals} digits, got {text!r}")
        return float(text)


QUANTITIES = (
    Quantity(tag="Power", column="power_mw", unit="mW", digits=5, decimals=4, dynamic=True),
    Quantity(tag="Area", column="area_um2", unit="um2", digits=8, decimals=1, dynamic=False),
    Quantity(tag="FlipFlops", column="flip_flop_count", unit="", digits=7, decimals=0, dynamic=False),
    Quantity(tag="Delay", column="delay_ns", unit="ns", digits=4, decimals=3, dynamic=False),
    Quantity(tag="Cycles", column="latency_cycles", unit="cycles", digits=9, decimals=0, dynamic=True),
    Quantity(tag="Energy", column="energy_nj", unit="nJ", digits=8, decimals=3, dynamic=True),
)
"""What a completion says, in its order; LLMulator predicts power, area, flip-flops and cycles."""


def plain_number(value: float) -> str:
    """A number of the reasoning fragment: decimal, without exponent or needless zeros."""
    text = f"{Decimal(repr(value)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
