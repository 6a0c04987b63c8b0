"""OpenSTA as a second opinion: the same netlist, the same activity of every pin, its delay and power.

Two properties of that build determine the comparison. Both are in its `search/Power.cc`.

* It spreads activity from input ports through combinational cells and overwrites what was set for their pins;
  it does not go through flip-flops. So the power is compared on a netlist whose inputs come from flip-flops
  (`registered_inputs`): there every pin keeps its activity.
* Internal power: energies of both directions are added where one transition has one of them, and tables of
  several related inputs are weighted differently (`tool_internal_mw`). Later versions take the mean
  of the two directions and shares that add up to 1, as `energy.py` does.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.base.tools import find_tool, run_tool
from pipelines.power.energy import (
    CellActivity,
    PowerParts,
    cell_activities,
    energy_entries,
    power_parts,
)
from pipelines.power.functions import Expression, PowerError, parse_function, table_probability, truth_table
from pipelines.power.stimulus import Activity
from pipelines.silicon.synthesis import (
    FALL,
    OUTPUT_LOAD_PF,
    RISE,
    Cell,
    CellGroup,
    InternalPower,
    Liberty,
    Netlist,
    Pin,
    analyse_timing,
)

OPENSTA = "opensta"
Floats = NDArray[np.float64]

_FIRST_NET = 2
_PATHS = 200  # end points listed; of paths between opposite edges the longest has not the least slack
_TOTAL = re.compile(r"^Total\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)", re.MULTILINE)
# Labels are without wires; sta adds those of a library that has a default for them.
_WIRE_LOAD = re.compile(rb"^\s*default_wire_load\s*:[^;\n]*;", re.MULTILINE)
_NUMBER = r"(-?[0-9.]+)"
_ARRIVAL = re.compile(rf"^\s*{_NUMBER}\s+data arrival time", re.MULTILINE)
_LAUNCH = re.compile(rf"^\s*{_NUMBER}\s+{_NUMBER}\s+clock clk \((?:rise|fall) edge\)", re.MULTILINE)
_SETUP = re.compile(rf"^\s*{_NUMBER}\s+{_NUMBER}\s+library setup time", re.MULTILINE)


@cache
def opensta_version() -> str:
    """Return the version of the `sta` on the PATH.

    Raises: ToolMissing: it is not installed.
    """
    run = run_tool([find_tool("sta", OPENSTA), "-version"], folder=Path("/"), timeout_s=30, memory_bytes=None)
    return run.stdout.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPower:
    """The tool's power of a netlist, in mW."""

    internal_mw: float
    switching_mw: float
    leakage_mw: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStaComparison:
    """Our figures and the tool's for one netlist and one activity.

    Attributes:
        delay_ns, tool_delay_ns: longest path.
        parts: our power, of the netlist with registered inputs.
        tool: the tool's power of the same netlist.
        expected_internal_mw: our tables under the tool's rule for internal power.
    """

    delay_ns: float
    tool_delay_ns: float
    parts: PowerParts
    tool: ToolPower
    expected_internal_mw: float


# ---- netlist ----


def _plain_flip_flop(liberty: Liberty) -> tuple[Cell, str, str, str]:
    """Return a flip-flop without set and clear: cell, clock, data and output pin."""
    for name in sorted(liberty.cells):
        cell = liberty.cells[name]
        if len(cell.flip_flops) != 1 or cell.flip_flops[0].clear or cell.flip_flops[0].preset:
            continue
        ff = cell.flip_flops[0]
        outputs = [p.name for p in cell.pins.values() if p.function == ff.state]
        if outputs and ff.clocked_on in cell.pins and ff.next_state in cell.pins:
            return cell, ff.clocked_on, ff.next_state, outputs[0]
    raise PowerError("the library has no flip-flop without set and clear")


