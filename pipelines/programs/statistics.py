"""The report on each stage of generation: outcomes and distributions of its programs.

Rows of a stage (columns `measure`, `statistic`, `bin`):

    programs    count     asked, ok, duplicate, and each other status; asked is every row
    rejected    count     the reason, without names and numbers
    loop_depth, loop_count, array_operation_share, source_bytes, source_lines, source_tokens, operator_count
                quantile  0.00, 0.05, 0.25, 0.50, 0.75, 0.95, 1.00; mean of all; count of programs;
                          loop_depth also share at 0, 1, 2, ...
    operations  share     each kind of operator and access: mean over programs of its share in a program
    operators   count     programs that have the operator, by its name
    any of these but programs and rejected
                distance  wasserstein or total_variation, to the evaluation programs

Distances. For numbers: the area between the two distribution functions (the first Wasserstein distance),
over the distance from the least 5th to the largest 95th percentile of the two samples; counts and lengths as
log(1 + x). For kinds: total variation, half the sum of |p - q| over kinds, 0 to 1.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pipelines.schemas import OK, ProgramFactsRow, ProgramRow, StageReportRow

REFERENCE = "evaluation"
LEVELS = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
LOGARITHMIC = ("loop_count", "source_bytes", "source_lines", "source_tokens", "operator_count")
REASON_LENGTH = 120

_VARYING = re.compile(r"'[^']*'|\"[^\"]*\"|\b[\w-]*\d[\w.:-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sample:
    """The programs of a stage that are ok.

    Attributes:
        numbers: values by measure.
        operations: share of each kind; operators: programs that have each.
    """

    numbers: dict[str, list[float]]
    operations: dict[str, float]
    operators: dict[str, int]


@dataclass(slots=True)
class _Writer:
    stage: str
    rows: list[StageReportRow] = field(default_factory=list[StageReportRow])

    def add(self, measure: str, statistic: str, label: str, value: float) -> None:
        row = StageReportRow(
            stage=self.stage, measure=measure, statistic=statistic, bin=label, value=float(value)
        )
        self.rows.append(row)


def stage_reports(programs: Sequence[ProgramRow], facts: Sequence[ProgramFactsRow]) -> list[StageReportRow]:
    """Return the rows of every stage that has programs.

    Args: facts: of programs that the front end reads; distributions are over these where they are ok.
    """
    known = {row.program_id: row for row in facts}
    stages = dict.fromkeys(program.stage for program in programs)
    samples = {stage: _sample([p for p in programs if p.stage == stage], known) for stage in stages}
    rows: list[StageReportRow] = []
    for stage in stages:
        writer = _Writer(stage)
        _outcomes(writer, [p for p in programs if p.stage == stage])
        _distributions(writer, samples[stage])
        if stage != REFERENCE and REFERENCE in samples:
            _distances(writer, samples[stage], samples[REFERENCE])
        rows += writer.rows
    return rows


# ---- outcomes --------------------------------------------------------------------------------------


def general_reason(reason: str) -> str:
    """Return a reason with `…` for quoted text and words with digits, which differ between programs."""
    return _VARYING.sub("…", " ".join(reason.split()))[:REASON_LENGTH]


def _outcomes(writer: _Writer, programs: Sequence[ProgramRow]) -> None:
    states = Counter(p.status for p in programs)
    good = [p for p in programs if p.status == OK]
    writer.add("programs", "count", "asked", len(programs))
    for status in sorted({OK, *states}):
        writer.add("programs", "count", status, states[status])
    hashes = [p.ast_hash for p in good if p.ast_hash is not None]
    writer.add("programs", "count", "duplicate", len(hashes) - len(set(hashes)))
    reasons = Counter(general_reason(p.reason or "no reason") for p in programs if p.status != OK)
    for reason, count in sorted(reasons.items()):
        writer.add("rejected", "count", reason, count)


# ---- distributions --------------------------------------------------------------------------------------


def _sample(programs: Sequence[ProgramRow], known: Mapping[str, ProgramFactsRow]) -> _Sample:
    pairs = [(p, known[p.program_id]) for p in programs if p.status == OK and p.program_id in known]
    numbers: dict[str, list[float]] = {
        "loop_depth": [f.loop_depth for _, f in pairs],
        "loop_count": [f.loop_count for _, f in pairs],
        "array_operation_share": [
            f.array_operation_share for _, f in pairs if f.array_operation_share is not None
        ],
        "source_bytes": [p.source_bytes for p, _ in pairs],
        "source_lines": [f.source_lines for _, f in pairs],
        "source_tokens": [f.source_tokens for _, f in pairs],
        "operator_count": [len(p.operators) for p, _ in pairs],
    }
    return _Sample(
        numbers={name: values for name, values in numbers.items() if values},
        operations=_mean_shares([json.loads(f.operations) for _, f in pairs]),
        operators=dict(sorted(Counter(o for p, _ in pairs for o in dict.fromkeys(p.operators)).items())),
    )


def _mean_shares(counts: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """Return mean over programs of each kind's share in a program; programs without any count are skipped."""
    some = [c for c in counts if sum(c.values())]
    kinds = sorted({kind for c in some for kind in c})
    return {k: math.fsum(c.get(k, 0) / sum(c.values()) for c in some) / len(some) for k in kinds}


