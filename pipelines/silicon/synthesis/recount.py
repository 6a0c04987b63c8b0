"""A netlist and its library read by another yosys: the executable on PATH, not the library that mapped it.

Debian 12 has version 0.23, three years older than pyosys, in a build of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pipelines.base.tools import find_tool, run_tool
from pipelines.silicon.synthesis.liberty import SynthesisError
from pipelines.silicon.synthesis.yosys import LIBERTY_FILE, VERILOG_FILE, YosysFailed, run_yosys

SECOND_YOSYS = "yosys"

_MODELS_FILE = "models.v"
_LIBRARY_REPORT, _DESIGN_REPORT, _AREA_REPORT = "library.json", "design.json", "area.txt"
_REFERENCE_FILE, _REFERENCE_CELL = "reference.lib", "one_flip_flop"
_REFERENCE = f"""library (reference) {{
  cell ({_REFERENCE_CELL}) {{
    ff (IQ, IQN) {{ clocked_on : "C"; next_state : "D"; }}
    pin (C) {{ direction : input; }}
    pin (D) {{ direction : input; }}
    pin (Q) {{ direction : output; function : "IQ"; }}
  }}
}}
"""
"""One flip-flop: version 0.23 reads it as one cell of its own, 0.70 as two."""
_READ_LIBRARY = f"read_liberty -ignore_miss_func -ignore_miss_dir {LIBERTY_FILE}"
_COMMANDS = (
    f"read_liberty {_REFERENCE_FILE}",
    _READ_LIBRARY,
    # Version 0.23 writes no JSON without a top, and no area in JSON.
    f"tee -o {_LIBRARY_REPORT} stat -json -top {_REFERENCE_CELL}",
    "design -reset",
    f"read_liberty -lib {LIBERTY_FILE}",
    f"read_verilog {VERILOG_FILE}",
    "hierarchy -check -top top",
    f"tee -o {_DESIGN_REPORT} stat -json -top top",
    f"tee -o {_AREA_REPORT} stat -liberty {LIBERTY_FILE} -top top",
)
_AREA = re.compile(r"Chip area for (?:top )?module '\\top': ([0-9.]+)\s*$", re.MULTILINE)
_UNKNOWN_AREA = re.compile(r"Area for cell type (\S+) is unknown")


@cache
def second_yosys_version() -> str:
    """Return the version of the `yosys` on PATH.

    Raises: ToolMissing: it is not installed.
    """
    argv = [find_tool("yosys", "yosys"), "-V"]
    run = run_tool(argv, folder=Path("/"), timeout_s=30, memory_bytes=None)
    return run.stdout.removeprefix("Yosys ").strip()


class _ModuleCounts(BaseModel):
    model_config = ConfigDict(extra="ignore")
    num_cells_by_type: dict[str, int] = {}


class _Report(BaseModel):
    model_config = ConfigDict(extra="ignore")
    modules: dict[str, _ModuleCounts]


_REPORT = TypeAdapter(_Report)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recount:
    """Counts of yosys in a netlist.

    Attributes:
        area_um2: sum of cell areas.
        cell_count: standard cells; flip_flop_count: `ff` groups of all cells.
    """

    area_um2: float
    cell_count: int
    flip_flop_count: int


def recount_cells(verilog: str, *, liberty: Path, folder: Path, timeout_s: float = 120.0) -> Recount:
    """Count a structural netlist's cells with the second yosys, in one fresh process.

    Args:    verilog: module `top` of cells of the library; folder: of the tool's files, emptied first;
             timeout_s: limit of processor time in seconds.
    Raises:  SynthesisError: the tool fails, exceeds its limit, or its report has another form.
             ToolMissing: it is not installed.
    """
    try:
        library, design, area = run_yosys(
            _COMMANDS,
            files={
                LIBERTY_FILE: liberty.read_bytes(),
                VERILOG_FILE: verilog.encode(),
                _REFERENCE_FILE: _REFERENCE.encode(),
            },
            outputs=[_LIBRARY_REPORT, _DESIGN_REPORT, _AREA_REPORT],
            folder=folder,
            timeout_s=timeout_s,
            program=find_tool("yosys", "yosys"),
        )
    except YosysFailed as failure:
        raise SynthesisError(f"yosys did not count a netlist's cells: {failure}") from failure
    return parse_recount(library, design, area)


def parse_recount(library: bytes, design: bytes, area: bytes) -> Recount:
    """Parse the counts in yosys' reports of a library's cells and of module `top`.

    Raises: SynthesisError: not such reports.
    """
    try:
        library_cells = _REPORT.validate_json(library).modules
        reference = _states(library_cells[f"\\{_REFERENCE_CELL}"])
        by_type = _REPORT.validate_json(design).modules["\\top"].num_cells_by_type
    except (ValidationError, KeyError) as error:
        raise SynthesisError(f"not a report of yosys' stat: {str(error)[:200]}") from error
    states = {name.removeprefix("\\"): _states(cell) // reference for name, cell in library_cells.items()}
    return Recount(
        area_um2=_area_um2(area.decode(errors="replace"), by_type),
        cell_count=sum(by_type.values()),
        flip_flop_count=sum(count * states.get(kind, 0) for kind, count in by_type.items()),
    )


def _area_um2(report: str, by_type: dict[str, int]) -> float:
    unknown, areas = _UNKNOWN_AREA.search(report), _AREA.findall(report)
    if unknown is not None:
        raise SynthesisError(f"not a report of yosys' stat: area of {unknown[1]} is unknown")
    if not areas and by_type:
        raise SynthesisError("not a report of yosys' stat: no chip area")
    try:
        return float(areas[-1]) if areas else 0.0
    except ValueError as error:
        raise SynthesisError(f"not a report of yosys' stat: chip area {areas[-1][:40]!r}") from error


def _states(cell: _ModuleCounts) -> int:
    """Return the flip-flops of yosys in a cell that it read from liberty."""
    kinds = cell.num_cells_by_type.items()
    return sum(count for kind, count in kinds if kind.startswith(("$_DFF", "$_ALDFF")))


def cell_models(liberty: Path, *, folder: Path, timeout_s: float = 120.0) -> str:
    """Return the Verilog of a library's cells as the second yosys reads their functions; registers start at
    random.

    Args:    folder: of the tool's files, emptied first; timeout_s: limit of processor time in seconds.
    Returns: a module of each cell that has functions.
    Raises:  SynthesisError: the tool fails or exceeds its limit. ToolMissing: it is not installed.
    """
    try:
        (models,) = run_yosys(
            (_READ_LIBRARY, f"write_verilog -noattr {_MODELS_FILE}"),
            files={LIBERTY_FILE: liberty.read_bytes()},
            outputs=[_MODELS_FILE],
            folder=folder,
            timeout_s=timeout_s,
            program=find_tool("yosys", "yosys"),
        )
    except YosysFailed as failure:
        raise SynthesisError(f"yosys did not read the functions of cells: {failure}") from failure
    return re.sub(r"^(\s*reg (\S+);)$", r"\1 initial \2 = $random;", models.decode(), flags=re.MULTILINE)
