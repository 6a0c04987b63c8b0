"""Rows of earlier labelling back into the cache, so that nothing is done again.

What has no entry: designs of other tools (their Verilog is in no table), what native C computed (no table has
its outputs; runs are found before it is asked), netlists (synthesis is found before), and rows that a tool's
failure made, which are tried again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from pipelines import cyclemodel, power, rtlsim
from pipelines.cache import ContentCache
from pipelines.hls import TOOL, HlsError, design_id, options_of, tool_version
from pipelines.identity import content_hash
from pipelines.labelling.attempts import liberty_name
from pipelines.labelling.configurations import ConfigurationSpace, planned_ids
from pipelines.labelling.counting import is_audited, run_key
from pipelines.labelling.cross_checks import (
    CROSS_CHECK_LIMITS,
    check_versions,
    cross_check_key,
)
from pipelines.labelling.netlist_power import power_key
from pipelines.labelling.netlists import SYNTHESIS_TOOL, synthesis_key
from pipelines.labelling.options import LabelOptions
from pipelines.labelling.recalling import ProgramLabels, Recollection, recollection
from pipelines.schemas import (
    OK,
    TOOL_ERROR,
    CrossCheckRow,
    DesignRow,
    DirectiveOutcomeRow,
    LabelRow,
    ProgramRow,
    RunRow,
    is_lasting,
)
from pipelines.synthesis import Target
from pipelines.synthesis import tool_version as synthesis_version

_IDENTITY = {
    "synthesis": ("design_id", "tool", "tool_version", "suite", "liberty"),
    "run": (
        *("design_id", "data_id", "suite", "engine", "engine_version", "seed"),
        *("audited", "audit_engine", "audit_engine_version"),
        *("power_engine", "power_engine_version", "glitches"),
    ),
}
"""Columns that a step gives anew for each row; the others are its entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRows:
    """All rows of one program."""

    program: ProgramRow
    designs: Sequence[DesignRow]
    outcomes: Sequence[DirectiveOutcomeRow]
    labels: Sequence[LabelRow]
    runs: Sequence[RunRow]
    cross_checks: Sequence[CrossCheckRow] = ()


@dataclass(slots=True, kw_only=True)
class Remembered:
    """What became of the rows.

    Attributes:
        stored: new entries by kind; present: entries that were there and say the same; other: rows by why
            they have no entry.
        different: the first rows whose entry was there and says something else; it was left alone.
    """

    stored: Counter[str] = field(default_factory=Counter[str])
    present: Counter[str] = field(default_factory=Counter[str])
    other: Counter[str] = field(default_factory=Counter[str])
    different: list[str] = field(default_factory=list[str])

    def put(self, cache: ContentCache, kind: str, key: str, value: Any, *, row: str) -> None:
        """Store an entry unless there is one; times may differ between the two, nothing else."""
        there = cache.get(kind, key)
        if there is None:
            cache.put(kind, key, value)
            self.stored[kind] += 1
        elif _timeless(there) == _timeless(value):
            self.present[kind] += 1
        else:
            self.different.append(f"{kind} of {row}")


def _timeless(value: Any) -> Any:
    """A value as JSON keeps it, without times and without what is None."""
    if isinstance(value, dict):
        found = cast("dict[str, Any]", value)
        return {k: _timeless(v) for k, v in found.items() if not k.endswith("wall_s") and v is not None}
    if isinstance(value, list | tuple):
        return [_timeless(item) for item in cast("Sequence[Any]", value)]
    return value


