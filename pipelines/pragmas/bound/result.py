"""What a bound answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COMPUTATION, TRANSFER = "computation", "transfer"


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundPart:
    """A part of the bound: a top-level nest's computation, or a transfer.

    Attributes:
        place: loop or array; kind: COMPUTATION or TRANSFER; cycles: what it takes.
        critical: it is on the longest path.
        limit: what holds it, in words (`interval 5 of L2: sum of tmp`, `in: 1798 bursts of 512 bits`).
    """

    place: str
    kind: str
    cycles: float
    critical: bool
    limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A pipelined loop with a factor, all loops inside unrolled: a constant of the two.

    Attributes:
        latency_cycles: of one iteration; interval_cycles: between iterations (both lower bounds).
        cycles: latency + interval * (trip count / unroll - 1), average trips for a triangular loop.
        units: least units by (kind, type) that run at once for that interval (theorem 6.17).
        limit: what sets the interval, in words.
    """

    latency_cycles: int
    interval_cycles: int
    cycles: float
    units: Mapping[tuple[str, str], float]
    limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A lower bound on a configuration's latency and resources (theorems 6.17 and 6.21)."""

    latency_cycles: float
    computation_cycles: float
    transfer_cycles: float
    dsp_count: float
    onchip_bits: int
    parts: tuple[BoundPart, ...]
