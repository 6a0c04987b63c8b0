"""The values of one block as Verilog: names, references across cycles, expressions and registers.

Belongs here: what happens inside a block. Does not: ports, states and units (`verilog.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pipelines.hls.cdfg import Block, Operation
from pipelines.hls.design import HeldValue, ScheduledDesign, boolean_values, held_values
from pipelines.hls.operators import uses_unit
from pipelines.hls.schedule import BlockSchedule
from pipelines.hls.units import constant_divider_instance

_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<<",
    "shr": ">>>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
}


def constant_text(value: int, width_bits: int = 32) -> str:
    """A signed Verilog constant."""
    if value == -(1 << (width_bits - 1)):
        return f"{width_bits}'sh{1 << (width_bits - 1):x}"
    return f"-{width_bits}'sd{-value}" if value < 0 else f"{width_bits}'sd{value}"


@dataclass(slots=True)
class BlockWriter:
    """Names and expressions of one block of a design."""

    block: Block
    schedule: BlockSchedule
    design: ScheduledDesign
    booleans: frozenset[int] = field(init=False)
    held: dict[int, HeldValue] = field(init=False)
    write_starts: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.booleans = boolean_values(self.block)
        self.held = held_values(self.schedule)
        self.write_starts = {
            o.name: self.schedule.starts[o.index] for o in self.block.operations if o.opcode == "write"
        }

    # ---- names ------------------------------------------------------------------------------------

    @property
    def interval(self) -> int | None:
        """Initiation interval of a pipelined block, None otherwise."""
        return self.schedule.interval_cycles

    def active(self, cycle: int) -> str:
        """Signal that is high in one cycle of the block."""
        if self.interval is None:
            return f"in_{self.block.name}_{cycle}"
        return f"{self.block.name}_valid[{cycle}]"

    def value_name(self, index: int) -> str:
        """Name of the wire of an operation."""
        return f"{self.block.name}_{self.block.operations[index].opcode}{index}"

    def width(self, index: int) -> int:
        """Bits of the value of an operation."""
        kind = self.block.operations[index].type
        return 1 if index in self.booleans else 32 if kind is None else kind.width_bits

    def declaration(self, kind: str, name: str, index: int) -> str:
        """Declaration of a wire or register for the value of an operation."""
        width = self.width(index)
        return f"{kind} {name}" if width == 1 else f"{kind} signed [{width - 1}:0] {name}"

    # ---- references -------------------------------------------------------------------------------

    def fresh(self, index: int) -> str:
        """The value in the very cycle it is made in."""
        operation = self.block.operations[index]
        match operation.opcode:
            case "const" if index not in self.booleans:
                return constant_text(operation.value or 0)
            case "const":
                return f"1'b{operation.value}"
            case "read":
                return f"v_{operation.name}"
            case "load":
                return f"m_{operation.name}_rdata"
            case _:
                pass
        unit = uses_unit(operation, self.block.operations)
        if unit is not None:
            kind, number = self.design.unit_of(self.block.index, index)
            port = {"mul": "p", "div": "q", "rem": "r"}[operation.opcode]
            return f"{kind}{number}_{port}"
        return self.value_name(index)

    def raw(self, index: int, cycle: int) -> str:
        """The value as seen in a cycle at or after the one it is made in."""
        operation = self.block.operations[index]
        age = cycle - self.schedule.ready(index)
        if operation.opcode == "const" or age == 0:
            return self.fresh(index)
        if operation.opcode == "read" and self.interval is None:
            if cycle <= self.write_starts.get(operation.name, cycle):
                return self.fresh(index)
            return f"{self.value_name(index)}_q1"
        steps = 1 if self.interval is None else -(-age // self.interval)
        return f"{self.value_name(index)}_q{steps}"

    def integer(self, index: int, cycle: int) -> str:
        """The value as a signed 32-bit expression."""
        operation = self.block.operations[index]
        if operation.opcode == "const":
            return constant_text(operation.value or 0)
        text = self.raw(index, cycle)
        return f"$signed({{31'd0, {text}}})" if index in self.booleans else text

    def boolean(self, index: int, cycle: int) -> str:
        """Whether the value is not zero, as one bit."""
        text = self.raw(index, cycle)
        return text if index in self.booleans else f"({text} != 0)"

    def guarded(self, operation: Operation) -> str:
        """Signal that is high when a predicated operation happens."""
        cycle = self.schedule.starts[operation.index]
        if operation.predicate is None:
            return self.active(cycle)
        return f"({self.active(cycle)} && {self.boolean(operation.predicate, cycle)})"

    # ---- operations -------------------------------------------------------------------------------

    def expression(self, operation: Operation) -> str | None:
        """Combinational expression of an operation, None when it is not one."""
        cycle = self.schedule.starts[operation.index]
        if operation.opcode in ("const", "read", "write", "load", "store", "divc"):
            return None
        if uses_unit(operation, self.block.operations) is not None:
            return None
        boolean = operation.index in self.booleans
        if operation.opcode == "select":
            condition, *branches = operation.operands
            kind = self.raw if boolean else self.integer
            picked = [
                f"1'b{self.block.operations[b].value}"
                if boolean and self.block.operations[b].opcode == "const"
                else kind(b, cycle)
                for b in branches
            ]
            return f"{self.boolean(condition, cycle)} ? {picked[0]} : {picked[1]}"
        if operation.opcode in ("neg", "not"):
            sign = "-" if operation.opcode == "neg" else "~"
            return f"{sign}{self.integer(operation.operands[0], cycle)}"
        left, right = operation.operands
        infix = _INFIX[operation.opcode]
        if boolean and operation.opcode in ("and", "or", "xor"):
            return f"{self.raw(left, cycle)} {infix} {self.raw(right, cycle)}"
        return f"{self.integer(left, cycle)} {infix} {self.integer(right, cycle)}"

    def value_lines(self) -> list[str]:
        """Wires of the block's combinational values and constant dividers."""
        lines: list[str] = []
        for operation in self.block.operations:
            name = self.value_name(operation.index)
            expression = self.expression(operation)
            if expression is not None:
                text = self.declaration("wire", name, operation.index)
                lines.append(f"  {text} = {expression};")
            elif operation.opcode == "divc":
                start = self.schedule.starts[operation.index]
                lines.append(f"  wire signed [31:0] {name};")
                dividend = self.integer(operation.operands[0], start)
                lines.append(constant_divider_instance(name, operation.value or 1, dividend))
        return lines

    def register_declarations(self) -> list[str]:
        """Registers of the values that are held after their cycle."""
        return [
            f"  {self.declaration('reg', f'{self.value_name(h.operation)}_q{k}', h.operation)};"
            for h in self.held.values()
            for k in range(1, h.registers + 1)
        ]

    def register_updates(self) -> list[str]:
        """Captures of held values, then writes of variables."""
        lines: list[str] = []
        for held in self.held.values():
            name = self.value_name(held.operation)
            for k in range(1, held.registers + 1):
                source = self.fresh(held.operation) if k == 1 else f"{name}_q{k - 1}"
                cycle = held.ready + (k - 1) * (self.interval or 0)
                lines.append(f"    if ({self.active(cycle)}) {name}_q{k} <= {source};")
        for operation in self.block.operations:
            if operation.opcode == "write":
                cycle = self.schedule.starts[operation.index]
                value = self.integer(operation.operands[0], cycle)
                lines.append(f"    if ({self.active(cycle)}) v_{operation.name} <= {value};")
        return lines