def registered_inputs(
    netlist: Netlist, liberty: Liberty, activity: Activity, clock: int | None
) -> tuple[Netlist, Activity]:
    """Return the netlist with a flip-flop in front of every input but the clock, and the same activity.

    The data of such a flip-flop is its own output; it never matters, since the activity is given.
    """
    cell, clock_pin, data_pin, output_pin = _plain_flip_flop(liberty)
    nets = np.concatenate([np.zeros(0, np.intp), *netlist.inputs.values()])
    nets = nets[nets != clock] if clock is not None else nets
    count, toggles, ones = netlist.net_count, activity.toggles, activity.ones
    if clock is None:
        clock, count = count, count + 1
        toggles, ones = np.append(toggles, 2 * activity.cycles), np.append(ones, activity.cycles // 2)
    pins = {clock_pin: np.full(nets.size, clock, np.intp), data_pin: nets, output_pin: nets}
    names = tuple(f"input_{net}" for net in nets)
    old = netlist.groups.get(cell.name)
    if old is not None:
        absent = np.full(len(old.names), -1, np.intp)
        pins = {p: np.concatenate([old.pins.get(p, absent), n]) for p, n in pins.items()}
        names = (*old.names, *names)
    groups = {**netlist.groups, cell.name: CellGroup(names=names, pins=pins)}
    inputs = {"clk": np.array([clock], np.intp)}
    changed = replace(netlist, net_count=count, inputs=inputs, groups=groups)
    return changed, Activity(cycles=activity.cycles, toggles=toggles, ones=ones)


def _net_name(net: int) -> str:
    return f"1'b{net}" if net < _FIRST_NET else f"n{net}"


def verilog_of(netlist: Netlist) -> str:
    """Return a netlist as structural Verilog: module `top`, nets `n<number>`, cells `<type>_<number>`."""
    inputs = [int(n) for nets in netlist.inputs.values() for n in nets]
    outputs = [int(n) for nets in netlist.outputs.values() for n in nets]
    ports = [*(f"n{n}" for n in inputs), *(f"o{i}" for i in range(len(outputs)))]
    lines = [f"module top({', '.join(ports)});"]
    lines += [f"  input n{n};" for n in inputs] + [f"  output o{i};" for i in range(len(outputs))]
    lines += [f"  wire n{n};" for n in range(_FIRST_NET, netlist.net_count) if n not in set(inputs)]
    for type_name, group in netlist.groups.items():
        for i in range(len(group.names)):
            pins = [f".{p}({_net_name(int(n[i]))})" for p, n in group.pins.items() if n[i] >= 0]
            lines.append(f"  {type_name} {type_name}_{i} ({', '.join(pins)});")
    lines += [f"  assign o{i} = {_net_name(n)};" for i, n in enumerate(outputs)]
    return "\n".join([*lines, "endmodule", ""])


def ported_verilog(netlist: Netlist, module: str) -> str:
    """Return a module with the ports of the design around module `top` of `verilog_of`."""
    sides = (("input", netlist.inputs), ("output", netlist.outputs))
    ports = [(side, name, nets.size) for side, named in sides for name, nets in named.items()]
    header = ", ".join(f"{side} [{size - 1}:0] {name}" for side, name, size in ports)
    bits = ", ".join(f"{name}[{bit}]" for _, name, size in ports for bit in range(size))
    return f"module {module}({header});\n  top netlist({bits});\nendmodule\n"


# ---- activity and reports ----


def _read_commands(clock: int | None, period_ns: float) -> list[str]:
    clocked = f"create_clock -name clk -period {period_ns:g}"
    return [
        "read_liberty cells.lib",
        "read_verilog netlist.v",
        "link_design top",
        f"{clocked} [get_ports n{clock}]" if clock is not None else clocked,
        "set_input_delay 0 -clock clk [all_inputs]",
        "set_output_delay 0 -clock clk [all_outputs]",
        f"set_load {OUTPUT_LOAD_PF:g} [all_outputs]",
    ]


def _activity_commands(netlist: Netlist, activity: Activity, clock: int | None) -> list[str]:
    """List the activity (changes per cycle) and share of time at 1 of every pin but the clock's."""
    lines: list[str] = []
    density, ones = activity.toggles / activity.cycles, activity.ones / activity.cycles
    for type_name, group in netlist.groups.items():
        for pin, nets in group.pins.items():
            for i, net in enumerate(nets.tolist()):
                if net >= _FIRST_NET and net != clock:
                    values = f"{density[net]:.9g} {ones[net]:.9g}"
                    place = f"[get_pins {type_name}_{i}/{pin}]"
                    lines.append(f"sta::set_power_pin_activity {place} {values}")
    return lines


def _run(commands: list[str], verilog: str, liberty: Path, folder: Path, timeout_s: float) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cells.lib").write_bytes(_WIRE_LOAD.sub(b"", liberty.read_bytes()))
    (folder / "netlist.v").write_text(verilog, encoding="utf-8")
    (folder / "commands.tcl").write_text("\n".join([*commands, ""]), encoding="utf-8")
    argv = [find_tool("sta", OPENSTA), "-no_splash", "-exit", "commands.tcl"]
    run = run_tool(argv, folder=folder, timeout_s=timeout_s, of_processor=True, memory_bytes=None)
    text = f"{run.stdout}\n{run.stderr}"
    errors = [line.strip() for line in text.splitlines() if "rror" in line]
    if run.returncode != 0 or errors:
        named = errors[0] if errors and run.limit is None else run.last_words()
        raise PowerError(f"sta ended with errors: {named}")
    return text


def _finite(text: str) -> float:
    """Return a number of a report.

    Raises: PowerError: not a number, NaN or infinite.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise PowerError(f"sta reported the number {text[:40]!r}; accepted: finite numbers")
    return number


def _delay_ns(text: str) -> float:
    """Return the longest path of a report of many: from its launching edge, set-up time included."""
    longest = 0.0
    for path in text.split("Startpoint:")[1:]:
        arrival = _ARRIVAL.search(path)
        if arrival is None or "recovery" in path:
            continue
        launch, setup = _LAUNCH.search(path), _SETUP.search(path)
        start = _finite(launch.group(2)) if launch else 0.0
        margin = _finite(setup.group(1)) if setup else 0.0
        longest = max(longest, _finite(arrival.group(1)) - start - margin)
    return longest


# ---- internal power by its rule ----


def _inferred_condition(function: Expression, pin: str) -> Expression | None:
    """Return the condition under which the tool lets an output follow an input: the operator's other operand.

    Only an operator directly below (negations of) the output counts; of an `or` and an `xor` the operand is
    negated.
    """
    while function.operator == "not":
        function = function.operands[0]
    if function.operator == "pin":
        return Expression(operator="constant", name="1") if function.name == pin else None
    if function.operator == "constant":
        return None
    for own, other in (function.operands, function.operands[::-1]):
        named = own.operands[0] if own.operator == "not" else own
        if named.operator == "pin" and named.name == pin:
            return other if function.operator == "and" else Expression(operator="not", operands=(other,))
    return None


def _tool_weight(cells: CellActivity, pin: Pin, entry: InternalPower) -> Floats:
    """Return the tool's factor of the energies of both directions: changes times its `duty`, (cells,)."""
    changes = cells.changes(pin.name)
    related = entry.related_pin
    if related is not None and entry.when is None and pin.function:
        condition = _inferred_condition(parse_function(pin.function), related)
        if condition is not None:
            ones = [cells.ones[cells.nets(p)] for p in condition.pins]
            duty = table_probability(truth_table(condition, condition.pins), ones)
            return np.where(changes > 0, cells.changes(related) * duty, 0.0)
    if entry.when is not None:
        return changes * cells.probability(entry.when)
    source = cells.cell.pins.get(related or pin.name)
    return changes * (1.0 if source is not None and source.is_clock else 0.5)


def _tool_energy_pj(cells: CellActivity, pin: Pin, entry: InternalPower) -> Floats:
    """Return the energies of both directions added, each at the related pin's transition to it: (cells,)."""
    slew = cells.timing.transition_ns[cells.nets(entry.related_pin or pin.name)]
    load = cells.timing.load_pf[cells.nets(pin.name)].max(axis=1)
    load = load if pin.direction == "output" else np.zeros(load.size)
    return cells.energy(entry.rise, slew[:, RISE], load) + cells.energy(entry.fall, slew[:, FALL], load)


def tool_internal_mw(
    netlist: Netlist, liberty: Liberty, activity: Activity, *, clock_period_ns: float
) -> float:
    """Return the internal power by the rule of OpenSTA 2.0.17, from our tables, transitions and loads.

    Source: OpenSTA's `search/Power.cc` of 2019, `findInternalPower` and `inferedWhen`.
    """
    timing = analyse_timing(netlist, liberty)
    total = 0.0
    for cells in cell_activities(netlist, liberty, timing, activity):
        for pin in cells.cell.pins.values():
            for entry in energy_entries(pin):
                energy = _tool_energy_pj(cells, pin, entry)
                total += float((energy * _tool_weight(cells, pin, entry)).sum())
    return total / (activity.cycles * clock_period_ns)


# ---- comparison ----


def tool_power(
    netlist: Netlist,
    activity: Activity,
    *,
    liberty_path: Path,
    clock: int | None,
    clock_period_ns: float,
    folder: Path,
    timeout_s: float = 300.0,
) -> ToolPower:
    """Return the power of a netlist by OpenSTA after every pin of its cells was given its activity.

    Args:    as of `compare_with_opensta`.
    Returns: its figures; cells behind input ports do not keep their activity, see the module.
    Raises:  ToolMissing, PowerError: as of `compare_with_opensta`.
    """
    commands = [
        *_read_commands(clock, clock_period_ns),
        *_activity_commands(netlist, activity, clock),
        "report_power -digits 9",
    ]
    text = _run(commands, verilog_of(netlist), liberty_path, folder, timeout_s)
    total = _TOTAL.search(text)
    if total is None:
        raise PowerError(f"sta reported no power: {text.strip()[-300:]}")
    internal, switching, leakage = (_finite(total.group(i)) * 1e3 for i in (1, 2, 3))
    return ToolPower(internal_mw=internal, switching_mw=switching, leakage_mw=leakage)


def compare_with_opensta(
    netlist: Netlist,
    activity: Activity,
    *,
    liberty: Liberty,
    liberty_path: Path,
    clock: int | None,
    clock_period_ns: float,
    folder: Path,
    timeout_s: float = 300.0,
) -> OpenStaComparison:
    """Return delay and power of a netlist by this project and by OpenSTA, every pin with the same activity.

    Args:    activity: of the netlist's nets; clock: net of the clock, None without one;
             liberty, liberty_path: the library, read and as a file; folder: of the tool's files.
    Raises:  ToolMissing: `sta` is not installed. PowerError: it reports an error, or the library has no plain
             flip-flop.
    """
    period = clock_period_ns
    paths = f"report_checks -path_delay max -digits 6 -group_count {_PATHS}"
    timed = _run(
        [*_read_commands(clock, period), paths],
        verilog_of(netlist),
        liberty_path,
        folder / "delay",
        timeout_s,
    )
    changed, same = registered_inputs(netlist, liberty, activity, clock)
    report = tool_power(
        changed,
        same,
        liberty_path=liberty_path,
        clock=int(changed.inputs["clk"][0]),
        clock_period_ns=period,
        folder=folder / "power",
        timeout_s=timeout_s,
    )
    timing = analyse_timing(changed, liberty)
    return OpenStaComparison(
        delay_ns=analyse_timing(netlist, liberty).delay_ns,
        tool_delay_ns=_delay_ns(timed),
        parts=power_parts(changed, liberty, timing, same, clock_period_ns=period),
        tool=report,
        expected_internal_mw=tool_internal_mw(changed, liberty, same, clock_period_ns=period),
    )
