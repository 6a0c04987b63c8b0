"""The import of existing rows into the cache, as if they had been labelled here.

Not imported are designs of other tools (their Verilog is in no table), outputs of native C (no table has
them; runs are looked up before native C is run), netlists (synthesis is looked up before), and rows of a tool
that failed, which are tried again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast

from pipelines import cyclemodel, power
from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.c import HlsError, read_interface
from pipelines.dataset.labelling.cache import KIND, label_cache
from pipelines.dataset.labelling.cross_checks import (
    CROSS_CHECK_LIMITS,
    Check,
    check_versions,
    cross_check_key,
)
from pipelines.dataset.labelling.flows import LATER_COLUMNS
from pipelines.dataset.labelling.loops import LoopCount
from pipelines.dataset.labelling.options import LabelContext
from pipelines.dataset.labelling.registry import label_targets
from pipelines.dataset.labelling.runs import (
    PowerFigures,
    RunResult,
    audit_version,
    fails_label,
    is_audited_run,
    is_synthesised,
    most_cycles,
    run_key,
)
from pipelines.dataset.labelling.synthesis import (
    SYNTHESIS_TOOL,
    LabelFigures,
    LabelTables,
    is_mapped,
    is_timed_alike,
    power_key,
    synthesis_key,
)
from pipelines.dataset.labelling.targets import SecondTarget
from pipelines.hls import TOOL, design_id, options_of, tool_version
from pipelines.programs import data_sets
from pipelines.schemas import (
    DRAWN,
    OK,
    TOOL_ERROR,
    CrossCheckRow,
    DesignRow,
    DirectiveOutcomeRow,
    LabelRow,
    LoopRunRow,
    ProgramRow,
    RunRow,
    is_lasting,
)
from pipelines.silicon.synthesis import tool_version as synthesis_version


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRows:
    """All rows of one program."""

    program: ProgramRow
    designs: Sequence[DesignRow]
    outcomes: Sequence[DirectiveOutcomeRow]
    labels: Sequence[LabelRow]
    runs: Sequence[RunRow]
    loop_runs: Sequence[LoopRunRow] = ()
    cross_checks: Sequence[CrossCheckRow] = ()


@dataclass(slots=True, kw_only=True)
class CacheImport:
    """Counts of imported rows.

    Attributes:
        stored: new entries by kind; present: entries that were there with the same content; other: rows by
            the reason why they have no entry.
        different: the rows whose entry was there with another content; it was left alone.
    """

    stored: Counter[str] = field(default_factory=Counter[str])
    present: Counter[str] = field(default_factory=Counter[str])
    other: Counter[str] = field(default_factory=Counter[str])
    different: list[str] = field(default_factory=list[str])

    def put(self, cache: ContentCache, kind: str, key: str, value: Any, *, row: str) -> None:
        """Store an entry unless there is one; times may differ between the two, nothing else."""
        stored = cache.get(kind, key)
        if stored is None:
            cache.put(kind, key, value)
            self.stored[kind] += 1
        elif _timeless(stored) == _timeless(value):
            self.present[kind] += 1
        else:
            self.different.append(f"{kind} of {row}")


def _timeless(value: Any) -> Any:
    """Return a value as JSON keeps it, without times, what is None, and what earlier rows lack."""
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        kept = {k: v for k, v in items if k not in LATER_COLUMNS and v is not None}
        return {k: _timeless(v) for k, v in kept.items() if not k.endswith("wall_s")}
    if isinstance(value, list | tuple):
        return [_timeless(item) for item in cast("Sequence[Any]", value)]
    return value


def import_rows(
    rows: ProgramRows,
    context: LabelContext,
    report: CacheImport,
    *,
    whole: bool = True,
) -> None:
    """Load existing rows of a program into the cache, as if it had been labelled here.

    Rows of other versions of the engines have no entry: the present ones would never look for it. Neither
    have rows whose ids are not the hash of their content.

    Args: context: under which the rows were made; report: is counted up. whole: whether the present
          code orders the steps and draws data as that of the rows did, so that all labels of the program may
          be one entry.
    """
    if rows.program.status == OK and rows.program.program_id != _program_id(rows.program):
        report.other["programs whose id is not theirs"] += 1
        return
    _Import(rows=rows, context=context, report=report).run(whole=whole)


def _program_id(program: ProgramRow) -> str:
    return content_hash(program.source, program.top, program.inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Import:
    """The rows of one program on their way into the cache."""

    rows: ProgramRows
    context: LabelContext
    report: CacheImport

    def run(self, *, whole: bool) -> None:
        rows = self.rows
        present = [design for design in rows.designs if self._is_present(design)]
        for design in present:
            self._import_design(design)
        if len(present) == len(rows.designs):
            self._import_labels(whole=whole)

    def _put(self, kind: str, key: str, value: Any, row: str) -> None:
        self.report.put(self.context.cache, kind, key, value, row=row)

    def _is_present(self, design: DesignRow) -> bool:
        """Tell whether the present engine made a design."""
        other = self.report.other
        if design.design_id != self._design_id(design):
            other["designs whose id is not theirs"] += 1
            return False
        if design.tool != TOOL:
            other[f"designs of {design.tool}, whose Verilog is in no table"] += 1
        elif design.tool_version != tool_version():
            other["designs of another version of the engine"] += 1
        return design.tool == TOOL and design.tool_version == tool_version()

    def _design_id(self, design: DesignRow) -> str | None:
        """Compute the id from a row's program and configuration; other tools and versions keep the row's."""
        if design.tool != TOOL or design.tool_version != tool_version():
            return design.design_id
        try:
            return design_id(self.rows.program, options_of(design))
        except (HlsError, ValueError, KeyError, TypeError):
            return None

    def _import_design(self, design: DesignRow) -> None:
        if design.status == TOOL_ERROR:
            self.report.other["designs on which the engine failed"] += 1
            return
        outcomes = [asdict(row) for row in self.rows.outcomes if row.design_id == design.design_id]
        entry = {"design": asdict(design), "outcomes": outcomes}
        self._put("hls", design.design_id, entry, f"design {design.design_id}")

    def _import_labels(self, *, whole: bool) -> None:
        rows, other = self.rows, self.report.other
        synthesised = [label for label in rows.labels if label.tool == SYNTHESIS_TOOL]
        targets = {t.name: t for t in label_targets(self.context.options) if isinstance(t, SecondTarget)}
        for label in rows.labels:
            if label.tool in targets:
                self._import_second(label, targets[label.tool])
            elif label.tool != SYNTHESIS_TOOL:
                other["labels of other tools of logic synthesis"] += 1
        labels = {label.design_id: label for label in synthesised}
        for design in rows.designs:
            label = labels.get(design.design_id)
            runs = [run for run in rows.runs if run.design_id == design.design_id]
            mismatch = _mismatch_reason(design, label, runs, self.context)
            if mismatch is not None:
                other[mismatch] += 1
                whole = False
            elif label is not None:
                for run in runs:
                    self._import_run(design, run)
                self._import_synthesis(design, label, runs)
                cycles = most_cycles(runs).get(design.design_id, 0)
                asked = is_synthesised(design, cycles, self.context.options.synthesis)
                if label.status == OK and is_mapped(label) != asked:
                    other["labels with another share of designs mapped to cells"] += 1
                    whole = False
        self._import_cross_checks()
        if whole and self._is_complete():
            entries = label_cache(rows.designs, self.context)
            new = LabelTables(
                labels=synthesised,
                runs=list(rows.runs),
                loop_runs=list(rows.loop_runs),
            )
            if entries.get(rows.program, rows.designs) is None:
                self.report.stored[KIND] += entries.keep(rows.program, rows.designs, new)
            else:
                self.report.present[KIND] += 1

    def _is_complete(self) -> bool:
        """Tell whether there is a row for every data set of the options; earlier releases have fewer."""
        rows, options = self.rows, self.context.options
        if not rows.runs:
            return True
        if not rows.loop_runs:
            return False
        interface = read_interface(rows.program.source, rows.program.top)
        inputs = data_sets(rows.program, interface, options.data_kinds, seeds=options.data_seeds)
        expected = {(one.kind, one.identity) for one in inputs}
        by_design: dict[str, set[tuple[str | None, str]]] = {}
        for run in rows.runs:
            by_design.setdefault(run.design_id, set()).add((run.data_kind, run.data_id))
        return all(runs == expected for runs in by_design.values())

    def _import_run(self, design: DesignRow, run: RunRow) -> None:
        """Store the entries of a run and of its power: one row has the columns of both."""
        if run.status == TOOL_ERROR or run.power_status == TOOL_ERROR:
            self.report.other["runs in which a tool failed or engines disagreed"] += 1
            return
        target, options, name = (
            self.context.target,
            self.context.options,
            f"run {run.design_id} {run.data_id}",
        )
        key = run_key(design, run, options)
        self._put("run", key, _columns(run, RunResult), name)
        loops = [
            row for row in self.rows.loop_runs if (row.design_id, row.data_id) == (run.design_id, run.data_id)
        ]
        if run.status == OK and loops:
            self._put("loop_runs", key, [_columns(row, LoopCount) for row in loops], name)
        if run.power_status is not None:
            figures = _columns(run, PowerFigures)
            del figures["status"], figures["reason"]  # of the run; here of one whose netlist agrees
            self._put("power", power_key(design, run, target, options), figures, name)

    def _import_synthesis(self, design: DesignRow, label: LabelRow, runs: Sequence[RunRow]) -> None:
        """Store the entry of logic synthesis, which was reached when every run is ok."""
        if not runs or any(fails_label(run) for run in runs):
            return
        if label.status == TOOL_ERROR:
            self.report.other["labels in which a tool failed"] += 1
            return
        if label.status == OK and not is_mapped(label):
            return
        key = synthesis_key(design, self.context.target, self.context.options)
        self._put("synthesis", key, _columns(label, LabelFigures), f"label {label.design_id}")

    def _import_second(self, label: LabelRow, target: SecondTarget) -> None:
        """Store the entry of a target that gives designs a second label."""
        design = next((d for d in self.rows.designs if d.design_id == label.design_id), None)
        if design is None or label.status == TOOL_ERROR or label.tool_version != target.version():
            self.report.other[f"labels of {label.tool} that failed, or of another version"] += 1
            return
        key = target.key(design, self.context)
        self._put(target.kind, key, _columns(label, LabelFigures), f"{label.tool} label {label.design_id}")

    def _import_cross_checks(self) -> None:
        """Store the checks of each run of the sample, all in one entry."""
        if not self.rows.cross_checks:
            return
        designs = {design.design_id: design for design in self.rows.designs}
        runs = {(run.design_id, run.data_id): run for run in self.rows.runs}
        groups: dict[tuple[str, str], list[CrossCheckRow]] = {}
        for row in self.rows.cross_checks:
            groups.setdefault((row.design_id, row.data_id), []).append(row)
        audit = audit_version(self.context.options.audit_engine)
        engines = (audit, cyclemodel.engine_version(), power.tool_version())
        versions = {*check_versions(), *engines}
        for place, checks in groups.items():
            run, design = runs.get(place), designs.get(place[0])
            lasting = all(is_lasting(row.status) for row in checks)
            if any(row.tool_version not in versions for row in checks):
                self.report.other["cross-checks by another version of a tool"] += 1
            elif run is None or design is None or not lasting or len(checks) < len(CROSS_CHECK_LIMITS):
                self.report.other["cross-checks that a tool did not finish"] += 1
            else:
                order = list(CROSS_CHECK_LIMITS)
                entry = [
                    _columns(row, Check) for row in sorted(checks, key=lambda row: order.index(row.check))
                ]
                key = cross_check_key(design, run, self.context.target, self.context.options)
                self._put("cross_check", key, entry, f"run {place[0]} {place[1]}")


def _columns(
    row: LabelRow | RunRow | LoopRunRow | CrossCheckRow,
    kind: type[LabelFigures | RunResult | LoopCount | PowerFigures | Check],
) -> dict[str, Any]:
    """Return the columns of a row that a step gives."""
    return {column.name: getattr(row, column.name) for column in fields(kind)}


def _mismatch_reason(
    design: DesignRow, label: LabelRow | None, runs: Sequence[RunRow], context: LabelContext
) -> str | None:
    """Say why the present engines would not give these rows under these options; None when they would."""
    options = context.options
    if label is None:
        return "designs without a label"
    if label.tool_version != synthesis_version() or label.liberty != context.liberty:
        return "labels of another version of logic synthesis, or another library"
    for run in runs:
        if run.engine_version != cyclemodel.engine_version():
            return "runs of another version of the cycle model"
        if run.audited != is_audited_run(design.design_id, run.data_kind, options.audited_fraction):
            return "runs with another share of audits"
        if run.audited and run.audit_engine_version != audit_version(options.audit_engine):
            return "runs audited by another version of the simulator"
        if run.power_engine_version not in (None, power.tool_version()):
            return "runs of another version of the power model"
        if run.glitches not in (None, options.glitches) or not is_timed_alike(run, options):
            return "runs with another kind of power"
    expected = options.data_seeds if design.status == OK and label.status == OK else None
    drawn = sorted(run.seed for run in runs if run.data_kind in (None, DRAWN))
    if expected is not None and drawn != sorted(expected):
        return "designs with other data sets"
    return None