def _distributions(writer: _Writer, sample: _Sample) -> None:
    for measure, values in sample.numbers.items():
        writer.add(measure, "count", "programs", len(values))
        writer.add(measure, "mean", "all", math.fsum(values) / len(values))
        for level, value in zip(LEVELS, np.quantile(values, LEVELS), strict=True):
            writer.add(measure, "quantile", f"{level:.2f}", value)
    depths = Counter(int(depth) for depth in sample.numbers.get("loop_depth", []))
    for depth, count in sorted(depths.items()):
        writer.add("loop_depth", "share", str(depth), count / depths.total())
    for kind, share in sample.operations.items():
        writer.add("operations", "share", kind, share)
    for name, count in sample.operators.items():
        writer.add("operators", "count", name, count)


# ---- distances ------------------------------------------------------------------------------------------


def _distances(writer: _Writer, own: _Sample, reference: _Sample) -> None:
    for measure, values in own.numbers.items():
        if measure in reference.numbers:
            distance = wasserstein(*(_scaled(measure, v) for v in (values, reference.numbers[measure])))
            writer.add(measure, "distance", "wasserstein", distance)
    if own.operations and reference.operations:
        distance = total_variation(own.operations, reference.operations)
        writer.add("operations", "distance", "total_variation", distance)
    if own.operators and reference.operators:
        distance = total_variation(_shares(own.operators), _shares(reference.operators))
        writer.add("operators", "distance", "total_variation", distance)


def _scaled(measure: str, values: Sequence[float]) -> list[float]:
    return [math.log1p(v) for v in values] if measure in LOGARITHMIC else list(values)


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()}


def wasserstein(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the first Wasserstein distance of two samples over their joint range from 5 to 95 %.

    Returns: 0 for equal distributions; the distance itself when the range is empty. Rounded to twelve digits,
             because the library's sums differ in the last bits between processors.
    """
    # lazy import: it would delay the start of every command
    from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

    measure: Any = stats.wasserstein_distance  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    distance = float(measure(first, second))
    ends = [np.quantile(values, (0.05, 0.95)) for values in (first, second)]
    span = float(max(high for _, high in ends) - min(low for low, _ in ends))
    return float(f"{distance / span if span > 0 else distance:.12g}")


def total_variation(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return half the sum of the differences of two distributions over kinds, 0 to 1."""
    kinds: Iterator[str] = iter(sorted({*first, *second}))
    return math.fsum(abs(first.get(k, 0.0) - second.get(k, 0.0)) for k in kinds) / 2
