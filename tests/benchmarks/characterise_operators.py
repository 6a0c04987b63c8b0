"""Measure what each operator and functional unit costs in a standard-cell library, with our own synthesis.

    python -m tests.benchmarks.characterise_operators [--liberty osu018] [--json FILE]

An operator stands between input and output ports, without registers: its delay is the longest path
from port to port, purely combinational, its area that of its cells. Shifts take a variable
distance. A multiplexer of n inputs has a binary select. Clock-to-output and set-up time are those
of a register whose output drives one gate and whose data comes from one, so a chain of operators
fits a clock period when clock_to_q_ns + sum of delays + setup_ns is not above it. The functional units
(`characterise_units`) have registers, and their paths are given apart.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from pipelines.silicon.synthesis import (
    SynthesisResult,
    Target,
    find_liberty,
    liberty_sha256,
    load_liberty,
    synthesize_design,
    tool_version,
)
from pipelines.silicon.synthesis.netlist import parse_netlist
from pipelines.silicon.synthesis.timing import analyse_timing
from pipelines.silicon.synthesis.yosys import NETLIST_FILE
from tests.benchmarks.harness import options_parser, write_json

sys.path.insert(0, str(Path(__file__).resolve().parent))
from characterise_units import characterise_units, units_table

WIDTHS = (8, 16, 32, 64)
BINARY = {
    "add": "a + b",
    "sub": "a - b",
    "mul": "a * b",
    "and": "a & b",
    "or": "a | b",
    "xor": "a ^ b",
}
COMPARE = {"lt": "$signed(a) < $signed(b)", "ult": "a < b", "eq": "a == b"}
# shr is the one of signed numbers, as in C; lshr fills with zeros
SHIFT = {"shl": "a << s", "shr": "$signed(a) >>> s", "lshr": "a >> s"}
MULTIPLEXERS = (2, 4, 8, 16)


def _module(ports: str, width: int, expression: str) -> str:
    result = f"output [{width - 1}:0] y"
    return f"module top({ports}, {result});\n  assign y = {expression};\nendmodule\n"


def _operators(width: int) -> dict[str, str]:
    """Verilog of every operator at one width, by name."""
    pair = f"input [{width - 1}:0] a, input [{width - 1}:0] b"
    distance = f"input [{width - 1}:0] a, input [{width.bit_length() - 2}:0] s"
    modules = {name: _module(pair, width, text) for name, text in BINARY.items()}
    modules |= {name: _module(pair, 1, text) for name, text in COMPARE.items()}
    modules |= {name: _module(distance, width, text) for name, text in SHIFT.items()}
    for inputs in MULTIPLEXERS:
        ports = f"input [{inputs * width - 1}:0] a, input [{inputs.bit_length() - 2}:0] s"
        modules[f"mux{inputs}"] = _module(ports, width, f"a[s * {width} +: {width}]")
    return modules


def _register(width: int) -> str:
    port = f"input clk, input [{width - 1}:0] d, output reg [{width - 1}:0] q"
    return f"module top({port});\n  always @(posedge clk) q <= d;\nendmodule\n"


# One inverting gate between two registers: its path is clock-to-output, the gate and set-up time.
_ONE_GATE = """module top(input clk, input a, input b, output reg y);
  reg p, q;
  always @(posedge clk) begin p <= a; q <= b; y <= ~(p & q); end
endmodule
"""


class Bench:
    """Synthesises small modules for one library."""

    def __init__(self, liberty: Path, folder: Path) -> None:
        self.target = Target(liberty=liberty, clock_period_ns=10.0)
        self.folder = folder

    def measure(self, verilog: str) -> SynthesisResult:
        result = synthesize_design(verilog, top="top", target=self.target, folder=self.folder)
        if result.status != "ok":
            raise RuntimeError(f"synthesis must succeed, got {result.status}: {result.reason}")
        return result

    def register_times_ns(self) -> tuple[float, float]:
        """Clock-to-output and set-up time around one gate, which is left out of both."""
        self.measure(_ONE_GATE)
        netlist = parse_netlist((self.folder / "netlist.json").read_bytes(), "top")
        liberty = load_liberty(self.target.liberty)
        timing = analyse_timing(netlist, liberty)
        flip_flops = {t: g for t, g in netlist.groups.items() if liberty.cells[t].flip_flops}
        data = [n for g in flip_flops.values() for n in g.pins["D"]]
        latest_data = max(float(timing.arrival_ns[n].max()) for n in data)
        return timing.clock_to_q_ns, timing.delay_ns - latest_data


def characterise(liberty: str | None) -> dict[str, Any]:
    """Delays in ns and areas in um2 of every operator at every width."""
    with tempfile.TemporaryDirectory() as folder:
        path = find_liberty(liberty)
        bench = Bench(path, Path(folder))
        clock_to_q, setup = bench.register_times_ns()
        operators: dict[str, dict[str, dict[str, float]]] = {}
        for width in WIDTHS:
            for name, verilog in _operators(width).items():
                result = bench.measure(verilog)
                operators.setdefault(name, {})[str(width)] = {
                    "delay_ns": round(result.delay_ns or 0.0, 4),
                    "area_um2": round(result.area_um2 or 0.0, 1),
                }
            area = bench.measure(_register(width)).area_um2
            operators.setdefault("register", {})[str(width)] = {
                "delay_ns": 0.0,
                "area_um2": round(area or 0.0, 1),
            }
        units = characterise_units(
            bench.measure,
            bench.folder / NETLIST_FILE,
            load_liberty(bench.target.liberty),
            clock_to_q,
            setup,
        )
    return {
        "liberty": path.stem.removesuffix("_stdcells"),
        "liberty_sha256": liberty_sha256(path),
        "tool_version": tool_version(),
        "measured": "port to port, combinational; register times around one gate",
        "clock_to_q_ns": round(clock_to_q, 4),
        "setup_ns": round(setup, 4),
        "operators": operators,
        "units": units,
    }


def _table(measured: dict[str, Any]) -> str:
    lines = [f"{'operator':10}" + "".join(f"{w:>7} bit{'':12}" for w in WIDTHS)]
    for name, by_width in measured["operators"].items():
        cells = (by_width[str(w)] for w in WIDTHS)
        lines.append(
            f"{name:10}" + "".join(f"{c['delay_ns']:7.3f} ns {c['area_um2']:8.0f} um2" for c in cells)
        )
    lines.append(
        f"clock to output {measured['clock_to_q_ns']} ns, set-up {measured['setup_ns']} ns "
        f"({measured['liberty']}, {measured['tool_version']})"
    )
    return "\n".join(lines) + "\n" + units_table(measured["units"])


def main() -> None:
    """Print the table; write it as JSON when asked."""
    parser = options_parser(__doc__)
    parser.add_argument("--liberty", help="library name or liberty file; osu018 by default")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()
    measured = characterise(options.liberty)
    sys.stdout.write(_table(measured))
    write_json(options.json, measured)


if __name__ == "__main__":
    main()
