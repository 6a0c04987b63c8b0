"""Power of the kernels' netlists: outputs against the RTL, power against OpenSTA, the simulator's speed.

    python -m tests.benchmarks.power_against_opensta [--only A,B] [--unregistered] [--json FILE]

Each kernel is compiled without directives, synthesised for osu018, and simulated on one data set without and
with delays; what the netlist computes must equal the cycle model (which equals Verilator). The activity with
delays goes to OpenSTA. One line a kernel:

    outputs   equal or not
    mcc_per_s million cells times cycles a processor second, without and with delays
    glitch    changes with delays over changes without
    delay, switching, leakage   ours over OpenSTA's, less 1
    internal  our tables under the rule of OpenSTA 2.0.17 over its figure, less 1; and our figure over its

`--unregistered` also gives the netlist as it is to OpenSTA, whose switching power is then off because it
overwrites the activity of cells behind input ports, and predicts that figure by doing the same.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from pipelines.c.signature import DataSet, same_values
from pipelines.cyclemodel import count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program
from pipelines.power import (
    Activity,
    DesignRun,
    DesignStimulus,
    EncodedNetlist,
    build_engine,
    compare_with_opensta,
    encode_netlist,
    power_parts,
    run_engine,
)
from pipelines.power.functions import Expression, parse_function
from pipelines.power.opensta import tool_power
from pipelines.programs import SUITES, draw_data, kernel_programs
from pipelines.schemas import ProgramRow
from pipelines.silicon.synthesis import Target, find_liberty, load_liberty, synthesize_design
from pipelines.silicon.synthesis.liberty import Liberty
from pipelines.silicon.synthesis.netlist import Netlist, parse_netlist
from pipelines.silicon.synthesis.timing import analyse_timing
from tests.benchmarks.harness import KeptRows, Row, options_parser, split_names
from tests.benchmarks.hls_runs import timing_of

PERIOD_NS = 10.0
DEFAULT_INPUT = (0.1, 0.5)  # changes a cycle and share at 1 that OpenSTA gives a port nothing was said of


def evaluated(function: Expression, known: dict[str, tuple[float, float]]) -> tuple[float, float]:
    """Changes a cycle and share at 1 of a function, as `Power::evalActivity` of OpenSTA computes them."""
    if function.operator == "pin":
        return known.get(function.name, (0.0, 0.0))
    if function.operator == "constant":
        return 0.0, float(function.name)
    changes, shares = zip(*(evaluated(o, known) for o in function.operands), strict=True)
    if function.operator == "not":
        return changes[0], 1.0 - shares[0]
    if function.operator == "and":
        return changes[0] * shares[1] + changes[1] * shares[0], shares[0] * shares[1]
    zeros = [1.0 - s for s in shares]
    if function.operator == "or":
        return changes[0] * zeros[1] + changes[1] * zeros[0], 1.0 - zeros[0] * zeros[1]
    one, other = shares[0] * zeros[1], shares[1] * zeros[0]
    return changes[0] * one + changes[1] * other, one + other


def combinational(netlist: Netlist, liberty: Liberty) -> Iterator[tuple[dict[str, int], str, int]]:
    """Nets by pin, function and output net of every gate."""
    for type_name, group in netlist.groups.items():
        cell = liberty.cells[type_name]
        for i in range(0 if cell.is_sequential else len(group.names)):
            nets = {p: int(n[i]) for p, n in group.pins.items() if n[i] >= 0}
            for pin in cell.pins.values():
                if pin.function and pin.name in nets:
                    yield nets, pin.function, nets[pin.name]


def overwritten_activity(
    netlist: Netlist, liberty: Liberty, activity: Activity, clock: int | None
) -> tuple[Activity, int]:
    """The activity after OpenSTA has spread that of input ports through gates; and the gates it changed."""
    toggles, ones = activity.toggles / activity.cycles, activity.ones / activity.cycles
    reached = np.zeros(netlist.net_count, bool)
    for nets in netlist.inputs.values():
        chosen = nets[nets != clock] if clock is not None else nets
        reached[chosen], toggles[chosen], ones[chosen] = True, *DEFAULT_INPUT
    gates = list(combinational(netlist, liberty))
    arrival = analyse_timing(netlist, liberty).arrival_ns.max(axis=1)
    gates.sort(key=lambda g: arrival[g[2]])  # latest arrivals never fall along a path
    changed, again = 0, True
    while again:  # a gate may arrive before its slowest input when delays are negative
        again, changed = False, 0
        for nets, function, output in gates:
            expression = parse_function(function)
            if any(reached[nets[p]] for p in expression.pins if p in nets):
                values = {p: (float(toggles[n]), float(ones[n])) for p, n in nets.items()}
                found = evaluated(expression, values)
                again |= not reached[output] or found != (toggles[output], ones[output])
                (toggles[output], ones[output]), reached[output] = found, True
                changed += 1
    return Activity(cycles=1, toggles=toggles, ones=ones), changed


class Design:
    """A kernel as a netlist, with one data set."""

    def __init__(self, program: ProgramRow, liberty: Path, folder: Path) -> None:
        self.compiled: CompiledDesign = compile_program(program.source, top=program.top, options=HlsOptions())
        target = Target(liberty=liberty, clock_period_ns=PERIOD_NS)
        result = synthesize_design(
            self.compiled.verilog, top=self.compiled.module, target=target, folder=folder
        )
        if result.status != "ok":
            sys.exit(f"{program.name}: synthesis must succeed, got {result.status}: {result.reason}")
        self.cells, self.flip_flops = result.cell_count or 0, result.flip_flop_count or 0
        self.netlist = parse_netlist((folder / "netlist.json").read_bytes(), self.compiled.module)
        self.data: DataSet = draw_data(self.compiled.interface, program.inputs, seed=1)

    def run(self) -> DesignRun:
        return DesignRun(
            interface=self.compiled.interface,
            data=self.data,
            banks=self.compiled.banks,
            timing=timing_of(HlsOptions()),
        )


def simulate(
    design: Design, encoded: EncodedNetlist, folder: Path, *, delays: bool
) -> tuple[Activity, float, bool]:
    """Activity, million cells times cycles a processor second, and whether outputs are the model's."""
    stimulus = DesignStimulus(encoded=encoded, run=design.run())
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = run_engine(
        encoded,
        lambda: stimulus.content(delays=delays),
        folder=folder / "run",
        engine_folder=folder / "engine",
        timeout_s=600,
    )
    if run.status != "ok":
        sys.exit(f"the netlist must run, got {run.status}: {run.reason}")
    processor_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    found = stimulus.result(run.content)
    (folder / "cycles").mkdir(exist_ok=True)
    model = count_cycles(design.compiled, design.data, folder=folder / "cycles")
    equal = (found.latency_cycles, found.returned) == (model.latency_cycles, model.returned)
    equal &= all(same_values(v, model.outputs[n]) for n, v in found.outputs.items())
    return found.activity, design.cells * found.latency_cycles / processor_s / 1e6, equal


