"""Area and flip-flops of a mapped netlist as yosys counts them: a second opinion on our own count.

Of a library's cells yosys makes modules of its own; those with flip-flops in them are flip-flops, two of
yosys' for the state and its inverse of each `ff` group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipelines.synthesis.errors import SynthesisError
from pipelines.synthesis.recipe import LIBERTY_FILE, VERILOG_FILE
from pipelines.synthesis.yosys import YosysFailed, run_yosys

_LIBRARY_REPORT, _DESIGN_REPORT = "library.json", "design.json"
_COMMANDS = (
    f"read_liberty -ignore_miss_func -ignore_miss_dir {LIBERTY_FILE}",
    f"tee -o {_LIBRARY_REPORT} stat -json",
    "design -reset",
    f"read_liberty -lib {LIBERTY_FILE}",
    f"read_verilog {VERILOG_FILE}",
    "hierarchy -check -top top",
    f"tee -o {_DESIGN_REPORT} stat -json -liberty {LIBERTY_FILE} -top top",
)


class _ModuleCounts(BaseModel):
    model_config = ConfigDict(extra="ignore")
    area: float = Field(default=0.0, ge=0.0, allow_inf_nan=False)
    num_cells_by_type: dict[str, int] = {}


class _Report(BaseModel):
    model_config = ConfigDict(extra="ignore")
    modules: dict[str, _ModuleCounts]


_REPORT = TypeAdapter(_Report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recount:
    """What yosys counts in a netlist.

    Attributes:
        area_um2: sum of cell areas.
        cell_count: standard cells; flip_flop_count: `ff` groups of all cells.
    """

    area_um2: float
    cell_count: int
    flip_flop_count: int


def recount_cells(verilog: str, *, liberty: Path, folder: Path, timeout_s: float = 120.0) -> Recount:
    """Count a structural netlist's cells with yosys, in one fresh process.

    Args:    verilog: module `top` of cells of the library; folder: of the tool's files, emptied first;
             timeout_s: limit of processor time in seconds.
    Raises:  SynthesisError: the tool fails, passes its limit, or reports something else.
    """
    try:
        library, design = run_yosys(
            _COMMANDS,
            files={LIBERTY_FILE: liberty.read_bytes(), VERILOG_FILE: verilog.encode()},
            outputs=[_LIBRARY_REPORT, _DESIGN_REPORT],
            folder=folder,
            timeout_s=timeout_s,
        )
    except YosysFailed as failure:
        raise SynthesisError(f"yosys did not count a netlist's cells: {failure}") from failure
    return parse_recount(library, design)


def parse_recount(library: bytes, design: bytes) -> Recount:
    """The counts in yosys' reports of a library's cells and of module `top`.

    Raises: SynthesisError: not such reports.
    """
    try:
        cells = _REPORT.validate_json(library).modules
        top = _REPORT.validate_json(design).modules["\\top"]
    except (ValidationError, KeyError) as error:
        raise SynthesisError(f"a report must be one of yosys' stat, got {str(error)[:200]}") from error
    states = {name.removeprefix("\\"): _states(counts.num_cells_by_type) for name, counts in cells.items()}
    by_type = top.num_cells_by_type
    return Recount(
        area_um2=top.area,
        cell_count=sum(by_type.values()),
        flip_flop_count=sum(count * states.get(kind, 0) for kind, count in by_type.items()),
    )


def _states(by_type: Mapping[str, int]) -> int:
    """`ff` groups in a cell that yosys made of liberty."""
    return sum(count for kind, count in by_type.items() if kind.startswith(("$_DFF", "$_ALDFF"))) // 2
