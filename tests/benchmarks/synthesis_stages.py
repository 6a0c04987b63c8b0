"""Time the stages of logic synthesis on one design.

    python -m tests.benchmarks.synthesis_stages FILE.v --top NAME [--liberty osu018]

Runs the recipe inside this process, command by command, then netlist reading and timing analysis. The
whole is compared with one call of `synthesize_design`, which adds a process of its own.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pipelines.silicon.synthesis import Target, find_liberty, load_liberty, synthesize_design, yosys
from pipelines.silicon.synthesis.netlist import parse_netlist
from pipelines.silicon.synthesis.timing import analyse_timing
from tests.benchmarks.harness import options_parser, timed

# The stage a command belongs to, by its first word; what is not named is optimisation.
STAGES = {
    "read_verilog": "read Verilog",
    "dfflibmap": "map registers",
    "abc": "abc",
    "write_json": "write netlist",
}


def add_time(times: dict[str, float], stage: str, work: Callable[[], Any]) -> Any:
    """Do a piece of work and add its elapsed time to a stage."""
    result, spent = timed(work)
    times[stage] = times.get(stage, 0.0) + spent.wall_s
    return result


def import_yosys() -> Any:
    """The library, loaded when asked."""
    from pyosys import libyosys

    return libyosys


def run_recipe(times: dict[str, float], top: str) -> None:
    """Run every command in the current folder, which a call of the engine has prepared."""
    library = add_time(times, "import pyosys", import_yosys)
    design = library.Design()
    for command in yosys.commands(top):
        stage = STAGES.get(command.split()[0], "optimise")
        quiet = f"tee -q -o stage.log {command}"
        add_time(times, stage, lambda quiet=quiet: library.run_pass(quiet, design))


def main() -> None:
    """Print one line a stage."""
    parser = options_parser(__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--top", required=True)
    parser.add_argument("--liberty")
    options = parser.parse_args()
    times: dict[str, float] = {}
    target = Target(liberty=find_liberty(options.liberty), clock_period_ns=10.0)
    with tempfile.TemporaryDirectory() as folder:
        result = synthesize_design(
            options.file.read_text(), top=options.top, target=target, folder=Path(folder)
        )
        if result.status != "ok":
            sys.exit(f"synthesis must succeed, got {result.status}: {result.reason}")
        os.chdir(folder)
        run_recipe(times, options.top)
        text = Path(yosys.NETLIST_FILE).read_bytes()
        netlist = add_time(times, "read netlist", lambda: parse_netlist(text, options.top))
        liberty = load_liberty(target.liberty)
        add_time(times, "timing analysis", lambda: analyse_timing(netlist, liberty))
    for stage, seconds in times.items():
        print(f"{stage:16} {seconds:7.3f} s")
    sys.stdout.write(
        f"{'one call, whole':16} {result.wall_s:7.3f} s: {result.cell_count} cells, "
        f"{result.area_um2:.0f} um2, {result.flip_flop_count} flip-flops, {result.delay_ns:.3f} ns\n"
    )


if __name__ == "__main__":
    main()
