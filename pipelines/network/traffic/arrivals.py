"""Arrival processes and packet sizes of flows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pipelines.network.errors import NetworkError

POISSON, GENERALISED_EXPONENTIAL, ON_OFF = "poisson", "ge", "on_off"
ARRIVALS = (POISSON, GENERALISED_EXPONENTIAL, ON_OFF)
FIXED, UNIFORM, BIMODAL, EMPIRICAL = "fixed", "uniform", "bimodal", "empirical"
SIZES = (FIXED, UNIFORM, BIMODAL, EMPIRICAL)
PAYLOAD_LIMIT_BYTES = 65_000
SCV_LIMIT = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """An arrival process of flows.

    Attributes:
        kind: poisson; ge: batches of geometric size at Poisson times, which is the generalised exponential
            distribution of Kouvatsos; on_off: Poisson while on, silent while off, both exponential.
        scv: squared coefficient of variation of inter-arrival times, 1 for Poisson, above 1 for others.
        on_share: share of time that an on_off flow is on.

    Source: chapter 5.3.2; Kouvatsos 1994 on GE as a bulk Poisson process.
    """

    kind: str = POISSON
    scv: float = 1.0
    on_share: float = 0.5

    def __post_init__(self) -> None:
        if self.kind not in ARRIVALS:
            raise NetworkError(f"unknown arrivals: {self.kind}; accepted: {', '.join(ARRIVALS)}")
        if self.kind == POISSON and self.scv != 1.0:
            raise NetworkError(f"the scv of Poisson arrivals must be 1, got {self.scv}")
        if self.kind != POISSON and not 1.0 < self.scv <= SCV_LIMIT:
            raise NetworkError(
                f"the scv of {self.kind} arrivals must be above 1 to {SCV_LIMIT:g}, got {self.scv}"
            )
        if not 0.0 < self.on_share < 1.0:
            raise NetworkError(f"on_share must be between 0 and 1, got {self.on_share}")

    @property
    def batch_end(self) -> float:
        """Probability that a packet of GE arrivals is the last of its batch: 2 / (scv + 1)."""
        return 2.0 / (self.scv + 1.0)

    def on_off_rates(self, rate_per_s: float) -> tuple[float, float, float]:
        """Rate while on, and rates of switching off and on, all per second, for a given rate and scv.

        With on share p, peak r = rate / p, off and on rates a and b, p = b / (a + b), inter-arrival times are
        hyperexponential with scv = 1 + 2 r a / (a + b)^2 (Heffes and Lucantoni 1986, of an interrupted
        Poisson process); so a + b = 2 r (1 - p) / (scv - 1).
        """
        peak = rate_per_s / self.on_share
        changes = 2.0 * peak * (1.0 - self.on_share) / (self.scv - 1.0)
        return peak, changes * (1.0 - self.on_share), changes * self.on_share


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketSizes:
    """Payloads of packets, in bytes.

    Attributes:
        kind: fixed; uniform: whole numbers around the mean; bimodal; empirical.
        mean_bytes: of fixed and uniform sizes.
        spread: half the width of uniform sizes over the mean.
        values_bytes, shares: of bimodal (two) and empirical sizes.

    Source: table 5.3: 500 B, and uniform 500 B with 1 % variation.
    """

    kind: str = FIXED
    mean_bytes: int = 500
    spread: float = 0.01
    values_bytes: tuple[int, ...] = ()
    shares: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in SIZES:
            raise NetworkError(f"unknown packet sizes: {self.kind}; accepted: {', '.join(SIZES)}")
        if not 0.0 <= self.spread < 1.0:
            raise NetworkError(f"the spread of packet sizes must be 0 to 1, got {self.spread}")
        needed = 2 if self.kind == BIMODAL else len(self.values_bytes)
        if self.kind in (BIMODAL, EMPIRICAL) and not (
            len(self.values_bytes) == len(self.shares) == max(1, needed)
        ):
            raise NetworkError(
                f"{self.kind} packet sizes must have as many shares as values"
                f"{', two' if self.kind == BIMODAL else ''}, got {len(self.values_bytes)} values and "
                f"{len(self.shares)} shares"
            )
        if any(share < 0 for share in self.shares) or (
            self.shares and not math.isclose(sum(self.shares), 1.0, abs_tol=1e-9)
        ):
            raise NetworkError(f"shares of packet sizes must be positive and sum to 1, got {self.shares}")
        for value in self.distribution()[0]:
            if not 1 <= value <= PAYLOAD_LIMIT_BYTES:
                raise NetworkError(f"a packet must have 1 to {PAYLOAD_LIMIT_BYTES} bytes, got {value}")

    def distribution(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Payloads in bytes and their probabilities."""
        if self.kind in (BIMODAL, EMPIRICAL):
            return self.values_bytes, self.shares
        width = round(self.mean_bytes * self.spread) if self.kind == UNIFORM else 0
        values = tuple(range(self.mean_bytes - width, self.mean_bytes + width + 1))
        return values, (1.0 / len(values),) * len(values)

    def moments(self, header_bytes: int) -> tuple[float, float]:
        """Mean and squared coefficient of variation of bytes on the wire."""
        values, shares = self.distribution()
        total = [value + header_bytes for value in values]
        mean = sum(s * v for s, v in zip(shares, total, strict=True))
        second = sum(s * v * v for s, v in zip(shares, total, strict=True))
        return mean, max(0.0, second / mean**2 - 1.0)
