"""Logic synthesis of a design, and the power of its mapped netlist in a run.

Synthesis is done once for each distinct Verilog, library and version: designs that differ in what it does not
see (data, the library's clock, delays that leave the Verilog alone) share one entry; of two that ask at a
time, one waits for the other. Power simulates the netlist on the data of a run, which also checks the
netlist: one that computes something else than the scheduled design, or takes other cycles, makes the run and
the label a tool_error, for its area and its delay are of other hardware. Power that cannot be had leaves them
alone and says why in `power_status` and `power_reason`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from typing import Any, Protocol

from filelock import FileLock

from pipelines import power
from pipelines.base.identity import canonical_json, content_hash
from pipelines.base.tools import ToolMissing
from pipelines.dataset.labelling.options import LabelContext, LabelOptions, ToolContext
from pipelines.dataset.labelling.runs import (
    OutputDigests,
    PowerFigures,
    Run,
    RunRequest,
    UnknownReference,
    expected_outputs,
    is_fully_powered,
    is_synthesised,
    memory_timing,
    most_cycles,
    moved_bytes,
)
from pipelines.power import DesignRun, PowerError, PowerResult, estimate_power
from pipelines.rtl.simulation import SimulationResult
from pipelines.schemas import (
    OK,
    TOOL_ERROR,
    CrossCheckRow,
    DesignRow,
    LabelRow,
    LoopRunRow,
    RunRow,
)
from pipelines.silicon import synthesis
from pipelines.silicon.synthesis import (
    Netlist,
    SynthesisError,
    SynthesisResult,
    Target,
    liberty_hash,
    load_liberty,
    netlist_record,
    read_netlist_record,
    synthesize_design,
    tool_version,
)

SYNTHESIS_TOOL = synthesis.TOOL

_LABEL_VERSION = "fields-2"
"""Raise it when the label gets other columns."""
_POWER_VERSION = "fields-1"
"""Raise it when the power of a run gets other columns."""
_SLACK_CYCLES = 16  # past the cycle model's last one: a netlist that goes on is another design


class HasVerilog(Protocol):
    """A design as text."""

    @property
    def verilog(self) -> str:
        """The whole text."""
        ...

    @property
    def module(self) -> str:
        """Name of the top module."""
        ...


# ---- labels --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelFigures:
    """Columns of table `labels` from logic synthesis or placement; the others say which design and tool."""

    status: str
    reason: str | None
    area_um2: float | None = None
    flip_flop_count: int | None = None
    cell_count: int | None = None
    cells_by_type: str | None = None
    delay_ns: float | None = None
    leakage_mw: float | None = None
    lut_count: int | None = None
    dsp_count: int | None = None
    bram_count: int | None = None
    synthesis_wall_s: float | None = None

    @classmethod
    def of(cls, result: SynthesisResult, cells_by_type: str | None) -> LabelFigures:
        """Return the columns of a result; `cells_by_type` is canonical JSON."""
        return cls(
            status=result.status,
            reason=result.reason,
            area_um2=result.area_um2,
            flip_flop_count=result.flip_flop_count,
            cell_count=result.cell_count,
            cells_by_type=cells_by_type,
            delay_ns=result.delay_ns,
            leakage_mw=result.leakage_mw,
            synthesis_wall_s=result.wall_s,
        )

    def row(self, design: DesignRow, liberty: str) -> LabelRow:
        """Return the row of a design under the project's own synthesis."""
        return LabelRow(
            design_id=design.design_id,
            tool=SYNTHESIS_TOOL,
            tool_version=tool_version(),
            suite=design.suite,
            liberty=liberty,
            **asdict(self),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelTables:
    """Rows of the tables that targets make."""

    labels: list[LabelRow] = field(default_factory=list[LabelRow])
    runs: list[RunRow] = field(default_factory=list[RunRow])
    loop_runs: list[LoopRunRow] = field(default_factory=list[LoopRunRow])
    cross_checks: list[CrossCheckRow] = field(default_factory=list[CrossCheckRow])

    def __add__(self, other: LabelTables) -> LabelTables:
        """Return the rows of both."""
        return LabelTables(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    @property
    def statuses(self) -> list[str | None]:
        """Outcomes of all steps."""
        own = (status for run in self.runs for status in (run.status, run.power_status))
        return [*(label.status for label in self.labels), *own]


def mapped_designs(labels: Iterable[LabelRow]) -> set[str]:
    """Return the designs that the project's own synthesis mapped to cells, by id."""
    return {label.design_id for label in labels if label.tool == SYNTHESIS_TOOL and is_mapped(label)}


def lacking_figures(
    designs: Iterable[DesignRow], labels: Iterable[LabelRow], runs: Iterable[RunRow], options: LabelOptions
) -> list[str]:
    """Return the designs that are to be mapped to cells and have an ok label of cycles alone, by id."""
    alone = {
        label.design_id
        for label in labels
        if label.tool == SYNTHESIS_TOOL and label.status == OK and not is_mapped(label)
    }
    cycles = most_cycles(runs)
    return [
        design.design_id
        for design in designs
        if design.design_id in alone
        and is_synthesised(design, cycles.get(design.design_id, 0), options.synthesis)
    ]


def lacking_power(
    designs: Iterable[DesignRow], labels: Iterable[LabelRow], runs: Iterable[RunRow], options: LabelOptions
) -> set[str]:
    """Return mapped designs that are to have power on every data set and have ok runs without it, by id."""
    if not options.power:
        return set()
    unset = {run.design_id for run in runs if run.status == OK and run.power_status is None}
    unset &= mapped_designs(labels)
    cycles = most_cycles(runs)
    return {
        design.design_id
        for design in designs
        if design.design_id in unset and is_fully_powered(design, cycles[design.design_id], options)
    }


def is_mapped(label: LabelRow) -> bool:
    """Tell whether a label is ok and of more than cycles."""
    return label.status == OK and label.cell_count is not None


def _stored_figures(stored: dict[str, Any]) -> LabelFigures:
    return LabelFigures(**stored)


def _statuses(figures: LabelFigures) -> tuple[str]:
    return (figures.status,)


def synthesis_key(design: DesignRow, target: Target, options: LabelOptions) -> str:
    """Hash what logic synthesis of a design depends on."""
    return content_hash(netlist_key(design, target), options.synthesis.timeout_s, _LABEL_VERSION)


def netlist_key(design: DesignRow, target: Target) -> str:
    """Hash what the mapped netlist of a design depends on."""
    return content_hash(design.rtl_sha256, liberty_hash(target.liberty), tool_version())


def synthesise(design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext) -> LabelFigures:
    """Return area, flip-flops, cells, delay and leakage of a design's Verilog.

    Raises: SynthesisError: the library cannot be read. HlsError: the Verilog cannot be made again.
    """
    key = synthesis_key(design, context.target, context.options)
    with _key_lock(context, key):
        return context.cache.cached(
            "synthesis", key, lambda: _map(design, rtl, context)[0], _stored_figures, statuses=_statuses
        )


def mapped_netlist(design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext) -> Netlist:
    """Return the netlist of a design that logic synthesis has labelled, made again when the cache lost it.

    Raises: SynthesisError: it cannot be made, or the library cannot be read.
    """
    cache = context.cache
    record = cache.get("netlist", netlist_key(design, context.target))
    if record is None:
        key = synthesis_key(design, context.target, context.options)
        with _key_lock(context, key):
            figures, record = _map(design, rtl, context)
            stored = cache.get("synthesis", key)
            if stored is None or stored["status"] != OK:
                cache.keep("synthesis", key, asdict(figures), figures.status)
        if record is None:
            raise SynthesisError(f"the netlist cannot be made again: {figures.status}: {figures.reason}")
    return read_netlist_record(record)


def _key_lock(context: ToolContext, key: str) -> FileLock:
    """Keep other threads and processes from working on the same key."""
    path = context.cache.folder / "locks" / key[:2]
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path)


def _map(
    design: DesignRow, rtl: Callable[[], HasVerilog], context: LabelContext
) -> tuple[LabelFigures, dict[str, Any] | None]:
    """Run logic synthesis; its figures, and the record of the netlist, which is stored."""
    text = rtl()
    with context.tool_folder("synthesis") as folder:
        result = synthesize_design(
            text.verilog,
            top=text.module,
            target=context.target,
            folder=folder,
            timeout_s=context.options.synthesis.timeout_s,
        )
    record = None if result.netlist is None else netlist_record(result.netlist)
    if record is not None:
        context.cache.put("netlist", netlist_key(design, context.target), record)
    cells_by_type = canonical_json(result.cells_by_type) if result.status == OK else None
    return LabelFigures.of(result, cells_by_type), record


# ---- power ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedRun:
    """A run that is ok so far.

    Attributes:
        request: design and data; row: of the run, with its cycles.
    """

    request: RunRequest
    row: RunRow


def power_key(design: DesignRow, row: RunRow, target: Target, options: LabelOptions) -> str:
    """Hash what the power of a run, and the stored verdict on its netlist, depend on.

    Args: row: of the run, with its data and the counts of the cycle model.
    """
    return content_hash(
        netlist_key(design, target),
        [design.program_id, row.data_id, row.latency_cycles, row.bytes_read, row.bytes_written],
        [design.memory_read_delay_cycles, design.memory_write_delay_cycles],
        [design.clock_period_ns, power.tool_version(), options.glitches, options.power_timeout_s],
        _POWER_VERSION,
        *(() if _timed_share(row, options) == 1.0 else (options.timed_cycles,)),
    )


def _timed_share(row: RunRow, options: LabelOptions) -> float:
    """Return the share of the cycles of a run in which gates have delays, when they have."""
    cycles, most = row.latency_cycles or 0, options.timed_cycles if options.glitches else None
    return 1.0 if most is None or cycles <= most else most / cycles


def is_timed_alike(row: RunRow, options: LabelOptions) -> bool:
    """Tell whether a row's power, if any, is of all cycles, or of a share of them, as the options ask."""
    if row.power_mw is None:
        return True
    is_sampled = 0 < (row.timed_cycles or 0) < (row.latency_cycles or 0)
    return is_sampled == (_timed_share(row, options) < 1.0)


def add_power(run: Run, request: RunRequest, context: LabelContext) -> Run:
    """Return a run that is ok, with its power, or as a tool_error when the netlist disagrees.

    Raises: SynthesisError, HlsError: the netlist cannot be made again. OSError: the disk is full.
    """
    identity = replace(
        run.identity,
        power_engine=power.ENGINE,
        power_engine_version=power.tool_version(),
        glitches=context.options.glitches,
    )
    counted = CountedRun(request=request, row=run.row())
    key = power_key(request.design, counted.row, context.target, context.options)
    try:
        figures = context.cache.cached(
            "power", key, partial(_power, counted, context), _stored_power, statuses=_power_statuses
        )
    except (ToolMissing, PowerError, UnknownReference) as error:
        figures = PowerFigures(power_status=TOOL_ERROR, power_reason=str(error))
    return replace(run, identity=identity, power=figures)


def _stored_power(stored: dict[str, Any]) -> PowerFigures:
    columns = PowerFigures.__dataclass_fields__
    return PowerFigures(**{name: value for name, value in stored.items() if name in columns})


def _power_statuses(figures: PowerFigures) -> tuple[str | None]:
    """Return the status of the tool; a netlist that differs is ok, as that follows from the inputs."""
    return (figures.power_status if figures.status is None else OK,)


def _power(counted: CountedRun, context: LabelContext) -> PowerFigures:
    result = simulate_netlist(counted, context)
    differs, parts = _difference(counted, result, context), result.parts
    if differs is not None:
        reason = f"the mapped netlist differs from the scheduled design in {differs}"
        return PowerFigures(
            status=TOOL_ERROR,
            reason=reason,
            power_status=TOOL_ERROR,
            power_reason=reason,
            power_wall_s=result.wall_s,
        )
    return PowerFigures(
        power_status=result.status,
        power_reason=result.reason,
        power_mw=result.power_mw,
        energy_nj=result.energy_nj,
        internal_power_mw=parts and parts.internal_mw,
        switching_power_mw=parts and parts.switching_mw,
        leakage_power_mw=parts and parts.leakage_mw,
        toggle_count=result.toggles,
        timed_cycles=None if result.activity is None else result.activity.timed_cycles,
        power_wall_s=result.wall_s,
    )


def simulate_netlist(counted: CountedRun, context: LabelContext) -> PowerResult:
    """Simulate the mapped netlist of a run, and estimate its power.

    Raises: ToolMissing, PowerError, SynthesisError, HlsError, OSError: it cannot be simulated.
    """
    request, options = counted.request, context.options
    run = DesignRun(
        interface=request.interface,
        data=request.data,
        timing=memory_timing(request.design),
        banks=request.compiled().banks,
        cycle_limit=(counted.row.latency_cycles or 0) + _SLACK_CYCLES,
        timed_share=_timed_share(counted.row, options),
    )
    netlist = mapped_netlist(request.design, request.compiled, context)
    with context.tool_folder("power") as folder:
        return estimate_power(
            netlist,
            liberty=load_liberty(context.target.liberty),
            clock_period_ns=request.design.clock_period_ns,
            run=run,
            folder=folder,
            engine_folder=context.cache.folder / "engines",
            glitches=options.glitches,
            timeout_s=options.power_timeout_s,
        )


def _difference(counted: CountedRun, result: PowerResult, context: ToolContext) -> str | None:
    """Name the difference between the netlist and the cycle model; None if equal or unknown."""
    if result.is_endless:
        return f"cycles (more than {counted.row.latency_cycles})"
    if result.latency_cycles is None:
        return None
    expected = expected_outputs(counted.request, context)
    for what, (model, netlist) in compare_outputs(counted, result, expected).items():
        if model != netlist:
            return what if what.startswith("array ") else f"{what} ({model} and {netlist})"
    return None


def compare_outputs(
    counted: CountedRun, result: PowerResult | SimulationResult, expected: OutputDigests
) -> dict[str, tuple[Any, Any]]:
    """Return the figures of the scheduled design and of its netlist, by what they are."""
    row, interface = counted.row, counted.request.interface
    outputs = OutputDigests.of(result.returned, result.outputs)
    return {
        "cycles": (row.latency_cycles, result.latency_cycles),
        "bytes read": (row.bytes_read, moved_bytes(interface, result.loads)),
        "bytes written": (row.bytes_written, moved_bytes(interface, result.stores)),
        "the result": (expected.returned, result.returned),
        **{
            f"array {array.name}": (expected.arrays.get(array.name), outputs.arrays.get(array.name))
            for array in interface.arrays
        },
    }
