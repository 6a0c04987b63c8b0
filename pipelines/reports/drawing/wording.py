"""Numbers as people read them."""

from __future__ import annotations

import math

NOTHING = "–"
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def count(value: int) -> str:
    """An integer with its thousands apart: 12,345."""
    return f"{value:,}"


def figure(value: float | None) -> str:
    """Three significant digits: 0.0123, 4.56, 24.0, 789, 1,230, 12.3k, 1.23M; a dash for nothing."""
    if value is None or not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if size == 0:
        return "0"
    if size >= 9_995:
        scale, prefix = next((s, p) for s, p in _PREFIXES if size >= s * 0.9995)
        return _plain(value / scale) + prefix
    if size < 0.001:
        return f"{value:.1e}".replace("e-0", "e-")
    return _plain(value)


def _plain(value: float) -> str:
    rounded = float(f"{value:.3g}")
    digits = 2 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.0f}" if value == int(value) else f"{rounded:,.{max(0, digits)}f}"


def tick(value: float) -> str:
    """A label of an axis: 0.01, 5, 20, 1k, 50k, 2M."""
    size = abs(value)
    scale, prefix = next(((s, p) for s, p in _PREFIXES if size >= s * 0.9999), (1.0, ""))
    text = f"{size / scale:g}" if size >= 1e-4 or size == 0 else f"{size:.0e}".replace("e-0", "e-")
    return f"{'−' if value < 0 else ''}{text}{prefix}"


def percent(fraction: float | None, *, digits: int = 0) -> str:
    """A share: 12 %, <1 %, >99 % where rounding would say none or all."""
    if fraction is None or not math.isfinite(fraction):
        return NOTHING
    shown = f"{fraction * 100:.{digits}f}"
    step = 10.0**-digits
    if 0 < fraction < 1 and float(shown) in (0.0, 100.0):
        return f"<{step:g} %" if float(shown) == 0 else f">{100 - step:g} %"
    return f"{shown} %".replace("-", "−")


def signed_percent(fraction: float) -> str:
    """A deviation: +3.1 %, −12 %."""
    size = abs(fraction) * 100
    shown = f"{size:.1f}" if size < 10 else f"{size:,.0f}"
    sign = "+" if fraction > 0 else "−"
    return f"{'' if float(shown.replace(',', '')) == 0 else sign}{shown} %"


def coefficient(value: float | None) -> str:
    """A correlation without its zero: .87, −.05, 1."""
    if value is None:
        return NOTHING
    text = f"{abs(value):.2f}"
    text = "1" if text == "1.00" else text.removeprefix("0")
    return f"−{text}" if value < 0 and text != ".00" else text


def duration(seconds: float) -> str:
    """A time: 0.04 s, 12 s, 3.5 min, 2.1 h."""
    if seconds < 60:
        return f"{figure(seconds)} s"
    if seconds < 3600:
        return f"{figure(seconds / 60)} min"
    return f"{figure(seconds / 3600)} h"


def plural(number: int, word: str, words: str | None = None) -> str:
    """A number with its word: 1 design, 2 designs."""
    return f"{count(number)} {word if number == 1 else words or word + 's'}"


def deviation(fraction: float) -> str:
    """A deviation that may be tiny: +1.23 %, −0.02 %, 0 %, +0.0001 %."""
    size = abs(fraction) * 100
    sign = "" if size == 0 else "+" if fraction > 0 else "−"
    return f"{sign}{figure(size)} %"
