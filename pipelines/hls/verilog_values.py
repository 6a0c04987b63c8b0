"""The values of one block as Verilog: names, references across cycles, wires and registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipelines.c.arithmetic import wrap
from pipelines.c.cdfg import Block, Operation
from pipelines.c.ir import Array
from pipelines.c.signature import INT32, ScalarType
from pipelines.hls.design import BoundUnit
from pipelines.hls.operators import functional_unit
from pipelines.hls.schedule import BlockSchedule, closing_values
from pipelines.hls.units.catalogue import FunctionalUnit, instance_text, mode_value
from pipelines.hls.value_registers import Holding, base_of, hold_values, is_low_part, write_starts
from pipelines.hls.verilog_text import (
    Net,
    Operand,
    Section,
    expression_text,
    is_wide_shift,
    range_text,
    slice_text,
)

_NOT_COMPUTED = ("const", "read", "write", "load", "store")


@dataclass(slots=True)
class BlockWriter:
    """Names and expressions of one block of a design.

    Attributes:
        shared: the shared unit of each (block, operation) of the design.
        variable_types: type of each variable's register.
    """

    block: Block
    schedule: BlockSchedule
    shared: Mapping[tuple[int, int], BoundUnit]
    variable_types: Mapping[str, ScalarType]
    holding: Holding = field(init=False)
    write_starts: dict[str, int] = field(init=False)
    forwards: dict[int, int] = field(init=False)
    names: list[str] = field(init=False)
    users: dict[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.holding = hold_values(self.schedule, self.variable_types)
        self.write_starts = write_starts(self.schedule)
        self.forwards = self.schedule.forwards
        self.names = _value_names(self.block)
        self.users = _live_users(self.block, self.live)

    # ---- names ------------------------------------------------------------------------------------

    @property
    def live(self) -> frozenset[int]:
        """Operations whose value hardware needs."""
        return self.holding.live

    @property
    def interval(self) -> int | None:
        """Initiation interval of a pipelined block, None otherwise."""
        return self.schedule.interval_cycles

    def active(self, cycle: int) -> str:
        """Return the signal that is high in a cycle of the block."""
        if self.interval is None:
            return f"in_{self.block.name}_{cycle}"
        return slice_text(f"{self.block.name}_valid", self.schedule.length_cycles, cycle, cycle)

    def type(self, index: int) -> ScalarType:
        """Return the type of the value of an operation."""
        return self.block.operations[index].type or INT32

    def base(self, index: int) -> int:
        """Return the operation whose net carries a value in its low bits."""
        return base_of(self.block, index)

    def unit(self, operation: Operation) -> FunctionalUnit | None:
        """Return the functional unit of an operation, shared or not."""
        return functional_unit(operation, self.block.operations)

    # ---- references -------------------------------------------------------------------------------

    def fresh(self, index: int) -> Net:
        """Return the value in the cycle that computes it; not for a constant."""
        operation, kind = self.block.operations[index], self.type(index)
        match operation.opcode:
            case "read":
                width = self.variable_types[operation.name].width_bits
                name = self.names[index] if index in self.forwards else f"v_{operation.name}"
                return _net(name, width, kind)
            case "load" if isinstance(operation.symbol, Array):
                return _net(f"m_{operation.name}_rdata", operation.symbol.type.width_bits, kind)
            case _:
                pass
        bound = self.shared.get((self.block.index, index))
        if bound is not None:
            return _net(f"{bound.name}_{bound.unit.output[0]}", bound.unit.output[1], kind)
        unit = self.unit(operation)
        return _net(self.names[index], kind.width_bits if unit is None else unit.output[1], kind)

    def net(self, index: int, cycle: int) -> Net:
        """Return the value in a cycle not before the one that computes it; not for a constant."""
        base, kind = base_of(self.block, index), self.type(index)
        if base != index:
            source = self.net(base, cycle)
            return _net(source.name, source.net_bits, kind)
        operation = self.block.operations[index]
        age = cycle - self.schedule.ready(index)
        stays = operation.opcode == "read" and self.interval is None
        if age == 0 or (stays and cycle <= self.write_starts.get(operation.name, cycle)):
            return self.fresh(index)
        variable, written = self.holding.in_variable.get(index, ("", cycle))
        if cycle > written:
            return _net(f"v_{variable}", self.variable_types[variable].width_bits, kind)
        steps = 1 if self.interval is None else -(-age // self.interval)
        return _net(f"{self.names[index]}_q{steps}", self.holding.held[index].width_bits, kind)

    def operand(self, index: int, cycle: int) -> Operand:
        """Return the value in a cycle, as an operand."""
        base = self.block.operations[base_of(self.block, index)]
        if base.opcode == "const":
            kind, value = self.type(index), base.value or 0
            return Operand(type=kind, constant=value if kind.floating else wrap(value, kind))
        net = self.net(index, cycle)
        return Operand(type=net.type, net=net)

    def resized(self, index: int, cycle: int, width_bits: int) -> str:
        """Return the value in a cycle, extended or cut to a width."""
        return self.operand(index, cycle).resized(width_bits)

    def truth(self, index: int, cycle: int) -> str:
        """Return one bit that is 1 if the value is not zero."""
        return self.operand(index, cycle).truth()

    def guarded(self, operation: Operation) -> str:
        """Return the signal that is high when a predicated operation is executed."""
        cycle = self.schedule.starts[operation.index]
        if operation.predicate is None:
            return self.active(cycle)
        return f"({self.active(cycle)} && {self.truth(operation.predicate, cycle)})"

    # ---- text -------------------------------------------------------------------------------------

    def location(self) -> str:
        """Return the block with its source line and loop."""
        parts = [f"line {self.block.line}"] if self.block.line else []
        parts += [f"loop {self.block.loop}"] if self.block.loop else []
        parts += [f"pipelined, II {self.interval}"] if self.interval is not None else []
        return f"{self.block.name}: {', '.join(parts) or 'begin'}"

    def values(self) -> Section:
        """Return the wires of the combinational values that are used."""
        section = Section()
        joined = self._joined_bits()
        for operation in self.block.operations:
            if not self._is_computed(operation) or self._is_only_joined(operation, joined):
                continue
            unit = self.unit(operation)
            if unit is not None:
                self._on_own_unit(section, operation, unit)
            elif operation.index in joined:
                self._joined(section, operation, *joined[operation.index])
            else:
                self._plain(section, operation)
        for read, write in self.forwards.items():
            self._forwarded(section, read, self.block.operations[write])
        if section.values:
            section.values.insert(0, f"  // {self.location()}")
        return section

    def _is_computed(self, operation: Operation) -> bool:
        shared = (self.block.index, operation.index) in self.shared
        if operation.opcode in _NOT_COMPUTED or shared or operation.index not in self.live:
            return False
        return not is_low_part(operation, self.block)

    # ---- bits side by side ------------------------------------------------------------------------

    def _joined_bits(self) -> dict[int, tuple[Operation, int]]:
        """Return each `or` of a shifted value and one that fits below, with the shift and the lower value."""
        joined: dict[int, tuple[Operation, int]] = {}
        for operation in self.block.operations:
            if operation.opcode != "or" or operation.index not in self.live:
                continue
            for high, low in (operation.operands, operation.operands[::-1]):
                shift = self.block.operations[high]
                if self._is_above(shift, low, self.schedule.starts[operation.index]):
                    joined[operation.index] = (shift, low)
        return joined

    def _is_above(self, shift: Operation, low: int, cycle: int) -> bool:
        if shift.opcode != "shl" or self.schedule.starts[shift.index] != cycle:
            return False
        amount, kind = self.block.operations[shift.operands[1]], self.type(low)
        return amount.opcode == "const" and not kind.signed and kind.width_bits <= (amount.value or 0)

    def _is_only_joined(self, operation: Operation, joined: Mapping[int, tuple[Operation, int]]) -> bool:
        """Tell whether all users of a shift concatenate its operand themselves."""
        if operation.opcode != "shl" or operation.index in self.holding.held:
            return False
        users = self.users.get(operation.index, [])
        return bool(users) and all(u in joined and joined[u][0] is operation for u in users)

    def _joined(self, section: Section, operation: Operation, shift: Operation, low: int) -> None:
        cycle, width = self.schedule.starts[operation.index], self.type(operation.index).width_bits
        amount = self.block.operations[shift.operands[1]].value or 0
        name = self.names[operation.index]
        if amount >= width:
            section.value(name, width, self.resized(low, cycle, width))
            return
        upper = self.resized(shift.operands[0], cycle, width - amount)
        section.value(name, width, f"{{{upper}, {self.resized(low, cycle, amount)}}}")

    # ---- wires and registers ----------------------------------------------------------------------

    def _forwarded(self, section: Section, read: int, write: Operation) -> None:
        """Write the value of a variable in the cycle in which the previous iteration writes it."""
        cycle, width = self.write_starts[write.name], self.variable_types[write.name].width_bits
        written = self.resized(write.operands[0], cycle, width)
        section.wire(self.names[read], width, f"{self.active(cycle)} ? {written} : v_{write.name}")

    def _plain(self, section: Section, operation: Operation) -> None:
        cycle = self.schedule.starts[operation.index]
        operands = [self.operand(i, cycle) for i in operation.operands]
        name, width = self.names[operation.index], self.type(operation.index).width_bits
        if len(operands) == 2 and is_wide_shift(operation.opcode, operands[0], operands[1], width):
            full = operands[0].type.width_bits
            section.value(f"{name}_full", full, expression_text(operation, operands, full))
            section.value(name, width, slice_text(f"{name}_full", full, width - 1, 0))
        else:
            section.value(name, width, expression_text(operation, operands, width))

    def _on_own_unit(self, section: Section, operation: Operation, unit: FunctionalUnit) -> None:
        """Write an instance of a combinational unit for one operation."""
        cycle = self.schedule.starts[operation.index]
        operands = [
            self.resized(i, cycle, width)
            for i, (_, width) in zip(operation.operands, unit.ports, strict=True)
        ]
        name = self.names[operation.index]
        mode = f"1'b{mode_value(operation.opcode)}"
        section.values.append(f"  wire {range_text(unit.output[1])}{name};")
        section.values.append(f"  {instance_text(unit, f'{name}_unit', operands, name, mode=mode)}")

    def registers(self) -> Section:
        """Return the registers of held values, then the block's writes of variables."""
        section = Section()
        for held in self.holding.held.values():
            name, width = self.names[held.operation], held.width_bits
            for k in range(1, held.registers + 1):
                source = self.fresh(held.operation).resized(width) if k == 1 else f"{name}_q{k - 1}"
                cycle = held.ready + (k - 1) * (self.interval or 0)
                section.register(f"{name}_q{k}", width)
                section.on_clock(f"if ({self.active(cycle)}) {name}_q{k} <= {source};")
        for operation in self.block.operations:
            if operation.opcode == "write":
                cycle = self.schedule.starts[operation.index]
                width = self.variable_types[operation.name].width_bits
                value = self.resized(operation.operands[0], cycle, width)
                section.on_clock(f"if ({self.active(cycle)}) v_{operation.name} <= {value};")
        if section.updates:
            section.updates.insert(0, f"    // {self.location()}")
        return section


