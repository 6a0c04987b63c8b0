"""Labels and runs: synthesis, simulation, power, and the comparison of a sample with other tools."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from assets.checks import CheckedFile, CheckRule
from assets.engines import (
    AUDITS,
    BAMBU,
    CIRCT,
    CYCLE_MODEL,
    HLS,
    LABELLING,
    LABELS,
    POWER,
    RTL_REUSE,
    SYNTHESIS,
    VERILATOR,
    engine,
)
from assets.label_settings import label_context, label_options
from assets.settings import Listener, Settings
from assets.step import Output, Step, read_rows
from assets.steps.designs import require_hls_tools
from assets.suites import BY_SUITE
from pipelines.cyclemodel import ENGINE
from pipelines.dataset.features import control_class
from pipelines.dataset.labelling import (
    CROSS_CHECK_LIMITS,
    TARGETS,
    Labelling,
    LabelTables,
    describe_inputs,
    inputs_version,
    label_targets,
)
from pipelines.dataset.labelling.synthesis import SYNTHESIS_TOOL, lacking_figures
from pipelines.schemas import DRAWN, OK, TOOL_ERROR, table_spec


def make_labels(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make labels, runs and cross-checks of the designs of a suite."""
    programs, designs = (read_rows(settings, table, partition) for table in ("programs", "designs"))
    context = label_context(settings)
    tables = LabelTables()
    for target in label_targets(context.options):
        tables += target.label(programs, designs, tables, context, on_progress=listen)
    return Output(rows={table: getattr(tables, table) for table in LABELS_STEP.tables})


def unequal_runs(file: CheckedFile) -> list[str]:
    """Return the runs called ok whose outputs differ from native C."""
    return [
        f"an ok run must equal native C, got design {row['design_id']} data {row['data_id']}"
        for row in file.rows
        if row["status"] == OK and row["outputs_equal"] is not True
    ]


def unproven_labels(file: CheckedFile) -> list[str]:
    """Return the labels called ok whose design has no run, or a run that is not ok and equal to native C.

    Data of other kinds than drawn may be refused or take too long.
    """
    runs: defaultdict[str, list[bool]] = defaultdict(list)
    for run in file.neighbour("runs"):
        if run["data_kind"] in (None, DRAWN) or run["status"] in (OK, TOOL_ERROR):
            runs[run["design_id"]].append(run["status"] == OK and run["outputs_equal"] is True)
    return [
        f"an ok label must have only runs equal to native C, got {len(equalities)} runs, "
        f"{equalities.count(False)} of them not, for design {row['design_id']}"
        for row in file.rows
        if row["status"] == OK
        for equalities in [runs[row["design_id"]]]
        if not equalities or not all(equalities)
    ]


def labels_without_figures(file: CheckedFile) -> list[str]:
    """Return the ok labels without figures of logic synthesis, of designs that are to be mapped to cells."""
    rows = table_spec("labels").from_arrow(file.content)
    designs = table_spec("designs").from_arrow(file.neighbour_columns("designs"))
    runs = table_spec("runs").from_arrow(file.neighbour_columns("runs"))
    return [
        f"an ok label must have area and cell count, got none for design {design_id}"
        for design_id in lacking_figures(designs, rows, runs, label_options(file.settings))
    ]


def unequal_cycles(file: CheckedFile) -> list[str]:
    """Return the designs of class I whose runs take different cycles."""
    cycles: defaultdict[str, set[int]] = defaultdict(set)
    for run in file.rows:
        if run["status"] == OK:
            cycles[run["design_id"]].add(run["latency_cycles"])
    unequal = {design: sorted(counts) for design, counts in cycles.items() if len(counts) > 1}
    if not unequal:
        return []
    programs = {row["design_id"]: row["program_id"] for row in file.neighbour("designs")}
    spec = table_spec("programs")
    rows = {row.program_id: row for row in spec.from_arrow(file.neighbour_columns("programs"))}
    classes = {name: control_class(rows[name]) for name in sorted({programs[design] for design in unequal})}
    return [
        f"a design of class I must take the same cycles on all data, got {', '.join(map(str, counts))} "
        f"for design {design}"
        for design, counts in unequal.items()
        if classes[programs[design]] == "I"
    ]


def failed_cross_checks(file: CheckedFile, checks: Sequence[str]) -> list[str]:
    """Return the figures of some checks that differ from the other tool's by more than is allowed."""
    return [
        f"{row['check']} must be within {row['allowed']:.2%} of {row['tool']}, "
        f"got {row['value']} against {row['reference']} for design {row['design_id']}"
        + (f" ({row['reason']})" if row["reason"] else "")
        for row in file.rows
        if row["check"] in checks and row["status"] == OK and not _passes(row)
    ]


def _passes(row: Mapping[str, Any]) -> bool:
    """Tell whether a check's row says that it passed, and its figures say so, too."""
    value, reference = row["value"], row["reference"]
    if row["passed"] is not True or value is None or reference is None:
        return False
    limit = CROSS_CHECK_LIMITS[row["check"]]
    return row["allowed"] <= limit and abs(value - reference) <= limit * abs(reference)