def remember(
    rows: ProgramRows,
    space: ConfigurationSpace,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    into: Remembered,
    whole: bool = True,
) -> None:
    """Put the rows of a program into the cache, as if it had been labelled here.

    Rows that other versions of the engines made have no entry: the present ones would never look for it.
    Neither have rows whose ids are not those of what they say.

    Args: space, target, options: under which the rows were made; into: what became of them is added there.
          whole: whether the present code orders the steps and draws data as that of the rows did, so that all
          labels of the program may be one entry.
    """
    if rows.program.status == OK and rows.program.program_id != _own_id(rows.program):
        into.other["programs whose id is not theirs"] += 1
        return
    present = [d for d in rows.designs if _is_present(rows.program, d, into)]
    outcomes: dict[str, list[DirectiveOutcomeRow]] = {}
    for outcome in rows.outcomes:
        outcomes.setdefault(outcome.design_id, []).append(outcome)
    for design in present:
        if design.status == TOOL_ERROR:
            into.other["designs on which the engine failed"] += 1
            continue
        entry = {
            "design": asdict(design),
            "outcomes": [asdict(o) for o in outcomes.get(design.design_id, [])],
        }
        into.put(cache, "hls", design.design_id, entry, row=f"design {design.design_id}")
    if len(present) != len(rows.designs):
        return
    asked = planned_ids(rows.program, space, liberty=liberty_name(target), cache=cache)
    if asked != {d.design_id for d in present}:
        into.other["programs whose designs are not those of the configuration"] += 1
        whole = False
    _remember_labels(rows, target=target, cache=cache, options=options, into=into, whole=whole)


def _own_id(program: ProgramRow) -> str:
    return content_hash(program.source, program.top, program.inputs)


def _is_present(program: ProgramRow, design: DesignRow, into: Remembered) -> bool:
    if design.design_id != _own_design_id(program, design):
        into.other["designs whose id is not theirs"] += 1
        return False
    if design.tool != TOOL:
        into.other[f"designs of {design.tool}, whose Verilog is in no table"] += 1
    elif design.tool_version != tool_version():
        into.other["designs of another version of the engine"] += 1
    return design.tool == TOOL and design.tool_version == tool_version()


def _own_design_id(program: ProgramRow, design: DesignRow) -> str | None:
    """The id that the row's program and configuration have; of other tools and versions what the row says."""
    if design.tool != TOOL or design.tool_version != tool_version():
        return design.design_id
    try:
        return design_id(program, options_of(design))
    except (HlsError, ValueError, KeyError, TypeError):
        return None


# ---- labels and runs -------------------------------------------------------------------------------


def _remember_labels(
    rows: ProgramRows,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    into: Remembered,
    whole: bool,
) -> None:
    synthesised = [label for label in rows.labels if label.tool == SYNTHESIS_TOOL]
    if len(synthesised) != len(rows.labels):
        into.other["labels of other tools of logic synthesis"] += len(rows.labels) - len(synthesised)
    labels = {label.design_id: label for label in synthesised}
    runs: dict[str, list[RunRow]] = {}
    for run in rows.runs:
        runs.setdefault(run.design_id, []).append(run)
    for design in rows.designs:
        label, own = labels.get(design.design_id), runs.get(design.design_id, [])
        why = _obstacle(design, label, own, target, options)
        whole = whole and why is None
        if why is not None:
            into.other[why] += 1
        elif label is not None:
            for run in own:
                _remember_run(design, run, target=target, cache=cache, options=options, into=into)
            _remember_synthesis(design, label, own, target=target, cache=cache, options=options, into=into)
    _remember_cross_checks(rows, target=target, cache=cache, options=options, into=into)
    found = ProgramLabels(labels=tuple(synthesised), runs=tuple(rows.runs))
    if whole:
        entries = recollection(rows.designs, target=target, cache=cache, options=options)
        _keep(entries, rows, found, into)


def _keep(entries: Recollection, rows: ProgramRows, found: ProgramLabels, into: Remembered) -> None:
    if entries.recall(rows.program, rows.designs) is None:
        into.stored["labels"] += entries.keep(rows.program, rows.designs, found)
    else:
        into.present["labels"] += 1


