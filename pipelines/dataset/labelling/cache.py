"""Labels of whole programs in the cache, the versions they depend on, and the import of existing rows.

Why whole programs: with entries of steps alone, 10,000 designs take 30,000 reads, 10,000 data sets drawn and
as many scratch folders.

Not imported are designs of other tools (their Verilog is in no table), outputs of native C (no table has
them; runs are looked up before native C is run), netlists (synthesis is looked up before), and rows of a tool
that failed, which are tried again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast

import numpy as np

from pipelines import cyclemodel, hls, power
from pipelines.base.cache import ContentCache
from pipelines.base.identity import content_hash
from pipelines.base.tools import ToolMissing
from pipelines.c import HlsError, read_interface
from pipelines.dataset.labelling.configurations import ConfigurationSpace, planned_ids
from pipelines.dataset.labelling.cross_checks import (
    CROSS_CHECK_LIMITS,
    Check,
    check_versions,
    cross_check_key,
)
from pipelines.dataset.labelling.external_tools import external_tool
from pipelines.dataset.labelling.flows import LATER_COLUMNS
from pipelines.dataset.labelling.fpga import FPGA_KIND, fpga_key
from pipelines.dataset.labelling.loops import LoopCount
from pipelines.dataset.labelling.options import LabelContext
from pipelines.dataset.labelling.other_libraries import in_library, library_tool
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
from pipelines.hls import TOOL, design_id, options_of, tool_version
from pipelines.native import native_version
from pipelines.programs import data_sets
from pipelines.rtl import simulation
from pipelines.schemas import (
    DRAWN,
    OK,
    TOOL_ERROR,
    CrossCheckRow,
    DesignRow,
    DirectiveOutcomeRow,
    InputRow,
    LabelRow,
    LoopRunRow,
    ProgramRow,
    RunRow,
    is_lasting,
)
from pipelines.silicon.synthesis import XILINX_TOOL, liberty_hash, xilinx_version
from pipelines.silicon.synthesis import tool_version as synthesis_version

# ---- versions ------------------------------------------------------------------------------------------

_VERSION = "214c5db0780d57e2"
"""Raise it when the steps of this package, or data drawn by `programs.data`, give other rows."""
_SAME_LABELS = ("8be3097d9c795f7b",)
"""Versions with the very same labels, which release network-long-v1 names."""


def present_versions(tools: Iterable[str] = (hls.TOOL,)) -> dict[str, str]:
    """Return the present version of each engine that labels, by name.

    Args:   tools: of `TOOLS`, that make designs.
    Raises: ToolMissing: one of them, or gcc or Verilator, is not installed.
    """
    return {
        hls.TOOL: hls.tool_version(),
        cyclemodel.ENGINE: cyclemodel.engine_version(),
        simulation.ENGINE: simulation.engine_version(),
        "native": native_version(),
        "pyosys": synthesis_version(),
        power.ENGINE: power.tool_version(),
        **_design_versions(tools),
    }


def _design_versions(tools: Iterable[str]) -> dict[str, str]:
    other = [tool for tool in tools if tool != hls.TOOL]
    versions = {t: f"{external_tool(t).version()} {external_tool(t).engine_version()}" for t in other}
    return {hls.TOOL: hls.tool_version(), **versions}


def designs_version(tools: Iterable[str]) -> str:
    """Return the hash of all that designs of a program and a configuration depend on.

    Args:   tools: of `TOOLS`, that make designs.
    Raises: ToolMissing: one of them is not installed.
    """
    return content_hash(_design_versions(tools), _VERSION)


def labels_version(tools: Iterable[str]) -> str:
    """Return hash of all versions, of the order of the steps (this package), and of how data are drawn."""
    return _labels_version(tools, _VERSION)


def has_present_labels(version: str, tools: Iterable[str]) -> bool:
    """Tell whether an earlier version gives the same labels as the present one; see `labels_version`."""
    chosen = tuple(tools)
    return version in {_labels_version(chosen, one) for one in (_VERSION, *_SAME_LABELS)}


def _labels_version(tools: Iterable[str], own: str) -> str:
    return content_hash(present_versions(tools), own, np.__version__)


# ---- whole programs ------------------------------------------------------------------------------------

KIND = "labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCache:
    """The labels of whole programs under one target and set of options.

    Attributes:
        shared_key: hash of all that is the same for every program; None when a tool is missing, so that its
            version is not known and nothing is looked up or stored.
    """

    cache: ContentCache
    shared_key: str | None

    def _key(self, program: ProgramRow, designs: Sequence[DesignRow]) -> str:
        """Hash what the labels of a program depend on."""
        compiled = sorted((d.design_id, d.tool, d.status, d.reason, d.rtl_sha256) for d in designs)
        return content_hash(self.shared_key, program.program_id, program.name, program.suite, compiled)

    def get(self, program: ProgramRow, designs: Sequence[DesignRow]) -> LabelTables | None:
        """Return the labels of all designs of a program, None when there is no entry."""
        stored = None if self.shared_key is None else self.cache.get(KIND, self._key(program, designs))
        if stored is None:
            return None
        return LabelTables(
            labels=[LabelRow(**row) for row in stored["labels"]],
            runs=[RunRow(**row) for row in stored["runs"]],
            inputs=[InputRow(**row) for row in stored["inputs"]],
            loop_runs=[LoopRunRow(**row) for row in stored["loop_runs"]],
        )

    def keep(self, program: ProgramRow, designs: Sequence[DesignRow], labels: LabelTables) -> bool:
        """Store labels of all designs of a program, unless a tool failed; tell whether they were stored."""
        if self.shared_key is None:
            return False
        return self.cache.keep(KIND, self._key(program, designs), asdict(labels), *labels.statuses)


_ELSEWHERE = (
    "workers",
    "slots",
    "fpga_fraction",
    "fpga_unmapped_fraction",
    "unmapped_most_um2",
    "other_libraries",
    "other_library_fraction",
    "other_library_unmapped_fraction",
)
"""Options that the labels of the project's own synthesis do not depend on."""


