"""Measure the functional units of high-level synthesis; part of `characterise_operators`.

Every unit is synthesised alone. Its longest paths are told apart on the mapped netlist: from the operands to
registers, between registers, and from registers to the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from pipelines.c.signature import DOUBLE, FLOAT, ScalarType
from pipelines.hls.units.catalogue import (
    COMPARISONS,
    FunctionalUnit,
    constant_divider,
    converter,
    float_adder,
    float_comparison,
    float_divider,
    float_multiplier,
    float_square_root,
    instance_text,
    integer_divider,
    integer_multiplier,
    module_texts,
)
from pipelines.hls.units.timing import UnitTiming, family
from pipelines.silicon.synthesis import Liberty, SynthesisResult
from pipelines.silicon.synthesis.netlist import Netlist, parse_netlist
from pipelines.silicon.synthesis.timing import analyse_timing

_MULTIPLIER_WIDTHS = (4, 8, 12, 16, 17, 24, 32, 48, 64)
_WIDTHS = (8, 16, 32, 64)
_DIVISOR = 7
"""Divisor of the measured constant dividers: its reciprocal has digits throughout."""


def _integer_units() -> Iterator[FunctionalUnit]:
    for width in _MULTIPLIER_WIDTHS:
        yield integer_multiplier(width)
    for width in _WIDTHS:
        for signed in (True, False):
            scalar = ScalarType(width_bits=width, signed=signed)
            yield integer_divider(scalar)
            yield constant_divider(_DIVISOR, scalar)


def _conversions(scalar: ScalarType) -> Iterator[FunctionalUnit | None]:
    yield converter(scalar, DOUBLE if scalar == FLOAT else FLOAT)
    for width in _WIDTHS:
        for signed in (True, False):
            yield converter(ScalarType(width_bits=width, signed=signed), scalar)
        yield converter(scalar, ScalarType(width_bits=width))


def measured_units() -> Iterator[FunctionalUnit]:
    """The measured units, one per family and width."""
    yield from _integer_units()
    for scalar in (FLOAT, DOUBLE):
        for make in (float_adder, float_multiplier, float_divider, float_square_root):
            yield make(scalar)
        for opcode in COMPARISONS:
            yield float_comparison(opcode, scalar)
        for unit in _conversions(scalar):
            if unit is not None:
                yield unit


def alone(unit: FunctionalUnit) -> str:
    """Verilog of a unit with its modules, as the top module."""
    ports = ["input clk", "input rst", "input go", "input mode"]
    ports += [f"input [{width - 1}:0] {name}" for name, width in unit.ports]
    ports.append(f"output [{unit.output[1] - 1}:0] result")
    instance = instance_text(unit, "unit", [p for p, _ in unit.ports], "result", go="go", mode="mode")
    return f"{module_texts([unit])}module top({', '.join(ports)});\n  {instance}\nendmodule\n"


def _without_register_outputs(netlist: Netlist, liberty: Liberty) -> Netlist:
    """The same netlist in which no path starts at a register."""
    groups = dict(netlist.groups)
    for name, group in netlist.groups.items():
        if liberty.cells[name].flip_flops:
            outputs = {pin for pin in group.pins if liberty.cells[name].pins[pin].direction == "output"}
            kept = {pin: nets for pin, nets in group.pins.items() if pin not in outputs}
            groups[name] = replace(group, pins=kept)
    return replace(netlist, groups=groups)


def _latest_output_ns(netlist: Netlist, liberty: Liberty) -> float:
    arrival = analyse_timing(replace(netlist, inputs={}), liberty).arrival_ns
    nets = np.concatenate(list(netlist.outputs.values()))
    return float(arrival[nets[nets >= 2]].max(initial=0.0))


def path_figures(
    netlist: Netlist, liberty: Liberty, clock_to_q_ns: float, setup_ns: float
) -> dict[str, float]:
    """`input_ns`, `stage_ns` and `output_ns` of a unit's mapped netlist; see `UnitTiming`."""
    from_inputs = _without_register_outputs(netlist, liberty)
    clocked = any(liberty.cells[name].flip_flops for name in netlist.groups)
    if not clocked:
        return {"input_ns": analyse_timing(netlist, liberty).delay_ns, "stage_ns": 0.0, "output_ns": 0.0}
    to_registers = analyse_timing(replace(from_inputs, outputs={}), liberty).delay_ns
    between = analyse_timing(replace(netlist, inputs={}, outputs={}), liberty).delay_ns
    after = _latest_output_ns(netlist, liberty)
    return {
        "input_ns": max(0.0, to_registers - setup_ns),
        "stage_ns": between,
        "output_ns": max(0.0, after - clock_to_q_ns),
    }


def characterise_units(
    measure: Callable[[str], SynthesisResult],
    netlist_file: Path,
    liberty: Liberty,
    clock_to_q_ns: float,
    setup_ns: float,
) -> dict[str, dict[str, dict[str, float]]]:
    """Figures of every measured unit by family and width."""
    table: dict[str, dict[str, dict[str, float]]] = {}
    for unit in measured_units():
        result = measure(alone(unit))
        netlist = parse_netlist(netlist_file.read_bytes(), "top")
        paths = path_figures(netlist, liberty, clock_to_q_ns, setup_ns)
        figures = UnitTiming(
            **{name: round(value, 4) for name, value in paths.items()},
            area_um2=round(result.area_um2 or 0.0, 1),
            flip_flop_count=result.flip_flop_count or 0,
        )
        name, width = family(unit)
        table.setdefault(name, {})[str(width)] = asdict(figures)
    return table


def units_table(measured: dict[str, dict[str, dict[str, float]]]) -> str:
    """The figures as text, a line a unit."""
    lines = [f"{'unit':32}{'bits':>5}{'input':>9}{'stage':>9}{'output':>9}{'um2':>10}{'FF':>6}"]
    for name, widths in measured.items():
        for width, row in widths.items():
            times = "".join(f"{row[key]:9.3f}" for key in ("input_ns", "stage_ns", "output_ns"))
            lines.append(f"{name:32}{width:>5}{times}{row['area_um2']:10.0f}{row['flip_flop_count']:6}")
    return "\n".join(lines) + "\n"
