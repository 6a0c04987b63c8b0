"""Figures of a sample of designs against other tools, as rows of their own.

The sample is drawn by identity, as the audited one, of which it is a part: the RTL simulation of a design in
the sample has agreed with the cycle model in outputs, cycles and bytes. It is a pass of its own over rows,
made in every run, wherever the labels come from. Power is compared with the same activity of every pin;
internal power under the rule by which OpenSTA 2.0.17 reads liberty (docs/power.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from pipelines import power
from pipelines.base.identity import content_hash
from pipelines.base.tools import ToolMissing, stopwatch
from pipelines.base.workers import Outcome, ProgressCallback, run_all, silent
from pipelines.c import HlsError, read_interface
from pipelines.dataset.labelling.flows import NativeFlow
from pipelines.dataset.labelling.options import LabelContext, LabelOptions
from pipelines.dataset.labelling.runs import (
    UnknownReference,
    expected_outputs,
    is_audited,
    memory_timing,
)
from pipelines.dataset.labelling.synthesis import (
    SYNTHESIS_TOOL,
    CountedRun,
    LabelTables,
    compare_outputs,
    is_mapped,
    mapped_designs,
    mapped_netlist,
    power_key,
    simulate_netlist,
)
from pipelines.dataset.labelling.targets import LabelTarget
from pipelines.hls import TOOL
from pipelines.power import (
    OpenStaComparison,
    PowerError,
    PowerResult,
    compare_with_opensta,
    opensta_version,
    ported_verilog,
)
from pipelines.programs import draw_data
from pipelines.rtl import simulation
from pipelines.rtl.simulation import SimulationResult, icarus_version, simulate_with_icarus
from pipelines.schemas import (
    DRAWN,
    INFEASIBLE,
    OK,
    TOOL_ERROR,
    CrossCheckRow,
    DesignRow,
    LabelRow,
    ProgramRow,
    RunRow,
)
from pipelines.silicon.synthesis import (
    SECOND_YOSYS,
    Netlist,
    SynthesisError,
    Target,
    cell_models,
    load_liberty,
    recount_cells,
    second_yosys_version,
)

CROSS_CHECK_LIMITS: Mapping[str, float] = {
    "netlist_outputs": 0.0,
    "netlist_icarus": 0.0,
    "latency_cycles": 0.0,
    "area_um2": 1e-6,  # the digits that the report has
    "flip_flop_count": 0.0,
    "delay_ns": 0.02,
    "switching_power_mw": 0.03,
    "internal_power_mw": 0.05,
}
"""Largest deviation of each check that passes, as a share of the reference."""

HALF_LIMIT = 0.15
"""Deviation of internal power from half of OpenSTA's, which takes each pin's rising and falling energies for
every change; it shares causes and conditions out in another way, so it is about the half (docs/power.md)."""

ROUNDING = 1e-9

ICARUS_TIMEOUT_S = 30.0
"""Processor time of Icarus, an interpreter: designs that take longer have a check with status `timeout`."""

_VERSION = "fields-3"  # raise when a check gives other columns
_POWERS = ("switching_power_mw", "internal_power_mw")
_FAILURES = (ToolMissing, PowerError, SynthesisError, HlsError, UnknownReference, OSError)


def is_cross_checked(design_id: str, options: LabelOptions) -> bool:
    """Tell whether a design belongs to the sample; a larger sample contains a smaller one."""
    return is_audited(design_id, options.cross_check_fraction)


# ---- the sample ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampled:
    """A labelled design of the sample, and its first run."""

    program: ProgramRow
    design: DesignRow
    label: LabelRow
    run: RunRow


def cross_check_designs(
    programs: Sequence[ProgramRow],
    designs: Sequence[DesignRow],
    tables: LabelTables,
    context: LabelContext,
    *,
    on_progress: ProgressCallback = silent,
) -> list[CrossCheckRow]:
    """Compare labelled designs of the engine that belong to the sample with other tools.

    Args:    tables: the labels and runs of the designs.
    Returns: one row per check of the first data set of each design; of a design whose engines disagree the
             one check that failed; none when the run is not ok for another reason. A check that cannot be
             made has a status and a reason.
    Raises:  OSError: the disk is full.
    """
    sample = _sample(programs, designs, tables, context.options)
    cached = [_cached_rows(item, context) for item in sample]
    missing = [item for item, rows in zip(sample, cached, strict=True) if rows is None]
    new = run_all(
        "cross-checks",
        missing,
        partial(_cross_check, context=context),
        workers=context.options.workers,
        on_progress=on_progress,
    )
    return [row for rows in (*(rows for rows in cached if rows is not None), *new) for row in rows]


def _sample(
    programs: Sequence[ProgramRow], designs: Sequence[DesignRow], tables: LabelTables, options: LabelOptions
) -> list[_Sampled]:
    first = options.data_seeds[0]
    drawn = [run for run in tables.runs if run.data_kind in (None, DRAWN)]
    runs = {run.design_id: run for run in drawn if run.seed == first}
    labels = {label.design_id: label for label in tables.labels if label.tool == SYNTHESIS_TOOL}
    by_id = {program.program_id: program for program in programs}
    return [
        _Sampled(
            program=by_id[design.program_id],
            design=design,
            label=labels[design.design_id],
            run=runs[design.design_id],
        )
        for design in designs
        if design.tool == TOOL and design.design_id in runs and is_cross_checked(design.design_id, options)
        if labels[design.design_id].status != OK or is_mapped(labels[design.design_id])
    ]


def _cached_rows(item: _Sampled, context: LabelContext) -> tuple[CrossCheckRow, ...] | None:
    """Return the rows of a design without another tool; None when one must be asked."""
    if item.run.status != OK or item.label.status != OK:
        return _rows(item.run, _disagreement(item.run))
    key = cross_check_key(item.design, item.run, context.target, context.options)
    stored = context.cache.get("cross_check", key)
    return None if stored is None else _rows(item.run, _stored_checks(stored))


def _cross_check(item: _Sampled, *, context: LabelContext) -> Outcome[tuple[CrossCheckRow, ...]]:
    """Compare a design, on one data set, with the other tools."""
    program, design = item.program, item.design
    interface = read_interface(program.source, program.top)
    data = draw_data(interface, program.inputs, seed=item.run.seed)
    flow = NativeFlow(program=program, design=design, interface=interface, context=context)
    key = cross_check_key(design, item.run, context.target, context.options)
    with context.scratch_folder() as builds:
        counted = CountedRun(request=flow.request(data, seed=item.run.seed, builds=builds), row=item.run)
        checks = context.cache.cached(
            "cross_check",
            key,
            _Comparison(counted=counted, label=item.label, context=context).checks,
            _stored_checks,
            statuses=lambda checks: [check.status for check in checks],
        )
    rows = _rows(item.run, checks)
    return Outcome(result=rows, failed=not all(row.passed for row in rows), name=program.name)


def cross_check_key(design: DesignRow, row: RunRow, target: Target, options: LabelOptions) -> str:
    """Hash what the checks of a run depend on."""
    return content_hash(power_key(design, row, target, options), check_versions(), _VERSION)


def check_versions() -> list[str | None]:
    """Return versions of OpenSTA, of the second yosys and of Icarus; None for one that is not installed."""
    return [
        _installed_version(version) for version in (opensta_version, second_yosys_version, icarus_version)
    ]


def _installed_version(version: Callable[[], str]) -> str | None:
    try:
        return version()
    except ToolMissing:
        return None


# ---- checks --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Columns of table `cross_checks`; the others say which run."""

    check: str
    tool: str
    tool_version: str | None
    status: str = OK
    reason: str | None = None
    value: float | None = None
    reference: float | None = None
    deviation: float | None = None
    allowed: float
    passed: bool | None = None
    check_wall_s: float | None = None


