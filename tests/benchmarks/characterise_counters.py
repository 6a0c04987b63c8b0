"""Measure how a counter's carry slows down beside a longer path, and operators narrower than the library's.

    python -m tests.benchmarks.characterise_counters [--liberty osu018]

A module computes i + 1 (and i + 5) from port to port at several widths; beside it a register takes nothing,
a sum, a comparison of a sum, or a sum of a sum. One line a module: the time of the counter, the longest path.
Then selections of few bits. The figures stand beside the constants of `pipelines/hls/critical_path.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from pipelines.silicon.synthesis import Target, find_liberty, load_liberty, synthesize_design
from pipelines.silicon.synthesis.netlist import parse_netlist
from pipelines.silicon.synthesis.timing import analyse_timing
from pipelines.silicon.synthesis.yosys import NETLIST_FILE
from tests.benchmarks.harness import options_parser

WIDTHS = (8, 16, 32, 64)
STEPS = (1, 5)
BESIDE = ("0", "p + q", "(p + q) < r", "((p + q) & r) + q")
NARROW_WIDTHS = (1, 2, 4, 8)


def _counter(width: int, step: int, beside: str) -> str:
    ports = f"input clk, input [31:0] p, input [31:0] q, input signed [31:0] r, input [{width - 1}:0] i"
    return (
        f"module top({ports}, output [{width - 1}:0] y, output reg [31:0] z);\n"
        f"  assign y = i + {width}'d{step};\n"
        f"  always @(posedge clk) z <= {beside};\nendmodule\n"
    )


def _selection(width: int) -> str:
    ports = f"input s, input [{width - 1}:0] a, input [{width - 1}:0] b, output [{width - 1}:0] y"
    return f"module top({ports});\n  assign y = s ? a : b;\nendmodule\n"


def measure(verilog: str, target: Target) -> tuple[float, float]:
    """When port `y` settles, and the longest path of the module, in ns."""
    with tempfile.TemporaryDirectory() as folder:
        result = synthesize_design(verilog, top="top", target=target, folder=Path(folder))
        if result.status != "ok":
            raise RuntimeError(f"synthesis must succeed, got {result.status}: {result.reason}")
        netlist = parse_netlist((Path(folder) / NETLIST_FILE).read_bytes(), "top")
    timing = analyse_timing(netlist, load_liberty(target.liberty))
    return float(timing.arrival_ns[netlist.outputs["y"]].max()), timing.delay_ns


def main() -> None:
    """Print the table."""
    parser = options_parser(__doc__)
    parser.add_argument("--liberty", help="library name or liberty file; osu018 by default")
    options = parser.parse_args()
    target = Target(liberty=find_liberty(options.liberty), clock_period_ns=10.0)
    for step in STEPS:
        for beside in BESIDE:
            for width in WIDTHS:
                settled, longest = measure(_counter(width, step, beside), target)
                name = f"i + {step}, {width} bits, beside {beside}"
                print(f"{name:45}{settled:6.2f}{longest:6.2f} ns")
    for width in NARROW_WIDTHS:
        settled, _ = measure(_selection(width), target)
        name = f"s ? a : b, {width} bits"
        print(f"{name:45}{settled:6.2f} ns")


if __name__ == "__main__":
    main()
