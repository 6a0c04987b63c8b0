"""One design through logic synthesis: Verilog in, area, cells and delay out."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pipelines.base.tools import full_disk, stopwatch
from pipelines.schemas.columns import OK, TOOL_ERROR
from pipelines.silicon.synthesis import yosys
from pipelines.silicon.synthesis.liberty import Liberty, SynthesisError
from pipelines.silicon.synthesis.liberty_reader import load_liberty
from pipelines.silicon.synthesis.netlist import (
    Netlist,
    cell_area_um2,
    cell_leakage_mw,
    flip_flop_count,
    parse_netlist,
    unmapped_cells,
)
from pipelines.silicon.synthesis.timing import analyse_timing
from pipelines.silicon.synthesis.yosys import YosysFailed, run_yosys

TOOL = "pyosys"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Target of synthesis.

    Attributes:
        liberty: standard-cell library; see `find_liberty`.
        clock_period_ns: clock period the design was scheduled for. Mapping and sizing always go for
            the shortest path (sizing for a period saved 0.1 % of area), so it does not change the
            netlist.
    """

    liberty: Path
    clock_period_ns: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisResult:
    """Result of logic synthesis; the figures are None unless status is ok.

    Attributes:
        status: ok, timeout or tool_error.
        reason: why the status is not ok.
        area_um2: sum of cell areas.
        flip_flop_count: `ff` groups of all cells.
        cell_count, cells_by_type: standard cells.
        delay_ns: longest path; see `analyse_timing`.
        leakage_mw: sum of the cells' leakage; None when the library lacks it for a cell.
        netlist: the mapped netlist.
        tool, tool_version: pyosys, its version and the hash of the recipe.
        wall_s: time of the tool and of timing analysis.
    """

    status: str
    reason: str | None = None
    area_um2: float | None = None
    flip_flop_count: int | None = None
    cell_count: int | None = None
    cells_by_type: dict[str, int] = field(default_factory=dict[str, int])
    delay_ns: float | None = None
    leakage_mw: float | None = None
    netlist: Netlist | None = field(default=None, repr=False, compare=False)
    tool: str = TOOL
    tool_version: str = field(default_factory=yosys.tool_version)
    wall_s: float = 0.0


def _files(verilog: str, target: Target) -> dict[str, bytes]:
    """Return everything that yosys reads, under fixed names."""
    return {
        yosys.LIBERTY_FILE: target.liberty.read_bytes(),
        yosys.VERILOG_FILE: verilog.encode(),
        yosys.CONSTRAINT_FILE: yosys.constraints(load_liberty(target.liberty).smallest_buffer).encode(),
        yosys.CONSTANT_MULTIPLY_FILE: yosys.constant_multiply_map().encode(),
    }


def _check_mapped(netlist: Netlist, liberty: Liberty) -> None:
    """Reject netlists with wrong labels: unknown cells, and latches (osu018's latch has area 0)."""
    alien = unmapped_cells(netlist, liberty)
    latches = {
        t: n
        for t, n in netlist.cells_by_type.items()
        if "_DLATCH" in t or (t in liberty.cells and liberty.cells[t].is_latch)
    }
    if latches:
        got = ", ".join(f"{n} x {t}" for t, n in latches.items())
        raise SynthesisError(f"design has latches: {got}; give every signal a value on every path")
    if alien:
        got = ", ".join(f"{n} x {t}" for t, n in alien.items())
        raise SynthesisError(f"cells not in library {liberty.name}: {got}")


def _measure(content: bytes, top: str, liberty: Liberty, start: float) -> SynthesisResult:
    netlist = parse_netlist(content, top)
    _check_mapped(netlist, liberty)
    timing = analyse_timing(netlist, liberty)
    by_type = netlist.cells_by_type
    return SynthesisResult(
        status=OK,
        area_um2=cell_area_um2(netlist, liberty),
        flip_flop_count=flip_flop_count(netlist, liberty),
        cell_count=sum(by_type.values()),
        cells_by_type=by_type,
        delay_ns=timing.delay_ns,
        leakage_mw=cell_leakage_mw(netlist, liberty),
        netlist=netlist,
        wall_s=stopwatch() - start,
    )


def synthesize_design(
    verilog: str,
    *,
    top: str,
    target: Target,
    folder: Path,
    timeout_s: float = 300,
    repeated: str | None = None,
) -> SynthesisResult:
    """Synthesise a design to standard cells in one fresh process, and time its longest path.

    Args:
        verilog: complete (System)Verilog text.
        top: name of the top module, a plain identifier.
        target: library and clock period.
        folder: working folder of the tool, emptied first; it keeps the log and the mapped netlist.
        timeout_s: limit of the tool's processor time in seconds.
        repeated: name of a module with many instances, each variant of which is mapped once, for paths of
            half a clock period; None maps the design as a whole.
    Returns: the figures, or status timeout or tool_error with the reason.
    Raises:  SynthesisError: the top is not an identifier, or the library cannot be read.
    """
    start = stopwatch()
    commands = yosys.commands(top, repeated=repeated, delay_ns=target.clock_period_ns / 2)
    liberty = load_liberty(target.liberty)
    if not liberty.has_inverter:
        reason = f"library without an inverter: {target.liberty.name}; abc would map to a wrong netlist"
        return SynthesisResult(status=TOOL_ERROR, reason=reason, wall_s=stopwatch() - start)
    try:
        (content,) = run_yosys(
            commands,
            files=_files(verilog, target),
            outputs=[yosys.NETLIST_FILE],
            folder=folder,
            timeout_s=timeout_s,
        )
        return _measure(content, top, liberty, start)
    except SynthesisError as error:
        status = error.status if isinstance(error, YosysFailed) else TOOL_ERROR
        reason = f"{error}{full_disk(folder)}"  # yosys does not notice that its netlist is cut short
        return SynthesisResult(status=status, reason=reason, wall_s=stopwatch() - start)