def _net(name: str, net_bits: int, kind: ScalarType) -> Net:
    """Return a net; a net narrower than the type is an unsigned number."""
    if net_bits < kind.width_bits:
        kind = ScalarType(width_bits=net_bits, signed=False)
    return Net(name=name, net_bits=net_bits, type=kind)


def _live_users(block: Block, live: frozenset[int]) -> dict[int, list[int]]:
    """Return the operations that use each value; -1 stands for the end of the block."""
    users: dict[int, list[int]] = {}
    for operation in block.operations:
        if operation.index in live:
            for source in operation.inputs:
                users.setdefault(source, []).append(operation.index)
    for value in closing_values(block):
        users.setdefault(value, []).append(-1)
    return users


def _value_names(block: Block) -> list[str]:
    """Return the name of each operation's wire: its variable or array, else its opcode, then its number."""
    hints = [o.name if o.opcode in ("load", "read") else o.opcode for o in block.operations]
    for operation in reversed(block.operations):
        if operation.opcode in ("write", "load", "store"):
            source = operation.operands[0]
            if block.operations[source].opcode not in ("load", "read", "const"):
                hints[source] = operation.name if operation.opcode == "write" else f"{operation.name}_at"
    return [f"{block.name}_{hint}_{index}" for index, hint in enumerate(hints)]