def _stored_checks(stored: Sequence[Mapping[str, Any]]) -> list[Check]:
    return [Check(**check) for check in stored]


def _rows(row: RunRow, checks: Sequence[Check]) -> tuple[CrossCheckRow, ...]:
    shared = {"design_id": row.design_id, "data_id": row.data_id, "suite": row.suite}
    return tuple(CrossCheckRow(**shared, **asdict(check)) for check in checks)


def _unknown(check: str, tool: str, version: str | None) -> Check:
    return Check(check=check, tool=tool, tool_version=version, allowed=CROSS_CHECK_LIMITS[check])


def _engine(row: RunRow) -> str:
    return row.audit_engine or simulation.ENGINE


def _disagreement(row: RunRow) -> list[Check]:
    """Return the failed check of a run in which two engines disagree."""
    if row.status != TOOL_ERROR:
        return []
    if row.power_status == TOOL_ERROR:
        check = "netlist_outputs"
    elif row.audit_latency_cycles is not None:
        check = "latency_cycles"
    else:
        return []
    unknown = _unknown(check, _engine(row), row.audit_engine_version)
    return [replace(unknown, passed=False, reason=row.reason)]


def _compared(
    check: str, value: float | None, reference: float | None, tool: str, version: str | None
) -> Check:
    unknown = _unknown(check, tool, version)
    if value is None or reference is None:
        lacking = "the label" if value is None else tool
        return replace(unknown, status=TOOL_ERROR, reason=f"no {check} from {lacking}")
    deviation = _deviation(value, reference)
    return replace(
        unknown,
        value=float(value),
        reference=float(reference),
        deviation=deviation,
        passed=abs(deviation) <= CROSS_CHECK_LIMITS[check],
    )


