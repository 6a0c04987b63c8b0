"""`simfoundry network`: latency of every flow of a network under some traffic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from assets.deployments import find_deployment
from assets.errors import FoundryError
from models.queue_correction.correction import shipped_correction
from models.queue_correction.intervals import LEAST_SEEN, interval_of
from models.queue_correction.tails import corrected_latency, theory_rtt_quantiles_s
from pipelines.base.folders import replacing_file
from pipelines.network.estimation import (
    QUANTILE_NAMES,
    CorrectedLatency,
    NetworkLatency,
    TierLoad,
    estimate_network,
)
from pipelines.network.queueing import NetworkModel
from pipelines.network.queueing.latency import ANSWERED_QUANTILES
from pipelines.network.request import NS3, SIMULATE, TCP, simulated_by
from simfoundry.questions import NetworkQuestion

if TYPE_CHECKING:
    import pyarrow as pa

NEARLY_FULL = 0.95
LOST_SHARE, SHOWN_SHARE, SLOWED_SHARE = 1e-3, 1e-5, 1e-2
"""Lost packets from which an answer has a note, from which the text says how many they are, and from which
TCP sends less than flows offer."""
FEW_PACKETS = 100
BUSIEST_QUEUES = 5
TIER_FIGURES = (
    "utilisation",
    "waiting_packets",
    "simulated_utilisation",
    "simulated_waiting_packets",
)
ENGINES = {SIMULATE: "the project's simulator", NS3: "ns-3"}
SHORT_NS = 100.0
"""Times below have digits behind the point, and nanoseconds as their unit."""
ENDINGS = (".parquet", ".csv")
TIMES_NS = (
    "delay_mean_ns",
    "rtt_mean_ns",
    "uncorrected_rtt_mean_ns",
    *QUANTILE_NAMES,
    "uncorrected_rtt_p99_ns",
)


def answer_network(question: NetworkQuestion) -> dict[str, Any]:
    """Return the latency over flows and the busiest queues, as JSON.

    Raises: FoundryError, NetworkError: an option, a file or the load is not acceptable.
    """
    flows = None if question.flows is None else Path(question.flows)
    if flows is not None:
        _check_file(flows)
    answer = estimate_network(
        _spelled(question),
        correct=_corrected,
        quantiles_s=theory_rtt_quantiles_s,
        engine_folder=find_deployment().cache_dir / "engines" if simulated_by(question) else None,
    )
    columns = answer.flow_columns()
    if flows is not None:
        _write(answer.flow_table(), flows)
    return {
        "network": answer.model.topology.name,
        "hosts": answer.model.topology.host_count,
        "flows": len(columns["source"]),
        **simulated_answer(answer, question),
        "estimate": answer.estimate,
        "seen_in_training": None if answer.seen is None else round(answer.seen, 3),
        **{name: _spread(columns[name]) for name in TIMES_NS},
        "offered_utilisation": round(answer.offered_utilisation, 4),
        "lost_share": None if answer.lost_share is None else _shares(answer.lost_share),
        "within": _within(answer),
        "note": _note(answer, answer.model.traffic.protocol),
        "busiest_queues": [
            {
                "kind": queue.kind,
                "from_node": queue.from_node,
                "to_node": queue.to_node,
                "utilisation": round(queue.utilisation, 4),
                "wait_mean_ns": _rounded(queue.wait_mean_ns),
                "waiting_packets": round(queue.waiting_packets, 4),
            }
            for queue in answer.busiest_queues(BUSIEST_QUEUES)
        ],
        "tiers": [_tier_answer(tier) for tier in answer.tiers()],
    }


def _within(answer: NetworkLatency) -> dict[str, float] | None:
    """Return the relative errors that 9 of 10 flows stay within in 9 of 10 runs like this one, if known."""
    interval = None if answer.seen is None else interval_of(answer.model, answer.seen)
    if interval is None:
        return None
    return {"rtt_mean": interval.mean, "rtt_p99": interval.p99, "runs": interval.runs}


def _tier_answer(tier: TierLoad) -> dict[str, Any]:
    spreads = {
        name: dict(zip(("mean", "most"), (round(value, 4) for value in pair), strict=True))
        for name in TIER_FIGURES
        if (pair := getattr(tier, name)) is not None
    }
    return {"kind": tier.kind, "queues": tier.queues, **spreads}


def simulated_answer(answer: NetworkLatency, question: NetworkQuestion) -> dict[str, Any]:
    """Return what a simulation counted; nothing where only an estimate was asked for."""
    simulated = answer.simulated
    if simulated is None:
        return {}
    summary = simulated.sums.summary
    return {
        "estimate_s": round(answer.seconds, 3),
        "simulated": {
            "engine": simulated_by(question),
            "seconds": round(simulated.seconds, 3),
            "packets": simulated.packets,
            "counted": summary["packet_count"],
            "dropped": summary["drop_count"],
            "busiest_utilisation": round(float(summary["busiest_utilisation"] or 0.0), 4),
            **{
                name: _shares(values) if name == "lost_share" else _spread(values)
                for name, values in simulated.flow_columns().items()
            },
        },
    }


def _spelled(request: NetworkQuestion) -> NetworkQuestion:
    """Return the request with names as the tables spell them: all-to-all is all_to_all."""
    names = {name: getattr(request, name) for name in ("pattern", "arrivals")}
    return replace(request, **{k: v.replace("-", "_") for k, v in names.items() if v is not None})


def _corrected(model: NetworkModel) -> CorrectedLatency:
    """Return the latency by the correction that ships with the project.

    Parts of the flows have a thread each. With threads of its own, BLAS doubles the processor time, and its
    sums depend on their number in the last digits.
    """
    with threadpool_limits(1, "blas"):
        return corrected_latency(model, shipped_correction(), ANSWERED_QUANTILES)


def _check_file(flows: Path) -> None:
    if flows.suffix not in ENDINGS:
        raise FoundryError(f"unknown ending of --flows: {flows.name}; accepted: {', '.join(ENDINGS)}")
    if not flows.parent.is_dir():
        raise FoundryError(f"no such folder: {flows.parent} (--flows {flows})")


def _write(rows: pa.Table, path: Path) -> None:
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    try:
        with replacing_file(path) as new:
            if path.suffix == ".csv":
                pa_csv.write_csv(rows, new)
            else:
                pq.write_table(rows, new)
    except OSError as error:
        raise FoundryError(f"cannot write --flows {path}: {error}") from error


def _spread(values: NDArray[Any]) -> dict[str, float]:
    """Return least, mean and most over flows with a time, in nanoseconds; nothing where there are none."""
    known = values[np.isfinite(values)]
    if not len(known):
        return {}
    numbers = {"least": known.min(), "mean": known.mean(), "most": known.max()}
    return {key: _rounded(float(value)) for key, value in numbers.items()}


def _shares(values: NDArray[np.float64]) -> dict[str, float]:
    """Return least, mean and most of shares over flows, with two significant digits."""
    numbers = {"least": values.min(), "mean": values.mean(), "most": values.max()}
    return {key: float(f"{value:.2g}") for key, value in numbers.items()}


def _rounded(time_ns: float) -> float:
    """Return a time in whole nanoseconds, a short one in thousandths."""
    return round(time_ns) if time_ns >= SHORT_NS or time_ns == 0 else round(time_ns, 3)


def _note(answer: NetworkLatency, protocol: str) -> str | None:
    """Return what a reader must know of the answer, if anything."""
    notes = [*_notes_of_estimate(answer, protocol), *_notes_of_simulation(answer)]
    return "; ".join(notes) or None


def _notes_of_estimate(answer: NetworkLatency, protocol: str) -> Iterator[str]:
    offered = answer.offered_utilisation
    lost = 0.0 if answer.lost_share is None else float(answer.lost_share.max())
    if protocol == TCP and offered >= 1.0:
        yield (
            f"flows offer the busiest queue {offered:.1%} of its rate: TCP has no steady state there, "
            "packets wait at their hosts for ever longer, and the estimate does not hold"
        )
    elif protocol == TCP and lost > SLOWED_SHARE:
        yield (
            f"full queues lose {lost:.1%} of the packets of the worst flow: TCP slows down, which the "
            "estimate does not model"
        )
    elif offered > NEARLY_FULL:
        yield (
            f"flows offer the busiest queue {offered:.1%} of its rate: above {NEARLY_FULL:.0%} waits depend "
            "on the length of the run and on losses, and the estimate is far off"
        )
    elif protocol == TCP and lost > LOST_SHARE:
        yield (
            f"full queues lose {lost:.1%} of the packets of the worst flow: means include waits of 1 s for "
            "the timer of TCP, medians do not"
        )
    if answer.simulated is None and answer.seen is not None and answer.seen < LEAST_SEEN:
        exact = NS3 if protocol == TCP else SIMULATE
        yield (
            f"{answer.seen:.0%} of the network is like the runs that the correction learned from; "
            f"`--estimate {exact}` is exact"
        )


def _notes_of_simulation(answer: NetworkLatency) -> Iterator[str]:
    simulated = answer.simulated
    if simulated is None:
        return
    lost = int(simulated.sums.summary["drop_count"] or 0) / simulated.packets
    if lost > LOST_SHARE and answer.lost_share is None:
        yield f"{lost:.1%} of the packets were lost: the estimate has no losses"
    counted = int(simulated.sums.summary["packet_count"] or 0) / len(answer.model.traffic.sources)
    if counted < FEW_PACKETS:
        yield f"{counted:.0f} packets per flow were counted, so percentiles of flows are mostly noise"


def _unit(times_ns: Iterable[float]) -> str:
    return "ns" if any(0 < time_ns < SHORT_NS for time_ns in times_ns) else "us"


def _in_unit(time_ns: float, unit: str) -> str:
    return f"{time_ns:,.3f}".removesuffix(".000") if unit == "ns" else f"{time_ns / 1e3:.1f}"


def _times(answer: Mapping[str, Any]) -> list[str]:
    """Return a line per time that an answer has."""
    lines: list[str] = []
    for name in (own for own in TIMES_NS if answer.get(own)):
        unit = _unit(answer[name].values())
        spread = " ".join(f"{key} {_in_unit(time_ns, unit)}" for key, time_ns in answer[name].items())
        lines.append(f"{name.removesuffix('ns') + unit:<24} {spread}")
    return lines


def _tier_line(tier: Mapping[str, Any]) -> str:
    used, waiting = tier["utilisation"], tier["waiting_packets"]
    line = (
        f"  {tier['kind']:<18} {tier['queues']} queues: utilisation {used['mean']:.1%} ({used['most']:.1%}), "
        f"{waiting['mean']:.2f} ({waiting['most']:.2f}) packets wait"
    )
    if counted := tier.get("simulated_waiting_packets"):
        line += f", simulated {counted['mean']:.2f} ({counted['most']:.2f})"
    return line


def network_text(answer: dict[str, Any]) -> str:
    """Return the answer as text, times in microseconds, or in nanoseconds in a line with a short one."""
    simulated = answer.get("simulated")
    lines = [f"{name:<24} {answer[name]}" for name in ("network", "hosts", "flows")]
    if simulated:
        lines.append(
            f"{'simulated':<24} {simulated['packets']:,} packets by {ENGINES[simulated['engine']]} in "
            f"{simulated['seconds']:.1f} s, {simulated['counted']:,} counted, {simulated['dropped']:,} lost"
        )
        lines += _times(simulated)
    estimate = f"{answer['estimate']} in {answer['estimate_s']:.2f} s" if simulated else answer["estimate"]
    lines.append(f"{'estimate':<24} {estimate}")
    if answer["seen_in_training"] is not None:
        lines.append(f"{'seen_in_training':<24} {answer['seen_in_training']}")
    lines += _times(answer)
    if (lost := answer["lost_share"]) and lost["most"] > SHOWN_SHARE:
        lines.append(
            f"{'lost_share':<24} " + " ".join(f"{key} {100 * share:.2g}%" for key, share in lost.items())
        )
    if within := answer["within"]:
        lines.append(
            f"{'within':<24} {within['rtt_mean']:.1%} (mean), {within['rtt_p99']:.1%} (p99): 9 of 10 flows, "
            f"in 9 of 10 of {within['runs']} simulated runs of this kind"
        )
    lines += ["queues by tier, mean (most)"]
    lines += [_tier_line(tier) for tier in answer["tiers"]]
    lines += ["busiest queues"]
    lines += [
        f"  {q['kind']:<18} node {q['from_node']} to {q['to_node']}: utilisation {q['utilisation']:.1%}, "
        f"wait {_in_unit(q['wait_mean_ns'], unit)} {unit}"
        for q in answer["busiest_queues"]
        for unit in (_unit([q["wait_mean_ns"]]),)
    ]
    if answer["note"]:
        lines.append(f"note: {answer['note']}")
    return "\n".join(lines)
