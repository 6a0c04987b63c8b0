"""Groups of simulated runs, as a grid or drawn from a seed.

Source: table 5.3 (patterns, arrivals, packet sizes, loads, sizes of trees); section 5.4.2 on density and on
trees of two tiers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from pipelines.base.identity import canonical_json
from pipelines.base.validation import Positive
from pipelines.network.errors import NetworkError
from pipelines.network.queueing import model_network
from pipelines.network.request import ALL_TO_ALL, POISSON
from pipelines.network.routing import Routing
from pipelines.network.simulation import SimulationOptions
from pipelines.network.topology import (
    FAMILIES,
    DrawnNetwork,
    FatTree,
    Topology,
    TwoTierTree,
    drawn_network,
    fat_tree,
    two_tier_tree,
)
from pipelines.network.traffic import (
    ARRIVALS,
    PROTOCOLS,
    SIZES,
    TCP,
    UDP,
    Arrivals,
    PacketSizes,
    Pattern,
    Traffic,
    traffic_of,
)

FAT_TREE, TWO_TIER, DRAWN_NETWORK = "fat_tree", "two_tier", "drawn"
NETWORKS = (FAT_TREE, TWO_TIER, DRAWN_NETWORK)
_SHAPES = {FAT_TREE: FatTree, TWO_TIER: TwoTierTree, DRAWN_NETWORK: DrawnNetwork}
RUN_LIMIT = 100_000
BIMODAL_BYTES = (64, 1400)
"""Payloads of bimodal sizes; their shares give the mean."""
INTERNET_MIX = ((40, 576, 1460), (7 / 12, 4 / 12, 1 / 12))
"""Payloads of empirical sizes and their shares: the simple mix of Internet traffic, 7 to 4 to 1."""
_SEED_LIMIT = 1 << 31


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRun:
    """One run: everything that its rows depend on, except the engine."""

    network: FatTree | TwoTierTree | DrawnNetwork
    pattern: Pattern
    arrivals: Arrivals
    sizes: PacketSizes
    protocol: str
    routing: Routing
    seed: int
    duration_s: float
    options: SimulationOptions

    def configuration(self) -> str:
        """Return JSON that `run_of` reads; without the time limit, which changes no row."""
        content = asdict(self)
        content["network"]["kind"] = {shape: name for name, shape in _SHAPES.items()}[type(self.network)]
        del content["options"]["timeout_s"]
        return canonical_json(content)

    def topology(self) -> Topology:
        """Return the network of the run."""
        if isinstance(self.network, DrawnNetwork):
            return drawn_network(self.network)
        return fat_tree(self.network) if isinstance(self.network, FatTree) else two_tier_tree(self.network)

    def traffic(self, topology: Topology) -> Traffic:
        """Return the flows of the run."""
        return traffic_of(
            topology, self.pattern, arrivals=self.arrivals, sizes=self.sizes, protocol=self.protocol
        )


def run_of(content: dict[str, Any]) -> NetworkRun:
    """Return the run of a decoded `NetworkRun.configuration`.

    Raises: NetworkError: the form is wrong, or a value is out of range.
    """
    try:
        network = dict(content["network"])
        shape = _SHAPES[network.pop("kind")]
        sizes = dict(content["sizes"])
        for name in ("values_bytes", "shares"):
            sizes[name] = tuple(sizes[name])
        return NetworkRun(
            network=shape(**network),
            pattern=Pattern(**content["pattern"]),
            arrivals=Arrivals(**content["arrivals"]),
            sizes=PacketSizes(**sizes),
            routing=Routing(**content["routing"]),
            options=SimulationOptions(**content["options"]),
            **{name: content[name] for name in ("protocol", "seed", "duration_s")},
        )
    except (KeyError, TypeError) as error:
        raise NetworkError(f"invalid configuration of a run: {error!r}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGroup:
    """Runs of one kind: every combination of the lists, or some drawn from them.

    Attributes:
        network: fat_tree (pods), two_tier (edges, cores, hosts_per_edge, parallel_links), or drawn: each run
            has a network of its own, of one of the families, half of them with unequal speeds where that is
            so; loads are then those of the busiest link.
        loads, scvs: values of the grid; draws are between minimum and maximum, uniform for loads and
            log-uniform for scvs.
        scvs: squared coefficients of variation of ge and on_off arrivals.
        mean_bytes, spread: payloads, and half the width of uniform ones over the mean; bimodal and
            empirical sizes have values of their own, `BIMODAL_BYTES` and `INTERNET_MIX`.
        density: share of hosts in all-to-all traffic.
        samples: draws; None for the whole grid. All-to-all is drawn as often as the other patterns
            together, because it has the most queues.
        sample_seed: seed of the draws; each draw has its own packet seed.
        duration_s: simulated time, warm-up included.
    """

    name: str
    network: str = FAT_TREE
    pods: int = 4
    edges: int = 8
    cores: int = 4
    hosts_per_edge: int = 4
    parallel_links: int = 2
    families: tuple[str, ...] = FAMILIES
    unequal: bool = False
    patterns: tuple[str, ...] = ("all_to_all", "incast", "broadcast")
    loads: tuple[float, ...] = (0.25, 0.5, 0.75)
    arrivals: tuple[str, ...] = ("poisson", "ge")
    scvs: tuple[float, ...] = (4.0,)
    sizes: tuple[str, ...] = ("fixed", "uniform")
    mean_bytes: tuple[int, ...] = (500,)
    spread: float = 0.01
    density: float = 1.0
    protocols: tuple[str, ...] = (UDP,)
    acknowledged: tuple[bool, ...] = (True,)
    routings: tuple[str, ...] = ("ecmp",)
    routing_seeds: tuple[int, ...] = (1,)
    seeds: tuple[int, ...] = (1,)
    samples: int | None = None
    sample_seed: int = 0
    duration_s: Positive = 10.0
    warm_up_s: Annotated[float, Field(ge=0)] = 1.0
    queue_capacity: int = 128

    def __post_init__(self) -> None:
        if not self.name or not self.name.replace("-", "").replace("_", "").isalnum():
            raise NetworkError(f"a group's name must be letters, digits, - and _, got {self.name!r}")
        if self.network not in NETWORKS:
            raise NetworkError(f"unknown network of a group: {self.network}; accepted: {', '.join(NETWORKS)}")
        for name in ("families", *_LISTS):
            if not getattr(self, name):
                raise NetworkError(f"{name} of group {self.name} is empty")
        for name, choices in (
            ("families", FAMILIES),
            ("arrivals", ARRIVALS),
            ("sizes", SIZES),
            ("protocols", PROTOCOLS),
        ):
            alien = [value for value in getattr(self, name) if value not in choices]
            if alien:
                raise NetworkError(f"unknown value in {name}: {alien[0]!r}; accepted: {', '.join(choices)}")
        if self.samples is not None and not 1 <= self.samples <= RUN_LIMIT:
            raise NetworkError(f"samples must be 1 to {RUN_LIMIT}, got {self.samples}")
        if not self.warm_up_s < self.duration_s:
            raise NetworkError(
                f"a warm-up must be shorter than the run, got {self.warm_up_s:g} of {self.duration_s:g} s"
            )


_LISTS = (
    "patterns",
    "loads",
    "arrivals",
    "scvs",
    "sizes",
    "mean_bytes",
    "protocols",
    "acknowledged",
    "routings",
    "routing_seeds",
    "seeds",
)


def runs_of(group: RunGroup, *, timeout_s: float = 3600.0) -> tuple[NetworkRun, ...]:
    """Return the runs of a group, without repeats, in order.

    Args:   timeout_s: processor time per run.
    Raises: NetworkError: a value is out of range.
    """
    points = _grid(group) if group.samples is None else _draws(group, group.samples)
    runs = dict.fromkeys(_run(group, point, timeout_s) for point in points)
    if len(runs) > RUN_LIMIT:
        raise NetworkError(f"a group must have at most {RUN_LIMIT} runs, got {len(runs)} of {group.name}")
    return tuple(runs)


Point = dict[str, Any]


def _grid(group: RunGroup) -> Iterator[Point]:
    for values in itertools.product(*(getattr(group, name) for name in _LISTS)):
        yield dict(zip(_LISTS, values, strict=True))


def _draws(group: RunGroup, count: int) -> Iterator[Point]:
    """Yield a Latin hypercube over loads and scvs; values of the lists equally often, in random order."""
    stream = np.random.Generator(np.random.Philox(key=group.sample_seed))
    lists = {name: _evenly(_weighted(group, name), count, stream) for name in _LISTS}
    loads = _strata(group.loads, count, stream)
    scvs = np.exp(_strata([math.log(scv) for scv in group.scvs], count, stream))
    seeds = stream.integers(1, _SEED_LIMIT, count)
    for index in range(count):
        point = {name: values[index] for name, values in lists.items()}
        drawn = {
            "loads": round(float(loads[index]), 4),
            "scvs": round(float(scvs[index]), 3),
            "seeds": int(seeds[index]),
        }
        yield point | drawn


def _weighted(group: RunGroup, name: str) -> Sequence[Any]:
    values: Sequence[Any] = getattr(group, name)
    if name != "patterns" or ALL_TO_ALL not in values:
        return values
    return [ALL_TO_ALL] * (len(values) - 2) + list(values)


def _evenly(values: Sequence[Any], count: int, stream: np.random.Generator) -> list[Any]:
    order = stream.permutation(count)
    return [values[place % len(values)] for place in order]


def _strata(ends: Sequence[float], count: int, stream: np.random.Generator) -> NDArray[np.float64]:
    places = (stream.permutation(count) + stream.random(count)) / count
    return min(ends) + places * (max(ends) - min(ends))


def _run(group: RunGroup, point: Point, timeout_s: float) -> NetworkRun:
    kind, density = point["patterns"], group.density
    is_poisson = point["arrivals"] == POISSON
    run = NetworkRun(
        network=_network(group, point["seeds"]),
        pattern=Pattern(
            kind=kind,
            load=point["loads"],
            density=density if kind == ALL_TO_ALL else 1.0,
            seed=point["routing_seeds"],
        ),
        arrivals=Arrivals(kind=point["arrivals"], scv=1.0 if is_poisson else point["scvs"]),
        sizes=_sizes(point["sizes"], point["mean_bytes"], group.spread),
        protocol=point["protocols"],
        routing=Routing(kind=point["routings"], seed=point["routing_seeds"]),
        seed=point["seeds"],
        duration_s=group.duration_s,
        options=SimulationOptions(
            queue_capacity=group.queue_capacity,
            warm_up_s=group.warm_up_s,
            has_acks=point["acknowledged"],
            timeout_s=timeout_s,
        ),
    )
    return run if group.network != DRAWN_NETWORK else _at_load(run)


def _at_load(run: NetworkRun) -> NetworkRun:
    """Return the run whose busiest link, not that of a host, has the load; both are proportional."""
    topology, load = run.topology(), run.pattern.load
    has_acks = run.options.has_acks or run.protocol == TCP
    low = replace(run, pattern=replace(run.pattern, load=0.01))
    model = model_network(topology, low.traffic(topology), routing=run.routing, has_acks=has_acks)
    scaled = round(0.01 * load / float(model.queues.utilisation.max()), 6)
    return replace(run, pattern=replace(run.pattern, load=scaled))


def _network(group: RunGroup, seed: int) -> FatTree | TwoTierTree | DrawnNetwork:
    if group.network == DRAWN_NETWORK:
        family = group.families[seed % len(group.families)]
        return DrawnNetwork(family=family, seed=seed, unequal=group.unequal and seed // 7 % 2 == 1)
    if group.network == FAT_TREE:
        return FatTree(pods=group.pods)
    return TwoTierTree(
        edges=group.edges,
        cores=group.cores,
        hosts_per_edge=group.hosts_per_edge,
        parallel_links=group.parallel_links,
    )


def _sizes(kind: str, mean_bytes: int, spread: float) -> PacketSizes:
    if kind == "bimodal":
        small, large = BIMODAL_BYTES
        share = (large - mean_bytes) / (large - small)
        return PacketSizes(kind=kind, values_bytes=BIMODAL_BYTES, shares=(share, 1.0 - share))
    if kind == "empirical":
        values, shares = INTERNET_MIX
        return PacketSizes(kind=kind, values_bytes=values, shares=shares)
    return PacketSizes(kind=kind, mean_bytes=mean_bytes, spread=spread)
