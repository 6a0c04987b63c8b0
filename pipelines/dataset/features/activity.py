"""Energy of a run from the toggles that the cycle model counts, by part of the design.

Hardware computes all the time: the operators of every block follow the registers, whichever block runs. So
the toggles of a register reach every operator behind it, and an operator passes on as many as it did while
it was executed: the toggles of its result over its operands' toggles. Energies per toggle were measured on
single operators and units (`toggle_energies_osu018.json`, which names the command).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pipelines.base.summation import ordered_sum
from pipelines.c import cdfg, ir
from pipelines.cyclemodel import CycleResult, operand_widths
from pipelines.dataset.features.demand import Demand, demand_of, unused_register_bits
from pipelines.hls import (
    BlockWriter,
    CompiledDesign,
    FunctionalUnit,
    block_writers,
    constant_factor,
    family,
    signed_digit_count,
    symbol_places,
    units_by_operation,
)

PARTS = ("clock", "register", "enable", "unit", "operator", "selection", "memory", "controller", "port")
"""Parts of a design whose energies are told apart."""

OPERATIONS = {
    "read": ("read",),
    "write": ("write",),
    "load": ("load",),
    "store": ("store",),
    "add": ("add", "sub", "neg", "abs"),
    "multiply": ("mul",),
    "divide": ("div", "divc", "rem", "sqrt"),
    "compare": ("lt", "le", "gt", "ge", "eq", "ne"),
    "logic": ("and", "or", "xor", "not"),
    "shift": ("shl", "shr"),
    "select": ("select",),
    "cast": ("cast",),
}
"""Opcodes by kind of operation."""
KIND_OF = {opcode: kind for kind, opcodes in OPERATIONS.items() for opcode in opcodes}
WIDTHS = (8, 16, 32, 64)
"""Upper ends of the ranges of widths by which toggles are counted."""

UNKNOWN_SHARE = 0.5
"""Toggles of a result over its operands' toggles where nothing was executed."""
_TABLE = {"neg": "sub", "abs": "sub", "not": "xor", "ne": "eq", "le": "lt", "gt": "lt", "ge": "lt"}
_CONSTANT = {"add": "add_constant", "sub": "add_constant", "lt": "lt_constant"}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_FREE = ("const", "read", "write", "load", "store", "cast", "bits")
_CONTROLLER_BITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ToggleEnergies:
    """Energies in pJ per toggle, measured on single operators and units of one library.

    Attributes:
        clock: per flip-flop and cycle; register: per toggle of a flip-flop; port: of an output port.
        leakage: in mW per um2.
        operators, units: per toggle of an operand, by name and width in bits.
        single: of a floating-point unit, per toggle of an operand while the other keeps its value.
    """

    clock: float
    register: float
    port: float
    leakage: float
    operators: Mapping[str, Mapping[int, float]]
    units: Mapping[str, Mapping[int, float]]
    single: Mapping[str, Mapping[int, float]]

    def operator(self, name: str, width_bits: int) -> float:
        """Return the energy of a toggle at an operator's operand."""
        return _at_width(self.operators[name], width_bits)

    def unit(self, unit: FunctionalUnit, toggles: Sequence[float]) -> float:
        """Return the energy of a functional unit, from the toggles at each of its operands.

        A new operand changes about as many nets of a multiplier or divider as two new ones do. New floating
        values toggle about as many bits as others, so operands change together as far as their toggles are
        equal, and the rest changes alone. Integers may have few bits: theirs are not told apart.
        """
        name, width = family(unit)
        energy = _at_width(self.units[name], width)
        if name not in self.single:
            return energy * ordered_sum(toggles)
        together = len(toggles) * min(toggles)
        alone = ordered_sum(toggles) - together
        return energy * together + _at_width(self.single[name], width) * alone


def _at_width(table: Mapping[int, float], width: int) -> float:
    """Interpolate the value at a width between measured ones."""
    below = max((w for w in table if w <= width), default=min(table))
    above = min((w for w in table if w >= width), default=max(table))
    if below == above:
        return table[below]
    return table[below] + (table[above] - table[below]) * (width - below) / (above - below)


