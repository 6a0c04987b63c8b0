"""Static timing of hand-written netlists against arithmetic done by hand and against OpenSTA."""

from __future__ import annotations

import json
import re
import shutil
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sample_designs import DESIGNS

from pipelines.base.tools import run_tool
from pipelines.silicon.synthesis import SynthesisError, Target, load_liberty, synthesize_design
from pipelines.silicon.synthesis.liberty import Table, TableStack
from pipelines.silicon.synthesis.netlist import Netlist, cell_area_um2, parse_netlist
from pipelines.silicon.synthesis.timing import analyse_timing

WORKER = Path(__file__).parents[2] / "pipelines" / "silicon" / "synthesis" / "worker.py"


def netlist_of(ports: dict[str, tuple[str, list[int | str]]], *cells: tuple[str, str]) -> Netlist:
    """A netlist; a cell is its type and `pin=net` words, a net a number or '0' or '1'."""
    module = {
        "ports": {n: {"direction": d, "bits": b} for n, (d, b) in ports.items()},
        "cells": {
            f"u{i}": {
                "type": kind,
                "connections": {
                    pin: [net if net in "01" else int(net)]
                    for pin, net in (word.split("=") for word in pins.split())
                },
            }
            for i, (kind, pins) in enumerate(cells)
        },
    }
    return parse_netlist(json.dumps({"modules": {"top": module}}), "top")


def inverter_ns(load_ff: float, transition_ps: float, *, rising: bool) -> float:
    delay = 100 + load_ff + transition_ps / 2
    return (delay if rising else 2 * delay) / 1000


def test_two_inverters_have_the_delay_computed_by_hand(small_liberty: Path) -> None:
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [4])}, ("INV", "A=2 Y=3"), ("INV", "A=3 Y=4"))
    timing = analyse_timing(netlist, load_liberty(small_liberty))
    # net 3 drives an inverter: 5 fF rising, 3 fF falling; net 4 an output port: 20 fF
    first_rise, first_fall = inverter_ns(5, 0, rising=True), inverter_ns(3, 0, rising=False)
    slew_rise, slew_fall = 200 + 2 * 5, 200 + 2 * 3
    fall = first_rise + inverter_ns(20, slew_rise, rising=False)
    rise = first_fall + inverter_ns(20, slew_fall, rising=True)
    assert timing.delay_ns == pytest.approx(max(rise, fall), abs=1e-12)
    assert timing.arrival_ns[netlist.outputs["y"][0]].tolist() == pytest.approx([rise, fall])


def test_transition_below_zero_counts_as_zero(small_liberty: Path) -> None:
    steep = small_liberty.read_text().replace("245, 270, 320", "5, 255, 755")
    steep = steep.replace("265, 290, 340", "5, 255, 755")  # 2.5 times the input's, less 245 ps
    small_liberty.write_text(steep)
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [4])}, ("INV", "A=2 Y=3"), ("INV", "A=3 Y=4"))
    timing = analyse_timing(netlist, load_liberty(small_liberty))
    assert timing.transition_ns[netlist.outputs["y"][0]].tolist() == [0.0, 0.0]
    fall = inverter_ns(5, 0, rising=True) + inverter_ns(20, 0, rising=False)
    rise = inverter_ns(3, 0, rising=False) + inverter_ns(20, 0, rising=True)
    assert timing.arrival_ns[netlist.outputs["y"][0]].tolist() == pytest.approx([rise, fall])


def test_register_path_counts_clock_to_output_logic_and_set_up(small_liberty: Path) -> None:
    netlist = netlist_of(
        {"clk": ("input", [2]), "d": ("input", [3])},
        ("FF", "CK=2 D=3 Q=4"),
        ("BUF", "A=4 Y=5"),
        ("FF", "CK=2 D=5 Q=6"),
    )
    timing = analyse_timing(netlist, load_liberty(small_liberty))
    # rising: 200 + 50, set-up 30 + 100 / 10; falling: 220 + 60, set-up 10 + 200 / 10
    assert timing.delay_ns == pytest.approx(max(0.250 + 0.040, 0.280 + 0.030))
    assert timing.clock_to_q_ns == pytest.approx(0.220)


def test_constants_and_unconnected_pins_carry_no_transition(small_liberty: Path) -> None:
    liberty = load_liberty(small_liberty)
    ports = {"y": ("output", [4]), "one": ("output", ["1"])}
    constant = netlist_of(ports, ("INV", "A=0 Y=4"), ("BUF", "Y=5"))
    timing = analyse_timing(constant, liberty)
    assert timing.delay_ns == 0.0
    assert np.isneginf(timing.arrival_ns[constant.outputs["y"]]).all()


def test_wire_from_port_to_port_has_no_delay(small_liberty: Path) -> None:
    wire = netlist_of({"a": ("input", [2]), "y": ("output", [2])})
    assert analyse_timing(wire, load_liberty(small_liberty)).delay_ns == 0.0


def test_timing_rejects_a_combinational_loop(small_liberty: Path) -> None:
    loop = netlist_of({}, ("INV", "A=2 Y=3"), ("BUF", "A=3 Y=2"), ("INV", "A=3 Y=4"))
    with pytest.raises(SynthesisError, match="netlist has a combinational loop, 3 nets are in"):
        analyse_timing(loop, load_liberty(small_liberty))


