"""Clock edges, clock gates, unpacked array ports and macros with arguments of random designs."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from pipelines.rtl.reuse import SYSTEMVERILOG, VERILOG
from pipelines.rtl.reuse.schedules import Clock
from tests.support.random_expressions import expression
from tests.support.random_kinds import WIDTHS, Array, Clocking, Kind, Module, Writer

_SECOND = {
    Clocking.FALLING: "other_clk",
    Clocking.GATED: "gated_clk",
    Clocking.BOTH: "gated_clk",
    Clocking.PERIODS: "clk_b",
}
"""Second clock port of a module."""
_FALLING = (Clocking.FALLING, Clocking.BOTH)
_GATED = (Clocking.GATED, Clocking.BOTH)
TOP_CLOCKS = ("clk", "clk_b", "clk_c")
"""Clocks of a bundle with periods; others have the first one."""
_PERIODS = (1, 2, 3, 5, 7)
_MOST_ELEMENTS = 4


def language_of(seed: int) -> str:
    """The language of a design."""
    return SYSTEMVERILOG if Kind.of(seed).has_arrays else VERILOG


def top_clocks(seed: int) -> tuple[str, ...]:
    """Clock ports of a bundle."""
    return TOP_CLOCKS if Kind.of(seed).clocking is Clocking.PERIODS else TOP_CLOCKS[:1]


def periods_of(seed: int) -> Mapping[str, Clock]:
    """Periods of the clocks of a bundle, equal for all seeds of a run; none with one clock."""
    kind = Kind.of(seed)
    if kind.clocking is not Clocking.PERIODS:
        return {}
    rng = random.Random(kind.run)
    periods = [rng.choice(_PERIODS) for _ in TOP_CLOCKS]
    return {
        name: Clock(period, rng.randrange(period)) for name, period in zip(TOP_CLOCKS, periods, strict=True)
    }


def icg_module(name: str, kind: Kind) -> str:
    """A clock gate as a module of its own; empty where gates have no use."""
    if kind.clocking not in _GATED:
        return ""
    latch = "always_latch" if kind.has_arrays else "always @(*)"
    return (
        f"module {name} (input clk, input source, input enable, input test, output gated);\n"
        f"  reg held;\n  {latch} if (!clk) held = enable | test;\n"
        "  assign gated = source & held;\nendmodule\n"
    )


def add_clocks(writer: Writer, module: Module) -> None:
    """A second clock port, and the edges of both that registers take."""
    clocking = writer.kind.clocking
    if clocking is Clocking.ONE:
        return
    second = _SECOND[clocking]
    module.clocks.append(second)
    writer.events.append(f"posedge {second}")
    if clocking in _FALLING:
        writer.events.append("negedge clk")
    if clocking is Clocking.FALLING:
        writer.events.append(f"negedge {second}")
        inverse = writer.fresh("n")
        writer.lines.append(f"  wire {inverse} = ~{writer.rng.choice(module.clocks)};")
        writer.gates.append(inverse)
        writer.events.append(f"posedge {inverse}")


def add_gate(writer: Writer, module: Module, design: str) -> None:
    """A clock gate inside the module or as an instance; perhaps behind another one."""
    rng, kind = writer.rng, writer.kind
    name, enable = writer.fresh("g"), expression(writer, 2)
    source = rng.choice((*module.clocks, *writer.gates))
    # With falling edges a latch has the clock itself; a latch of another gated clock is none of a gate.
    clock = "clk" if kind.clocking is Clocking.BOTH else rng.choice(("clk", source))
    wire = f"  wire {name}_en = {enable}; wire {name};"
    if clock == "clk" and rng.random() < 0.5:
        test = rng.choice(("1'b0", writer.resets[0] if writer.resets else "1'b0"))
        pins = f".clk({clock}), .source({source}), .enable({name}_en), .test({test}), .gated({name})"
        writer.lines += [wire, f"  {design}_icg {name}_u ({pins});"]
    else:
        latch = "always_latch" if kind.has_arrays else f"always @({clock} or {name}_en)"
        writer.lines += [
            wire,
            f"  reg {name}_l; {latch} if (~{clock}) {name}_l = {name}_en;",
            f"  assign {name} = {rng.choice((f'{source} & {name}_l', f'{name}_l & {source}'))};",
        ]
    writer.gates.append(name)
    writer.events.append(f"posedge {name}")


def clock_pins(writer: Writer, module: Module, child: Module) -> str:
    """Clock pins of an instance, with a comma behind each."""
    rng, clocking = writer.rng, writer.kind.clocking
    if clocking is Clocking.ONE:
        return ".clk(clk), "
    nets = {"clk": "clk", child.clocks[1]: rng.choice((*module.clocks, *writer.gates))}
    if clocking is Clocking.PERIODS:
        nets["clk"] = rng.choice(module.clocks)
    return "".join(f".{port}({net}), " for port, net in nets.items())


# ---- unpacked array ports ----------------------------------------------------------------------------------


def add_arrays(writer: Writer, module: Module) -> None:
    """Up to two array ports; elements of inputs are signals."""
    if not writer.kind.has_arrays:
        return
    for number in range(writer.rng.randint(0, 2)):
        module.arrays.append(_array(writer, f"v{number}", is_output=writer.rng.random() < 0.5))
        if not module.arrays[-1].is_output:
            _add_elements(writer, module.arrays[-1])


def _array(writer: Writer, name: str, *, is_output: bool) -> Array:
    low, size = writer.rng.randint(0, 2), writer.rng.randint(1, _MOST_ELEMENTS)
    ends = (low, low + size - 1) if writer.rng.random() < 0.6 else (low + size - 1, low)
    width = writer.rng.choice(WIDTHS)
    return Array(name=name, width=width, left=ends[0], right=ends[1], is_output=is_output)


def _add_elements(writer: Writer, array: Array) -> None:
    writer.signals += [(f"{array.name}[{index}]", array.width, False) for index in array.indices]


def assign_arrays(writer: Writer, module: Module) -> None:
    """Values of the elements of array outputs."""
    for array in module.arrays:
        if array.is_output:
            _assign(writer, array)


def _assign(writer: Writer, array: Array) -> None:
    for index in array.indices:
        writer.lines.append(f"  assign {array.name}[{index}] = {expression(writer, 2)};")


def array_pins(writer: Writer, child: Module, *, is_row: bool = False) -> list[str]:
    """Pins of an instance: nets of the same shape, perhaps counted from the other side.

    Outputs of a row of instances stay open.
    """
    pins, outputs = list[str](), list[Array]()
    for port in child.arrays:
        if port.is_output and is_row:
            pins.append(f".{port.name}()")
            continue
        array = replace(port, name=writer.fresh("t"))
        if writer.rng.random() < 0.3:
            array = replace(array, left=port.right, right=port.left)
        writer.lines.append(f"  {array.declared('wire')};")
        pins.append(f".{port.name}({array.name})")
        if port.is_output:
            outputs.append(array)
        else:
            _assign(writer, array)
    for array in outputs:
        _add_elements(writer, array)
    return pins


# ---- macros ------------------------------------------------------------------------------------------------


def add_macro(writer: Writer) -> None:
    """A macro of two arguments in two variants, which expressions use."""
    if writer.kind.clocking is Clocking.ONE or writer.rng.random() < 0.4:
        return
    rng, name = writer.rng, f"MIX_{writer.name}"
    first, second, third = (rng.choice(("SYNTHESIS", "VERILATOR", "FORMAL", "YOSYS")) for _ in range(3))
    writer.lines += [
        f"`ifdef {first}",
        f"  `ifndef {second}",
        f"    `define {name}(a, b) ((a) {rng.choice('+-^&|')} (b))",
        "  `else",
        f"    `define {name}(a, b) ((b) {rng.choice('+-^&|')} 4'd3)",
        "  `endif",
        f"`elsif {third}",
        f"  `define {name}(a, b) (~(a))",
        "`else",
        f"  `define {name}(a, b) ((a) ? (b) : 8'd{rng.randint(0, 99)})",
        "`endif",
    ]
    writer.macro = name