def unregistered(
    design: Design, liberty: Liberty, path: Path, activity: Activity, clock: int | None, folder: Path
) -> dict[str, float]:
    """Ours over OpenSTA's switching power when cells stand behind ports; and with overwritten activity."""
    tool = tool_power(
        design.netlist,
        activity,
        liberty_path=path,
        clock=clock,
        clock_period_ns=PERIOD_NS,
        folder=folder / "plain",
    )
    changed, gates = overwritten_activity(design.netlist, liberty, activity, clock)
    timing = analyse_timing(design.netlist, liberty)
    ours, predicted = (
        power_parts(design.netlist, liberty, timing, a, clock_period_ns=PERIOD_NS).switching_mw
        for a in (activity, changed)
    )
    return {
        "plain": ours / tool.switching_mw - 1,
        "predicted": predicted / tool.switching_mw - 1,
        "overwritten": gates / design.cells,
    }


def measure(program: ProgramRow, path: Path, *, plain: bool) -> Row:
    """All figures of one kernel."""
    liberty = load_liberty(path)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        design = Design(program, path, folder / "synthesis")
        build_engine(folder / "engine")
        encoded = encode_netlist(design.netlist, liberty, analyse_timing(design.netlist, liberty))
        calm, fast, first = simulate(design, encoded, folder, delays=False)
        activity, slow, second = simulate(design, encoded, folder, delays=True)
        found = compare_with_opensta(
            design.netlist,
            activity,
            liberty=liberty,
            liberty_path=path,
            clock=encoded.clock,
            clock_period_ns=PERIOD_NS,
            folder=folder / "sta",
        )
        more = unregistered(design, liberty, path, activity, encoded.clock, folder) if plain else {}
    tool = found.tool
    return {
        "kernel": program.name,
        "cells": design.cells,
        "flip_flops": design.flip_flops,
        "cycles": activity.cycles,
        "outputs_equal": first and second,
        "zero_delay_mcc_per_s": fast,
        "with_delays_mcc_per_s": slow,
        "glitch": float(activity.toggles.sum() / calm.toggles.sum()),
        "power_mw": found.parts.total_mw,
        "delay": found.delay_ns / found.tool_delay_ns - 1,
        "switching": found.parts.switching_mw / tool.switching_mw - 1,
        "leakage": found.parts.leakage_mw / tool.leakage_mw - 1,
        "internal_by_rule": found.expected_internal_mw / tool.internal_mw - 1,
        "internal_over_tool": found.parts.internal_mw / tool.internal_mw,
        **more,
    }


def line_of(row: Row) -> str:
    shown = {k: v for k, v in row.items() if k not in ("kernel", "outputs_equal")}
    words = [f"{k} {v:.3g}" if abs(float(v)) < 1e3 else f"{k} {v:.0f}" for k, v in shown.items()]
    return f"{row['kernel']:24} {'equal' if row['outputs_equal'] else 'NOT EQUAL'}  " + "  ".join(words)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one line a kernel."""
    parser = options_parser(__doc__)
    parser.add_argument("--only", default="", help="names of kernels, with commas")
    parser.add_argument("--unregistered", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    wanted, path = split_names(options.only), find_liberty("osu018")
    kept = KeptRows(options.json, lambda row: row["kernel"])
    for program in kernel_programs(suites=SUITES, sizes=("small",)):
        if not wanted or any(f"{program.name}-".startswith(f"{name}-") for name in wanted):
            row = kept.add(measure(program, path, plain=options.unregistered))
            print(line_of(row), flush=True)


if __name__ == "__main__":
    main()
