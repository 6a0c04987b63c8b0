"""Completion times of collectives by the model of transfers, beside packets of UDP and TCP.

    python -m tests.benchmarks.collective_times [--no-tcp] [--record]

Links of 100 Gb/s and 500 ns, 1,470 B a packet. Errors of the completion time of each job: against the
project's simulator (UDP, every packet of a step at once) of the model, and of two simple rules, each step as
long as its busiest link sends when the job is alone, and as the hosts' own links send; against ns-3 (TCP,
connections that stay open) of the model. Last, seconds of the estimate for 1,024 hosts, routes included, the
least of two.
"""

from __future__ import annotations

import tempfile
from itertools import product
from pathlib import Path

import numpy as np

from assets.figures import Figure
from pipelines.network.collectives import COLLECTIVES, Job, Packets, TransferTimes, read_job, transfer_times
from pipelines.network.collectives.packets import packet_times
from pipelines.network.routing import ROUTINGS, Routing
from pipelines.network.simulation.ns3 import find_ns3
from pipelines.network.topology import FatTree, Topology, fat_tree
from pipelines.network.traffic import TCP, UDP
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row, repeated
from tests.benchmarks.recording import add_record_option, record, unmeasured

PAYLOAD_BYTES = 1470
PACKETS = Packets(payload_bytes=PAYLOAD_BYTES, header_bytes=30)
SIZES = {16: "4MB", 128: "2MB"}
SHARED = {
    16: [
        ("ring_all_reduce:4MB:hosts=0-15/2:order=random", "all_to_all:8MB:hosts=1-15/2"),
        ("tree_all_reduce:2MB:hosts=0-7", "ring_all_reduce:4MB:hosts=8-15,0-7:order=random"),
        ("all_to_all:4MB:hosts=0-15/3", "all_to_all:4MB:hosts=1-15/3", "all_gather:6MB:hosts=2-14/3"),
    ],
    128: [
        ("ring_all_reduce:2MB:hosts=0-127/2:order=random", "all_to_all:4MB:hosts=1-127/2"),
        (
            "ring_all_reduce:1MB:hosts=0-127/4:order=random",
            "all_to_all:2MB:hosts=1-127/4",
            "tree_all_reduce:500kB:hosts=2-126/4:start=0.0001",
            "all_gather:2MB:hosts=3-127/4:order=random",
        ),
    ],
}
LARGE = (
    ("all_to_all:64MB",),
    ("ring_all_reduce:64MB:order=random",),
    ("tree_all_reduce:64MB:order=random",),
    ("ring_all_reduce:64MB:hosts=0-1023/2:order=random", "all_to_all:64MB:hosts=1-1023/2"),
)
GOAL, LARGE_GOAL_S = 0.05, 2.0


def tree_of(pods: int) -> Topology:
    return fat_tree(FatTree(pods=pods, rate_bps=10**11, delay_ns=500))


def completions(ends_s: tuple[np.ndarray, ...], jobs: list[Job]) -> list[float]:
    return [float(own[-1]) - job.start_s for own, job in zip(ends_s, jobs, strict=True)]


def estimate(tree: Topology, jobs: list[Job], routing: Routing) -> TransferTimes:
    return transfer_times(tree, jobs, routing=routing, packets=PACKETS)


def measure(
    hosts: int, texts: tuple[str, ...], routing: Routing, folder: Path, *, tcp: bool
) -> list[dict[str, float]]:
    """Print a row a job and return its errors."""
    tree = tree_of({16: 4, 128: 8}[hosts])
    jobs = [read_job(text, host_count=hosts, seed=1 + number) for number, text in enumerate(texts)]
    times = estimate(tree, jobs, routing)
    by_packets = {
        protocol: completions(
            packet_times(
                tree,
                jobs,
                routing=routing,
                payload_bytes=PAYLOAD_BYTES,
                protocol=protocol,
                engine_folder=folder,
            ).ends_s,
            jobs,
        )
        for protocol in ((UDP, TCP) if tcp else (UDP,))
    }
    rows: list[dict[str, float]] = []
    for number, own in enumerate(completions(times.ends_s, jobs)):
        udp = by_packets[UDP][number]
        row = {
            "model": own / udp - 1.0,
            "busiest link": float(times.busiest_s[number]) / udp - 1.0,
            "own links": float(times.alone_s[number]) / udp - 1.0,
        }
        if tcp:
            row["TCP"] = own / by_packets[TCP][number] - 1.0
        cells = " | ".join(f"{value:+.2%}" for value in row.values())
        print_row(f"{hosts} | {texts[number]} | {routing.kind} | {udp * 1e6:,.1f} us | {cells}")
        rows.append(row)
    return rows


def summary(rows: list[dict[str, float]]) -> dict[str, str]:
    """Mean and most of the absolute errors."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    errors = {name: np.abs([row[name] for row in rows if name in row]) for name in names}
    return {name: f"{values.mean():.2%} (most {values.max():.1%})" for name, values in errors.items()}


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--no-tcp", action="store_true")
    add_record_option(parser)
    chosen = parser.parse_args()
    print_machine()
    has_tcp = find_ns3() is not None and not chosen.no_tcp
    groups: dict[str, list[dict[str, float]]] = {}
    print_header(
        "hosts | job | routing | UDP | model | busiest link | own links"
        + (" | model against TCP" if has_tcp else "")
    )
    with tempfile.TemporaryDirectory() as name:
        for hosts in SIZES:
            cases = [
                (f"{kind}:{SIZES[hosts]}:order={order}",)
                for kind, order in product(COLLECTIVES, ("given", "random"))
            ]
            for texts, kind in product([*cases, *SHARED[hosts]], ROUTINGS):
                group = f"{'one job' if len(texts) == 1 else 'several jobs'}, {hosts} hosts"
                rows = measure(hosts, texts, Routing(kind=kind), Path(name), tcp=has_tcp and hosts == 16)
                groups.setdefault(group, []).extend(rows)
    print()
    print_header("jobs | mean and most of the errors")
    for group, rows in groups.items():
        print_row(group, ", ".join(f"{name} {value}" for name, value in summary(rows).items()))
    print()
    print_header("1,024 hosts | routing | seconds")
    tree, slowest = tree_of(16), 0.0
    for texts, kind in product(LARGE, ROUTINGS):
        jobs = [read_job(text, host_count=1024, seed=1) for text in texts]
        _, spent = repeated(lambda jobs=jobs, kind=kind: estimate(tree, jobs, Routing(kind=kind)), 2)
        slowest = max(slowest, spent.wall_s)
        print_row(" and ".join(texts), kind, f"{spent.wall_s:.2f} s")
    if chosen.record:
        for group, rows in groups.items():
            name, worst = f"collectives, {group}", max(abs(row["model"]) for row in rows)
            record("network", name, summary(rows), missed=worst > GOAL, new=figure(name))
        name = "collectives, 1,024 hosts, slowest estimate"
        record(
            "network", name, round(slowest, 2), missed=slowest > LARGE_GOAL_S, new=figure(name, "s", "2 s")
        )


def figure(name: str, unit: str = "", goal: str = "5 % of the completion time") -> Figure:
    return unmeasured(
        area="network",
        section="Collectives",
        figure=name,
        unit=unit,
        goal=goal,
        command="python -m tests.benchmarks.collective_times",
        engines=("network",),
    )


if __name__ == "__main__":
    main()
