"""One queue by the principle of maximum entropy: GE/G/1 and GE/G/1/N, several flows, first come first served.

Source: chapter 5.3.3, equations 5.1 to 5.5 and figure 5.3. Equation 5.1 as printed, with C_A^2 - 1 in its
first term and no 2 in the second denominator, gives negative waits; the form here is Kouvatsos' (1994):

    n_i = rho_i / 2 (C_Ai^2 + 1) + sum_k lambda_i / lambda_k rho_k^2 (C_Ak^2 + C_Sk^2) / (2 (1 - rho))

It is exact for M/M/1, for M/G/1 (Pollaczek and Khinchine) and for batches of geometric size at Poisson times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipelines.base.summation import ordered_sum
from pipelines.network.errors import NetworkError


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """A flow at a queue.

    Attributes:
        rate_per_s: packets.
        service_s: mean transmission time of a packet.
        arrival_scv, service_scv: squared coefficients of variation of times between arrivals, and of service.
    """

    rate_per_s: float
    service_s: float
    arrival_scv: float = 1.0
    service_scv: float = 0.0

    @property
    def utilisation(self) -> float:
        """Share of time that the flow's packets are sent."""
        return self.rate_per_s * self.service_s


def mean_lengths(flows: Sequence[Flow]) -> list[float]:
    """Return the mean packets of every flow in an unbounded queue, the one in service included.

    Raises: NetworkError: the queue is not stable.
    Source: equation 5.1, corrected as this module says.
    """
    busy = ordered_sum(flow.utilisation for flow in flows)
    if busy >= 1.0:
        raise NetworkError(f"utilisation of an unbounded queue is {busy:.6g}; accepted: below 1")
    work = ordered_sum(f.rate_per_s * f.service_s**2 * (f.arrival_scv + f.service_scv) for f in flows)
    common_s = work / (2.0 * (1.0 - busy))
    return [f.utilisation / 2.0 * (f.arrival_scv + 1.0) + f.rate_per_s * common_s for f in flows]


def waits_s(flows: Sequence[Flow]) -> list[float]:
    """Return the mean waiting time of every flow, without service.

    Raises: NetworkError: the queue is not stable.
    Source: equation 5.2.
    """
    lengths = mean_lengths(flows)
    return [(n - f.utilisation) / f.rate_per_s for n, f in zip(lengths, flows, strict=True)]


def finite_length(length: float, utilisation: float, capacity: int) -> float:
    """Return the mean packets in a queue of limited capacity, from those in an unbounded queue.

    Args:   length: of the unbounded queue, with the packet in service; negative above utilisation 1, where
            the coefficient continues analytically.
            capacity: packets that the queue holds, the one in service included.
    Source: equations 5.3 and 5.4 (Kouvatsos 1986); exact for M/M/1/N at any utilisation.
    """
    if abs(1.0 - utilisation) < NEAR_ONE:
        return capacity / 2.0  # the limit, for both x and rho go to 1
    if utilisation > 1.0 and length >= 0.0:
        return float(capacity)  # beyond the continuation's last pole the queue is full
    x = (length - utilisation) / length
    power = x ** (capacity - 1) if x < 1.0 else 1.0
    one = 1.0 if x < 1.0 else x ** (1 - capacity)  # above 1 all is divided by the power, else it overflows
    whole = (one - power * x) / (1.0 - x) - capacity * utilisation * power
    return utilisation / (one - utilisation**2 * power) * whole


NEAR_ONE = 1e-6
"""Distance of a utilisation from 1 within which a queue is half full."""


def merged_scv(rates_per_s: Sequence[float], scvs: Sequence[float]) -> float:
    """Return squared coefficient of variation of a merged flow: the mean by rate (phase 1 of figure 5.3)."""
    return ordered_sum(r * c for r, c in zip(rates_per_s, scvs, strict=True)) / ordered_sum(rates_per_s)


def departure_scv(utilisation: float, arrival_scv: float, service_scv: float) -> float:
    """Return the squared variation of departures (phase 2 of figure 5.3; Pujolle and Ai 1986, one server)."""
    return utilisation**2 * service_scv + (1.0 - utilisation**2) * arrival_scv


def split_scv(share: float, scv: float) -> float:
    """Return the squared coefficient of variation of a random part of a flow (phase 3 of figure 5.3).

    Args: share: share of the flow's packets in the part.
    """
    return 1.0 + share * (scv - 1.0)