def _require_same(check: Check, row_mw: float | None, again_mw: float | None) -> Check:
    """Fail a check if the row's power differs from that of the same activity now; pass it without powers."""
    if row_mw is None or again_mw is None or abs(_deviation(row_mw, again_mw)) <= ROUNDING:
        return check
    reason = f"the row has {row_mw:.9g} mW, the same run now {again_mw:.9g} mW"
    return replace(check, passed=False, reason=reason)


def _require_half(check: Check, internal_mw: float | None, tool_mw: float | None) -> Check:
    """Return a failure unless one energy per transition is about half of what the tool adds of both edges."""
    half_mw = 0.5 * (tool_mw or 0.0)
    if internal_mw is None or abs(_deviation(internal_mw, half_mw)) <= HALF_LIMIT:
        return check
    reason = (
        f"{internal_mw:.6g} mW at one energy per transition is not within {HALF_LIMIT:.0%} of "
        f"{half_mw:.6g} mW, half of the tool's"
    )
    return replace(check, passed=False, reason=reason)


def _deviation(value: float, reference: float) -> float:
    if reference == 0.0:
        return 0.0 if value == 0.0 else 1.0
    return value / reference - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """One run of a design of the sample, all of whose engines agree."""

    counted: CountedRun
    label: LabelRow
    context: LabelContext

    def checks(self) -> list[Check]:
        """Return each check, in the order of `CROSS_CHECK_LIMITS`."""
        row = self.counted.row
        cycles = _compared(
            "latency_cycles",
            row.latency_cycles,
            row.audit_latency_cycles,
            _engine(row),
            row.audit_engine_version,
        )
        try:
            result = simulate_netlist(self.counted, self.context)
        except _FAILURES as error:
            result = PowerResult(status=TOOL_ERROR, reason=str(error))
        counts = self._timed(("area_um2", "flip_flop_count"), SECOND_YOSYS, self._recounted)
        icarus = self._timed(("netlist_icarus",), simulation.ICARUS, lambda: [self._icarus()])
        delays = self._timed(("delay_ns", *_POWERS), power.OPENSTA, lambda: self._opensta(result))
        tool = (_engine(row), row.audit_engine_version)
        outputs = self._timed(
            ("netlist_outputs",), _engine(row), lambda: [self._outputs("netlist_outputs", result, *tool)]
        )
        return [*outputs, *icarus, cycles, *counts, *delays]

    def _netlist(self) -> Netlist:
        request = self.counted.request
        return mapped_netlist(request.design, request.compiled, self.context)

    def _outputs(
        self, check: str, result: PowerResult | SimulationResult, tool: str, version: str | None
    ) -> Check:
        """Compare outputs, result, cycles and bytes of a simulated netlist with the design's."""
        if result.latency_cycles is None:
            return replace(_unknown(check, tool, version), status=result.status, reason=result.reason)
        expected = expected_outputs(self.counted.request, self.context)
        pairs = compare_outputs(self.counted, result, expected)
        differing = [what for what, (model, netlist) in pairs.items() if model != netlist]
        compared = _compared(check, len(pairs) - len(differing), len(pairs), tool, version)
        if not differing:
            return compared
        return replace(compared, reason=f"the netlist differs in {', '.join(differing)}")

    def _icarus(self) -> Check:
        """Return the netlist in Icarus, with the cells' functions as the second yosys reads them."""
        request = self.counted.request
        compiled, netlist = request.compiled(), self._netlist()
        with self.context.tool_folder("synthesis") as folder:
            models = cell_models(self.context.target.liberty, folder=folder)
        with self.context.scratch_folder() as folder:
            result = simulate_with_icarus(
                "\n".join([ported_verilog(netlist, compiled.module), power.verilog_of(netlist), models]),
                module=compiled.module,
                interface=request.interface,
                data=request.data,
                timing=memory_timing(request.design),
                folder=folder,
                banks=compiled.banks,
                timeout_s=ICARUS_TIMEOUT_S,
                cycle_limit=2 * (self.counted.row.latency_cycles or 0) + 16,
            )
        return self._outputs("netlist_icarus", result, simulation.ICARUS, icarus_version())

    def _recounted(self) -> list[Check]:
        label = self.label
        verilog = power.verilog_of(self._netlist())
        with self.context.tool_folder("synthesis") as folder:
            counts = recount_cells(verilog, liberty=self.context.target.liberty, folder=folder)
        tool = (SECOND_YOSYS, second_yosys_version())
        return [
            _compared("area_um2", label.area_um2, counts.area_um2, *tool),
            _compared("flip_flop_count", label.flip_flop_count, counts.flip_flop_count, *tool),
        ]

    def _opensta(self, result: PowerResult) -> list[Check]:
        if result.activity is None:
            raise PowerError(f"no power to compare: the simulation of the netlist failed: {result.reason}")
        liberty, netlist = self.context.target.liberty, self._netlist()
        with self.context.tool_folder("opensta") as folder:
            comparison = compare_with_opensta(
                netlist,
                result.activity,
                liberty=load_liberty(liberty),
                liberty_path=liberty,
                clock=result.clock,
                clock_period_ns=self.counted.request.design.clock_period_ns,
                folder=folder,
            )
        tool = (power.OPENSTA, opensta_version())
        delay = _compared("delay_ns", self.label.delay_ns, comparison.tool_delay_ns, *tool)
        return [delay, *self._powers(comparison, result, *tool)]

    def _powers(
        self, comparison: OpenStaComparison, result: PowerResult, tool: str, version: str
    ) -> list[Check]:
        """Return the switching and internal power; infeasible where the library has no energies."""
        row, parts, reference = self.counted.row, comparison.parts, comparison.tool
        lacking = [
            replace(_unknown(check, tool, version), status=INFEASIBLE, reason=result.reason)
            for check in _POWERS
        ]
        if result.parts is None:
            return lacking
        asked = row.power_status is not None
        switching = _compared(_POWERS[0], parts.switching_mw, reference.switching_mw, tool, version)
        again = _require_same(switching, row.switching_power_mw if asked else None, result.parts.switching_mw)
        if result.parts.internal_mw is None:
            return [again, lacking[1]]
        internal = _compared(
            _POWERS[1], comparison.expected_internal_mw, reference.internal_mw, tool, version
        )
        internal = _require_half(internal, parts.internal_mw, reference.internal_mw)
        return [
            again,
            _require_same(internal, row.internal_power_mw if asked else None, result.parts.internal_mw),
        ]

    def _timed(self, names: tuple[str, ...], tool: str, make: Callable[[], list[Check]]) -> list[Check]:
        """Return the checks that a tool makes, or why it cannot, with its time."""
        start = stopwatch()
        try:
            checks = make()
        except _FAILURES as error:
            checks = [
                replace(_unknown(name, tool, None), status=TOOL_ERROR, reason=str(error)) for name in names
            ]
        wall_s = stopwatch() - start
        return [replace(check, check_wall_s=wall_s) for check in checks]


