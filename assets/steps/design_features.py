"""Features of designs: estimates, counts and loop profiles before logic synthesis, each at its level."""

from __future__ import annotations

from collections.abc import Sequence

from assets.checks import CheckedFile, CheckRule
from assets.engines import CYCLE_MODEL, HLS, KNOWLEDGE
from assets.label_settings import label_options
from assets.settings import Listener, Settings
from assets.step import Output, Step, read_rows
from assets.suites import BY_SUITE
from pipelines.dataset.features import (
    extract_design_features,
    extract_run_features,
    knowledge_version,
)
from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL, mapped_designs
from pipelines.schemas import OK, LabelRow

TOLERANCE = 0.002
"""Largest deviation of estimated cycles from counted ones where no branch depends on data."""


def make_design_features(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the features and loop profiles of the designs of a suite."""
    features, loops = extract_design_features(
        read_rows(settings, "programs", partition),
        read_rows(settings, "designs", partition),
        cache=settings.cache,
        options=label_options(settings),
        on_progress=listen,
    )
    return Output(rows={"features": features, "loop_profiles": loops})


def make_run_features(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the features of the first run of each design of a suite whose labels have more than cycles."""
    runs = read_rows(settings, "runs", partition)
    mapped = mapped_by_first_tool(read_rows(settings, "labels", partition))
    labelled = mapped | {row.design_id for row in runs if row.power_mw is not None}
    rows = extract_run_features(
        read_rows(settings, "programs", partition),
        [row for row in read_rows(settings, "designs", partition) if row.design_id in labelled],
        runs,
        cache=settings.cache,
        options=label_options(settings),
        on_progress=listen,
    )
    return Output(rows={"run_features": rows})


def mapped_by_first_tool(labels: Sequence[LabelRow]) -> set[str]:
    """Return the designs with more than cycles by the project's own synthesis, by id.

    Rows of other tools beside it, such as those for an FPGA, do not count. A suite with labels of another
    tool alone has those.
    """
    if any(row.tool == SYNTHESIS_TOOL for row in labels):
        return mapped_designs(labels)
    return {
        row.design_id
        for row in labels
        if (row.area_um2, row.flip_flop_count, row.cell_count, row.lut_count) != (None,) * 4
    }


def inexact_cycles(file: CheckedFile) -> list[str]:
    """Return the estimates that differ from the counted cycles although no branch depends on data."""
    known = {row["design_id"]: row for row in file.neighbour("features") if row["trips_known"]}
    return [
        f"estimated_cycles must be within {TOLERANCE:.1%} of the counted {row['cycles']}, "
        f"got {estimate} for design {row['design_id']}"
        for row in file.rows
        if row["status"] == OK and row["design_id"] in known
        for estimate in [known[row["design_id"]]["estimated_cycles"]]
        if abs(estimate - row["cycles"]) > TOLERANCE * row["cycles"]
    ]


def other_cycles(file: CheckedFile) -> list[str]:
    """List the rows whose cycles differ from the same run's in the table of runs."""
    runs = {(run["design_id"], run["data_id"]): run["latency_cycles"] for run in file.neighbour("runs")}
    return [
        f"cycles must be those of the run, got {row['cycles']} and {cycles} for design {row['design_id']}"
        for row in file.rows
        if row["status"] == OK
        for cycles in [runs.get((row["design_id"], row["data_id"]))]
        if cycles != row["cycles"]
    ]


STEPS = (
    Step(
        name="design_features",
        description="Estimates, counts and loop profiles of designs before logic synthesis.",
        run=make_design_features,
        tables=("features", "loop_profiles"),
        reads=("programs", "designs"),
        partitioned=BY_SUITE,
        engines=(HLS, CYCLE_MODEL, KNOWLEDGE),
        version=lambda settings, partition: knowledge_version(),  # noqa: ARG005
    ),
    Step(
        name="run_features",
        description="Executions, toggles and estimated power of the first run of designs mapped to cells.",
        run=make_run_features,
        tables=("run_features",),
        reads=("programs", "designs", "labels", "runs", "features"),
        partitioned=BY_SUITE,
        engines=(HLS, CYCLE_MODEL, KNOWLEDGE),
        version=lambda settings, partition: knowledge_version(),  # noqa: ARG005
        checks={
            "run_features": [
                CheckRule(
                    "estimated_cycles_exact",
                    "Estimated cycles are within 0.2 % of the counted ones where no branch depends on data.",
                    inexact_cycles,
                ),
                CheckRule(
                    "cycles_equal_runs", "Its cycles are those of the same run in table runs.", other_cycles
                ),
            ]
        },
        plots={"run_features": ("cycles", "estimated_power_mw")},
    ),
)
