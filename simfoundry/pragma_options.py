"""Options of `simfoundry pragmas` and `sf.pragmas`, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class PragmaOptions:
    """How the directives of a program are searched; the command's help says what each option means.

    Attributes:
        area: mm2. solver_timeout, hls_timeout: s.
        style: None for the pragmas that the target's tool reads.
    """

    target: str = "simfoundry"
    define: tuple[str, ...] = ()
    evaluate: int = 0
    reports: Path | None = None
    area: float | None = None
    partitions: int | None = None
    ordered_sums: bool = False
    fine_only: bool = False
    power: bool = False
    style: str | None = None
    solver_timeout: float = 30.0
    hls_timeout: float = 120.0
    together: int = 2
    out: Path | None = None


PRAGMA_DEFAULTS = PragmaOptions()
