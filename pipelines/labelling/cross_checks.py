"""Figures of a sample of designs against other tools, as rows of their own.

The sample is drawn by identity, as the audited one, of which it is a part: the RTL simulation of a design in
the sample has agreed with the cycle model in outputs, cycles and bytes. Power is compared with the same
activity of every pin; internal power under the rule by which OpenSTA 2.0.17 reads liberty (docs/power.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipelines import power, rtlsim
from pipelines.cache import ContentCache
from pipelines.hls import HlsError
from pipelines.identity import content_hash
from pipelines.labelling.counting import UnknownReference, expected_outputs, is_audited
from pipelines.labelling.netlist_power import CountedRun, compare_outputs, power_key, simulate_netlist
from pipelines.labelling.netlists import SYNTHESIS_TOOL, mapped_netlist
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.scratch import tool_folder
from pipelines.power import (
    OpenStaComparison,
    PowerError,
    PowerResult,
    compare_with_opensta,
    opensta_version,
)
from pipelines.schemas import INFEASIBLE, OK, TOOL_ERROR, CrossCheckRow, DesignRow, LabelRow, RunRow
from pipelines.synthesis import (
    Netlist,
    SynthesisError,
    Target,
    load_liberty,
    recount_cells,
)
from pipelines.synthesis import tool_version as synthesis_version
from pipelines.tools import ToolMissing, stopwatch

CROSS_CHECK_LIMITS: Mapping[str, float] = {
    "netlist_outputs": 0.0,
    "latency_cycles": 0.0,
    "area_um2": 1e-6,  # the digits that the report has
    "flip_flop_count": 0.0,
    "delay_ns": 0.02,
    "switching_power_mw": 0.03,
    "internal_power_mw": 0.05,
}
"""Largest deviation of each check that passes, as a share of the reference."""

HALF_LIMIT = 0.15
"""Of internal power against half of OpenSTA's, which takes each pin's energies of rising and of falling for
every change; it shares causes and conditions out in another way, so it is about the half (docs/power.md)."""

ROUNDING = 1e-9

_FIELDS = "fields-2"  # raise when a check gives other fields
_POWERS = ("switching_power_mw", "internal_power_mw")
_FAILURES = (ToolMissing, PowerError, SynthesisError, HlsError, UnknownReference, OSError)


def is_cross_checked(design_id: str, options: LabelOptions) -> bool:
    """Whether a design belongs to the sample; a larger sample contains a smaller one."""
    return is_audited(design_id, options.cross_check_fraction)


def cross_check(
    counted: CountedRun, label: LabelRow, *, cache: ContentCache, options: LabelOptions
) -> tuple[CrossCheckRow, ...]:
    """Compare a design of the sample, on one data set, with the other tools.

    Args:    counted: an audited run of a design of the engine, its power included; label: of the design.
    Returns: one row a check; of a design whose engines disagree the one check that failed; none when the run
             is not ok for another reason. A check that cannot be made has a status and a reason.
    Raises:  OSError: the disk is full.
    """
    design, row = counted.request.design, counted.row
    there = recall_cross_check(design, row, label, target=counted.target, cache=cache, options=options)
    if there is not None:
        return there
    found = _Comparison(counted=counted, label=label, cache=cache, options=options).fields()
    key = cross_check_key(design, row, counted.target, options)
    cache.keep("cross_check", key, found, *(fields["status"] for fields in found))
    return _rows(row, found)


def cross_check_key(design: DesignRow, row: RunRow, target: Target, options: LabelOptions) -> str:
    """What the checks of a run depend on."""
    return content_hash(power_key(design, row, target, options), check_versions(), _FIELDS)


def recall_cross_check(
    design: DesignRow,
    row: RunRow,
    label: LabelRow,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
) -> tuple[CrossCheckRow, ...] | None:
    """The rows that `cross_check` gives without another tool; None when one must be asked."""
    if row.status != OK or label.status != OK:
        return _rows(row, _disagreement(row))
    found = cache.get("cross_check", cross_check_key(design, row, target, options))
    return None if found is None else _rows(row, found)


def _rows(row: RunRow, found: Sequence[Mapping[str, Any]]) -> tuple[CrossCheckRow, ...]:
    shared = {"design_id": row.design_id, "data_id": row.data_id, "suite": row.suite}
    return tuple(CrossCheckRow(**shared, **fields) for fields in found)


def check_versions() -> list[str | None]:
    """Versions of OpenSTA, None when it is not installed, and of logic synthesis."""
    try:
        sta: str | None = opensta_version()
    except ToolMissing:
        sta = None
    return [sta, synthesis_version()]


def _disagreement(row: RunRow) -> list[dict[str, Any]]:
    """The failed check of a run in which two engines disagree."""
    if row.status != TOOL_ERROR:
        return []
    if row.power_status == TOOL_ERROR:
        return [_fields("netlist_outputs", rtlsim.ENGINE, row.audit_engine_version) | _failed(row)]
    if row.audit_latency_cycles is not None:
        return [_fields("latency_cycles", rtlsim.ENGINE, row.audit_engine_version) | _failed(row)]
    return []


def _failed(row: RunRow) -> dict[str, Any]:
    return {"passed": False, "reason": row.reason}


def _fields(check: str, tool: str, version: str | None) -> dict[str, Any]:
    """Fields of a check of which nothing is known."""
    unknown = dict.fromkeys(("reason", "value", "reference", "deviation", "passed", "check_wall_s"))
    known = {"check": check, "status": OK, "allowed": CROSS_CHECK_LIMITS[check]}
    return {**unknown, **known, "tool": tool, "tool_version": version}


def _row_verdict(row: RunRow, column: str, again_mw: float | None) -> dict[str, Any]:
    """A failure unless the row has the power that the same activity gives again, where it was asked for."""
    kept = getattr(row, column)
    if row.power_status is None or kept is None or again_mw is None:
        return {}
    if abs(_deviation(kept, again_mw)) <= ROUNDING:
        return {}
    reason = f"the run must have {again_mw:.9g} mW again, got {kept:.9g} in its row"
    return {"passed": False, "reason": reason}


def _half_verdict(internal_mw: float | None, tool_mw: float | None) -> dict[str, Any]:
    """A failure unless one energy a transition is about half of what the tool adds of both edges."""
    half = 0.5 * (tool_mw or 0.0)
    if internal_mw is None or abs(_deviation(internal_mw, half)) <= HALF_LIMIT:
        return {}
    rule = f"one energy a transition must be within {HALF_LIMIT:.0%} of half the tool's"
    return {"passed": False, "reason": f"{rule}, got {internal_mw:.6g} and {half:.6g} mW"}


def _deviation(value: float, reference: float) -> float:
    if reference == 0.0:
        return 0.0 if value == 0.0 else 1.0
    return value / reference - 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """One run of a design of the sample, all of whose engines agree."""

    counted: CountedRun
    label: LabelRow
    cache: ContentCache
    options: LabelOptions

    def fields(self) -> list[dict[str, Any]]:
        """Fields of each check's row, in the order of `CROSS_CHECK_LIMITS`."""
        row = self.counted.row
        simulated = (rtlsim.ENGINE, row.audit_engine_version)
        cycles = self._compared("latency_cycles", row.latency_cycles, row.audit_latency_cycles, *simulated)
        try:
            result = simulate_netlist(self.counted, cache=self.cache, options=self.options)
        except _FAILURES as error:
            result = PowerResult(status=TOOL_ERROR, reason=str(error))
        counts = self._made(("area_um2", "flip_flop_count"), SYNTHESIS_TOOL, self._recounted)
        timed = self._made(("delay_ns", *_POWERS), power.OPENSTA, lambda: self._timed(result))
        outputs = self._made(("netlist_outputs",), rtlsim.ENGINE, lambda: [self._outputs(result)])
        return [*outputs, cycles, *counts, *timed]

    def _netlist(self) -> Netlist:
        request = self.counted.request
        return mapped_netlist(
            request.design,
            request.compiled,
            target=self.counted.target,
            cache=self.cache,
            options=self.options,
        )

    def _outputs(self, result: PowerResult) -> dict[str, Any]:
        """Outputs, result, cycles and bytes of the netlist against those of the simulated Verilog."""
        version = self.counted.row.audit_engine_version
        fields = _fields("netlist_outputs", rtlsim.ENGINE, version)
        if result.latency_cycles is None:
            return fields | {"status": result.status, "reason": result.reason}
        expected = expected_outputs(self.counted.request, cache=self.cache, options=self.options)
        pairs = compare_outputs(self.counted, result, expected)
        equal = [what for what, (model, found) in pairs.items() if model == found]
        fields = self._compared("netlist_outputs", len(equal), len(pairs), rtlsim.ENGINE, version)
        differing = ", ".join(what for what in pairs if what not in equal)
        return fields | ({"reason": f"the netlist differs in {differing}"} if differing else {})

    def _recounted(self) -> list[dict[str, Any]]:
        label = self.label
        verilog = power.verilog_of(self._netlist())
        with tool_folder(self.cache, "synthesis", self.options) as folder:
            found = recount_cells(verilog, liberty=self.counted.target.liberty, folder=folder)
        tool = (SYNTHESIS_TOOL, synthesis_version())
        return [
            self._compared("area_um2", label.area_um2, found.area_um2, *tool),
            self._compared("flip_flop_count", label.flip_flop_count, found.flip_flop_count, *tool),
        ]

    def _timed(self, result: PowerResult) -> list[dict[str, Any]]:
        if result.activity is None:
            raise PowerError(
                f"the netlist must be simulated before its power is compared, got {result.reason}"
            )
        target, netlist = self.counted.target, self._netlist()
        with tool_folder(self.cache, "opensta", self.options) as folder:
            found = compare_with_opensta(
                netlist,
                result.activity,
                liberty=load_liberty(target.liberty),
                liberty_path=target.liberty,
                clock=result.clock,
                clock_period_ns=self.counted.request.design.clock_period_ns,
                folder=folder,
            )
        tool = (power.OPENSTA, opensta_version())
        delay = self._compared("delay_ns", self.label.delay_ns, found.tool_delay_ns, *tool)
        return [delay, *self._powers(found, result, *tool)]

    def _powers(
        self, found: OpenStaComparison, result: PowerResult, tool: str, version: str
    ) -> list[dict[str, Any]]:
        lacking = {"status": INFEASIBLE, "reason": result.reason}
        if result.parts is None:
            return [_fields(check, tool, version) | lacking for check in _POWERS]
        row, reference = self.counted.row, found.tool
        pair = (found.parts.switching_mw, reference.switching_mw)
        switching = self._compared(_POWERS[0], *pair, tool, version)
        checks = [switching | _row_verdict(row, _POWERS[0], result.parts.switching_mw)]
        if result.parts.internal_mw is None:
            return [*checks, _fields(_POWERS[1], tool, version) | lacking]
        internal = (found.expected_internal_mw, reference.internal_mw)
        check = self._compared(_POWERS[1], *internal, tool, version)
        verdict = _half_verdict(found.parts.internal_mw, reference.internal_mw)
        return [*checks, check | verdict | _row_verdict(row, _POWERS[1], result.parts.internal_mw)]

    def _made(
        self, checks: tuple[str, ...], tool: str, make: Callable[[], list[dict[str, Any]]]
    ) -> list[dict[str, Any]]:
        """What a tool makes of its checks, or why it cannot."""
        start = stopwatch()
        try:
            found = make()
        except _FAILURES as error:
            reason = {"status": TOOL_ERROR, "reason": str(error)}
            found = [_fields(check, tool, None) | reason for check in checks]
        wall_s = stopwatch() - start
        return [fields | {"check_wall_s": wall_s} for fields in found]

    def _compared(
        self, check: str, value: float | None, reference: float | None, tool: str, version: str | None
    ) -> dict[str, Any]:
        fields = _fields(check, tool, version)
        if value is None or reference is None:
            return fields | {"status": TOOL_ERROR, "reason": f"both sides must have {check}, got nothing"}
        deviation = _deviation(value, reference)
        return fields | {
            "value": float(value),
            "reference": float(reference),
            "deviation": deviation,
            "passed": abs(deviation) <= CROSS_CHECK_LIMITS[check],
        }
