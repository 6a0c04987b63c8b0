"""Power of a mapped netlist on given data: switching activity, and energies by the liberty tables.

Belongs here: a simulator of netlists, power and energy of a run, and OpenSTA as a second opinion. Does not:
netlists and timing (`pipelines.silicon.synthesis`), RTL simulation (`pipelines.rtl.simulation`).

Outside this package only the names below are used.
"""

from pipelines.power.encoding import EncodedNetlist, encode_netlist
from pipelines.power.energy import PowerParts, power_parts
from pipelines.power.estimate import (
    ENGINE,
    PowerResult,
    build_engine,
    engine_version,
    estimate_power,
    run_engine,
    tool_version,
)
from pipelines.power.functions import PowerError
from pipelines.power.opensta import (
    OPENSTA,
    OpenStaComparison,
    compare_with_opensta,
    opensta_version,
    ported_verilog,
    verilog_of,
)
from pipelines.power.stimulus import Activity, DesignRun, DesignStimulus, TraceStimulus

__all__ = [
    "ENGINE",
    "OPENSTA",
    "Activity",
    "DesignRun",
    "DesignStimulus",
    "EncodedNetlist",
    "OpenStaComparison",
    "PowerError",
    "PowerParts",
    "PowerResult",
    "TraceStimulus",
    "build_engine",
    "compare_with_opensta",
    "encode_netlist",
    "engine_version",
    "estimate_power",
    "opensta_version",
    "ported_verilog",
    "power_parts",
    "run_engine",
    "tool_version",
    "verilog_of",
]
