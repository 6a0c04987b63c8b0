"""`simfoundry collective`: completion times of collective operations on the hosts of a network."""

from __future__ import annotations

from typing import Any

import numpy as np

from assets.deployments import find_deployment
from pipelines.network.collectives.estimation import CollectiveTimes, estimate_collectives
from pipelines.network.request import TRANSFERS
from simfoundry.commands.network import BUSIEST_QUEUES, ENGINES
from simfoundry.questions import CollectiveQuestion

SAME = 1e-6
"""Steps that differ by less are equal."""


def answer_collective(question: CollectiveQuestion) -> dict[str, Any]:
    """Return the times of every job and the busiest links, as JSON.

    Raises: FoundryError, NetworkError: an option or a file is not acceptable.
    """
    simulates = question.estimate != TRANSFERS
    answer = estimate_collectives(
        question, engine_folder=find_deployment().cache_dir / "engines" if simulates else None
    )
    topology, simulated = answer.topology, answer.simulated
    sending_s = answer.times.queue_bits / topology.rates_bps
    busiest: list[int] = np.argsort(-sending_s, kind="stable")[:BUSIEST_QUEUES].tolist()
    return {
        "network": topology.name,
        "hosts": topology.host_count,
        "estimate_s": round(answer.seconds, 3),
        **(
            {}
            if simulated is None
            else {
                "simulated": {
                    "engine": question.estimate,
                    "packets": simulated.packets,
                    "seconds": round(simulated.seconds, 3),
                }
            }
        ),
        "jobs": [_job_answer(answer, number) for number in range(len(answer.jobs))],
        "busiest_links": [
            {
                "kind": topology.kind_names[int(topology.kinds[queue])],
                "from_node": topology.node_id(int(topology.sources[queue])),
                "to_node": topology.node_id(int(topology.targets[queue])),
                "bytes": round(float(answer.times.queue_bits[queue]) / 8),
                "sending_ns": round(float(sending_s[queue]) * 1e9),
            }
            for queue in busiest
            if answer.times.queue_bits[queue] > 0
        ],
    }


def _job_answer(answer: CollectiveTimes, number: int) -> dict[str, Any]:
    job, times = answer.jobs[number], answer.times
    ends_s = times.ends_s[number]
    lengths_s = np.diff(ends_s, prepend=job.start_s)
    slowest = int(np.argmax(lengths_s >= lengths_s.max() * (1.0 - SAME)))  # the first of equal ones
    taken_s, alone_s = float(ends_s[-1]) - job.start_s, float(times.alone_s[number])
    simulated = answer.simulated
    return {
        "kind": job.kind,
        "hosts": len(job.hosts),
        "bytes": job.size_bytes,
        "steps": len(ends_s),
        "start_ns": round(job.start_s * 1e9),
        "completion_ns": round(taken_s * 1e9),
        **(
            {}
            if simulated is None
            else {"simulated_completion_ns": round((float(simulated.ends_s[number][-1]) - job.start_s) * 1e9)}
        ),
        "alone_ns": round(alone_s * 1e9),
        "slowdown": round(taken_s / alone_s, 3),
        "gbps": round(job.size_bytes * 8e-9 / taken_s, 3),
        "slowest_step": slowest + 1,
        "slowest_step_ns": round(float(lengths_s[slowest]) * 1e9),
    }


def collective_text(answer: dict[str, Any]) -> str:
    """Return the answer as text, times in microseconds."""
    lines = [f"{name:<24} {answer[name]}" for name in ("network", "hosts")]
    lines.append(f"{'estimate':<24} transfers in queues, in {answer['estimate_s']:.2f} s")
    if simulated := answer.get("simulated"):
        lines.append(
            f"{'simulated':<24} {simulated['packets']:,} packets by {ENGINES[simulated['engine']]} in "
            f"{simulated['seconds']:.1f} s"
        )
    for job in answer["jobs"]:
        lines.append(f"{job['kind']} of {job['bytes']:,} bytes on {job['hosts']} hosts, {job['steps']} steps")
        counted = job.get("simulated_completion_ns")
        beside = "" if counted is None else f" (simulated {_us(counted)})"
        lines.append(f"  {'completion':<22} {_us(job['completion_ns'])}{beside}, {job['gbps']:,.1f} Gb/s")
        lines.append(
            f"  {'own links alone':<22} {_us(job['alone_ns'])}: "
            f"{job['slowdown']:.2f} times as long in this network"
        )
        lines.append(f"  {'slowest step':<22} number {job['slowest_step']}, {_us(job['slowest_step_ns'])}")
    lines.append("busiest links")
    lines += [
        f"  {link['kind']:<18} node {link['from_node']} to {link['to_node']}: sends {link['bytes']:,} bytes "
        f"in {_us(link['sending_ns'])}"
        for link in answer["busiest_links"]
    ]
    return "\n".join(lines)


def _us(time_ns: float) -> str:
    return f"{time_ns / 1e3:,.1f} us"
