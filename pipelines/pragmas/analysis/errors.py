"""How a program outside of the supported class is refused."""

from __future__ import annotations

from pipelines.pragmas.errors import PragmaError

SUPPORTED = (
    "supported: counted loops without conditions or jumps, whose bounds and subscripts are constants and "
    "sums of multiples of the counters of the loops around them"
)


def outside(rule: str, got: str, file: str, line: int) -> PragmaError:
    """The error for a program outside of the class: rule, value, place, and what is supported."""
    return PragmaError(f"{rule}, got {got} ({file}:{line}); {SUPPORTED}")