def unknown_powers(file: CheckedFile) -> list[str]:
    """List the problem that the share of ok runs without power is above the configured one, if it is."""
    powered = ENGINE if file.settings.group(Labelling).power else None  # designs of other tools have no power
    mapped = {
        label["design_id"]
        for label in file.neighbour("labels")
        if label["tool"] == SYNTHESIS_TOOL and label["area_um2"] is not None
    }
    rows = [
        r
        for r in file.rows
        if r["status"] == OK
        and (
            r["power_status"] is not None
            or (r["engine"] == powered and r["data_kind"] in (None, DRAWN) and r["design_id"] in mapped)
        )
    ]
    limit = file.settings.max_failure_fraction
    lacking = [r for r in rows if r["power_status"] != OK or r["power_mw"] is None]
    if len(lacking) <= limit * len(rows):
        return []
    return [
        f"at most {limit:.0%} of ok runs may lack their power, got {len(lacking)} of {len(rows)}, "
        f"the first because {lacking[0]['power_reason']}"
    ]


_RUNS_EQUAL = CheckRule(
    "equals_native_c", "Every ok run gave the outputs of the same C compiled natively.", unequal_runs
)
_LABELS_WHOLE = CheckRule(
    "mapped_to_cells",
    "Every ok label of a design in the sample of `synthesis.fraction` has the figures of logic synthesis.",
    labels_without_figures,
)
_CYCLES_EQUAL = CheckRule(
    "class_1_cycles_equal",
    "Designs whose control flow does not depend on data take the same cycles on all data sets.",
    unequal_cycles,
)
_LABELS_EQUAL = CheckRule(
    "equals_native_c", "Every ok label belongs to a design whose runs all equal native C.", unproven_labels
)
_POWER_KNOWN = CheckRule(
    "power_known",
    "The share of ok runs without power is below quality.max_failure_fraction.",
    unknown_powers,
    blocking=False,
)


def _cross_check_rule(name: str, description: str, *checks: str) -> CheckRule:
    return CheckRule(name, description, partial(failed_cross_checks, checks=checks))


_CROSS_CHECKED = [
    _cross_check_rule(
        "netlist_equals_rtl",
        "Each mapped netlist of the sample computes what its Verilog does, in Icarus too.",
        "netlist_outputs",
        "netlist_icarus",
    ),
    _cross_check_rule(
        "cycle_model_equals_verilator",
        "The cycle model counts the cycles of the simulated Verilog.",
        "latency_cycles",
    ),
    _cross_check_rule(
        "counts_equal_yosys_stat",
        "Area and flip-flops of the sample are those that another yosys counts.",
        "area_um2",
        "flip_flop_count",
    ),
    _cross_check_rule("delay_equals_opensta", "Delays are within 2 % of OpenSTA.", "delay_ns"),
    _cross_check_rule(
        "switching_power_equals_opensta",
        "Switching power is within 3 % of OpenSTA with the same activity.",
        "switching_power_mw",
    ),
    _cross_check_rule(
        "internal_power_equals_opensta",
        "Internal power is within 5 % of OpenSTA with the same activity, under the rule that it follows.",
        "internal_power_mw",
    ),
]


def make_inputs(settings: Settings, partition: str, listen: Listener) -> Output:
    """Make the rows of the data sets that the runs of a suite name."""
    programs, designs, runs = (
        read_rows(settings, table, partition) for table in ("programs", "designs", "runs")
    )
    options = label_options(settings)
    return Output(rows={"inputs": describe_inputs(programs, designs, runs, options, on_progress=listen)})


LABELS_STEP = Step(
    name="labels",
    description="Area, flip-flops, delay, cycles and power of every design, checked against native C.",
    run=make_labels,
    tables=("labels", "runs", "loop_runs", "cross_checks"),
    reads=("programs", "designs"),
    partitioned=BY_SUITE,
    pool="synthesis",
    parameters=("hls.clock_period_ns", "labelling", "synthesis"),
    engines=(
        HLS,
        LABELLING,
        LABELS,
        CYCLE_MODEL,
        VERILATOR,
        RTL_REUSE,
        AUDITS,
        SYNTHESIS,
        POWER,
        BAMBU,
        CIRCT,
        *(engine(*target.constants, tools=target.programs) for target in TARGETS),
    ),
    checks={
        "labels": [_LABELS_EQUAL, _LABELS_WHOLE],
        "runs": [_RUNS_EQUAL, _CYCLES_EQUAL, _POWER_KNOWN],
        "cross_checks": _CROSS_CHECKED,
    },
    plots={
        "labels": ("area_um2", "flip_flop_count", "cell_count", "delay_ns"),
        "runs": ("latency_cycles", "power_mw", "energy_nj"),
    },
    require=require_hls_tools,
)

STEPS = (
    LABELS_STEP,
    Step(
        name="inputs",
        description="Summary and values of each data set that runs name, drawn again from its program.",
        run=make_inputs,
        tables=("inputs",),
        reads=("programs", "designs", "runs"),
        partitioned=BY_SUITE,
        engines=(HLS, LABELLING),
        version=lambda settings, partition: inputs_version(),  # noqa: ARG005
    ),
)
