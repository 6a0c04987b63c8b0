"""One design through synthesis for a Xilinx 7-series FPGA: Verilog in; LUTs, flip-flops, DSPs, block RAM out.

The steps are those of yosys' `synth_xilinx -family xc7 -flatten` without pads and clock buffers, which belong
to a chip and not to a kernel. Two differ, and save half of the time: LUTs are mapped by `abc` and not by
`abc9`, which wants the delays of all cells, and cells that no step gives are not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pipelines.base.tools import full_disk, stopwatch
from pipelines.schemas.columns import OK, TOOL_ERROR
from pipelines.silicon.synthesis import yosys
from pipelines.silicon.synthesis.liberty import SynthesisError
from pipelines.silicon.synthesis.yosys import YosysFailed, run_yosys

XILINX_TOOL = "synth_xilinx"
FAMILY = "xc7"
_VERSION = "01bfbc76"
"""Raise it when the recipe maps a design to other cells, or cells are counted otherwise."""

REPORT_FILE = "cells.json"
_STEPS = f"synth_xilinx -family {FAMILY} -noiopad -noclkbuf -run"
RECIPE = (
    *("chformal -remove", "delete t:$print"),
    "read_verilog -lib +/xilinx/cells_sim.v",
    *("proc", "flatten -noscopeinfo"),
    f"{_STEPS} prepare:map_luts",
    *("opt_expr -mux_undef -noclkinv", "abc -luts 2:2,3,6:5,10,20", "clean"),
    "xilinx_srl -fixed -minlen 3",
    "techmap -map +/xilinx/lut_map.v -map +/xilinx/cells_map.v -D LUT_WIDTH=6",
    *("xilinx_dffopt", "opt_lut_ins -tech xilinx", "clean"),
    f"tee -q -o {REPORT_FILE} stat -json",
)

_LUTS: Mapping[str, int] = {
    **{f"LUT{inputs}": 1 for inputs in range(1, 7)},
    **{"INV": 1, "SRL16E": 1, "SRLC16E": 1, "SRLC32E": 1},
    **{"RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4},
    **{"RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4},
    **{"RAM32M": 4, "RAM64M": 4},
}
"""LUTs of each cell that lies in them. Source: Xilinx UG474 (7 Series CLB), tables of distributed RAM."""
_FLIP_FLOPS = {name: 1 for kind in ("FDRE", "FDSE", "FDCE", "FDPE") for name in (kind, f"{kind}_1")}
_DSPS = {"DSP48E1": 1}
_BRAMS = {"RAMB18E1": 1, "RAMB36E1": 2}
"""Block RAM of 18 Kib."""
_FREE = ("CARRY4", "MUXF7", "MUXF8", "GND", "VCC")
"""Cells of a slice beside its LUTs and flip-flops, and constants."""


class _Module(BaseModel):
    model_config = ConfigDict(extra="ignore")
    num_cells_by_type: dict[str, int] = {}


class _Report(BaseModel):
    model_config = ConfigDict(extra="ignore")
    modules: dict[str, _Module]


_REPORT = TypeAdapter(_Report)


@dataclass(frozen=True, slots=True, kw_only=True)
class FpgaResult:
    """Result of synthesis for an FPGA; the figures are None unless status is ok.

    Attributes:
        status: ok, timeout or tool_error; reason: why it is not ok.
        lut_count: LUTs, of logic, inverters, shift registers and distributed RAM; two small functions that
            could share a LUT count twice.
        flip_flop_count, dsp_count: cells.
        bram_count: block RAM, in units of 18 Kib.
        cells_by_type: cells of every type.
        wall_s: time of the tool.
    """

    status: str
    reason: str | None = None
    lut_count: int | None = None
    flip_flop_count: int | None = None
    dsp_count: int | None = None
    bram_count: int | None = None
    cells_by_type: dict[str, int] | None = None
    wall_s: float = 0.0


def xilinx_version() -> str:
    """Return the version of pyosys and of the recipe: a change of either changes every result's key."""
    return f"{yosys.package_version()}+{FAMILY}.{_VERSION}"


def read_fpga_report(content: bytes, top: str) -> FpgaResult:
    """Read the figures in yosys' JSON report of a mapped design.

    Raises: SynthesisError: not such a report, or a cell that is not of the family.
    """
    try:
        cells = _REPORT.validate_json(content).modules[f"\\{top}"].num_cells_by_type
    except (ValidationError, KeyError) as error:
        raise SynthesisError(f"not a report of yosys' stat: {str(error)[:200]}") from error
    known = {*_LUTS, *_FLIP_FLOPS, *_DSPS, *_BRAMS, *_FREE}
    alien = ", ".join(f"{count} x {name}" for name, count in sorted(cells.items()) if name not in known)
    if alien:
        raise SynthesisError(f"cells that family {FAMILY} has no place for: {alien}")
    return FpgaResult(
        status=OK,
        lut_count=_total(cells, _LUTS),
        flip_flop_count=_total(cells, _FLIP_FLOPS),
        dsp_count=_total(cells, _DSPS),
        bram_count=_total(cells, _BRAMS),
        cells_by_type=dict(sorted(cells.items())),
    )


def _total(cells: Mapping[str, int], units: Mapping[str, int]) -> int:
    return sum(count * units.get(name, 0) for name, count in cells.items())


def synthesize_for_fpga(verilog: str, *, top: str, folder: Path, timeout_s: float = 300) -> FpgaResult:
    """Map a design to 7-series cells in one fresh process, and count them; nothing is placed or timed.

    Args:
        verilog: complete (System)Verilog text.
        top: name of the top module, a plain identifier.
        folder: working folder of the tool, emptied first.
        timeout_s: limit of the tool's processor time in seconds.
    Returns: the figures, or status timeout or tool_error with the reason.
    Raises:  SynthesisError: the top is not an identifier.
    """
    start = stopwatch()
    commands = (*yosys.read_commands(top), *RECIPE)
    try:
        (content,) = run_yosys(
            commands,
            files={yosys.VERILOG_FILE: verilog.encode()},
            outputs=[REPORT_FILE],
            folder=folder,
            timeout_s=timeout_s,
        )
        result = read_fpga_report(content, top)
    except SynthesisError as error:
        status = error.status if isinstance(error, YosysFailed) else TOOL_ERROR
        result = FpgaResult(status=status, reason=f"{error}{full_disk(folder)}")
    return replace(result, wall_s=stopwatch() - start)
