"""Inputs of the engines behind high-level synthesis: cycle model, simulators, logic synthesis, power."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.extend(
    str(Path(__file__).resolve().parents[1] / area) for area in ("cyclemodel", "power", "synthesis", "rtlsim")
)

from engine_outputs import Folders, Output, outcome
from every_type import PROGRAMS
from power_designs import SMALL_LIBERTY as POWER_LIBERTY
from power_designs import netlist_of
from sample_designs import DESIGNS
from sample_designs import SMALL_LIBERTY as TIMING_LIBERTY

from pipelines import power
from pipelines.c import parse_directives, read_function
from pipelines.c.signature import INT32, Argument, DataSet, Interface
from pipelines.cyclemodel import CycleResult, count_cycles
from pipelines.hls import CompiledDesign, HlsOptions, compile_program, innermost_loops
from pipelines.native import native_version, run_native
from pipelines.programs import draw_data
from pipelines.rtl.simulation import (
    MemoryTiming,
    SimulationResult,
    simulate_design,
    simulate_with_icarus,
)
from pipelines.silicon import synthesis
from pipelines.silicon.synthesis import xilinx, yosys

# ---- cycle model ------------------------------------------------------------------------------------------

_OPERATORS = """
#include <stdint.h>
#include <math.h>
int64_t f(int32_t a[8], uint32_t b[8], uint64_t c[8], float x[8], double y[8], int8_t n)
{
    int64_t s = ~(int64_t)n;
    for (int i = 0; i < 8; i++) {
        s += a[i] / (n + 20) + a[i] % 7 - (a[i] >> (i & 3)) * (a[i] < n) + (b[i] >= 3u ? b[i] / 5u : -n);
        c[i] = (c[i] << (i + 1)) / (b[i] + 1u) ^ c[i] % 11u | (c[i] > 9u) & (a[i] != 4) + (a[i] == 2);
        b[i] = b[i] / 10u + (a[i] <= 3);
        y[i] = sqrt(fabs(y[i])) * x[i] - (double)c[i] + (x[i] > 0.25f) / 3.0;
        x[i] = fabsf(-x[i]) + sqrtf((float)(i + 1)) / 3.5f + (float)y[i] * (float)INFINITY;
        s ^= (int64_t)(float)i | (int32_t)y[i] % 2;
    }
    return s;
}
"""
_BANKED = """
void f(short A[4][6], int t[6], int B[4][6])
{
#pragma HLS array_partition variable=A type=cyclic factor=2 dim=2
#pragma HLS array_partition variable=B type=block factor=3 dim=2
    int line[40] = {3, 1, 4, 1, 5};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++) {
            if (A[i][j] > 2) B[i][j] = A[i][j] * t[j] + line[(i + j) & 31];
            line[j] += i;
        }
}
"""
_ENDLESS = "int f(int x) { while (x != 7) x = x | 1; return x; }"
_OUTSIDE = "void f(int A[3], int n) { for (int i = 0; i < n; i++) A[i] = i; }"


def _compiled(source: str, *, pipelined: bool = False, top: str = "f") -> CompiledDesign:
    loops = innermost_loops(read_function(source, top=top)) if pipelined else []
    text = ",".join(f'{{"kind":"pipeline","loop":"{loop}"}}' for loop in loops)
    return compile_program(source, top=top, options=HlsOptions(directives=parse_directives(f"[{text}]")))


def _counted(result: CycleResult) -> object:
    return [
        result.status,
        result.latency_cycles,
        result.returned,
        result.outputs,
        result.block_visits,
        result.iterations,
        result.loads,
        result.stores,
        result.bytes_read,
        result.bytes_written,
    ]


def cycle_model_outputs(folders: Folders) -> Iterator[Output]:
    """Cycles, accesses and values of designs of every type and operation, and of runs that fail."""
    folder = folders.scratch
    sources = {**PROGRAMS, "operators": _OPERATORS, "banked": _BANKED}
    for name, source in sources.items():
        for pipelined in (False, True):
            design = _compiled(source, pipelined=pipelined)
            data = draw_data(design.interface, "{}", seed=3)
            yield (
                f"{name}{' pipelined' if pipelined else ''}",
                _counted(count_cycles(design, data, folder=folder)),
            )
    endless, outside = _compiled(_ENDLESS), _compiled(_OUTSIDE)
    number = {"x": np.array(2, np.int32)}
    yield "endless", _counted(count_cycles(endless, number, folder=folder, cycle_limit=1000))
    beyond = {"A": np.zeros(3, np.int32), "n": np.array(6, np.int32)}
    yield "outside", _counted(count_cycles(outside, beyond, folder=folder))
    yield (
        "no time to compile",
        count_cycles(_compiled("int f(int x) { return x; }"), number, folder=folder, timeout_s=1e-5).status,
    )


# ---- native C ---------------------------------------------------------------------------------------------


_HOSTILE = """
extern void exit(int), abort(void);
extern long write(int, const void *, unsigned long);
extern int symlink(const char *, const char *);
"""


def native_outputs(folders: Folders) -> Iterator[Output]:
    """Values of a program of every type, and verdicts on programs that fail each in its own way."""
    every_type = PROGRAMS["every type"]
    interface = _compiled(every_type).interface
    run = run_native(
        every_type, interface, draw_data(interface, "{}", seed=3), folder=folders.scratch / "all"
    )
    yield "every type", [run.status, run.outputs, run.returned]
    shape = Interface(
        top="f",
        arguments=(
            Argument(name="a", type=INT32, shape=(5,), read=True, written=True),
            Argument(name="n", type=INT32, shape=(), read=True, written=False),
        ),
        returns=INT32,
    )
    data: DataSet = {"a": np.full(5, 3, np.int32), "n": np.array(3, np.int32)}
    bodies = {
        "overflow": "return n + 2147483647;",
        "outside": "a[n + 2] = 1; return 0;",
        "large locals": "int c[9000000]; for (int i = 0; i < 9000000; i++) c[i] = i * n / 3; return c[n];",
        "unset": "int x; a[0] = x; return x;",
        "unset address": "int x; if (x == 0) a[100000000 + n] = 1; return 0;",
        "not C": "return c;",
        "incomplete": "return g(1);",
        "endless": "while (n) { } return 0;",
        "exit": "exit(0); return 0;",
        "output": "char c[4096] = {1}; for (int i = 0; i < 1000; i++) write(1, c, 4096); return 0;",
        "link": 'symlink("/etc/passwd", "outputs.bin"); return 0;',
        "abort": "abort(); return 0;",
        "double definition": "return 0; } int simfoundry_top(void) { return 1;",
    }
    for name, body in bodies.items():
        source = f"{_HOSTILE}\nint f(int a[5], int n) {{ {body} }}\n"
        run = run_native(source, shape, data, folder=folders.scratch / "one", timeout_s=0.3)
        yield name, [run.status, run.outputs, run.returned]
    other = run_native("int h(void) { return 1; }", shape, data, folder=folders.scratch / "one")
    yield "no top", other.status
    reading = "int g(int *a, int n) { return a[n + 7]; }\nint f(int a[5], int n) { return g(a, n); }\n"
    outside = f'# 1 "part.h"\n{reading}'
    yield "outside in a header", run_native(outside, shape, data, folder=folders.scratch / "one").status
    yield "version", len(native_version()) > 0
    blocked = folders.scratch / "file"
    blocked.write_text("not a folder")
    yield "blocked folder", run_native("int f(void) { return 1; }", shape, data, folder=blocked).status


# ---- RTL simulation ---------------------------------------------------------------------------------------

_RTL = """
#include <stdint.h>
double f(int8_t a[4], uint16_t b[3][2], int64_t c[4], float x[5], double k, int n)
{
    double s = k;
    for (int i = 0; i < n; i++) {
        a[i] = a[i] * 3 + b[i % 3][i & 1];
        c[i] -= a[i];
        x[i] = x[i] * 0.5f;
        s += x[i];
    }
    return s;
}
"""


def _simulated(result: SimulationResult) -> object:
    return [
        result.status,
        result.latency_cycles,
        result.returned,
        result.outputs,
        result.loads,
        result.stores,
    ]


def rtl_outputs(folders: Folders) -> Iterator[Output]:
    """Both test benches on a design of every type of port with banks, and on runs that fail."""
    options = HlsOptions(
        memory_read_delay_cycles=3,
        directives=parse_directives(
            '[{"kind":"partition","variable":"a","style":"cyclic","value":2,"dimension":1},'
            '{"kind":"partition","variable":"c","style":"block","value":2,"dimension":1},'
            '{"kind":"partition","variable":"b","style":"complete","dimension":2}]'
        ),
    )
    design = compile_program(_RTL, top="f", options=options)
    data = draw_data(design.interface, '{"n": {"kind": "constant", "value": 4}}', seed=5)
    common: dict[str, Any] = {
        "module": design.module,
        "interface": design.interface,
        "data": data,
        "timing": MemoryTiming(read_delay_cycles=3, write_delay_cycles=2),
        "banks": design.banks,
    }

    def folder(name: str) -> Path:
        made = folders.scratch / name
        made.mkdir()
        return made

    verilated = simulate_design(
        design.verilog, folder=folder("verilator"), runtime_folder=folders.runtimes, **common
    )
    yield "verilator", _simulated(verilated)
    yield "icarus", _simulated(simulate_with_icarus(design.verilog, folder=folder("icarus"), **common))
    short = simulate_with_icarus(design.verilog, folder=folder("short"), cycle_limit=5, **common)
    yield "icarus past its limit", _simulated(short)
    for name, verilog in {
        "no Verilog": "module f_hw (input clk; endmodule",
        "no control ports": "module f_hw (input clk); endmodule",
    }.items():
        broken = dict(common, module="f_hw")
        run = simulate_design(verilog, folder=folder(name), runtime_folder=folders.runtimes, **broken)
        yield name, _simulated(run)
        yield (
            f"{name}, icarus",
            _simulated(simulate_with_icarus(verilog, folder=folder(f"{name} i"), **broken)),
        )
    beyond = dict(common, data={**data, "n": np.array(9, np.int32)})
    yield (
        "outside, icarus",
        _simulated(simulate_with_icarus(design.verilog, folder=folder("outside"), **beyond)),
    )


# ---- logic synthesis --------------------------------------------------------------------------------------


def _liberty(folder: Path, text: str, name: str = "small.lib") -> Path:
    path = folder / name
    path.write_text(text)
    return path


_LIBERTY_ERRORS = (
    "",
    "library (x);",
    "library (x) { }",
    "library (x) {\n cell (A) {\n",
    "library (x) {\n cell (A {\n} }",
    "library (x) { cell }",
    "library (x) {\n : 3; }",
    "library (x) {\n cell (A) { area : wide; } }",
    'library (x) { time_unit : "1h"; cell (A) { } }',
    'library (x) {\n cell (A) {\n area : "3; } }',
    "library (x) {" + "a () {" * 40 + "}" * 41,
    "library (x) { cell (A) { ff (Q) { } } }",
    "library (x) {\n/* cell (A) { area : 1; } }",
)


def synthesis_outputs(folders: Folders) -> Iterator[Output]:
    """Labels, timing and records of small designs in two libraries, and inputs that are rejected."""
    folder = folders.scratch
    osu018 = synthesis.find_liberty("osu018")
    target = synthesis.Target(liberty=osu018, clock_period_ns=10.0)
    for name in ("counter", "reset_counter"):
        result = synthesis.synthesize_design(DESIGNS[name], top=name, target=target, folder=folder / name)
        yield name, result
        if result.netlist is not None:
            record = synthesis.netlist_record(result.netlist)
            yield f"{name} record", record
            yield (
                f"{name} timing",
                synthesis.analyse_timing(
                    synthesis.read_netlist_record(record), synthesis.load_liberty(osu018)
                ),
            )
            text = power.verilog_of(result.netlist)
            yield f"{name} recount", synthesis.recount_cells(text, liberty=osu018, folder=folder / "recount")
    yield "recipe", [yosys.commands("top"), yosys.constraints("cell"), yosys.constant_multiply_map()]
    yield "fpga recipe", xilinx.RECIPE
    yield (
        "fpga",
        synthesis.synthesize_for_fpga(DESIGNS["counter"], top="counter", folder=folder / "fpga"),
    )
    latch = "module top(input g, input d, output reg q); always @* if (g) q = d; endmodule"
    for name, text in {"latch": latch, "no Verilog": "module top("}.items():
        result = synthesis.synthesize_design(text, top="top", target=target, folder=folder / "failed")
        yield name, result.status
    yield (
        "no identifier",
        outcome(lambda: synthesis.synthesize_design("", top="a b", target=target, folder=folder / "failed")),
    )
    yield "osu018", synthesis.load_liberty(osu018)
    small = synthesis.load_liberty(_liberty(folder, TIMING_LIBERTY))
    yield "small library", small
    netlist = netlist_of(
        {"clk": ("input", [2]), "d": ("input", [3]), "y": ("output", [6, "0"])},
        ("FF", "CK=2 D=3 Q=4"),
        ("INV", "A=4 Y=5"),
        ("BUF", "A=5 Y=6"),
        ("FF", "CK=2 D=5 Q=7"),
    )
    yield "small timing", synthesis.analyse_timing(netlist, small)
    circle = netlist_of({"y": ("output", [3])}, ("INV", "A=3 Y=4"), ("INV", "A=4 Y=3"))
    yield "combinational loop", outcome(lambda: synthesis.analyse_timing(circle, small))
    twice = netlist_of({"a": ("input", [2]), "y": ("output", [3])}, ("INV", "A=2 Y=3"), ("BUF", "A=2 Y=3"))
    yield "two drivers", outcome(lambda: synthesis.analyse_timing(twice, small))
    for number, text in enumerate(_LIBERTY_ERRORS):
        path = _liberty(folder, text, f"wrong{number}.lib")
        yield f"wrong library {number}", outcome(lambda path=path: synthesis.load_liberty(path))
    yield "unknown library", outcome(lambda: synthesis.find_liberty("osu999"))
    yield "library by path", synthesis.find_liberty(str(osu018)) == osu018
    yield "library hash", len(synthesis.liberty_hash(osu018))
    yield "no record", outcome(lambda: synthesis.read_netlist_record({"net_count": 3}))


# ---- power ------------------------------------------------------------------------------------------------


_KERNEL = """
#include <stdint.h>
int f(int8_t bias, int8_t A[4], int8_t C[4])
{
    int total = 0;
    for (int i = 0; i < 4; i++) {
        C[i] = A[i] + bias;
        total += C[i];
    }
    return total;
}
"""


def _activity(net_count: int) -> power.Activity:
    nets = np.arange(net_count)
    return power.Activity(cycles=100, toggles=7 * nets % 60 + 5, ones=13 * nets % 90 + 5)


def _estimated(result: power.PowerResult) -> object:
    return [
        result.status,
        result.power_mw,
        result.energy_nj,
        result.parts,
        result.latency_cycles,
        result.returned,
        result.outputs,
        result.loads,
        result.stores,
        result.toggles,
        result.is_endless,
    ]


def power_outputs(folders: Folders) -> Iterator[Output]:
    """Power of a kernel and of small netlists, and what OpenSTA is told, where it is installed."""
    folder = folders.scratch
    osu018 = synthesis.find_liberty("osu018")
    library = synthesis.load_liberty(osu018)
    kernel = compile_program(_KERNEL, top="f", options=HlsOptions())
    target = synthesis.Target(liberty=osu018, clock_period_ns=10.0)
    mapped = synthesis.synthesize_design(
        kernel.verilog, top=kernel.module, target=target, folder=folder / "hw"
    )
    if mapped.netlist is None:
        raise RuntimeError(f"no netlist of the kernel: {mapped.reason}")
    netlist, data = mapped.netlist, draw_data(kernel.interface, "{}", seed=1)
    run = power.DesignRun(
        interface=kernel.interface,
        data=data,
        timing=MemoryTiming(read_delay_cycles=2, write_delay_cycles=2),
        banks=kernel.banks,
        noise=True,
    )
    common: dict[str, Any] = {
        "liberty": library,
        "folder": folder / "run",
        "engine_folder": folders.engines,
        "clock_period_ns": 10.0,
    }
    for glitches in (True, False):
        result = power.estimate_power(netlist, run=run, glitches=glitches, **common)
        yield f"kernel, glitches {glitches}", _estimated(result)
    sampled = replace(run, timed_share=0.5)
    yield "kernel, half of the cycles timed", _estimated(power.estimate_power(netlist, run=sampled, **common))
    limited = replace(run, cycle_limit=5)
    yield "past its limit", _estimated(power.estimate_power(netlist, run=limited, **common))
    yield "kernel Verilog", power.verilog_of(netlist)
    bad_delay = replace(run, timing=MemoryTiming(read_delay_cycles=0, write_delay_cycles=1))
    for name, changes in {
        "no delay": {"run": bad_delay},
        "no period": {"run": run, "clock_period_ns": 0.0},
        "wrong data": {"run": replace(run, data={**data, "A": np.zeros(3, np.int8)})},
    }.items():
        yield name, outcome(lambda c=changes: power.estimate_power(netlist, **{**common, **c}))

    small = synthesis.load_liberty(_liberty(folder, POWER_LIBERTY))
    ports: dict[str, tuple[str, list[int | str]]] = {
        "clk": ("input", [2]),
        "r": ("input", [3]),
        "a": ("input", [4, 5]),
        "y": ("output", [8, 9, 10]),
    }
    cells = [
        ("XOR", "A=4 B=5 Y=6"),
        ("INV", "A=6 Y=7"),
        ("FF", "CK=2 R=3 D=7 Q=8 QN=9"),
        ("AND", "A=7 B=8 Y=10"),
    ]
    mixed = netlist_of(ports, *cells)
    timing = synthesis.analyse_timing(mixed, small)
    encoded = power.encode_netlist(mixed, small, timing)
    yield "encoded", encoded
    yield "parts", power.power_parts(mixed, small, timing, _activity(mixed.net_count), clock_period_ns=10.0)
    whole = netlist_of(ports, *cells[:3])
    timing = synthesis.analyse_timing(whole, small)
    yield (
        "all parts",
        power.power_parts(whole, small, timing, _activity(whole.net_count), clock_period_ns=5.0),
    )
    bits = np.arange(40, dtype=np.uint64)
    trace = power.TraceStimulus(
        encoded=encoded, ports={"r": np.minimum(bits, np.uint64(1)), "a": bits % np.uint64(4)}, watched=("y",)
    )
    for delays in (False, True):
        ended = power.run_engine(
            encoded,
            lambda delays=delays: trace.content(delays=delays),
            folder=folder / "trace",
            engine_folder=folders.engines,
            timeout_s=60,
        )
        yield f"trace with timed cycles, delays {delays}", trace.result(ended.content)
    yield "short trace", outcome(lambda: replace(trace, ports={"r": bits[:1]}).content(delays=True))
    for name, kinds in {
        "latch": [("LATCH", "D=4 G=5 Q=6")],
        "no design": [("INV", "A=4 Y=6")],
    }.items():
        wrong = netlist_of({"a": ("input", [4, 5]), "y": ("output", [6])}, *kinds)
        yield (
            name,
            outcome(
                lambda n=wrong: _estimated(power.estimate_power(n, run=run, **{**common, "liberty": small}))
            ),
        )


def opensta_outputs(folders: Folders) -> Iterator[Output]:
    """OpenSTA's figures and ours of a netlist of ports and one with a clock."""
    osu018 = synthesis.find_liberty("osu018")
    cells = [("XOR2X1", "A=2 B=3 Y=5"), ("AOI21X1", "A=5 B=4 C=3 Y=6"), ("MUX2X1", "A=5 B=6 S=4 Y=7")]
    cells += [("FAX1", "A=5 B=6 C=7 YC=8 YS=9"), ("INVX1", "A=8 Y=10")]
    plain = netlist_of({"a": ("input", [2, 3, 4]), "y": ("output", [9, 10])}, *cells)
    clocked = netlist_of(
        {"clk": ("input", [2]), "a": ("input", [3]), "y": ("output", [6])},
        ("INVX1", "A=3 Y=4"),
        ("DFFPOSX1", "CLK=2 D=4 Q=5"),
        ("NAND2X1", "A=4 B=5 Y=6"),
    )
    for name, netlist, clock in (("ports", plain, None), ("clocked", clocked, 2)):
        yield (
            name,
            power.compare_with_opensta(
                netlist,
                _activity(netlist.net_count),
                liberty=synthesis.load_liberty(osu018),
                liberty_path=osu018,
                clock=clock,
                clock_period_ns=10.0,
                folder=folders.scratch / name,
            ),
        )