def test_lookup_equals_bilinear_interpolation_of_each_table() -> None:
    rng = np.random.default_rng(3)
    tables = [
        Table(
            first=np.sort(rng.random(rows)),
            second=np.sort(rng.random(columns)),
            values=rng.normal(size=(rows, columns)),
        )
        for rows, columns in ((1, 1), (1, 4), (5, 1), (2, 2), (6, 5))
    ]

    def along(points: np.ndarray, values: np.ndarray, x: float) -> np.ndarray:
        if points.size == 1:
            return values[0]
        i = int(np.clip(np.searchsorted(points, x, side="right") - 1, 0, points.size - 2))
        return values[i] + (values[i + 1] - values[i]) * (x - points[i]) / (points[i + 1] - points[i])

    spots = [-0.5, 0.0, 0.3, 0.62, 1.0, 2.5]  # beyond both ends too
    for number, table in enumerate(tables):
        for x, y in product([*spots, *table.first], [*spots, *table.second]):
            got = TableStack(tables).at(np.array([number]), np.array([x]), np.array([y]))[0]
            assert got == pytest.approx(along(table.second, along(table.first, table.values, x), y))


def test_parse_netlist_rejects_what_is_not_a_netlist() -> None:
    with pytest.raises(SynthesisError, match="netlist is not yosys JSON: Invalid JSON"):
        parse_netlist("{", "top")
    with pytest.raises(SynthesisError, match="netlist is not yosys JSON: Field required"):
        parse_netlist('{"modules": {"top": {}}}', "top")
    with pytest.raises(SynthesisError, match="unknown top module: 'b'; modules: a"):
        parse_netlist('{"modules": {"a": {"ports": {}, "cells": {}}}}', "b")


def run_yosys(folder: Path, *commands: str) -> None:
    (folder / "check.txt").write_text("\n".join(commands))
    argv = [sys.executable, "-I", str(WORKER), "check.txt", "check.log"]
    run = run_tool(argv, folder=folder, timeout_s=60)
    assert run.returncode == 0, run.last_words()


def path_ns(report: str) -> float:
    """Length of one path of an OpenSTA report, from its launching edge, set-up time included."""
    launch = re.search(r"(\S+)\s+\S+\s+clock clk \((?:rise|fall) edge\)", report)
    arrival = re.search(r"(\S+)\s+data arrival time", report)
    setup = re.search(r"(\S+)\s+\S+\s+library setup time", report)
    assert launch is not None, report
    assert arrival is not None, report
    return float(arrival[1]) - float(launch[1]) - (float(setup[1]) if setup else 0.0)


def opensta_delay_ns(folder: Path, liberty: Path, top: str, *, clocked: bool) -> float:
    """Longest path by OpenSTA, which reads the netlist as Verilog and lists every end point."""
    run_yosys(folder, "read_json netlist.json", "write_verilog -noattr -noexpr netlist.v")
    script = f"""read_liberty {{{liberty}}}
read_verilog netlist.v
link_design {top}
create_clock -name clk -period 100 {"[get_ports clk]" if clocked else ""}
set_input_delay 0 -clock clk [all_inputs]
set_output_delay 0 -clock clk [all_outputs]
set_load 0.02 [all_outputs]
report_checks -path_delay max -digits 6 -group_count 2000
"""
    (folder / "check.tcl").write_text(script)
    argv = ["sta", "-no_splash", "-exit", "check.tcl"]
    text = run_tool(argv, folder=folder, timeout_s=60, memory_bytes=None).stdout
    reports = [r for r in text.split("Startpoint:")[1:] if "recovery" not in r]
    assert reports, text
    return max(path_ns(r) for r in reports)


@pytest.mark.sample(2)
@pytest.mark.skipif(shutil.which("sta") is None, reason="needs sta of the package opensta")
@pytest.mark.parametrize("name", DESIGNS)
def test_delay_is_that_of_opensta(name: str, osu018: Target, tmp_path: Path) -> None:
    result = synthesize_design(DESIGNS[name], top=name, target=osu018, folder=tmp_path)
    expected = opensta_delay_ns(tmp_path, osu018.liberty, name, clocked=name != "adder")
    assert result.delay_ns == pytest.approx(expected, abs=2e-5)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", DESIGNS)
def test_area_and_counts_equal_a_recount_by_yosys(name: str, osu018: Target, tmp_path: Path) -> None:
    result = synthesize_design(DESIGNS[name], top=name, target=osu018, folder=tmp_path)
    run_yosys(
        tmp_path,
        "read_json netlist.json",
        f"tee -q -o stat.json stat -json -liberty cells.lib -top {name}",
    )
    counted = json.loads((tmp_path / "stat.json").read_text())["design"]
    assert result.area_um2 == pytest.approx(counted["area"], rel=1e-9)
    assert result.cell_count == counted["num_cells"]
    assert result.cells_by_type == counted["num_cells_by_type"]
    netlist = parse_netlist((tmp_path / "netlist.json").read_bytes(), name)
    assert cell_area_um2(netlist, load_liberty(osu018.liberty)) == result.area_um2


def test_analyse_timing_rejects_delays_that_overflow(small_liberty: Path) -> None:
    # each gate's transition is some 1e60 times the one before
    steep = small_liberty.read_text().replace('index_2 ("100, 200, 400")', 'index_2 ("0, 1e-30, 2e-30")')
    steep = steep.replace("245, 270, 320", "1, 1, 1e30").replace("265, 290, 340", "1, 1, 1e30")
    small_liberty.write_text(steep)
    gates = [("INV", f"A={net} Y={net + 1}") for net in range(2, 12)]
    netlist = netlist_of({"a": ("input", [2]), "y": ("output", [12])}, *gates)
    message = "^delays of the library grow beyond what a double holds; accepted: tables of smaller slopes$"
    with pytest.raises(SynthesisError, match=message):
        analyse_timing(netlist, load_liberty(small_liberty))