def label_cache(designs: Sequence[DesignRow], context: LabelContext) -> LabelCache:
    """Return entries that hold for a target, options, and the present versions of the tools of the designs.

    Raises: SynthesisError: the library cannot be read.
    """
    try:
        versions = labels_version(sorted({d.tool for d in designs if d.status == OK}))
    except ToolMissing:
        return LabelCache(cache=context.cache, shared_key=None)
    target, options = context.target, asdict(context.options)
    shared_key = content_hash(
        versions,
        [target.liberty.stem, liberty_hash(target.liberty), target.clock_period_ns],
        {name: value for name, value in options.items() if name not in _ELSEWHERE},
        [column for row in (LabelRow, RunRow, InputRow, LoopRunRow) for column in row.__dataclass_fields__],
    )
    return LabelCache(cache=context.cache, shared_key=shared_key)


# ---- import --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRows:
    """All rows of one program."""

    program: ProgramRow
    designs: Sequence[DesignRow]
    outcomes: Sequence[DirectiveOutcomeRow]
    labels: Sequence[LabelRow]
    runs: Sequence[RunRow]
    inputs: Sequence[InputRow] = ()
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
    space: ConfigurationSpace,
    context: LabelContext,
    report: CacheImport,
    *,
    whole: bool = True,
) -> None:
    """Load existing rows of a program into the cache, as if it had been labelled here.

    Rows of other versions of the engines have no entry: the present ones would never look for it. Neither
    have rows whose ids are not the hash of their content.

    Args: space, context: under which the rows were made; report: is counted up. whole: whether the present
          code orders the steps and draws data as that of the rows did, so that all labels of the program may
          be one entry.
    """
    if rows.program.status == OK and rows.program.program_id != _program_id(rows.program):
        report.other["programs whose id is not theirs"] += 1
        return
    _Import(rows=rows, context=context, report=report).run(space, whole=whole)