def _obstacle(
    design: DesignRow, label: LabelRow | None, runs: Sequence[RunRow], target: Target, options: LabelOptions
) -> str | None:
    """Why the present engines under these options would not give these rows; None when they would."""
    if label is None:
        return "designs without a label"
    if label.tool_version != synthesis_version() or label.liberty != liberty_name(target):
        return "labels of another version of logic synthesis, or another library"
    for run in runs:
        if run.engine_version != cyclemodel.engine_version():
            return "runs of another version of the cycle model"
        if run.audited != is_audited(design.design_id, options.audited_fraction):
            return "runs with another share of audits"
        if run.audited and run.audit_engine_version != rtlsim.engine_version():
            return "runs audited by another version of the simulator"
        if run.power_engine_version not in (None, power.tool_version()):
            return "runs of another version of the power model"
        if run.glitches not in (None, options.glitches):
            return "runs with another kind of power"
    expected = options.data_seeds if design.status == OK and label.status == OK else None
    if expected is not None and sorted(run.seed for run in runs) != sorted(expected):
        return "designs with other data sets"
    return None


def _entry(row: LabelRow | RunRow, kind: str) -> dict[str, Any]:
    return {k: v for k, v in asdict(row).items() if k not in _IDENTITY[kind]}


def _remember_run(
    design: DesignRow,
    run: RunRow,
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    into: Remembered,
) -> None:
    """The run's entry and the power's: one row has the columns of both."""
    named = f"run {run.design_id} {run.data_id}"
    if run.status == TOOL_ERROR or run.power_status == TOOL_ERROR:
        into.other["runs in which a tool failed or engines disagreed"] += 1
        return
    entry = _entry(run, "run")
    powers = {k: entry.pop(k) for k in list(entry) if k in POWER_COLUMNS}
    into.put(cache, "run", run_key(design, run, options), entry, row=named)
    if run.power_status is not None:
        into.put(cache, "power", power_key(design, run, target, options), powers, row=named)


POWER_COLUMNS = (
    *("power_status", "power_reason", "power_mw", "energy_nj", "internal_power_mw", "switching_power_mw"),
    *("leakage_power_mw", "toggle_count", "power_wall_s"),
)
"""Columns of a run that its netlist gives; `power_engine` and its version stand in the row anyway."""


def _remember_synthesis(
    design: DesignRow,
    label: LabelRow,
    runs: Sequence[RunRow],
    *,
    target: Target,
    cache: ContentCache,
    options: LabelOptions,
    into: Remembered,
) -> None:
    """The entry of logic synthesis, which was reached when every run is ok."""
    if not runs or any(run.status != OK for run in runs):
        return
    if label.status == TOOL_ERROR:
        into.other["labels in which a tool failed"] += 1
        return
    key = synthesis_key(design, target, options)
    into.put(cache, "synthesis", key, _entry(label, "synthesis"), row=f"label {label.design_id}")


def _remember_cross_checks(
    rows: ProgramRows, *, target: Target, cache: ContentCache, options: LabelOptions, into: Remembered
) -> None:
    """The checks of each run of the sample, all of which one entry holds."""
    designs = {d.design_id: d for d in rows.designs}
    runs = {(run.design_id, run.data_id): run for run in rows.runs}
    checks: dict[tuple[str, str], list[CrossCheckRow]] = {}
    for row in rows.cross_checks:
        checks.setdefault((row.design_id, row.data_id), []).append(row)
    versions = {*check_versions(), rtlsim.engine_version(), cyclemodel.engine_version(), power.tool_version()}
    for place, found in checks.items():
        run = runs.get(place)
        if (
            run is None
            or place[0] not in designs
            or not all(is_lasting(row.status) for row in found)
            or len(found) < len(CROSS_CHECK_LIMITS)
        ):
            into.other["cross-checks that a tool did not finish"] += 1
        elif any(row.tool_version not in versions for row in found):
            into.other["cross-checks by another version of a tool"] += 1
        else:
            order = list(CROSS_CHECK_LIMITS)
            entry = [
                {k: v for k, v in asdict(row).items() if k not in ("design_id", "data_id", "suite")}
                for row in sorted(found, key=lambda row: order.index(row.check))
            ]
            key = cross_check_key(designs[place[0]], run, target, options)
            into.put(cache, "cross_check", key, entry, row=f"run {place[0]} {place[1]}")
