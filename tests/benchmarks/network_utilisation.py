"""Table 5.3 by utilisation of the busiest link: errors of the estimate beside the noise of two seeds.

    python -m tests.benchmarks.network_utilisation [--protocol udp tcp] [--hosts 16 128] [--seconds 40]
                                                   [--utilisations 0.25 0.5 0.75] [--routings ecmp fixed]
                                                   [--patterns all_to_all incast broadcast]
                                                   [--folder FOLDER] [--record]

UDP by the project's simulator, TCP by ns-3 (every packet acknowledged; beyond 16 hosts a fifth of the hosts
takes part in all to all), a quarter of the simulated seconds before a run counts. Links of 100 Mbit/s, 500
B, queues of 128 packets; GE has a squared coefficient of variation of 4. The load of each pattern is the one
at which the busiest queue, acknowledgements included, has the utilisation; chapter 5 has it on the busiest
host link. Packet seeds and routes are not those of the correction. Errors are mean absolute percentage
errors over flows of the mean round trip: of equation 5.1, of the estimate for trees, corrected; `two seeds`
is that of one simulation as the estimate of another over the same routes. Goal: corrected at most the larger
of 1.5 times that and 1 %. A run is not steady, and marked, where more than 0.1 % of the packets are lost or
two seeds differ by more than 10 %.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

from assets.figures import Figure
from models.queue_correction.correction import Correction, shipped_correction
from pipelines.network.queueing import NetworkModel, model_network
from pipelines.network.routing import ROUTINGS
from pipelines.network.runs import NetworkRun as Run
from pipelines.network.runs import RunGroup, runs_of
from pipelines.network.traffic import PROTOCOLS, TCP
from tests.benchmarks.harness import options_parser, print_header, print_machine, print_row
from tests.benchmarks.network_experiments import ROUTING_SEED, SEEDS, latencies, truth_of
from tests.benchmarks.network_measures import relative_error
from tests.benchmarks.recording import add_record_option, record, unmeasured

PODS = {16: 4, 128: 8, 432: 12, 1024: 16}
UNSTEADY_SHARE, UNSTEADY_NOISE = 1e-3, 0.1
NOISES, LEAST = 1.5, 0.01
TCP_DENSITY = 0.2
"""Share of hosts of all to all, of TCP beyond 16 hosts: a run of 4 s of all 128 takes ten minutes of ns-3."""
GROUP = RunGroup(
    name="utilisation", sizes=("fixed",), routings=ROUTINGS, routing_seeds=(ROUTING_SEED,), seeds=SEEDS[:1]
)


def model_of(run: Run) -> NetworkModel:
    topology = run.topology()
    return model_network(
        topology, run.traffic(topology), routing=run.routing, capacity=run.options.queue_capacity
    )


def at_utilisation(run: Run, utilisation: float) -> Run:
    """The run with the load that gives the busiest queue this utilisation; both are proportional."""
    small = replace(run, pattern=replace(run.pattern, load=0.1))
    load = 0.1 * utilisation / float(model_of(small).queues.utilisation.max())
    return replace(run, pattern=replace(run.pattern, load=load))


def runs_at(
    protocol: str,
    hosts: int,
    utilisations: Iterable[float],
    seconds: float,
    routings: Sequence[str],
    patterns: Sequence[str],
) -> list[tuple[float, Run]]:
    group = replace(
        GROUP,
        pods=PODS[hosts],
        protocols=(protocol,),
        routings=tuple(routings),
        patterns=tuple(patterns),
        loads=(0.5,),
        duration_s=seconds,
        warm_up_s=seconds / 4,
    )
    if protocol == TCP and hosts > min(PODS):
        group = replace(group, density=TCP_DENSITY)
    plain = list(runs_of(group))
    return [(busy, at_utilisation(run, busy)) for run, busy in product(plain, utilisations)]


def measure(run: Run, folder: Path, correction: Correction) -> tuple[list[float], float, bool]:
    """Errors of three estimates, the noise, and whether the truth is steady."""
    one, other = (truth_of(replace(run, seed=seed), folder) for seed in SEEDS)
    noise = relative_error(other.rtt_s, one.rtt_s)
    errors = [relative_error(found.rtt_s, one.rtt_s) for found in latencies(model_of(run), correction)]
    lost = one.drops / max(1, one.packet_count)
    return errors, noise, lost <= UNSTEADY_SHARE and noise <= UNSTEADY_NOISE


def main() -> None:
    parser = options_parser(__doc__)
    parser.add_argument("--protocol", nargs="+", choices=PROTOCOLS, default=list(PROTOCOLS))
    parser.add_argument("--hosts", nargs="+", type=int, choices=list(PODS), default=[16])
    parser.add_argument("--seconds", type=float, default=40.0, help="simulated, of each run")
    parser.add_argument("--utilisations", nargs="+", type=float, default=[0.25, 0.5, 0.75])
    parser.add_argument("--routings", nargs="+", choices=ROUTINGS, default=list(ROUTINGS))
    parser.add_argument("--patterns", nargs="+", choices=GROUP.patterns, default=list(GROUP.patterns))
    parser.add_argument("--folder", type=Path, default=Path("data/benchmarks/network-utilisation"))
    add_record_option(parser)
    chosen = parser.parse_args()
    print_machine()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    correction = shipped_correction()
    print_header(
        "protocol | hosts | traffic | arrivals | routing | busiest link",
        "5.1 | trees | corrected | two seeds | goal",
    )
    rows: dict[tuple[str, int, str], list[tuple[float, float, float, bool]]] = {}
    for protocol, hosts in product(chosen.protocol, chosen.hosts):
        for busy, run in runs_at(
            protocol, hosts, chosen.utilisations, chosen.seconds, chosen.routings, chosen.patterns
        ):
            errors, noise, is_steady = measure(run, chosen.folder, correction)
            met = errors[2] <= max(NOISES * noise, LEAST)
            verdict = ("met" if met else "missed") if is_steady else "not steady"
            print_row(
                protocol,
                hosts,
                run.pattern.kind,
                run.arrivals.kind,
                run.routing.kind,
                f"{busy:.0%}",
                *(f"{error:.2%}" for error in (*errors, noise)),
                verdict,
            )
            if is_steady:
                rows.setdefault((protocol, hosts, run.arrivals.kind), []).append(
                    (busy, errors[2], noise, met)
                )
    print()
    print_header("protocol, hosts, arrivals | corrected (two seeds) by utilisation | goal met")
    for (protocol, hosts, arrivals), own in rows.items():
        cells = {
            f"{busy:.0%}": f"{np.mean([e for b, e, _, _ in own if b == busy]):.2%} "
            f"({np.mean([n for b, _, n, _ in own if b == busy]):.2%})"
            for busy in sorted({busy for busy, *_ in own})
        }
        count = f"{len([1 for row in own if row[3]])} of {len(own)}"
        print_row(f"{protocol}, {hosts}, {arrivals}", str(cells), count)
        if chosen.record:
            kinds = "" if len(chosen.patterns) == len(GROUP.patterns) else ", ".join((*chosen.patterns, ""))
            name = f"{protocol.upper()}, {hosts} hosts, {arrivals}, {kinds}by utilisation"
            record(
                "network",
                name,
                cells | {"goal met": count},
                missed=not all(row[3] for row in own),
                new=figure(name, protocol, hosts, chosen.seconds, chosen.routings, chosen.patterns),
            )


def figure(
    name: str, protocol: str, hosts: int, seconds: float, routings: Sequence[str], patterns: Sequence[str]
) -> Figure:
    some = "" if len(routings) == len(ROUTINGS) else f" --routings {' '.join(routings)}"
    some += "" if len(patterns) == len(GROUP.patterns) else f" --patterns {' '.join(patterns)}"
    return unmeasured(
        area="network",
        section="Utilisation of the busiest link",
        figure=name,
        goal="larger of 1.5 times the noise and 1 %",
        command=(
            f"python -m tests.benchmarks.network_utilisation --protocol {protocol} --hosts {hosts} "
            f"--seconds {seconds:g}{some}"
        ),
        engines=("network", "queue_correction"),
    )


if __name__ == "__main__":
    main()