def _program_id(program: ProgramRow) -> str:
    return content_hash(program.source, program.top, program.inputs)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Import:
    """The rows of one program on their way into the cache."""

    rows: ProgramRows
    context: LabelContext
    report: CacheImport

    def run(self, space: ConfigurationSpace, *, whole: bool) -> None:
        rows, context = self.rows, self.context
        present = [design for design in rows.designs if self._is_present(design)]
        for design in present:
            self._import_design(design)
        if len(present) != len(rows.designs):
            return
        planned = planned_ids(rows.program, space, liberty=context.liberty, cache=context.cache)
        if planned != {design.design_id for design in present}:
            self.report.other["programs whose designs are not those of the configuration"] += 1
            whole = False
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
        """Return id by the program and configuration of a row; for other tools and versions, by the row."""
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
        fpga = [label for label in rows.labels if label.tool == XILINX_TOOL]
        others = {library_tool(c): c for c in self._other_libraries()}
        elsewhere = [label for label in rows.labels if label.tool in others]
        placed_count = len(rows.labels) - len(synthesised) - len(fpga) - len(elsewhere)
        if placed_count:
            other["labels of other tools of logic synthesis"] += placed_count
        self._import_fpga(fpga)
        for label in elsewhere:
            self._import_in_library(label, others[label.tool])
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
                asked = is_synthesised(design, cycles, self.context.options)
                if label.status == OK and is_mapped(label) != asked:
                    other["labels with another share of designs mapped to cells"] += 1
                    whole = False
        self._import_cross_checks()
        if whole and self._is_complete():
            entries = label_cache(rows.designs, self.context)
            new = LabelTables(
                labels=synthesised,
                runs=list(rows.runs),
                inputs=list(rows.inputs),
                loop_runs=list(rows.loop_runs),
            )
            if entries.get(rows.program, rows.designs) is None:
                self.report.stored[KIND] += entries.keep(rows.program, rows.designs, new)
            else:
                self.report.present[KIND] += 1

    def _is_complete(self) -> bool:
        """Tell whether every data set of the options has rows; earlier releases have fewer."""
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
        arguments = {(one.identity, name) for one in inputs for name in one.values}
        return all(runs == expected for runs in by_design.values()) and arguments == {
            (row.data_id, row.argument) for row in rows.inputs
        }

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
        """Store the entry of logic synthesis, which was reached if every run is ok."""
        if not runs or any(fails_label(run) for run in runs):
            return
        if label.status == TOOL_ERROR:
            self.report.other["labels in which a tool failed"] += 1
            return
        if label.status == OK and not is_mapped(label):
            return
        key = synthesis_key(design, self.context.target, self.context.options)
        self._put("synthesis", key, _columns(label, LabelFigures), f"label {label.design_id}")

    def _import_fpga(self, labels: Sequence[LabelRow]) -> None:
        designs = {design.design_id: design for design in self.rows.designs}
        for label in labels:
            design = designs.get(label.design_id)
            if design is None or label.status == TOOL_ERROR or label.tool_version != xilinx_version():
                self.report.other["FPGA labels that failed, or of another version"] += 1
            else:
                key = fpga_key(design, self.context.options)
                name = f"FPGA label {label.design_id}"
                self._put(FPGA_KIND, key, _columns(label, LabelFigures), name)

    def _other_libraries(self) -> list[LabelContext]:
        return [in_library(self.context, liberty) for liberty in self.context.options.other_libraries]

    def _import_in_library(self, label: LabelRow, context: LabelContext) -> None:
        design = next((d for d in self.rows.designs if d.design_id == label.design_id), None)
        if design is None or label.status == TOOL_ERROR or label.tool_version != synthesis_version():
            self.report.other["labels in other libraries that failed, or of another version"] += 1
            return
        key = synthesis_key(design, context.target, context.options)
        self._put("synthesis", key, _columns(label, LabelFigures), f"{label.tool} label {label.design_id}")

    def _import_cross_checks(self) -> None:
        """Store the checks of each run of the sample in their common entry."""
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
    """Tell why the present engines under these options would not give these rows; None when they would."""
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
