"""Collective operations of groups of hosts as steps of transfers.

Source: the ring and the pairwise exchange of Thakur, Rabenseifner and Gropp 2005, "Optimization of collective
communication operations in MPICH"; the tree is their binomial one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pipelines.network.errors import NetworkError
from pipelines.network.topology.graph import first_ids

RING_ALL_REDUCE, TREE_ALL_REDUCE = "ring_all_reduce", "tree_all_reduce"
ALL_GATHER, ALL_TO_ALL = "all_gather", "all_to_all"
COLLECTIVES = (RING_ALL_REDUCE, TREE_ALL_REDUCE, ALL_GATHER, ALL_TO_ALL)
GIVEN, RANDOM = "given", "random"
ORDERS = (GIVEN, RANDOM)
BYTES_LIMIT, START_LIMIT_S = 10**13, 3600.0
TRANSFER_LIMIT = 1 << 22
"""Transfers of different steps: all to all of 2,048 hosts has as many."""
_UNITS = {
    "": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "TiB": 1 << 40,
}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)([A-Za-z]*)")
_RANGE = re.compile(r"(\d+)(?:-(\d+)(?:/(\d+))?)?")
_FORM = f"KIND:BYTES[:hosts=LIST][:start=SECONDS][:order={'|'.join(ORDERS)}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A collective operation.

    Attributes:
        kind: of COLLECTIVES.
        size_bytes: of an all-reduce, what every host has before and after; of an all-gather, what every host
            has after; of an all-to-all, what every host sends, in equal parts, one of them to itself.
        hosts: in the order of ranks.
        start_s: when the first step begins.
    """

    kind: str
    size_bytes: int
    hosts: tuple[int, ...]
    start_s: float = 0.0

    def __post_init__(self) -> None:
        if self.kind not in COLLECTIVES:
            raise NetworkError(f"unknown collective: {self.kind:.40}; accepted: {', '.join(COLLECTIVES)}")
        if not 1 <= self.size_bytes <= BYTES_LIMIT:
            raise NetworkError(f"a collective must have 1 to {BYTES_LIMIT} bytes, got {self.size_bytes}")
        if len(self.hosts) < 2:
            raise NetworkError(f"a collective must have 2 or more hosts, got {len(self.hosts)}")
        for host, count in Counter(self.hosts).items():
            if count > 1:
                raise NetworkError(f"a collective must have different hosts, got {host} {count} times")
        if not 0.0 <= self.start_s <= START_LIMIT_S:
            raise NetworkError(f"a start must be 0 to {START_LIMIT_S:g} s, got {self.start_s}")
        if self.kind == ALL_TO_ALL and len(self.hosts) * (len(self.hosts) - 1) > TRANSFER_LIMIT:
            raise NetworkError(
                f"an all-to-all must have at most {TRANSFER_LIMIT} transfers, got those of "
                f"{len(self.hosts)} hosts"
            )

    @property
    def steps(self) -> JobSteps:
        """What each step transfers."""
        hosts = np.array(self.hosts, np.int32)
        count = len(hosts)
        part = -(-self.size_bytes // count)
        if self.kind in (RING_ALL_REDUCE, ALL_GATHER):
            ring = Transfers(sources=hosts, destinations=np.roll(hosts, -1), size_bytes=part)
            rounds = count - 1 if self.kind == ALL_GATHER else 2 * (count - 1)
            return JobSteps(patterns=(ring,), order=(0,) * rounds)
        if self.kind == ALL_TO_ALL:
            exchanges = tuple(
                Transfers(sources=hosts, destinations=np.roll(hosts, -apart), size_bytes=part)
                for apart in range(1, count)
            )
            return JobSteps(patterns=exchanges, order=tuple(range(len(exchanges))))
        up: list[Transfers] = []
        for level in range((count - 1).bit_length()):
            senders = np.arange(1 << level, count, 2 << level)
            up.append(
                Transfers(
                    sources=hosts[senders],
                    destinations=hosts[senders - (1 << level)],
                    size_bytes=self.size_bytes,
                )
            )
        down = [
            Transfers(sources=one.destinations, destinations=one.sources, size_bytes=one.size_bytes)
            for one in reversed(up)
        ]
        return JobSteps(patterns=(*up, *down), order=tuple(range(2 * len(up))))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transfers:
    """What hosts send at once: equal bytes, each from one host to another. Hosts: (transfers,)"""

    sources: NDArray[np.int32]
    destinations: NDArray[np.int32]
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSteps:
    """Steps of a job: each begins when all transfers of the one before have arrived.

    Attributes:
        patterns: different steps. order: of every step, its index in patterns.
    """

    patterns: tuple[Transfers, ...]
    order: tuple[int, ...] = field(default=())


def read_job(text: str, *, host_count: int, seed: int, host_ids: Sequence[str] = ()) -> Job:
    """Return the job of a text such as `ring_all_reduce:16MB:hosts=0-15:start=0.01`.

    Args:   host_count: of the network, all of them by default; seed: of a random order of ranks.
            host_ids: of a network file: each element of a list of hosts is one of them, or else a range.
    Raises: NetworkError: another form, or a value is out of range.
    """
    kind, *rest = text.strip().split(":")
    if not rest:
        raise NetworkError(f"job {text!r:.80}; accepted: {_FORM}, as ring_all_reduce:16MB:hosts=0-15")
    given: dict[str, str] = {}
    for part in rest[1:]:
        name, _, value = part.partition("=")
        if name not in ("hosts", "start", "order") or not value or name in given:
            kind_of_part = "repeated" if name in given else "unknown"
            raise NetworkError(f"job {text!r:.80}: {kind_of_part} part {part!r:.40}; accepted: {_FORM}")
        given[name] = value
    options = {"hosts": f"0-{host_count - 1}", "start": "0", "order": GIVEN} | given
    if options["order"] not in ORDERS:
        raise NetworkError(
            f"job {text!r:.80}: unknown order {options['order']!r:.40}; accepted: {', '.join(ORDERS)}"
        )
    hosts = _read_hosts(options["hosts"], text, host_count, host_ids)
    if options["order"] == RANDOM:
        hosts = np.random.Generator(np.random.Philox(key=seed)).permutation(hosts).tolist()
    try:
        return Job(
            kind=kind.replace("-", "_"),
            size_bytes=_read_bytes(rest[0]),
            hosts=tuple(hosts),
            start_s=_read_start(options["start"]),
        )
    except NetworkError as error:
        raise NetworkError(f"job {text!r:.80}: {error}") from error


def _read_bytes(size: str) -> int:
    match = _SIZE.fullmatch(size)
    exact = None if match is None or match[2] not in _UNITS else Fraction(match[1]) * _UNITS[match[2]]
    if exact is None or exact.denominator != 1:
        units = ", ".join(unit for unit in _UNITS if unit)
        raise NetworkError(f"bytes {size!r:.40}; accepted: a whole number, or with one of {units}, as 1.5MB")
    return int(exact)


def _read_start(start: str) -> float:
    try:
        return float(start)
    except ValueError as error:
        raise NetworkError(f"start {start!r:.40}; accepted: seconds") from error


def _read_hosts(hosts: str, text: str, host_count: int, host_ids: Sequence[str]) -> Sequence[int]:
    """Return the hosts of a list such as `0-15`, `0-127/8` (every eighth), `3,1,2` or `a,b`."""
    chosen: list[int] = []
    numbers = {name: number for number, name in enumerate(host_ids)}
    ids = f"ids ({first_ids(host_ids)}), " if host_ids else ""
    for part in hosts.split(","):
        if part in numbers:
            chosen.append(numbers[part])
            continue
        match = _RANGE.fullmatch(part)
        if match is None:
            raise NetworkError(
                f"job {text!r:.80}: hosts {part!r:.40}; accepted: {ids}numbers and "
                "ranges, as 0-15, 0-127/8 or 3,1,2"
            )
        first, last = int(match[1]), int(match[2] or match[1])
        step = int(match[3] or 1)
        if not first <= last < host_count or step < 1:
            raise NetworkError(
                f"job {text!r:.80}: hosts {part!r:.40}; accepted: rising ranges within 0 to "
                f"{host_count - 1}, in steps of 1 or more"
            )
        chosen += range(first, last + 1, step)
    return chosen
