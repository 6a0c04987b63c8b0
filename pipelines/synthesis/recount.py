"""Area and flip-flops of a mapped netlist as yosys counts them: a second opinion on our own count.

Belongs here: the commands and the report of yosys' `stat`. Does not: our own count (`netlist.py`).

Of a library's cells yosys makes modules of its own; those with flip-flops in them are flip-flops, two of
yosys' for the state and its inverse of each `ff` group.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from pipelines.synthesis.design import tool_error
from pipelines.synthesis.errors import SynthesisError
from pipelines.synthesis.recipe import COMMAND_FILE, LIBERTY_FILE, LOG_FILE, VERILOG_FILE
from pipelines.tools import run_tool

_WORKER = Path(__file__).with_name("worker.py")
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
    area: float = 0.0
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

    Args:    verilog: module `top` of cells of the library; folder: of the tool's files, made if absent.
    Raises:  SynthesisError: the tool fails, takes longer than timeout_s seconds, or reports something else.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for stale in (LIBERTY_FILE, LOG_FILE):
        (folder / stale).unlink(missing_ok=True)
    (folder / LIBERTY_FILE).symlink_to(liberty.absolute())
    (folder / VERILOG_FILE).write_text(verilog, encoding="utf-8")
    (folder / COMMAND_FILE).write_text("\n".join(_COMMANDS), encoding="utf-8")
    argv = [sys.executable, "-I", str(_WORKER), COMMAND_FILE, LOG_FILE]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s)
    if run.returncode != 0:
        raise SynthesisError(f"yosys must count a netlist's cells, got: {tool_error(run, folder)}")
    return parse_recount(
        (folder / _LIBRARY_REPORT).read_bytes(),
        (folder / _DESIGN_REPORT).read_bytes(),
    )


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