@cache
def toggle_energies(library: str = "osu018") -> ToggleEnergies:
    """Return the measured energies of a library."""
    path = Path(__file__).with_name(f"toggle_energies_{library}.json")
    content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    tables = {
        kind: {name: {int(w): e for w, e in own.items()} for name, own in content[kind].items()}
        for kind in ("operators", "units", "single")
    }
    return ToggleEnergies(
        **tables, **{name: content[name] for name in ("clock", "register", "port", "leakage")}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunActivity:
    """Activity of a design in a run.

    Attributes:
        powers_mw: mean by part; leakage_mw: by the estimated area.
        executions: of operations by kind and width, as `add_16`; toggles: of their results, of a store those
            of the stored value.
        register_toggles: of registers outside functional units; memory_toggles: of ports of arrays.
    """

    powers_mw: Mapping[str, float]
    leakage_mw: float
    executions: Mapping[str, int]
    toggles: Mapping[str, int]
    register_toggles: int
    memory_toggles: int

    @property
    def power_mw(self) -> float:
        """Estimate of the mean power."""
        return ordered_sum(self.powers_mw.values()) + self.leakage_mw


def run_activity(compiled: CompiledDesign, run: CycleResult, energies: ToggleEnergies) -> RunActivity:
    """Return the activity and powers of a run of a cycle model that counts toggles.

    Args: run: with status ok.
    """
    meter = _Meter(compiled=compiled, run=run, energies=energies)
    meter.measure()
    executions, toggles = operation_counts(compiled, run)
    time_ns = (run.latency_cycles or 1) * compiled.scheduled.model.clock_period_ns
    return RunActivity(
        powers_mw={part: meter.energy[part] / time_ns for part in PARTS},
        leakage_mw=energies.leakage * compiled.report.estimated_area_um2,
        executions=executions,
        toggles=toggles,
        register_toggles=round(meter.register_toggles),
        memory_toggles=round(sum(n for net, n in run.toggles.items() if net.startswith("m_"))),
    )


def operation_counts(
    compiled: CompiledDesign, run: CycleResult, key_of: Callable[[cdfg.Block, int], str | None] | None = None
) -> tuple[dict[str, int], dict[str, int]]:
    """Return executions, and toggles of results, by kind and width or by another key."""
    key_of = key_of or count_key
    toggles: Counter[str] = Counter()
    executions: Counter[str] = Counter()
    for schedule in compiled.scheduled.schedules:
        block, visits = schedule.graph.block, run.block_visits[schedule.graph.block.name]
        for index in sorted(schedule.graph.live):
            key = key_of(block, index)
            if key is not None:
                executions[key] += visits
                toggles[key] += run.toggles.get(f"{block.name}.{valued(block, index)}", 0)
    return dict(sorted(executions.items())), dict(sorted(toggles.items()))


def valued(block: cdfg.Block, index: int) -> int:
    """Return the operation whose value stands for an operation: for a write or a store what it stores."""
    operation = block.operations[index]
    return operation.operands[-1] if operation.opcode in ("write", "store") else index


def count_key(block: cdfg.Block, index: int) -> str | None:
    """Return the kind and range of widths of an operation, as `add_16`; None for one that does nothing."""
    kind = KIND_OF.get(block.operations[index].opcode)
    if kind is None:
        return None
    width = _width(block, valued(block, index))
    return f"{kind}_{next(w for w in WIDTHS if width <= w)}"


def operand_width(block: cdfg.Block, operation: cdfg.Operation) -> int:
    """Return the width in bits to which the operands of an operation are extended."""
    width = _width(block, operation.index)
    if operation.opcode in _COMPARISONS:
        return max(_width(block, i) for i in operation.operands)
    return width


def _width(block: cdfg.Block, index: int) -> int:
    kind = block.operations[index].type
    return 0 if kind is None else kind.width_bits


@dataclass(slots=True, kw_only=True)
class _Meter:
    """Sums of energies of a run."""

    compiled: CompiledDesign
    run: CycleResult
    energies: ToggleEnergies
    writers: list[BlockWriter] = field(init=False)
    demand: Demand = field(init=False)
    flip_flops: int = field(init=False)
    energy: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    register_toggles: float = 0.0
    results: dict[tuple[int, int], float] = field(default_factory=dict[tuple[int, int], float])

    def __post_init__(self) -> None:
        design = self.compiled.scheduled
        self.writers = block_writers(design)
        self.demand = demand_of(design)
        unused = unused_register_bits(design, self.writers, self.demand)
        self.flip_flops = self.compiled.report.register_bits - unused

    # ---- toggles ----------------------------------------------------------------------------------

    def counted(self, net: str) -> float:
        """Return the toggles that the cycle model counted."""
        return float(self.run.toggles.get(net, 0))

    def visits(self, writer: BlockWriter) -> int:
        return self.run.block_visits[writer.block.name]

    def executed(self, writer: BlockWriter, index: int, width_bits: int = 0) -> float:
        """Return the toggles of a value, extended to a width, from one execution to the next."""
        name = f"{writer.block.name}.{index}"
        more = max(0, width_bits - _width(writer.block, index))
        return self.counted(name) + more * self.counted(f"{name}#")

    def seen(self, writer: BlockWriter, index: int, cycle: int, width_bits: int = 0) -> float:
        """Return the toggles of the net that carries a value in a cycle of its block, extended to a width."""
        base = writer.base(index)
        if writer.block.operations[base].opcode == "const":
            return 0.0
        part, own = 1.0, self.executed(writer, base)
        if own:
            part = self.executed(writer, index, width_bits) / own
        name, plain = writer.net(index, cycle).name, writer.names[base]
        if name == plain:
            return part * self.fresh(writer, base)
        return part * (own if name.startswith(f"{plain}_q") else self.counted(name))

    def fresh(self, writer: BlockWriter, index: int) -> float:
        """Return the toggles of a value on the net that computes it."""
        operation = writer.block.operations[index]
        if operation.opcode in ("read", "load"):
            return self.counted(
                f"v_{operation.name}" if operation.opcode == "read" else f"m_{operation.name}_rdata"
            )
        key = (writer.block.index, index)
        if key not in self.results:
            self.results[key] = self._computed(writer, operation)
        return self.results[key]

    def _computed(self, writer: BlockWriter, operation: cdfg.Operation) -> float:
        bound = writer.shared.get((writer.block.index, operation.index))
        if bound is not None and len(bound.uses) > 1:
            return self.counted(f"{bound.name}_{bound.unit.output[0]}")
        width = operand_width(writer.block, operation)
        inputs = ordered_sum(self.executed(writer, i, width) for i in operation.operands)
        result = self.executed(writer, operation.index)
        share = min(1.0, result / inputs) if inputs else UNKNOWN_SHARE
        return max(result, share * ordered_sum(self.arriving(writer, operation)))

    def arriving(self, writer: BlockWriter, operation: cdfg.Operation) -> list[float]:
        """Return the toggles at each operand of an operation."""
        cycle, width = writer.schedule.starts[operation.index], operand_width(writer.block, operation)
        return [self.seen(writer, i, cycle, width) for i in operation.operands]

    # ---- energies ---------------------------------------------------------------------------------

    def measure(self) -> None:
        """Sum the energies of all parts."""
        report, cycles = self.compiled.report, self.run.latency_cycles or 1
        self.energy["clock"] = self.flip_flops * cycles * self.energies.clock
        gate = self.energies.operator("and", _CONTROLLER_BITS)
        states = 2 * self.energies.register + gate * math.log2(2 + report.state_count)
        self.energy["controller"] = cycles * states
        for writer in self.writers:
            self._operators(writer)
            self._registers(writer)
        self._units()
        self._memories()

    def _operators(self, writer: BlockWriter) -> None:
        shared = units_by_operation(self.compiled.scheduled)
        for index in sorted(writer.live):
            operation = writer.block.operations[index]
            if operation.opcode in _FREE or (writer.block.index, index) in shared:
                continue
            unit, arriving = writer.unit(operation), self.arriving(writer, operation)
            toggles = ordered_sum(arriving)
            if unit is not None:
                self.energy["unit"] += self.energies.unit(unit, arriving)
            elif operation.opcode == "select":
                energy = toggles * self.energies.operator("mux2", writer.type(index).width_bits)
                self.energy["selection"] += energy
            else:
                self.energy["operator"] += toggles * self._operator_energy(writer, operation)

    def _operator_energy(self, writer: BlockWriter, operation: cdfg.Operation) -> float:
        operations = writer.block.operations
        constant = any(operations[i].opcode == "const" for i in operation.operands)
        opcode = operation.opcode
        if opcode in ("shl", "shr") and operations[operation.operands[1]].opcode == "const":
            return 0.0
        name = _TABLE.get(opcode, opcode)
        if constant and name in ("and", "or", "xor"):
            return 0.0
        width = max((_width(writer.block, i) for i in operation.operands), default=1)
        width = max(width, _width(writer.block, operation.index))
        if not operations[operation.index].type or name not in ("lt", "eq"):
            width = min(width, self.demand.values[writer.block.index, operation.index])
        if name == "mul":  # one by a constant: sums of shifted operands
            factor = constant_factor(operation, operations)
            terms = 0 if factor is None else signed_digit_count(factor) - 1
            return max(0, terms) * self.energies.operator("add", width)
        if constant:
            name = {**_CONSTANT, "eq": "eq_constant"}.get(name, name)
        return self.energies.operator(name, width)

    def _registers(self, writer: BlockWriter) -> None:
        """Add the registers of values and the writes of variables, with the selections that keep them."""
        select = self.energies.operator("mux2_select", 8) / 8
        keep = self.energies.operator("mux2", 8)
        for held in writer.holding.held.values():
            toggles = held.registers * self.executed(writer, held.operation)
            self._add_register(toggles)
            self.energy["selection"] += keep * self.fresh(writer, held.operation)
            bits = held.width_bits * held.registers
            self.energy["enable"] += 2 * self.visits(writer) * bits * select
        for operation in writer.block.operations:
            if operation.opcode == "write":
                assert isinstance(operation.symbol, ir.Variable)
                cycle = writer.schedule.starts[operation.index]
                width = operation.symbol.type.width_bits
                self.energy["selection"] += keep * self.seen(writer, operation.operands[0], cycle, width)
                self.energy["enable"] += 2 * self.visits(writer) * width * select

    def _add_register(self, toggles: float) -> None:
        self.register_toggles += toggles
        self.energy["register"] += toggles * self.energies.register

    def _steered(self, net: str, sources: Sequence[float], wired: float) -> float:
        """Return the toggles of a port; with several sources also the energy of their selection."""
        if len(sources) == 1:
            return wired
        toggles = self.counted(net)
        gate = self.energies.operator("and", 8)
        self.energy["selection"] += gate * (ordered_sum(sources) + toggles * math.log2(len(sources)))
        return toggles

    def _units(self) -> None:
        for variable in self.compiled.scheduled.graph.variables:
            self._add_register(self.counted(f"v_{variable.name}"))
        for bound in self.compiled.scheduled.units:
            ports: list[float] = []
            widths = operand_widths(self.compiled.scheduled, bound)
            for number, ((port, _), width) in enumerate(zip(bound.unit.ports, widths, strict=True)):
                sources: list[float] = []
                for use in bound.uses:
                    writer = self.writers[use.block]
                    operand = writer.block.operations[use.operation].operands[number]
                    start = writer.schedule.starts[use.operation]
                    sources.append(self.seen(writer, operand, start, width))
                ports.append(self._steered(f"{bound.name}_{port}", sources, sources[0]))
            self.energy["unit"] += self.energies.unit(self.demand.unit(bound), ports)

    def _memories(self) -> None:
        places = symbol_places(self.compiled.scheduled)
        for array in self.compiled.scheduled.graph.function.arrays:
            for opcode, port, number in (("load", "raddr", 0), ("store", "waddr", 0), ("store", "wdata", 1)):
                users = places.get((opcode, array.name), [])
                if not users:
                    continue
                sources: list[float] = []
                for block, operation in users:
                    writer = self.writers[block]
                    start = writer.schedule.starts[operation.index]
                    sources.append(
                        self.seen(writer, operation.operands[number], start, array.type.width_bits * number)
                    )
                toggles = self._steered(f"m_{array.name}_{port}", sources, sources[0])
                self._port(array, port, toggles)
            if not array.external:
                self._add_register(self.counted(f"m_{array.name}_rdata"))

    def _port(self, array: ir.Array, port: str, toggles: float) -> None:
        """Add the energy behind a memory port: its load, or the cells of a local array."""
        if array.external:
            self.energy["port"] += toggles * self.energies.port
            return
        gate = self.energies.operator("mux2", 8)
        match port:
            case "raddr":  # every address bit selects in a tree over all bits of the array
                reached = array.element_count * array.type.width_bits / 8
            case "wdata":
                reached = float(array.element_count)
            case _:
                reached = float(array.element_count) / 4
        self.energy["memory"] += toggles * gate * reached