class CrossCheckTarget(LabelTarget):
    """Comparison of a sample of designs with other tools, in table `cross_checks`."""

    constants = ("pipelines/dataset/labelling/cross_checks.py:_VERSION",)
    programs = ("iverilog", "sta", "yosys")
    name = "cross-checks"
    is_tool = False

    @classmethod
    def chosen(cls, options: LabelOptions) -> Sequence[LabelTarget]:
        """Return the target; `cross_check_fraction` is its share of the designs."""
        del options
        return [cls()]

    def version(self) -> str:
        """Return the hash of the versions of the other tools and of the columns."""
        return content_hash(check_versions(), _VERSION)

    def lacking(
        self, designs: Sequence[DesignRow], tables: LabelTables, options: LabelOptions
    ) -> Collection[str]:
        """Return the ids of mapped designs of the engine that belong to the sample and have no row."""
        checked = {check.design_id for check in tables.cross_checks}
        mapped = mapped_designs(tables.labels)
        return {
            design.design_id
            for design in designs
            if design.tool == TOOL and design.design_id in mapped - checked
            if is_cross_checked(design.design_id, options)
        }

    def label(
        self,
        programs: Sequence[ProgramRow],
        designs: Sequence[DesignRow],
        tables: LabelTables,
        context: LabelContext,
        *,
        on_progress: ProgressCallback = silent,
    ) -> LabelTables:
        """Compare the designs of the sample."""
        checks = cross_check_designs(programs, designs, tables, context=context, on_progress=on_progress)
        return LabelTables(cross_checks=checks)
