"""Delays, area and flip-flops of functional units, from measurements in a standard-cell library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.c.errors import HlsError
from pipelines.hls.units.catalogue import (
    COMPARISONS,
    FunctionalUnit,
)

_FOLDER = Path(__file__).resolve().parents[1]

# In a wider multiplier the first stage of a product of 10 and 8 bits takes 2.8 ns, of 16 and 16 bits 3.8:
# more than a multiplier of that width alone.
NARROW_PRODUCT = 1.15


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTiming:
    """Figures of a unit: delays, area and flip-flops.

    Attributes:
        input_ns: from its operands to its first register, without set-up time; of a combinational unit to
            its output.
        stage_ns: shortest clock period its own registers allow, clock-to-output and set-up time included; 0
            when no path goes from register to register.
        output_ns: from its last register to its output, without the clock-to-output time of a register.
        area_um2: with its registers.
        flip_flop_count: of those.
    """

    input_ns: float
    stage_ns: float
    output_ns: float
    area_um2: float
    flip_flop_count: int


def family(unit: FunctionalUnit) -> tuple[str, int]:
    """Return the name of the family of a unit in the measurements, and the unit's width in bits."""
    values = dict(unit.parameters)
    if unit.module == "integer_multiply":
        return unit.module, values["WIDTH"]
    sign = "signed" if values.get("SIGNED") else "unsigned"
    if unit.module in ("integer_divide", "constant_divide"):
        return f"{unit.module}_{sign}", values["WIDTH"]
    bits = 1 + values["EXPONENT"] + values["FRACTION"]
    if unit.module == "integer_to_float":
        return f"{unit.module}_{bits}_{sign}", values["WIDTH"]
    if unit.module == "float_to_integer":
        return f"{unit.module}_{bits}", values["WIDTH"]
    if unit.module == "float_compare":
        return f"{unit.module}_{COMPARISONS[values['OPERATION']]}", bits
    return unit.module, bits


@cache
def _table(liberty: str) -> Mapping[str, Mapping[int, UnitTiming]]:
    path = _FOLDER / f"operator_delays_{liberty}.json"
    if not path.is_file():
        known = sorted(
            p.stem.removeprefix("operator_delays_") for p in _FOLDER.glob("operator_delays_*.json")
        )
        raise HlsError(f"units must be measured in one of {', '.join(known)}", repr(liberty))
    content: dict[str, dict[str, dict[str, Any]]] = json.loads(path.read_text("utf-8"))["units"]
    return {
        name: {int(width): UnitTiming(**figures) for width, figures in widths.items()}
        for name, widths in content.items()
    }


def unit_timing(unit: FunctionalUnit, liberty: str) -> UnitTiming:
    """Return the figures of a unit in a library.

    Delays are those of the next measured width, or of the widest; area and flip-flops are on a line.

    Args:   liberty: name of a measured library, see `operators.measured_libraries`.
    Raises: HlsError: the library was not measured.
    """
    name, width = family(unit)
    measured = _table(liberty)[name]
    if width in measured:
        return measured[width]
    wider = min((w for w in measured if w > width), default=max(measured))
    narrower = max((w for w in measured if w < min(width, wider)), default=0)
    part = (width - narrower) / (wider - narrower)
    high, low = measured[wider], measured.get(narrower)
    area, flip_flops = (low.area_um2, low.flip_flop_count) if low is not None else (0.0, 0)
    return UnitTiming(
        input_ns=high.input_ns,
        stage_ns=high.stage_ns,
        output_ns=high.output_ns,
        area_um2=area + part * (high.area_um2 - area),
        flip_flop_count=round(flip_flops + part * (high.flip_flop_count - flip_flops)),
    )


def narrow_delays(unit: FunctionalUnit, width_bits: int, liberty: str) -> tuple[float, float]:
    """Interpolate a unit's `input_ns` and `stage_ns` for narrower operands between measured widths.

    Args:   width_bits: of the widest operand; a unit that is not wider keeps its own width.
    Raises: HlsError: the library was not measured.
    """
    name, width = family(unit)
    measured = _table(liberty)[name]
    narrow_ns: list[float] = []
    for delays in (
        {w: m.input_ns for w, m in measured.items()},
        {w: m.stage_ns for w, m in measured.items()},
    ):
        known = {w: delay for w, delay in sorted(delays.items()) if delay > 0} or {width: 0.0}
        narrow_ns.append(_interpolated(known, min(width, width_bits)))
    whole = unit_timing(unit, liberty)
    if unit.module == "integer_multiply":
        narrow_ns[0] *= NARROW_PRODUCT
    return min(narrow_ns[0], whole.input_ns), min(narrow_ns[1], whole.stage_ns)


def _interpolated(delays: Mapping[int, float], width_bits: int) -> float:
    narrower = max((w for w in delays if w <= width_bits), default=min(delays))
    wider = min((w for w in delays if w >= width_bits), default=max(delays))
    if narrower >= wider:
        return delays[wider]
    part = (width_bits - narrower) / (wider - narrower)
    return delays[narrower] + part * (delays[wider] - delays[narrower])
